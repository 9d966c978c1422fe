//! Trusted time, which comes from outside: when a partition is over, and which points lie ahead.
//!
//! Nothing that recovery relies on is decided by it: a clock that is wrong makes more segments or more late
//! points, never wrong ones. Without it partitions turn by the points alone.

use super::device::Medium;
use super::limits::AHEAD_POINTS_MAX;
use super::open_partition::OpenPartition;
use super::running::Store;
use crate::point::TimeRange;

impl<M: Medium> Store<M> {
    /// Tells the store the time, where one can be trusted. It is never used for safety.
    pub fn set_time(&mut self, now_ns: Option<i64>) {
        self.now_ns = now_ns;
    }

    /// Whether a range of time ended, and its grace did too.
    pub(super) fn is_over(&self, range: TimeRange) -> bool {
        self.now_ns.is_some_and(|now| range.end.saturating_add(self.config.grace_ns) < now)
    }

    /// Whether a time is further ahead of now than any good clock.
    pub(super) fn is_ahead(&self, at: i64) -> bool {
        self.now_ns.is_some_and(|now| at > now.saturating_add(self.config.max_ahead_ns))
    }

    /// The open partition that is to be sealed: it is over, and got no point in order for as long as its grace.
    pub(super) fn over(&self) -> Option<usize> {
        let now = self.now_ns?;
        let is_done = |open: &OpenPartition<M::Device>| {
            let is_used = open.used_ns.is_some_and(|used| now.saturating_sub(used) < self.config.grace_ns);
            self.is_over(open.partition.range) && !is_used
        };
        self.open.iter().position(is_done)
    }
}

impl<D> OpenPartition<D> {
    /// Notes a late point behind the head of its series: one in order that comes at its time must rank above it, so
    /// it is to be late as well. Where there are too many, everything of their series up to them is.
    pub(super) fn note_ahead(&mut self, series: u32, at: i64) {
        self.heads.note_late(series, at);
        if self.heads.at(series).is_some_and(|head| head >= at) {
            return;
        }
        self.ahead.insert((series, at));
        if self.ahead.len() > AHEAD_POINTS_MAX {
            for (series, at) in core::mem::take(&mut self.ahead) {
                self.heads.raise(series, at);
            }
        }
    }
}
