//! The medium fails in its nth call, for n = 0, 1, 2 … until a run is clean: reads, listings, writes, lengths, flushes,
//! names, syncs; full and read-only ones; flushes that lose their pages. Nothing acknowledged is lost, the store says
//! so and takes nothing more, what can be read is read, and the next start goes on.

use super::reader::{list, read_left, try_read};
use super::sequence::{BURST_ROWS, steps_of};
use super::workload::{
    DEVICE, SimStore, Step, WORK_ROWS, append, expire, name, open, over, play, tell, tiny,
};
use crate::store::sim::{Call, Fault, Oracle, Random, Rot, SimError, SimMedium, View, Violation};
use crate::store::{Store, StoreError, Work};

/// What is played: everything a store does.
const SCRIPT: &str = "abclkacslabcoacnrlacmkc";
/// Failures before the medium is mended.
const FAILURES_MAX: u32 = 3;

/// A run over a medium that fails.
struct Run<'a> {
    medium: &'a SimMedium,
    oracle: Oracle,
    store: Option<SimStore>,
    script: Vec<Step>,
    /// Whether blocks that were written may be gone while the store runs: then it need not read them.
    loses_pages: bool,
    /// Whether the medium failed at all.
    is_struck: bool,
    failures: u32,
    /// The control: what a failed commit did not make durable is acknowledged all the same.
    acknowledges_failures: bool,
}

impl Run<'_> {
    /// Opens the store, or counts that it does not open.
    fn start(&mut self) -> Result<(), Violation> {
        match Store::open(self.medium.clone(), tiny(), DEVICE) {
            Ok((store, recovery)) => {
                if let Some((path, fault)) = recovery.set_aside.first() {
                    return Err(Violation::Refused(format!("{path} was set aside: {fault}")));
                }
                self.oracle.restart();
                self.store = Some(store);
                self.look()
            }
            Err(StoreError::Medium(_)) => {
                self.count_failure();
                Ok(())
            }
            Err(other) => Err(Violation::Refused(other.to_string())),
        }
    }

    fn count_failure(&mut self) {
        self.is_struck = true;
        self.failures += 1;
        if self.failures >= FAILURES_MAX {
            self.medium.mend();
        }
    }

    /// What the store holds now, failed or not, is right. The test's own reads meet no fault.
    fn look(&mut self) -> Result<(), Violation> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let points = self.medium.aside(|| try_read(store, false))?;
        self.oracle.check(list(&points))
    }

    fn step(&mut self, at: usize) -> Result<(), StoreError<SimError>> {
        let Some(store) = &mut self.store else { return Ok(()) };
        match &self.script[at] {
            Step::Message(identity, points) => {
                points.iter().for_each(|point| tell(&mut self.oracle, point));
                // Delivered again: it is acknowledged with the next commit and not stored again.
                if !store.is_stored(identity) {
                    append(store, Some(*identity), points)?;
                }
                Ok(())
            }
            Step::Commit => {
                let committed = store.commit();
                if committed.is_ok() || self.acknowledges_failures {
                    self.oracle.acknowledge();
                }
                committed
            }
            Step::Checkpoint => store.checkpoint(),
            Step::Seal => store.seal(),
            Step::Work => {
                while store.work(WORK_ROWS)? == Work::More {}
                Ok(())
            }
            Step::Over => over(store),
            Step::Expire(blocks) => {
                self.oracle.expire();
                expire(store, *blocks)
            }
            Step::Delete(series, span) => store.delete(core::slice::from_ref(name(*series)), *span),
            Step::Reopen => {
                self.store = None;
                Ok(())
            }
        }
    }

    /// The medium failed: the store says so again and again, and goes on answering.
    fn fail(&mut self) -> Result<(), Violation> {
        self.count_failure();
        match self.look() {
            Err(Violation::Unreadable(_)) if self.loses_pages => {}
            looked => looked?,
        }
        let Some(store) = &mut self.store else { return Ok(()) };
        if !matches!(store.commit(), Err(StoreError::Failed)) {
            return Err(Violation::Refused(String::from("a failed store takes more")));
        }
        self.store = None;
        Ok(())
    }

    /// Plays everything; what was not acknowledged when the medium failed is sent again.
    fn play(&mut self) -> Result<(), Violation> {
        let (mut at, mut acknowledged) = (0, 0);
        while at < self.script.len() {
            if self.store.is_none() {
                self.start()?;
                continue;
            }
            match self.step(at) {
                Ok(()) => {
                    at += 1;
                    if matches!(self.script[at - 1], Step::Commit) {
                        acknowledged = at;
                    }
                }
                Err(StoreError::Medium(_)) => {
                    self.fail()?;
                    at = acknowledged;
                }
                Err(other) => return Err(Violation::Refused(other.to_string())),
            }
        }
        Ok(())
    }
}

/// Plays the script on a medium with this fault, then cuts the power; whether the fault struck.
fn strikes(fault: &Fault, acknowledges_failures: bool) -> Result<bool, Violation> {
    let medium = SimMedium::new();
    medium.inject(fault.clone());
    let script = steps_of(SCRIPT, 0).unwrap_or_default();
    let (oracle, store) = (Oracle::new(), None);
    let loses_pages = matches!(fault, Fault::FlushLoses { view: View::Dropped, .. });
    let mut run = Run {
        medium: &medium,
        oracle,
        store,
        script,
        loses_pages,
        is_struck: false,
        failures: 0,
        acknowledges_failures,
    };
    run.play()?;
    // A read that failed and was tried again is seen by nobody.
    let is_made = matches!(fault, Fault::Error { call, from, .. } if medium.calls(*call) > *from);
    let (is_struck, oracle) = (run.is_struck || is_made, run.oracle);
    let after = medium.after_crash(&[], &mut Random::new(0));
    let (mut store, _) = open(&after).map_err(|error| Violation::Refused(error.to_string()))?;
    oracle.check(list(&try_read(&mut store, true)?))?;
    Ok(is_struck)
}

/// Lets the fault `of(n)` strike for n = 0, `stride`, 2 × `stride` … until it strikes no more; how often it did.
pub(super) fn until_clean(stride: u64, of: impl Fn(u64) -> Fault) -> u64 {
    for (times, n) in (0..).map(|times| (times, times * stride)) {
        match strikes(&of(n), false) {
            Ok(true) => {}
            Ok(false) => return times,
            Err(violation) => panic!("{:?}: {violation:?}", of(n)),
        }
    }
    0
}

/// A kind of fault, as a function of which call it strikes.
pub(super) type Failing = (String, Box<dyn Fn(u64) -> Fault>);

/// All faults that fail a call.
pub(super) fn failures() -> Vec<Failing> {
    let mut list: Vec<Failing> = Vec::new();
    for times in [1, 2, u64::MAX] {
        for call in Call::ALL {
            let of = move |from| Fault::Error { call, from, times };
            list.push((format!("{call:?} fails {times} times"), Box::new(of)));
        }
        list.push((format!("no room {times} times"), Box::new(move |from| Fault::NoRoom { from, times })));
    }
    list.push((String::from("read-only"), Box::new(|from| Fault::ReadOnly { from })));
    for view in [View::Kept, View::Dropped] {
        list.push((format!("lost flush {view:?}"), Box::new(move |at| Fault::FlushLoses { at, view })));
    }
    list
}

/// What a fault that says `Ok` came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    /// Whether the write or read that it is about was made.
    pub(super) is_struck: bool,
    /// Points that were acknowledged and are missing, and how many there were.
    pub(super) lost: usize,
    pub(super) acknowledged: usize,
}

/// Blocks that a fault may cost: a write that lands elsewhere is missing, and spoils another one.
fn blocks_struck(fault: &Fault) -> usize {
    if matches!(fault, Fault::MisdirectedWrite { .. }) { 2 } else { 1 }
}

/// Plays the script with a fault that loses or spoils something and says `Ok`, kills the process, and looks what is left:
/// nothing that was never written, and all but the points of the blocks that were struck.
pub(super) fn silently(fault: &Fault) -> Result<Silence, Violation> {
    let medium = SimMedium::new();
    let mut oracle = Oracle::new();
    let refused = |error: SimError| Violation::Refused(error.to_string());
    let (mut store, _) = open(&medium).map_err(refused)?;
    let is_read =
        matches!(fault, Fault::RotOnRead { .. } | Fault::StaleRead { .. } | Fault::MisdirectedRead { .. });
    if !is_read {
        medium.inject(fault.clone());
    }
    let script: Vec<Step> = steps_of(&SCRIPT.replace('r', ""), 0).unwrap_or_default();
    play(&mut store, &mut oracle, &script).map_err(refused)?;
    drop(store);
    let is_written = |at: u64| medium.blocks_written() > at;
    let after = medium.after_kill();
    if is_read {
        after.inject(fault.clone());
    }
    let opened = Store::open(after.clone(), tiny(), DEVICE);
    let (mut store, _) = opened.map_err(|error| Violation::Refused(error.to_string()))?;
    let is_struck = match fault {
        Fault::RotOnRead { at, .. } | Fault::StaleRead { at } | Fault::MisdirectedRead { at } => {
            after.blocks_read() > *at
        }
        Fault::SilentWrite { at } | Fault::MisdirectedWrite { at } | Fault::NeighbourDamage { at, .. } => {
            is_written(*at)
        }
        _ => true,
    };
    after.mend();
    let (points, _) = read_left(&mut store, false)?;
    oracle.check_left(list(&points))?;
    let lost = oracle.missing(|key| points.contains_key(key));
    if lost > blocks_struck(fault) * BURST_ROWS as usize {
        return Err(Violation::Refused(format!("{lost} points lost: more than the blocks held")));
    }
    Ok(Silence { is_struck, lost, acknowledged: oracle.acknowledged() })
}

/// Every fault that says `Ok`, at every `stride`th block until none strikes any more: how many struck, and the most that
/// one of them cost.
pub(super) fn all_silently(stride: u64) -> Result<(u64, usize), String> {
    let (mut struck, mut lost_most) = (0, 0);
    for at in (0..).step_by(stride as usize) {
        let struck_before = struck;
        for fault in silent_faults(at) {
            let silence = silently(&fault).map_err(|violation| format!("{fault:?}: {violation:?}"))?;
            if silence.lost >= silence.acknowledged {
                return Err(format!("{fault:?}: everything is lost"));
            }
            struck += u64::from(silence.is_struck);
            lost_most = lost_most.max(silence.lost);
        }
        if struck == struck_before {
            break;
        }
    }
    Ok((struck, lost_most))
}

/// Faults that say `Ok`, as functions of which block they hit.
pub(super) fn silent_faults(at: u64) -> [Fault; 9] {
    [
        Fault::SilentWrite { at },
        Fault::MisdirectedWrite { at },
        Fault::NeighbourDamage { at, erase_blocks: 32 },
        Fault::MisdirectedRead { at },
        Fault::StaleRead { at },
        Fault::RotOnRead { at, rot: Rot::Bit },
        Fault::RotOnRead { at, rot: Rot::Byte },
        Fault::RotOnRead { at, rot: Rot::Sector },
        Fault::RotOnRead { at, rot: Rot::Block },
    ]
}

#[test]
fn nothing_acknowledged_is_lost_whichever_call_fails() {
    for (nth, (what, of)) in failures().into_iter().enumerate() {
        let struck = until_clean(if nth % 8 < 3 { 31 } else { 11 }, of);
        eprintln!("{what}: {struck} runs");
        assert!(struck > 0, "{what}");
    }
}

#[test]
fn what_goes_astray_is_never_taken_for_something_else_and_costs_its_blocks() {
    let (struck, lost_most) = all_silently(5).unwrap_or_else(|broken| panic!("{broken}"));
    eprintln!("{struck} faults struck, at most {lost_most} points lost by one");
    assert!(struck > 100 && lost_most > 0, "{struck}, {lost_most}");
}

/// The control: somebody who acknowledges what a failed commit did not make durable loses it.
#[test]
fn with_failed_commits_acknowledged_the_suite_fails() {
    let of = |at| Fault::FlushLoses { at, view: View::Dropped };
    let found = (0..200).map_while(|at| match strikes(&of(at), true) {
        Ok(true) => Some(None),
        Ok(false) => None,
        Err(violation) => Some(Some((at, violation))),
    });
    let broken: Vec<_> = found.flatten().collect();
    eprintln!("{} flushes, of which the first is {:?}", broken.len(), broken.first());
    assert!(!broken.is_empty(), "the suite passes with acknowledgements of what failed");
    for (at, violation) in broken {
        // Gone, or what was there before it was written over.
        let is_provoked = matches!(violation, Violation::Lost(..) | Violation::Wrong(..));
        assert!(is_provoked, "flush {at}: {violation:?}");
        assert_eq!(strikes(&of(at), false), Ok(true), "flush {at} without the control");
    }
}

#[test]
fn a_full_medium_fills_no_grave() {
    let medium = SimMedium::new();
    let (mut store, _) = open(&medium).expect("open");
    let mut oracle = Oracle::new();
    play(&mut store, &mut oracle, &steps_of("alc", 0).expect("a sequence")).expect("room");
    medium.set_capacity(Some(medium.used_blocks() + 2));
    let more = steps_of(&"abclkn".repeat(20), 3).expect("a sequence");
    assert_eq!(play(&mut store, &mut oracle, &more), Err(SimError::NoRoom));
    // It answers, and takes nothing.
    oracle.check(list(&try_read(&mut store, true).expect("reads go on"))).expect("all there");
    assert!(matches!(store.commit(), Err(StoreError::Failed)));
    drop(store);
    for _ in 0..3 {
        oracle.restart();
        if let Ok((mut store, _)) = Store::open(medium.clone(), tiny(), DEVICE) {
            oracle.check(list(&try_read(&mut store, true).expect("reads go on"))).expect("all there");
        }
    }
    let is_empty = |(path, blocks): &(String, u32)| path.ends_with(".silt") && *blocks == 0;
    assert_eq!(medium.files().into_iter().find(is_empty), None, "no file of no length");
    medium.set_capacity(None);
    oracle.restart();
    let (mut store, _) = open(&medium).expect("there is room again");
    oracle.check(list(&try_read(&mut store, true).expect("read"))).expect("all there");
    let script = steps_of("ablckac", 200).expect("a sequence");
    play(&mut store, &mut oracle, &script).expect("it goes on by itself");
    drop(store);
    let (mut store, _) = open(&medium.after_crash(&[], &mut Random::new(1))).expect("open");
    oracle.check(list(&try_read(&mut store, true).expect("read"))).expect("all there");
}

#[test]
fn a_medium_that_can_not_be_changed_is_still_read() {
    let medium = SimMedium::new();
    let (mut store, _) = open(&medium).expect("open");
    let mut oracle = Oracle::new();
    play(&mut store, &mut oracle, &steps_of("abcklc", 0).expect("a sequence")).expect("play");
    medium.inject(Fault::ReadOnly { from: medium.operations() });
    assert_eq!(
        play(&mut store, &mut oracle, &steps_of("ac", 9).expect("a sequence")),
        Err(SimError::ReadOnly)
    );
    oracle.check(list(&try_read(&mut store, true).expect("reads go on"))).expect("all there");
}
