//! One text to a value: a number, a number with its unit, a word of a pair, a state, a gap.
//!
//! Texts that would make a state series of endless states (times, long texts, lines of a log) are
//! refused with their reason.

use super::number::{self, Numeric};
use super::rejection::Reason;

/// Bytes of the longest state.
const STATE_BYTES_MAX: usize = 64;

/// Words of two-state devices. Each makes a boolean.
const PAIRS: [(&str, bool); 12] = [
    ("true", true),
    ("false", false),
    ("on", true),
    ("off", false),
    ("open", true),
    ("closed", false),
    ("online", true),
    ("offline", false),
    ("yes", true),
    ("no", false),
    ("connected", true),
    ("disconnected", false),
];

/// Words that say that there is no value.
const GAPS: [&str; 7] = ["unavailable", "unknown", "nan", "-nan", "none", "null", "n/a"];

/// Units that may follow a number.
const UNITS: [&str; 58] = [
    "%", "°C", "°F", "K", "C", "F", "V", "mV", "kV", "A", "mA", "W", "kW", "MW", "mW", "Wh", "kWh", "MWh",
    "VA", "kVA", "var", "kvar", "Hz", "kHz", "MHz", "Pa", "hPa", "kPa", "mbar", "bar", "psi", "mm", "cm",
    "m", "km", "m/s", "km/h", "mph", "l", "L", "ml", "l/h", "l/min", "m³", "m3", "m³/h", "g", "kg", "lx",
    "lux", "dB", "dBm", "ppm", "ppb", "µg/m³", "s", "ms", "rpm",
];

/// What one text says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar<'a> {
    /// A number, and the unit that stood behind it.
    Number(Numeric, Option<&'static str>),
    /// A word of a pair.
    Boolean(bool, &'a str),
    /// Another short word.
    State(&'a str),
    /// No value.
    Gap,
    /// Nothing that is stored.
    Unusable(Reason),
}

/// Reads one text, the spaces and zero bytes around it left out.
pub(super) fn read(text: &str) -> Scalar<'_> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    if let Some(number) = number::from_text(text) {
        return Scalar::Number(number, None);
    }
    if text.is_empty() || GAPS.iter().any(|word| word.eq_ignore_ascii_case(text)) {
        return Scalar::Gap;
    }
    let infinity = text.strip_prefix(['+', '-']).unwrap_or(text);
    if infinity.eq_ignore_ascii_case("inf") || infinity.eq_ignore_ascii_case("infinity") {
        return Scalar::Gap;
    }
    if let Some((_, value)) = PAIRS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)) {
        return Scalar::Boolean(*value, text);
    }
    if let Some((number, unit)) = with_unit(text) {
        return Scalar::Number(number, Some(unit));
    }
    if text.len() > STATE_BYTES_MAX {
        return Scalar::Unusable(Reason::LongText);
    }
    if text.contains(char::is_control) {
        return Scalar::Unusable(Reason::ControlText);
    }
    if looks_like_time(text) {
        return Scalar::Unusable(Reason::TimeText);
    }
    Scalar::State(text)
}

/// A number directly followed by, or one space before, a unit that is known.
fn with_unit(text: &str) -> Option<(Numeric, &'static str)> {
    let by_unit = UNITS.iter().filter_map(|unit| Some((text.strip_suffix(unit)?, *unit)));
    let (number, unit) = by_unit.max_by_key(|(_, unit)| unit.len())?;
    let number = number.strip_suffix(' ').unwrap_or(number);
    Some((number::from_text(number)?, unit))
}

/// Whether a text begins with a calendar date or a time of the day.
fn looks_like_time(text: &str) -> bool {
    let shape: String = text.chars().take(10).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape.starts_with("0000-00-00")
        || shape.starts_with("0000/00/00")
        || shape.starts_with("00.00.0000")
        || shape.starts_with("00:00:00")
        || shape.starts_with("00T00:00")
        || shape.starts_with("0T00:00")
}

#[cfg(test)]
mod tests {
    use super::{Numeric, Reason, Scalar, read};

    #[test]
    fn numbers_in_text() {
        for (text, expected) in
            [("23.7", 23.7), (" 23.7\n", 23.7), ("1e3", 1000.0), ("+5", 5.0), ("21.5\0", 21.5)]
        {
            assert_eq!(read(text), Scalar::Number(Numeric::Float(expected), None), "{text:?}");
        }
    }

    #[test]
    fn numbers_with_units() {
        for (text, number, unit) in [
            ("21.5 °C", 21.5, "°C"),
            ("85%", 85.0, "%"),
            ("3.005 V", 3.005, "V"),
            ("0.185s", 0.185, "s"),
            ("12 m3", 12.0, "m3"),
            ("7kWh", 7.0, "kWh"),
        ] {
            assert_eq!(read(text), Scalar::Number(Numeric::Float(number), Some(unit)), "{text}");
        }
        for text in ["5 apples", "V", "12 T", "1.2.3 V", "007 V", "21,5", "21,5 °C"] {
            assert_eq!(read(text), Scalar::State(text), "{text}");
        }
    }

    #[test]
    fn words() {
        assert_eq!(read("ON"), Scalar::Boolean(true, "ON"));
        assert_eq!(read("Offline"), Scalar::Boolean(false, "Offline"));
        for text in ["unavailable", "unknown", "nan", "NaN", "None", "", "  ", "\0", "-inf", "Infinity"] {
            assert_eq!(read(text), Scalar::Gap, "{text:?}");
        }
        for text in ["heating", "0x1F", "1.2.3", "007", "1E5", "10.20.0.31", "MultiPlus-II"] {
            assert_eq!(read(text), Scalar::State(text), "{text}");
        }
    }

    #[test]
    fn texts_that_are_not_kept() {
        assert_eq!(read(&"x".repeat(65)), Scalar::Unusable(Reason::LongText));
        assert_eq!(read("\u{1b}[0;32m[I] boot"), Scalar::Unusable(Reason::ControlText));
        for text in ["2026-11-30T08:14:05", "2026-11-30 08:14", "08:14:05", "0T00:00:08", "12T03:44:10"] {
            assert_eq!(read(text), Scalar::Unusable(Reason::TimeText), "{text}");
        }
    }
}
