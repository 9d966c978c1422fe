//! Partitions: calendar spans in UTC, from an hour to a year.
//!
//! A segment never spans two of them, so that old data can be dropped by whole files. Only the civil
//! calendar of UTC is known here; time zones belong to the agent and the page. The day arithmetic is
//! that of H. Hinnant, "chrono-compatible low-level date algorithms" (2013), written anew.

use alloc::format;
use alloc::string::String;

use crate::point::TimeRange;

const HOUR_NS: i64 = 3_600_000_000_000;
const DAY_NS: i64 = 24 * HOUR_NS;

/// How much time a partition holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartitionSpan {
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A month of the calendar.
    #[default]
    Month,
    /// A year of the calendar.
    Year,
}

/// One partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The time it holds, cut to what a timestamp can name.
    pub range: TimeRange,
    span: PartitionSpan,
    year: i64,
    month: u8,
    day: u8,
    hour: u8,
}

/// Days since 1970-01-01 of the first day of a month.
fn days_from_civil(year: i64, month: u8, day: u8) -> i64 {
    // Years begin in March, so that the leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let from_march = (i64::from(month) + 9) % 12;
    let of_year = (153 * from_march + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a day since 1970-01-01.
fn civil_from_days(days: i64) -> (i64, u8, u8) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + i64::from(month <= 2), month as u8, day as u8)
}

impl Partition {
    /// The partition of this span that holds `timestamp`.
    pub fn of(span: PartitionSpan, timestamp: i64) -> Self {
        let days = timestamp.div_euclid(DAY_NS);
        let (year, month, day) = civil_from_days(days);
        let hour = timestamp.rem_euclid(DAY_NS) / HOUR_NS;
        let (begin, end) = match span {
            PartitionSpan::Hour => (hours(days, hour), hours(days, hour + 1)),
            PartitionSpan::Day => (hours(days, 0), hours(days + 1, 0)),
            PartitionSpan::Month => {
                let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
                (hours(days_from_civil(year, month, 1), 0), hours(days_from_civil(next.0, next.1, 1), 0))
            }
            PartitionSpan::Year => {
                (hours(days_from_civil(year, 1, 1), 0), hours(days_from_civil(year + 1, 1, 1), 0))
            }
        };
        let range = TimeRange::new(begin, end);
        Self { range, span, year, month, day, hour: hour as u8 }
    }

    /// Its name, which is that of its directory: `2026-11`, `2026-11-30`, `2026-11-30T14`, `2026`.
    pub fn name(&self) -> String {
        let Self { year, month, day, hour, .. } = self;
        match self.span {
            PartitionSpan::Hour => format!("{year:04}-{month:02}-{day:02}T{hour:02}"),
            PartitionSpan::Day => format!("{year:04}-{month:02}-{day:02}"),
            PartitionSpan::Month => format!("{year:04}-{month:02}"),
            PartitionSpan::Year => format!("{year:04}"),
        }
    }
}

/// Nanoseconds of an hour of a day, cut to the range of timestamps.
fn hours(days: i64, hour: i64) -> i64 {
    let nanos = i128::from(days) * i128::from(DAY_NS) + i128::from(hour) * i128::from(HOUR_NS);
    i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::{DAY_NS, Partition, PartitionSpan, civil_from_days, days_from_civil};

    const SPANS: [PartitionSpan; 4] =
        [PartitionSpan::Hour, PartitionSpan::Day, PartitionSpan::Month, PartitionSpan::Year];

    #[test]
    fn days_count_as_the_calendar_does() {
        // The plain twin: one day after the other.
        let (mut year, mut month, mut day) = (1677i64, 1u8, 1u8);
        for days in days_from_civil(1677, 1, 1)..days_from_civil(2263, 1, 1) {
            assert_eq!(civil_from_days(days), (year, month, day));
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + u8::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            (month, day) = if day == length { (month + 1, 1) } else { (month, day + 1) };
            (year, month) = if month == 13 { (year + 1, 1) } else { (year, month) };
        }
        assert_eq!(days_from_civil(1970, 1, 1), 0);
    }

    #[test]
    fn partitions_have_names_and_edges() {
        let at = days_from_civil(2026, 11, 30) * DAY_NS + DAY_NS / 2 + 1;
        let names = SPANS.map(|span| Partition::of(span, at).name());
        assert_eq!(names, ["2026-11-30T12", "2026-11-30", "2026-11", "2026"]);
        let november = Partition::of(PartitionSpan::Month, at).range;
        assert_eq!(november.begin, days_from_civil(2026, 11, 1) * DAY_NS);
        assert_eq!(november.end, days_from_civil(2026, 12, 1) * DAY_NS);
        assert_eq!(Partition::of(PartitionSpan::Month, -1).name(), "1969-12");
        assert_eq!(Partition::of(PartitionSpan::Year, i64::MIN).range.begin, i64::MIN);
        assert_eq!(Partition::of(PartitionSpan::Year, i64::MAX).range.end, i64::MAX);
    }

    proptest! {
        #[test]
        fn partitions_tile_all_of_time(at in any::<i64>()) {
            for span in SPANS {
                let partition = Partition::of(span, at);
                let range = partition.range;
                assert!(range.contains(at) || at == i64::MAX);
                let first = Partition::of(span, range.begin);
                assert_eq!((first.range, first.name()), (range, partition.name()));
                if range.end < i64::MAX {
                    assert_eq!(Partition::of(span, range.end).range.begin, range.end);
                }
            }
        }
    }
}
