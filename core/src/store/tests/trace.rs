//! A workload that was played once, with every moment at which the power could have gone.
//!
//! Workloads have names, so that a failure can be played again: `short-7` and `long-100` are random ones from the
//! seed behind the dash, `new-1` also cuts while the store is made, `ops-abc` is a sequence of operations
//! on a fresh store, `old-abc` one on a store with a past.

use super::sequence::{past, steps_of};
use super::workload::{FROM, Step, open, play_noting, steps};
use crate::store::sim::{Call, Control, Fate, Fault, Oracle, Random, SimMedium};

/// What goes wrong while a workload is played: nothing, but for the negative controls and for media that lie.
#[derive(Clone, Debug, Default)]
pub(super) struct Setting {
    pub(super) controls: Vec<Control>,
    /// What the medium does wrong until the power goes.
    pub(super) faults: Vec<Fault>,
    /// Points are acknowledged before their commit.
    pub(super) acknowledges_early: bool,
}

/// What is played.
struct Workload {
    past: Vec<Step>,
    steps: Vec<Step>,
    /// Whether the power may go while the store is made.
    from_nothing: bool,
    /// Steps whose moments other workloads have too: the power does not go before them.
    known: usize,
}

impl Workload {
    fn parse(name: &str) -> Option<Self> {
        let (family, which) = name.split_once('-')?;
        let random = |count| Some(steps(&mut Random::new(which.parse().ok()?), count, FROM));
        let plain = |steps| Self { past: Vec::new(), steps, from_nothing: false, known: 0 };
        Some(match family {
            "short" => plain(random(24)?),
            "long" => plain(random(80)?),
            "new" => Self { from_nothing: true, ..plain(random(2)?) },
            "ops" => Self { known: which.len().saturating_sub(1), ..plain(steps_of(which, 0)?) },
            "old" => {
                let past = past();
                let steps = steps_of(which, past.len())?;
                Self { past, steps, from_nothing: false, known: which.len().saturating_sub(1) }
            }
            _ => return None,
        })
    }
}

/// The workload as it was played.
pub(super) struct Trace {
    medium: SimMedium,
    /// Operations when the first moment was kept.
    first: u64,
    /// What had been promised from which operation on.
    marks: Vec<(u64, Oracle)>,
    /// Everything that was done.
    pub(super) script: Vec<Step>,
}

impl Trace {
    /// Plays the workload `name`; `None` where there is none of that name.
    pub(super) fn play(name: &str, setting: &Setting) -> Option<Self> {
        let workload = Workload::parse(name)?;
        let medium = SimMedium::new();
        setting.controls.iter().for_each(|control| medium.control(*control));
        setting.faults.iter().for_each(|fault| medium.inject(fault.clone()));
        let mut oracle = Oracle::new();
        let mut marks = vec![(0, oracle.clone())];
        if workload.from_nothing {
            medium.remember_moments();
        }
        let early = setting.acknowledges_early;
        let (mut store, _) = open(&medium).expect("the power is on");
        let mut first = 0;
        let (known, last) = workload.steps.split_at(workload.known);
        for (steps, are_cut) in [(&workload.past[..], false), (known, false), (last, true)] {
            if are_cut && !workload.from_nothing {
                first = medium.operations();
                medium.remember_moments();
            }
            let mut note = |oracle: &Oracle| {
                let at = medium.operations();
                marks.retain(|(operations, _)| *operations < at);
                marks.push((at, oracle.clone()));
            };
            note(&oracle);
            play_noting(&mut store, &mut oracle, steps, early, &mut note).expect("the power is on");
        }
        drop(store);
        let script = [workload.past, workload.steps].concat();
        Some(Self { medium, first, marks, script })
    }

    /// The operations with which the power can go; the last is none of them, but the end.
    pub(super) fn cuts(&self) -> core::ops::RangeInclusive<u64> {
        self.first..=self.first + self.medium.moments() as u64
    }

    /// The medium when the power goes with operation `cut`.
    pub(super) fn cut(&self, cut: u64) -> SimMedium {
        let at = usize::try_from(cut.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.medium.moment(at).unwrap_or_else(|| self.medium.clone())
    }

    /// Flushes and syncs of the whole run.
    pub(super) fn promises(&self) -> (u64, u64) {
        (self.medium.flushes(), self.medium.calls(Call::Sync))
    }

    /// What had been promised then.
    pub(super) fn oracle(&self, cut: u64) -> &Oracle {
        let at = self.marks.partition_point(|(operations, _)| *operations <= cut);
        &self.marks[at.saturating_sub(1)].1
    }
}

/// Where the power went, and what became of the operations that were not flushed: once, and then again in
/// recovery, counted from its first operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spec {
    pub(super) workload: String,
    pub(super) cuts: Vec<(u64, Vec<Fate>)>,
}

impl Spec {
    /// With one more cut.
    pub(super) fn and(&self, cut: u64, fates: &[Fate]) -> Self {
        let mut more = self.clone();
        more.cuts.push((cut, fates.to_vec()));
        more
    }

    /// The stream of random numbers that belongs to this place: the same whenever it is played.
    pub(super) fn random(&self) -> Random {
        // FNV-1a of the text.
        let hash = self.to_string().bytes().fold(0xCBF2_9CE4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        Random::new(hash)
    }

    /// Reads `SEED INDEX MASK`, the latter two repeated for every further cut.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let workload = words.next()?.to_string();
        let mut cuts = Vec::new();
        while let Some(index) = words.next() {
            cuts.push((index.parse().ok()?, crate::store::sim::fates_of(words.next()?)?));
        }
        (!cuts.is_empty()).then_some(Self { workload, cuts })
    }
}

impl std::fmt::Display for Spec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.workload)?;
        self.cuts
            .iter()
            .try_for_each(|(cut, fates)| write!(f, " {cut} {}", crate::store::sim::mask_of(fates)))
    }
}
