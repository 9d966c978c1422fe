//! Timestamps: `i64` nanoseconds since the Unix epoch, UTC, and half-open ranges of them.
//!
//! Columns of timestamps are plain `[i64]` of the same unit; the newtype marks single instants where
//! they meet other numbers. Calendars, zones and text forms belong to the agent and the page.

/// An instant: nanoseconds since 1970-01-01T00:00:00Z, from 1677 to 2262.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The earliest instant that can be named.
    pub const MIN: Self = Self(i64::MIN);
    /// The latest instant that can be named; it is never stored, so that every range has an end.
    pub const MAX: Self = Self(i64::MAX);

    /// Nanoseconds since the epoch.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// From milliseconds since the epoch; `None` where nanoseconds don't fit an `i64`.
    pub const fn from_millis(millis: i64) -> Option<Self> {
        match millis.checked_mul(1_000_000) {
            Some(nanos) => Some(Self(nanos)),
            None => None,
        }
    }
}

/// The instants `begin <= t < end`; empty where `end <= begin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeRange {
    /// First instant inside, nanoseconds.
    pub begin: i64,
    /// First instant behind, nanoseconds.
    pub end: i64,
}

impl TimeRange {
    /// Every instant that can be stored.
    pub const ALL: Self = Self { begin: i64::MIN, end: i64::MAX };

    /// `[begin, end)` in nanoseconds.
    pub const fn new(begin: i64, end: i64) -> Self {
        Self { begin, end }
    }

    /// Whether no instant is inside.
    pub const fn is_empty(self) -> bool {
        self.end <= self.begin
    }

    /// Whether `nanos` is inside.
    pub const fn contains(self, nanos: i64) -> bool {
        self.begin <= nanos && nanos < self.end
    }

    /// Whether all of `other` is inside.
    pub const fn covers(self, other: Self) -> bool {
        self.begin <= other.begin && other.end <= self.end
    }

    /// Whether the two share an instant.
    pub const fn overlaps(self, other: Self) -> bool {
        self.begin < other.end && other.begin < self.end && !self.is_empty() && !other.is_empty()
    }

    /// The instants inside both; empty where they share none.
    pub fn intersect(self, other: Self) -> Self {
        Self { begin: self.begin.max(other.begin), end: self.end.min(other.end) }
    }

    /// The smallest range around all of `ranges`; `None` where there are none.
    pub fn hull(ranges: impl IntoIterator<Item = Self>) -> Option<Self> {
        ranges.into_iter().reduce(|a, b| Self { begin: a.begin.min(b.begin), end: a.end.max(b.end) })
    }

    /// The same range, whose open ends are those of `stored`.
    pub fn with_ends_of(self, stored: Self) -> Self {
        Self {
            begin: if self.begin == i64::MIN { stored.begin.min(self.end) } else { self.begin },
            end: if self.end == i64::MAX { stored.end.max(self.begin) } else { self.end },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TimeRange, Timestamp};

    #[test]
    fn ranges_are_half_open() {
        let range = TimeRange::new(10, 20);
        assert!(range.contains(10) && range.contains(19) && !range.contains(20));
        assert!(!range.overlaps(TimeRange::new(20, 30)) && range.overlaps(TimeRange::new(19, 30)));
        assert!(!range.overlaps(TimeRange::new(15, 15)));
        assert!(range.covers(TimeRange::new(10, 20)) && !range.covers(TimeRange::new(9, 20)));
        assert!(range.intersect(TimeRange::new(30, 40)).is_empty());
    }

    #[test]
    fn open_ends_are_those_of_what_is_stored() {
        let stored = TimeRange::hull([TimeRange::new(15, 30), TimeRange::new(10, 20)]);
        assert_eq!(stored, Some(TimeRange::new(10, 30)));
        assert_eq!(TimeRange::hull([]), None);
        let ends = |begin, end| TimeRange::new(begin, end).with_ends_of(TimeRange::new(10, 30));
        assert_eq!(ends(i64::MIN, i64::MAX), TimeRange::new(10, 30));
        assert_eq!(ends(0, i64::MAX), TimeRange::new(0, 30));
        assert_eq!(ends(i64::MIN, 5), TimeRange::new(5, 5));
        assert_eq!(ends(40, i64::MAX), TimeRange::new(40, 40));
        assert_eq!(ends(12, 14), TimeRange::new(12, 14));
    }

    #[test]
    fn milliseconds_that_do_not_fit_are_refused() {
        assert_eq!(Timestamp::from_millis(1_500), Some(Timestamp(1_500_000_000)));
        assert_eq!(Timestamp::from_millis(i64::MAX), None);
    }
}
