//! Times as people and programs write them.
//!
//! In: RFC 3339 with an offset or `Z`, a date alone (its first instant, UTC), or whole nanoseconds
//! since the epoch. Out: nanoseconds for programs, RFC 3339 in UTC for people.

use jiff::Timestamp;

use crate::config::parse_duration_ns;

/// Nanoseconds of an instant.
///
/// # Errors
///
/// The reason in words.
pub fn parse_instant(text: &str) -> Result<i64, String> {
    let text = text.trim();
    if let Ok(nanos) = text.parse::<i64>() {
        return Ok(nanos);
    }
    let instant =
        text.parse::<Timestamp>().or_else(|error| format!("{text}T00:00:00Z").parse().map_err(|_| error));
    let nanos = instant.map_err(|_| {
        format!("`{text}` is no time; write RFC 3339 such as 2026-11-30T08:00:00Z, or nanoseconds since 1970")
    })?;
    i64::try_from(nanos.as_nanosecond()).map_err(|_| format!("`{text}` is outside of the years 1678 to 2262"))
}

/// Nanoseconds of a step: a duration such as `10m`, or whole nanoseconds; more than none.
///
/// # Errors
///
/// The reason in words.
pub fn parse_step(text: &str) -> Result<i64, String> {
    let nanos = match text.trim().parse::<i64>() {
        Ok(nanos) => nanos,
        Err(_) => parse_duration_ns(text)?,
    };
    if nanos <= 0 {
        return Err(format!("`{text}` is no step: it must be longer than nothing"));
    }
    Ok(nanos)
}

/// RFC 3339 in UTC, as many decimals as it takes.
pub fn format_instant(nanos: i64) -> String {
    match Timestamp::from_nanosecond(i128::from(nanos)) {
        Ok(instant) => instant.to_string(),
        Err(_) => nanos.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{format_instant, parse_instant, parse_step};

    #[test]
    fn instants() {
        let expected = Ok(1_796_022_845_000_000_000);
        for text in [
            "2026-11-30T07:14:05Z",
            "2026-11-30T08:14:05+01:00",
            "1796022845000000000",
            " 2026-11-30T07:14:05Z ",
        ] {
            assert_eq!(parse_instant(text), expected, "{text}");
        }
        assert_eq!(parse_instant("2026-11-30"), parse_instant("2026-11-30T00:00:00Z"));
        assert_eq!(parse_instant("-5"), Ok(-5));
        for wrong in ["yesterday", "", "2026-13-01", "2026-11-30T07:14:05", "1e9", "9999-01-01T00:00:00Z"] {
            assert!(parse_instant(wrong).is_err(), "{wrong}");
        }
        assert_eq!(format_instant(1_796_022_845_000_000_001), "2026-11-30T07:14:05.000000001Z");
        for nanos in [i64::MIN, i64::MAX, 0, -1] {
            assert_eq!(parse_instant(&format_instant(nanos)), Ok(nanos));
        }
    }

    #[test]
    fn steps() {
        assert_eq!(parse_step("10m"), Ok(600_000_000_000));
        assert_eq!(parse_step("1000"), Ok(1000));
        for wrong in ["0s", "0", "-5", "", "fast"] {
            assert!(parse_step(wrong).is_err(), "{wrong}");
        }
    }
}
