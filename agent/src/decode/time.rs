//! A payload's own time: an epoch by its magnitude, or a text with a zone.
//!
//! Times without a zone are not trusted. Fractions of a second are read as decimals, never through
//! binary64, so that `1790000047.31` is exactly that instant.

/// What a value under a time key says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PayloadTime {
    /// Nanoseconds since the epoch.
    At(i64),
    /// No time that can be placed: no zone, no number, beyond the range.
    None,
}

/// An epoch number: seconds, milliseconds, microseconds or nanoseconds by magnitude.
///
/// Below 10^11 it is seconds (until the year 5138), below 10^14 milliseconds, below 10^17
/// microseconds, else nanoseconds.
pub(super) fn from_number(lexeme: &str) -> PayloadTime {
    epoch_ns(lexeme).map_or(PayloadTime::None, PayloadTime::At)
}

/// An epoch number in a text, or a date and time with a zone or `Z`.
pub(super) fn from_text(text: &str) -> PayloadTime {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return from_number(text);
    }
    match text.parse::<jiff::Timestamp>() {
        Ok(timestamp) => i64::try_from(timestamp.as_nanosecond()).map_or(PayloadTime::None, PayloadTime::At),
        Err(_) => PayloadTime::None,
    }
}

fn epoch_ns(lexeme: &str) -> Option<i64> {
    if lexeme.contains(['e', 'E']) {
        return from_float(lexeme);
    }
    let negative = lexeme.starts_with('-');
    let unsigned = lexeme.strip_prefix(['-', '+']).unwrap_or(lexeme);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let whole: i128 = whole.parse().ok()?;
    let digits = unit_digits(whole);
    // Digits of the fraction below the nanosecond are cut.
    let mut nanos = whole.checked_mul(10_i128.pow(digits))?;
    let mut factor = 10_i128.pow(digits);
    for byte in fraction.bytes() {
        if !byte.is_ascii_digit() {
            return None;
        }
        factor /= 10;
        nanos = nanos.checked_add(i128::from(byte - b'0') * factor)?;
    }
    i64::try_from(if negative { -nanos } else { nanos }).ok()
}

/// Decimal digits between the unit of `whole` and the nanosecond.
fn unit_digits(whole: i128) -> u32 {
    let bounds = [(100_000_000_000, 9), (100_000_000_000_000, 6), (100_000_000_000_000_000, 3)];
    bounds.iter().find(|(bound, _)| whole < *bound).map_or(0, |(_, digits)| *digits)
}

/// A number in scientific notation; its precision is that of binary64.
fn from_float(lexeme: &str) -> Option<i64> {
    let float: f64 = lexeme.parse().ok()?;
    if !float.is_finite() || float.abs() >= 1e19 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounded to 10^19 just above")]
    let whole = float.trunc() as i128;
    whole.checked_mul(10_i128.pow(unit_digits(whole.abs()))).and_then(|nanos| i64::try_from(nanos).ok())
}

#[cfg(test)]
mod tests {
    use super::{PayloadTime, from_number, from_text};

    #[test]
    fn magnitude_gives_the_unit() {
        for (lexeme, expected) in [
            ("1790000047", 1_790_000_047_000_000_000),
            ("1790000047.31", 1_790_000_047_310_000_000),
            ("1790000047123", 1_790_000_047_123_000_000),
            ("1790000047123.5", 1_790_000_047_123_500_000),
            ("1790000047123456", 1_790_000_047_123_456_000),
            ("1790000047123456789", 1_790_000_047_123_456_789),
            ("1790000047.1234567899", 1_790_000_047_123_456_789),
            ("1.790000047e9", 1_790_000_047_000_000_000),
            ("-5", -5_000_000_000),
            ("0", 0),
        ] {
            assert_eq!(from_number(lexeme), PayloadTime::At(expected), "{lexeme}");
        }
        for wrong in ["99999999999999999999", "1e40", "abc"] {
            assert_eq!(from_number(wrong), PayloadTime::None, "{wrong}");
        }
    }

    #[test]
    fn texts_need_a_zone() {
        let expected = PayloadTime::At(1_796_022_845_000_000_000);
        for text in [
            "2026-11-30T08:14:05+01:00",
            "2026-11-30T07:14:05Z",
            "2026-11-30T07:14:05.000Z",
            "2026-11-30 08:14:05+01",
            "1796022845",
            "1796022845.000",
            "1796022845000",
        ] {
            assert_eq!(from_text(text), expected, "{text}");
        }
        assert_eq!(from_text("2026-11-30T07:14:05.912345678Z"), PayloadTime::At(1_796_022_845_912_345_678));
        for text in ["2026-11-30T08:14:05", "2026-11-30 08:14:05", "12T03:44:10", "", "yesterday", "1.2.3"] {
            assert_eq!(from_text(text), PayloadTime::None, "{text}");
        }
    }
}
