//! A campaign: the power goes at the operations of a workload, with subsets of what was not flushed, and each end
//! is recovered from and checked. A failure names itself, and [`replay`] plays it again.

use super::check::{Expected, Tried, check, compare, go_on, interrupt};
use super::trace::{Setting, Spec, Trace};
use crate::store::sim::{SimMedium, Violation, fates};

/// How much a campaign tries.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Every this many operations the power is cut.
    pub(super) stride: u64,
    /// All subsets of up to so many unflushed operations.
    pub(super) all_max: usize,
    /// Random subsets of more, and how many ways of tearing.
    pub(super) samples: usize,
    /// One end in so many is gone on from, with another crash behind it.
    pub(super) go_on_one_in: u64,
    /// One end in so many has its recovery interrupted at every operation.
    pub(super) interrupt_one_in: u64,
    /// How often recovery is interrupted in a row at most.
    pub(super) depth: usize,
    /// One recovery in so many that was interrupted is interrupted again; and of those one in so many once more.
    pub(super) again_one_in: [u64; 2],
}

impl Effort {
    /// One interrupted recovery in so many is interrupted again, if it was so `times` times so far.
    pub(super) fn again_one_in(&self, times: usize) -> Option<u64> {
        let is_again = (1..self.depth).contains(&times);
        is_again.then(|| self.again_one_in.get(times - 1).copied().unwrap_or(self.again_one_in[1]))
    }
}

/// A broken promise, and where.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) spec: Spec,
    pub(super) violation: Violation,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}; to play it again: SILTSTONE_REPLAY=\"{}\"", self.violation, self.spec)
    }
}

/// Plays a campaign on the workload `name`.
pub(super) fn campaign(name: &str, effort: Effort, setting: &Setting) -> Result<Tried, Box<Failure>> {
    let mut tried = Tried::default();
    match hunt(name, effort, setting, &mut tried, &mut |_| true) {
        Some(failure) => Err(failure),
        None => Ok(tried),
    }
}

/// Plays a campaign until a failure ends it; goes on behind the others.
pub(super) fn hunt(
    name: &str,
    effort: Effort,
    setting: &Setting,
    tried: &mut Tried,
    is_end: &mut dyn FnMut(&Failure) -> bool,
) -> Option<Box<Failure>> {
    let trace = Trace::play(name, setting).expect("a workload of that name");
    let cuts = trace.cuts();
    let offset = name.bytes().map(u64::from).sum::<u64>() % effort.stride;
    for cut in cuts.skip(offset as usize).step_by(effort.stride as usize) {
        let at_cut = trace.cut(cut);
        let whole = Spec { workload: name.to_string(), cuts: vec![(cut, Vec::new())] };
        for fates in fates(at_cut.pending(), effort.all_max, effort.samples, &mut whole.random()) {
            let spec = Spec { workload: name.to_string(), cuts: vec![(cut, fates)] };
            let tried = try_end(&trace, &at_cut, &spec, effort, tried);
            let failure = tried.err().map(|(spec, violation)| Box::new(Failure { spec, violation }));
            if let Some(failure) = failure.filter(|failure| is_end(failure)) {
                return Some(failure);
            }
        }
    }
    None
}

/// Recovers from one end, and from what may follow.
fn try_end(
    trace: &Trace,
    at_cut: &SimMedium,
    spec: &Spec,
    effort: Effort,
    tried: &mut Tried,
) -> Result<(), (Spec, Violation)> {
    let (cut, fates) = &spec.cuts[0];
    let mut random = spec.random();
    let medium = at_cut.after_crash(fates, &mut random);
    let fresh = medium.after_kill();
    let here = |violation| (spec.clone(), violation);
    let checked = check(&medium, trace.oracle(*cut), &trace.script, random.one_in(4), tried);
    let (store, points) = checked.map_err(here)?;
    if random.one_in(effort.interrupt_one_in) {
        let expected = Expected { points: &points, oracle: trace.oracle(*cut) };
        interrupt(spec, &fresh, expected, effort, tried)?;
    }
    if random.one_in(effort.go_on_one_in) {
        go_on(&medium, store, &points, &mut random, tried).map_err(here)?;
    }
    Ok(())
}

/// Plays exactly one end again, with every check there is.
pub(super) fn replay(spec: &Spec, setting: &Setting) -> Result<(), Violation> {
    let missing = |what: &str| Violation::Refused(format!("{what}: no such thing"));
    let trace = Trace::play(&spec.workload, setting).ok_or_else(|| missing(&spec.workload))?;
    let (cut, fates) = spec.cuts.first().ok_or_else(|| missing("cut"))?;
    let first = Spec { workload: spec.workload.clone(), cuts: vec![(*cut, fates.clone())] };
    let mut random = first.random();
    let mut medium = trace.cut(*cut).after_crash(fates, &mut random);
    let untouched = medium.after_kill();
    let (store, points) = check(&medium, trace.oracle(*cut), &trace.script, true, &mut Tried::default())?;
    if spec.cuts.len() == 1 {
        // The campaign drew whether to check summaries and to interrupt before it went on.
        for n in [4, 2, 2] {
            random.one_in(n);
        }
        return go_on(&medium, store, &points, &mut random, &mut Tried::default());
    }
    drop(store);
    medium = untouched;
    let mut so_far = first;
    for (cut, fates) in &spec.cuts[1..] {
        let watched = medium.after_kill();
        watched.cut_power_at(*cut);
        let _cut_short = super::workload::open(&watched);
        so_far = so_far.and(*cut, fates);
        medium = watched.after_crash(fates, &mut so_far.random());
    }
    compare(&medium, Expected { points: &points, oracle: trace.oracle(spec.cuts[0].0) }, &so_far)
}
