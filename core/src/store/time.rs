//! Trusted time, which comes from outside: when a partition is over, and which points lie ahead.
//!
//! Nothing that recovery relies on is decided by it: a clock that is wrong makes more segments or more late
//! points, never wrong ones. Without it partitions turn by the points alone.

use super::device::Medium;
use super::limits::AHEAD_POINTS_MAX;
use super::open_partition::OpenPartition;
use super::running::Store;
use crate::point::TimeRange;

/// Trusted time from two clocks, of which the wall clock is right only while it is synchronised.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrustedTime {
    /// The last time that was trusted, and what the monotonic clock showed then.
    last: Option<(i64, i64)>,
}

impl TrustedTime {
    /// Goes on from the last time that an earlier run trusted; the monotonic clock begins at 0 now.
    pub fn saved(trusted_ns: Option<i64>) -> Self {
        Self { last: trusted_ns.map(|trusted| (trusted, 0)) }
    }

    /// The last time that was trusted.
    pub fn last(&self) -> Option<i64> {
        self.last.map(|(trusted, _)| trusted)
    }

    /// The time, if any can be trusted: that of the wall while it is synchronised, else what was trusted last and
    /// what passed since.
    pub fn now(&mut self, wall_ns: i64, monotonic_ns: i64, is_synchronised: bool) -> Option<i64> {
        if is_synchronised {
            self.last = Some((wall_ns, monotonic_ns));
        }
        let (trusted, then) = self.last?;
        let now = trusted.saturating_add(monotonic_ns.saturating_sub(then).max(0));
        self.last = Some((now, monotonic_ns));
        Some(now)
    }
}

impl<M: Medium> Store<M> {
    /// Tells the store the time, where one can be trusted; it is never used for safety. One that is not exact may lie
    /// behind: then nothing is ahead of it.
    pub fn set_time(&mut self, now_ns: Option<i64>, is_exact: bool) {
        self.now_ns = now_ns;
        self.is_time_exact = is_exact;
        if let (Some(now), Some(aged)) = (now_ns, &mut self.chores.aged) {
            // A clock that was set back: the hour in which nothing more goes by its age begins anew, and does not
            // last until that clock is where it was.
            aged.since_ns = aged.since_ns.min(now);
        }
    }

    /// Whether a range of time ended, and its grace did too.
    pub(super) fn is_over(&self, range: TimeRange) -> bool {
        self.now_ns.is_some_and(|now| range.end.saturating_add(self.config.grace_ns) < now)
    }

    /// Whether a time is further ahead of now than any good clock.
    pub(super) fn is_ahead(&self, at: i64) -> bool {
        let now = self.now_ns.filter(|_| self.is_time_exact);
        now.is_some_and(|now| at > now.saturating_add(self.config.max_ahead_ns))
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
