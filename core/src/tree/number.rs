//! A number as summaries keep it: binary64, or an integer that binary64 can't hold.
//!
//! Every whole number up to 2^53 is a `Float`, so that equal numbers have one form. NaN is never
//! kept in a summary; comparisons are exact across both forms.

use core::cmp::Ordering;

/// Whole numbers up to this size are floats.
pub const FLOAT_EXACT_MAX: u64 = 1 << 53;

/// A number that is not NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Binary64.
    Float(f64),
    /// An integer beyond ±2^53.
    Integer(i64),
}

impl Number {
    /// The one form of `integer`.
    pub fn from_integer(integer: i64) -> Self {
        if integer.unsigned_abs() <= FLOAT_EXACT_MAX {
            Self::Float(integer as f64)
        } else {
            Self::Integer(integer)
        }
    }

    /// The nearest binary64.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Float(float) => float,
            Self::Integer(integer) => integer as f64,
        }
    }

    /// Exact order; −0.0 equals 0.0.
    pub fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            (Self::Integer(a), Self::Integer(b)) => a.cmp(&b),
            (Self::Float(a), Self::Integer(b)) => float_to_integer(a, b),
            (Self::Integer(a), Self::Float(b)) => float_to_integer(b, a).reverse(),
        }
    }

    /// Whether `self` is strictly below `other`.
    pub fn below(self, other: Self) -> bool {
        self.order(other) == Ordering::Less
    }
}

/// Order of a float against an integer beyond ±2^53; there, a float with the same whole part has no fraction.
fn float_to_integer(float: f64, integer: i64) -> Ordering {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if float >= LIMIT {
        Ordering::Greater
    } else if float < -LIMIT {
        Ordering::Less
    } else {
        (float as i64).cmp(&integer)
    }
}

/// Bits of `float` as an integer that sorts like the numbers: an involution of the bit patterns.
pub(super) fn ordered_bits(float: f64) -> i64 {
    flip(float.to_bits() as i64)
}

/// The float of `ordered` bits.
pub(super) fn from_ordered_bits(ordered: i64) -> f64 {
    f64::from_bits(flip(ordered) as u64)
}

fn flip(bits: i64) -> i64 {
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests {
    use super::{Number, from_ordered_bits, ordered_bits};
    use core::cmp::Ordering;

    #[test]
    fn order_is_exact_across_forms() {
        let big = Number::from_integer((1 << 53) + 1);
        assert_eq!(big, Number::Integer((1 << 53) + 1));
        assert_eq!(Number::Float(9_007_199_254_740_992.0).order(big), Ordering::Less);
        assert_eq!(Number::Float(9_007_199_254_740_994.0).order(big), Ordering::Greater);
        assert_eq!(Number::Float(f64::INFINITY).order(Number::Integer(i64::MAX)), Ordering::Greater);
        assert_eq!(Number::Integer(i64::MIN + 1).order(Number::Float(f64::NEG_INFINITY)), Ordering::Greater);
        assert_eq!(Number::from_integer(3), Number::Float(3.0));
    }

    #[test]
    fn ordered_bits_sort_like_numbers() {
        let numbers = [f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, -0.0, 0.0, 5e-324, 1.0, f64::INFINITY];
        for pair in numbers.windows(2) {
            assert!(ordered_bits(pair[0]) < ordered_bits(pair[1]), "{pair:?}");
        }
        for number in numbers.into_iter().chain([f64::NAN, -f64::NAN]) {
            assert_eq!(from_ordered_bits(ordered_bits(number)).to_bits(), number.to_bits());
        }
    }
}
