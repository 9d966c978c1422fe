//! The head line: the unit of time and the names of the series.

use siltstone_core::series::SeriesName;

/// The unit of the first column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl TimeUnit {
    const HEADS: [(&'static str, Self); 4] = [
        ("timestamp_s", Self::Seconds),
        ("timestamp_ms", Self::Milliseconds),
        ("timestamp_us", Self::Microseconds),
        ("timestamp_ns", Self::Nanoseconds),
    ];

    /// The unit that a first column's head names.
    pub fn from_head(head: &str) -> Option<Self> {
        Self::HEADS.iter().find(|(name, _)| *name == head).map(|(_, unit)| *unit)
    }

    /// Decimal digits between the unit and the nanosecond.
    fn digits(self) -> usize {
        match self {
            Self::Seconds => 9,
            Self::Milliseconds => 6,
            Self::Microseconds => 3,
            Self::Nanoseconds => 0,
        }
    }

    /// Nanoseconds of an instant in this unit, read as a decimal number; `None` where it is none,
    /// is finer than a nanosecond, or does not fit.
    pub fn read(self, text: &str) -> Option<i64> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if fraction.len() > self.digits() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let scale = |digits: usize| 10_i64.checked_pow(u32::try_from(digits).ok()?);
        let nanos = whole.parse::<i64>().ok()?.checked_mul(scale(self.digits())?)?;
        if fraction.is_empty() {
            return Some(nanos);
        }
        let part = fraction.parse::<i64>().ok()?.checked_mul(scale(self.digits() - fraction.len())?)?;
        if whole.starts_with('-') { nanos.checked_sub(part) } else { nanos.checked_add(part) }
    }
}

/// How the heads of columns become names.
#[derive(Clone, Debug, Default)]
pub struct ColumnRules {
    /// Put before each column's head, with `_` between.
    pub metric: Option<String>,
    /// Tags for every series.
    pub tags: Vec<(String, String)>,
}

impl ColumnRules {
    /// The series of a column: its head as a metric, or a whole name where it is written as one.
    ///
    /// # Errors
    ///
    /// The reason in words.
    pub fn series(&self, head: &str) -> Result<SeriesName, String> {
        let extra = || self.tags.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let named = if head.contains('{') { SeriesName::parse(head).ok() } else { None };
        let result = match (&self.metric, named) {
            (Some(metric), _) => SeriesName::new(&format!("{metric}_{head}"), extra()),
            (None, None) => SeriesName::new(head, extra()),
            (None, Some(name)) => {
                let own: Vec<_> =
                    name.tags().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
                let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                SeriesName::new(&name.metric(), own.chain(extra()))
            }
        };
        result.map_err(|error| format!("the column `{head}` can't name a series: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnRules, TimeUnit};

    #[test]
    fn instants_are_exact() {
        for (unit, text, expected) in [
            (TimeUnit::Seconds, "1700000000", Some(1_700_000_000_000_000_000)),
            (TimeUnit::Seconds, "-1.5", Some(-1_500_000_000)),
            (TimeUnit::Seconds, "-0.5", Some(-500_000_000)),
            (TimeUnit::Milliseconds, "1700000000000.25", Some(1_700_000_000_000_250_000)),
            (TimeUnit::Nanoseconds, "9223372036854775807", Some(i64::MAX)),
            (TimeUnit::Nanoseconds, "1.5", None),
            (TimeUnit::Seconds, "9223372036854775807", None),
            (TimeUnit::Seconds, "", None),
            (TimeUnit::Seconds, "1e9", None),
            (TimeUnit::Seconds, "1.x", None),
        ] {
            assert_eq!(unit.read(text), expected, "{text}");
        }
        assert_eq!(TimeUnit::from_head("timestamp_us"), Some(TimeUnit::Microseconds));
        assert_eq!(TimeUnit::from_head("time"), None);
    }

    #[test]
    fn columns_name_series() {
        let plain = ColumnRules::default();
        assert_eq!(plain.series("cpu").unwrap().as_str(), "cpu");
        assert_eq!(plain.series("soil moisture").unwrap().as_str(), r#"{"soil moisture"}"#);
        assert_eq!(plain.series(r#"a{device="x"}"#).unwrap().as_str(), r#"a{device="x"}"#);
        assert_eq!(plain.series(r#"{"soil moisture"}"#).unwrap().as_str(), r#"{"soil moisture"}"#);
        assert_eq!(plain.series("odd{name").unwrap().as_str(), r#"{"odd{name"}"#);
        let rules =
            ColumnRules { metric: Some("node".to_owned()), tags: vec![("host".to_owned(), "gw".to_owned())] };
        assert_eq!(rules.series("cpu").unwrap().as_str(), r#"node_cpu{host="gw"}"#);
        let tagged = ColumnRules { metric: None, ..rules };
        assert_eq!(tagged.series(r#"a{b="c"}"#).unwrap().as_str(), r#"a{b="c",host="gw"}"#);
        assert!(tagged.series(r#"a{host="x"}"#).is_err());
        assert!(plain.series("").is_err());
    }
}
