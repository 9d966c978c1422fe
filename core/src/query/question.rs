//! A question: what is asked of a list of series, checked before any block is read.
//!
//! Times are nanoseconds, ranges half-open. Calendars are not known here: days and months come as
//! explicit edges.

use alloc::vec::Vec;
use core::fmt;

use super::filter::Filter;
use super::function::{Function, Needs};
use crate::point::TimeRange;
use crate::tree::Laws;

/// Edges of a question at most.
pub const EDGES_MAX: usize = 100_000;
/// Buckets over which one value can be held, at most: `max_hold` / step.
pub const HELD_BUCKETS_MAX: i64 = 65_536;

/// Which way points are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The earliest first.
    #[default]
    Forward,
    /// The latest first.
    Backward,
}

/// Into which spans of time values are grouped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buckets {
    /// One, the whole range.
    Whole,
    /// `[origin + k × step, origin + (k + 1) × step)` for every k, clipped to the range.
    Step {
        /// An instant at which a bucket begins; 0 for steps since the epoch.
        origin_ns: i64,
        /// Length of a bucket, at least 1.
        step_ns: i64,
    },
    /// From each edge to the next, clipped to the range; strictly rising, at least two.
    Edges(Vec<i64>),
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// The points themselves.
    Select(Order),
    /// Functions of the points of each bucket.
    Group {
        /// The buckets.
        buckets: Buckets,
        /// What will be asked of them; decides what must be known.
        functions: Vec<Function>,
        /// Whether a bucket may follow the edges of nodes: what lies in one subtree no longer than a
        /// step is taken whole, into the bucket in which it begins, and the bucket is labelled with the
        /// span of what is in it.
        snap: bool,
    },
}

/// Where a question that met its limit goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Position of the series in the list.
    pub series: u32,
    /// Forward: the first instant not answered yet. Backward: the instant before which to go on.
    pub at_ns: i64,
}

/// A question about every series of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Only points of this range.
    pub range: TimeRange,
    /// Only values that pass.
    pub filter: Option<Filter>,
    /// What is asked of them.
    pub task: Task,
    /// Rows at most, over all series.
    pub limit: Option<u64>,
    /// Where to go on.
    pub resume: Option<Resume>,
    /// How long a value is held.
    pub laws: Laws,
}

impl Question {
    /// All points of `range`, forward.
    pub fn select(range: TimeRange) -> Self {
        let laws = Laws::default();
        Self { range, filter: None, task: Task::Select(Order::Forward), limit: None, resume: None, laws }
    }

    /// `functions` of the whole of `range`.
    pub fn aggregate(range: TimeRange, functions: impl Into<Vec<Function>>) -> Self {
        Self::group(range, Buckets::Whole, functions)
    }

    /// `functions` of each of `buckets`.
    pub fn group(range: TimeRange, buckets: Buckets, functions: impl Into<Vec<Function>>) -> Self {
        let task = Task::Group { buckets, functions: functions.into(), snap: false };
        Self { task, ..Self::select(range) }
    }

    /// What has to be looked at to answer for `range`: where values are held, also what lies as near to it as that.
    pub(super) fn reach(&self, range: TimeRange, laws: Laws) -> TimeRange {
        if !self.needs().hold || range.is_empty() {
            return range;
        }
        let hold_ns = laws.max_hold_ns;
        TimeRange::new(range.begin.saturating_sub(hold_ns), range.end.saturating_add(hold_ns))
    }

    /// What the functions need to know.
    pub(super) fn needs(&self) -> Needs {
        match &self.task {
            Task::Select(_) => Needs::default(),
            Task::Group { functions, .. } => Needs::of(functions),
        }
    }

    /// Refuses what has no answer.
    pub(super) fn check(&self) -> Result<(), QuestionError> {
        let Task::Group { buckets, snap, .. } = &self.task else { return Ok(()) };
        match buckets {
            Buckets::Whole | Buckets::Edges(_) if *snap => Err(QuestionError::SnapWithoutStep),
            Buckets::Whole => Ok(()),
            Buckets::Step { step_ns, .. } if *step_ns < 1 => Err(QuestionError::Step),
            Buckets::Step { step_ns, .. } => {
                let is_held = self.needs().hold && self.laws.max_hold_ns / step_ns > HELD_BUCKETS_MAX;
                if is_held { Err(QuestionError::StepTooShort) } else { Ok(()) }
            }
            Buckets::Edges(edges) if edges.len() > EDGES_MAX => Err(QuestionError::TooManyEdges),
            Buckets::Edges(edges) if edges.len() < 2 => Err(QuestionError::Edges),
            Buckets::Edges(edges) if !edges.is_sorted_by(|a, b| a < b) => Err(QuestionError::Edges),
            Buckets::Edges(_) => Ok(()),
        }
    }
}

/// Why a question can't be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuestionError {
    /// A step below 1 ns.
    Step,
    /// An integral in steps so short that one value would be held over too many of them.
    StepTooShort,
    /// Fewer than two edges, or edges that don't rise.
    Edges,
    /// More than [`EDGES_MAX`] edges.
    TooManyEdges,
    /// Snapping follows nodes up to the length of a step, so it needs one.
    SnapWithoutStep,
    /// A run names a segment that is not in the list.
    Segment,
}

impl fmt::Display for QuestionError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step => out.write_str("the step must be at least 1 ns"),
            Self::StepTooShort => write!(
                out,
                "the step is too short for integrals: a value may be held over at most {HELD_BUCKETS_MAX} steps"
            ),
            Self::Edges => out.write_str("edges must rise, and there must be at least two"),
            Self::TooManyEdges => write!(out, "more than {EDGES_MAX} edges"),
            Self::SnapWithoutStep => out.write_str("snapped buckets need a step"),
            Self::Segment => out.write_str("a run names a segment that is not in the list"),
        }
    }
}

impl core::error::Error for QuestionError {}
