//! What must hold after a crash: the store opens, holds what it promised and nothing else, and goes on.

use super::campaign::Effort;
use super::heads::check_heads;
use super::reader::{Points, list, try_read};
use super::trace::Spec;
use super::verified::journal_faults;
use super::workload::{FROM, SimStore, Step, label, name, play, steps, tiny};
use crate::store::sim::{Fate, Oracle, Random, SimMedium, Violation, fates};
use crate::store::{Recovery, Store};

use super::workload::DEVICE;

/// What was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tried {
    /// Ends of a run that were recovered from and checked.
    pub(super) states: u64,
    /// Of those, ends of a recovery: of the first, of one after an interrupted one, of one after two.
    pub(super) interrupted: [u64; 3],
    /// Tears of the journal that recovery met.
    pub(super) tears: u64,
    /// Points that were read back.
    pub(super) points: u64,
}

impl Tried {
    pub(super) fn add(&mut self, other: Self) {
        self.states += other.states;
        self.interrupted.iter_mut().zip(other.interrupted).for_each(|(sum, more)| *sum += more);
        self.tears += other.tears;
        self.points += other.points;
    }
}

/// Opens a store that nothing has damaged.
fn recover(medium: &SimMedium) -> Result<(SimStore, Recovery), Violation> {
    let opened = Store::open(medium.clone(), tiny(), DEVICE);
    let (store, recovery) = opened.map_err(|error| Violation::Refused(error.to_string()))?;
    if let Some((path, fault)) = recovery.set_aside.first() {
        return Err(Violation::Refused(format!("{path} was set aside: {fault}")));
    }
    if recovery.segments_damaged > 0 {
        return Err(Violation::Refused(String::from("nothing is damaged, and a segment counts as it")));
    }
    Ok((store, recovery))
}

/// Recovers and checks everything; gives the store and what it holds.
pub(super) fn check(
    medium: &SimMedium,
    oracle: &Oracle,
    script: &[Step],
    checks_summaries: bool,
    tried: &mut Tried,
) -> Result<(SimStore, Points), Violation> {
    tried.states += 1;
    // What a power cut leaves in the journal is no damage to the verifier.
    let faults = if tried.states.is_multiple_of(8) { journal_faults(medium) } else { Vec::new() };
    if let Some((path, block)) = faults.first() {
        return Err(Violation::Refused(format!("the verifier finds fault with {path}, block {block:?}")));
    }
    let (mut store, recovery) = recover(medium)?;
    check_heads(&store)?;
    tried.tears += recovery.journal.tears;
    let points = try_read(&mut store, checks_summaries)?;
    tried.points += points.len() as u64;
    oracle.check(list(&points))?;
    check_identities(&store, &points, script)?;
    Ok((store, points))
}

/// Goes on writing after a recovery, loses power, and recovers again.
pub(super) fn go_on(
    medium: &SimMedium,
    mut store: SimStore,
    points: &Points,
    random: &mut Random,
    tried: &mut Tried,
) -> Result<(), Violation> {
    let mut oracle = Oracle::new();
    oracle.adopt(list(points));
    let last = points.keys().map(|(_, at)| *at).max().unwrap_or(FROM);
    let more = steps(random, 8, last.min(FROM << 1) + 1);
    let played = play(&mut store, &mut oracle, &more);
    played.map_err(|error| Violation::Refused(error.to_string()))?;
    drop(store);
    let crashed = crash(medium, random);
    check(&crashed, &oracle, &more, true, tried).map(|_| ())
}

/// What recoveries must come to, however often they are interrupted.
#[derive(Clone, Copy)]
pub(super) struct Expected<'a> {
    /// What the first one found.
    pub(super) points: &'a Points,
    /// What was acknowledged, and what may be there besides.
    pub(super) oracle: &'a Oracle,
}

/// The power goes while a recovery is under way, at each of its operations; whatever became of the unflushed ones, the
/// next recovery ends where this one would have. Again and again: some of those recoveries are interrupted as well.
pub(super) fn interrupt(
    spec: &Spec,
    medium: &SimMedium,
    expected: Expected<'_>,
    effort: Effort,
    tried: &mut Tried,
) -> Result<(), (Spec, Violation)> {
    let mut random = spec.random();
    let times = spec.cuts.len();
    let again_one_in = effort.again_one_in(times);
    let watched = medium.after_kill();
    watched.remember_moments();
    recover(&watched).map_err(|violation| (spec.clone(), violation))?;
    for cut in 0..watched.moments() {
        let Some(moment) = watched.moment(cut) else { break };
        let all = fates(moment.pending(), 0, 1, &mut random);
        for fates in some(&all, &mut random) {
            let spec = spec.and(cut as u64, fates);
            let crashed = moment.after_crash(fates, &mut spec.random());
            tried.states += 1;
            tried.interrupted[times.min(tried.interrupted.len()) - 1] += 1;
            compare(&crashed.after_kill(), expected, &spec).map_err(|violation| (spec.clone(), violation))?;
            if again_one_in.is_some_and(|n| random.one_in(n)) {
                interrupt(&spec, &crashed, expected, effort, tried)?;
            }
        }
    }
    Ok(())
}

/// Recovers; what is there must be exactly what was expected.
///
/// One thing may differ, where a recovery was cut in a write that tore: blocks behind the trusted length are written
/// again in their place, and points that were never acknowledged may be in such a block alone.
pub(super) fn compare(medium: &SimMedium, expected: Expected<'_>, spec: &Spec) -> Result<(), Violation> {
    let (mut store, _) = recover(medium)?;
    let points = try_read(&mut store, false)?;
    let all = expected.points;
    let missing = all.iter().find(|(key, value)| points.get(*key) != Some(*value));
    let more = points.iter().find(|(key, value)| all.get(*key) != Some(*value));
    let tears = |fate: &Fate| matches!(fate, Fate::Torn(_));
    if more.is_none() && spec.cuts.iter().skip(1).any(|(_, fates)| fates.iter().any(tears)) {
        return expected.oracle.check(list(&points));
    }
    match missing.or(more) {
        Some(((series, at), _)) => Err(Violation::Differs(series.clone(), *at)),
        None => Ok(()),
    }
}

/// Nothing, everything, and two others.
fn some<'a>(all: &'a [Vec<Fate>], random: &mut Random) -> Vec<&'a [Fate]> {
    let mut some: Vec<&[Fate]> = all.iter().take(2).map(Vec::as_slice).collect();
    for _ in 0..2 {
        some.push(&all[random.below(all.len() as u64) as usize]);
    }
    some.dedup();
    some
}

/// The power goes, with fates of all kinds.
pub(super) fn crash(medium: &SimMedium, random: &mut Random) -> SimMedium {
    let all = fates(medium.pending(), 3, 2, random);
    let some = &all[random.below(all.len() as u64) as usize];
    medium.after_crash(some, random)
}

/// Every message that is known to be stored has all of its points.
fn check_identities(store: &SimStore, points: &Points, script: &[Step]) -> Result<(), Violation> {
    for step in script {
        let Step::Message(identity, sent) = step else { continue };
        if !store.is_stored(identity) {
            continue;
        }
        for (series, at, _) in sent {
            let key = (label(name(*series).as_str()).to_string(), *at);
            let deletes =
                |step: &Step| matches!(step, Step::Delete(s, span) if s == series && span.contains(*at));
            let drops = |step: &Step| matches!(step, Step::Expire(_));
            if !points.contains_key(&key) && !script.iter().any(|step| deletes(step) || drops(step)) {
                return Err(Violation::Lost(key.0, key.1));
            }
        }
    }
    Ok(())
}
