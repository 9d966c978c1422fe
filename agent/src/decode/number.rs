//! Numbers as text: the exact kind, and what only looks like a number.
//!
//! Payload text is full of things made of digits that are no measurements: versions, phone numbers,
//! hexadecimal ids, ids with leading zeros. A text is a number only if all of it is one and it is
//! written the way sensors write numbers.

use siltstone_core::point::Value;

/// What a text of digits is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Numeric {
    /// A number that binary64 holds, or the nearest one of a decimal fraction.
    Float(f64),
    /// A whole number that binary64 can't hold.
    Integer(i64),
    /// A number too large for either.
    OutOfRange,
}

/// The number that the whole of `text` is; `None` if it is none.
///
/// Allowed: a sign, digits without leading zeros, a fraction, a small `e` and an exponent. A capital
/// `E` counts only after a fraction or before a signed exponent: `1E5` is more often an id.
pub(super) fn from_text(text: &str) -> Option<Numeric> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (unsigned.get(..at)?, Some(unsigned.get(at..)?)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !(digits(whole) || (whole.is_empty() && fraction.is_some())) {
        return None;
    }
    if whole.len() > 1 && whole.starts_with('0') {
        return None;
    }
    if !fraction.is_none_or(digits) {
        return None;
    }
    if let Some(exponent) = exponent {
        let power = exponent.get(1..)?;
        let bare = power.strip_prefix(['+', '-']).unwrap_or(power);
        let signed = bare.len() < power.len();
        if !digits(bare) || (exponent.starts_with('E') && !signed && fraction.is_none()) {
            return None;
        }
    }
    Some(from_lexeme(text, fraction.is_none() && exponent.is_none()))
}

/// The number of a JSON lexeme, whose grammar has been checked.
pub(super) fn from_json(lexeme: &str) -> Numeric {
    from_lexeme(lexeme, !lexeme.contains(['.', 'e', 'E']))
}

fn from_lexeme(text: &str, whole: bool) -> Numeric {
    if whole && let Ok(integer) = text.parse::<i64>() {
        // A minus zero is a float; as an integer it would lose its sign.
        if integer == 0 && text.starts_with('-') {
            return Numeric::Float(-0.0);
        }
        return match Value::from_integer(integer) {
            Value::Integer(integer) => Numeric::Integer(integer),
            Value::Float(float) => Numeric::Float(float),
            _ => Numeric::OutOfRange,
        };
    }
    match text.parse::<f64>() {
        // A whole number beyond 64 bits must not be rounded in silence: only an exact one passes.
        Ok(float) if float.is_finite() && (!whole || is_exact(text, float)) => Numeric::Float(float),
        _ => Numeric::OutOfRange,
    }
}

/// Whether `float` is exactly the whole number that `text` writes.
fn is_exact(text: &str, float: f64) -> bool {
    // Printing a whole binary64 gives all its digits.
    format!("{float:.0}") == text.strip_prefix('+').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{Numeric, from_json, from_text};

    #[test]
    fn sensor_numbers_are_numbers() {
        for (text, expected) in [
            ("23.7", 23.7),
            ("1e3", 1000.0),
            ("+5", 5.0),
            ("-0.25", -0.25),
            (".5", 0.5),
            ("0", 0.0),
            ("1.5E+3", 1500.0),
            ("2.0E3", 2000.0),
            ("18446744073709551616", 18_446_744_073_709_551_616.0),
        ] {
            assert_eq!(from_text(text), Some(Numeric::Float(expected)), "{text}");
        }
        let Some(Numeric::Float(zero)) = from_text("-0") else { panic!("a float") };
        assert!(zero.is_sign_negative());
    }

    #[test]
    fn ids_and_versions_are_not() {
        for text in [
            "0x1F", "1.2.3", "007", "1E5", "", "+", "1e", "1_000", "5.", "e5", "--1", "1,5", "nan", "inf",
            " 1",
        ] {
            assert_eq!(from_text(text), None, "{text}");
        }
    }

    #[test]
    fn big_integers_stay_exact() {
        assert_eq!(from_json("9007199254740992"), Numeric::Float(9_007_199_254_740_992.0));
        assert_eq!(from_json("9007199254740993"), Numeric::Integer(9_007_199_254_740_993));
        assert_eq!(from_json("-9007199254740993"), Numeric::Integer(-9_007_199_254_740_993));
        assert_eq!(from_json("9223372036854775807"), Numeric::Integer(i64::MAX));
        assert_eq!(from_json("9223372036854775808"), Numeric::Float(9_223_372_036_854_775_808.0));
        assert_eq!(from_json("9223372036854775809"), Numeric::OutOfRange);
        assert_eq!(from_json("1e400"), Numeric::OutOfRange);
        assert_eq!(from_json("1e3"), Numeric::Float(1000.0));
    }
}
