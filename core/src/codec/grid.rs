//! Number grids: exact ways from a float to an integer and back.
//!
//! A sensor reading is nearly always a decimal text turned into binary64. On its grid it is a small
//! integer again: `21.57 = 2157 / 10^2`. A value is *on* a grid only if the way back gives the same bits,
//! so NaN, infinities and -0.0 are on none. The way back is one correctly rounded division (plus, for
//! a single-precision grid, one rounding to binary32), the same on every machine.

/// The most decimals of a grid.
pub const DECIMALS_MAX: u8 = 15;

/// The largest integer of a grid: every integer up to it is a binary64.
pub const INTEGER_MAX: i64 = 1 << 53;

/// Decimal numbers of up to 15 digits come back from binary64 (its `DBL_DIG` in C).
const DIGITS_15: u64 = 1_000_000_000_000_000;

/// Powers of ten; all are exact.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// 10 to the power `decimals`; `None` above [`DECIMALS_MAX`].
pub(super) fn power(decimals: u8) -> Option<f64> {
    POWERS.get(usize::from(decimals)).copied()
}

/// The integer nearest to `x`, halves to the even one; `None` if its size is over [`INTEGER_MAX`].
pub(super) fn nearest(x: f64) -> Option<i64> {
    (x.abs() <= INTEGER_MAX as f64).then(|| round(x) as i64)
}

/// The whole number nearest to `x`, halves to the even one, as a float without a negative zero.
pub(super) fn round(x: f64) -> f64 {
    const UNIT: f64 = (1_u64 << 52) as f64;
    if x.abs() < UNIT {
        // Adding 2^52 with the sign of x leaves no bits for a fraction, and rounds as it does so.
        let shift = UNIT.copysign(x);
        x + shift - shift + 0.0
    } else {
        x
    }
}

/// A value's one integer on the grid of `decimals` decimals: [`from_decimal`] gives the same bits back for
/// it and for no other.
///
/// Beyond 15 digits a float has several integers on a grid with decimals, and which one is found would
/// depend on the grid: such a value is on none.
pub fn to_decimal(value: f64, decimals: u8) -> Option<i64> {
    let integer = to_power(value, power(decimals)?)?;
    (decimals == 0 || integer.unsigned_abs() <= DIGITS_15).then_some(integer)
}

/// The value of `integer` on the grid of `decimals` decimals: `integer / 10^decimals`, rounded once.
///
/// More decimals than [`DECIMALS_MAX`] count as that many.
pub fn from_decimal(integer: i64, decimals: u8) -> f64 {
    from_power(integer, power(decimals.min(DECIMALS_MAX)).unwrap_or(1.0))
}

/// The fewest decimals on whose grid all of `values` are; `None` where there are no such.
pub fn decimals_of(values: &[f64]) -> Option<u8> {
    let mut decimals = 0;
    for &value in values {
        while to_decimal(value, decimals).is_none() {
            decimals += 1;
            if decimals > DECIMALS_MAX {
                return None;
            }
        }
    }
    // A value with fewer decimals is on every finer grid, unless its integer gets too large there.
    values.iter().all(|&value| to_decimal(value, decimals).is_some()).then_some(decimals)
}

/// [`to_decimal`], with the power of ten at hand.
pub(super) fn to_power(value: f64, power: f64) -> Option<i64> {
    let integer = nearest(value * power)?;
    (from_power(integer, power).to_bits() == value.to_bits()).then_some(integer)
}

/// [`to_power`] for many values at once, as long as none is off the grid; whether that is so.
///
/// Without branches, so that the compiler works on several at a time. Integers over 2^51 count as off.
pub(super) fn all_to_power(values: &[f64], power: f64, integers: &mut [i64]) -> bool {
    all_to(values, power, integers, |quotient| quotient)
}

/// [`to_single`] likewise.
pub(super) fn all_to_single(values: &[f64], power: f64, integers: &mut [i64]) -> bool {
    all_to(values, power, integers, |quotient| f64::from(quotient as f32))
}

fn all_to(values: &[f64], power: f64, integers: &mut [i64], stored: impl Fn(f64) -> f64) -> bool {
    // A float of this size has a last place of 1, and its bits count whole numbers.
    const WHOLE: f64 = 1.5 * (1_u64 << 52) as f64;
    const LIMIT: f64 = (1_u64 << 51) as f64;
    let mut all = true;
    for (integer, &value) in integers.iter_mut().zip(values) {
        let multiple = value * power;
        let shifted = multiple + WHOLE;
        *integer = shifted.to_bits().wrapping_sub(WHOLE.to_bits()) as i64;
        let back = stored((shifted - WHOLE) / power);
        all &= (multiple.abs() < LIMIT) & (back.to_bits() == value.to_bits());
    }
    all
}

/// [`from_decimal`], with the power of ten at hand.
pub(super) fn from_power(integer: i64, power: f64) -> f64 {
    integer as f64 / power
}

/// [`to_decimal`] for values that went through binary32.
pub(super) fn to_single(value: f64, power: f64) -> Option<i64> {
    let integer = nearest(value * power)?;
    (from_single(integer, power).to_bits() == value.to_bits()).then_some(integer)
}

/// `integer / power`, rounded to binary64, then to binary32, then widened.
pub(super) fn from_single(integer: i64, power: f64) -> f64 {
    f64::from((integer as f64 / power) as f32)
}

/// A float's bits as an integer of the same order: smaller floats have smaller integers.
pub(super) const fn ordered(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    // Negative floats count downwards: all bits but the sign are inverted.
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// Undoes [`ordered`].
pub(super) const fn from_ordered(order: i64) -> f64 {
    f64::from_bits((order ^ ((order >> 63) as u64 >> 1) as i64) as u64)
}

#[cfg(test)]
mod tests {
    use super::{DECIMALS_MAX, decimals_of, from_decimal, from_ordered, nearest, ordered, to_decimal};
    use proptest::prelude::*;

    #[test]
    fn decimal_texts_are_on_their_grid() {
        for (text, decimals, integer) in [
            ("21.57", 2, 2157),
            ("-0.1", 1, -1),
            ("0", 0, 0),
            ("0.123456789012345", 15, 123_456_789_012_345),
            ("9007199254740992", 0, 1 << 53),
            ("-9007199254740991", 0, -((1 << 53) - 1)),
        ] {
            let value: f64 = text.parse().unwrap();
            assert_eq!(to_decimal(value, decimals), Some(integer), "{text}");
            assert_eq!(decimals_of(&[value]), Some(decimals), "{text}");
            assert_eq!(from_decimal(integer, decimals).to_bits(), value.to_bits(), "{text}");
        }
    }

    #[test]
    fn special_values_are_on_no_grid() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, 1e300, 1.0 / 3.0] {
            for decimals in 0..=DECIMALS_MAX {
                assert_eq!(to_decimal(value, decimals), None, "{value}");
            }
            assert_eq!(decimals_of(&[1.5, value]), None);
        }
        assert_eq!(to_decimal(1.0, DECIMALS_MAX + 1), None);
        assert_eq!(decimals_of(&[]), Some(0));
        assert_eq!(decimals_of(&[1.0, 2.5, 0.25]), Some(2));
        // 2^53 is whole, but has no integer on the grid that 0.1 needs.
        assert_eq!(decimals_of(&[9_007_199_254_740_992.0, 0.1]), None);
    }

    #[test]
    fn halves_go_to_the_even_integer() {
        let cases = [(0.5, 0), (1.5, 2), (-0.5, 0), (-2.5, -2), (2.5, 2), (0.49, 0), (-0.51, -1)];
        for (x, integer) in cases {
            assert_eq!(nearest(x), Some(integer), "{x}");
        }
        assert_eq!(nearest(4_503_599_627_370_495.5), Some(1 << 52));
        assert_eq!(nearest(9_007_199_254_740_994.0), None);
        assert_eq!(nearest(f64::NAN), None);
    }

    #[test]
    fn order_of_bits_is_order_of_values() {
        let values = [f64::NEG_INFINITY, -1.5, -5e-324, -0.0, 0.0, 5e-324, 1.5, f64::INFINITY];
        assert!(values.windows(2).all(|pair| ordered(pair[0]) < ordered(pair[1])));
        assert_eq!(ordered(0.0), 0);
    }

    #[test]
    fn a_finer_grid_has_ten_times_the_integer_or_none() {
        for value in [-331_385.039_087_519_2, 873_810.730_316_539, 0.1, 123_456_789.012_345, 5e14, 4e15] {
            let on: Vec<_> = (0..=DECIMALS_MAX).filter_map(|k| Some((k, to_decimal(value, k)?))).collect();
            for pair in on.windows(2) {
                assert_eq!((pair[1].0, pair[1].1), (pair[0].0 + 1, pair[0].1 * 10), "{value}");
            }
        }
    }

    proptest! {
        #[test]
        fn grid_integers_come_back(integer in -(1_i64 << 49)..1 << 49, decimals in 0..=DECIMALS_MAX) {
            prop_assert_eq!(to_decimal(from_decimal(integer, decimals), decimals), Some(integer));
        }

        #[test]
        fn whatever_is_on_a_grid_has_the_same_bits(bits in any::<u64>(), decimals in 0..=DECIMALS_MAX) {
            let value = f64::from_bits(bits);
            if let Some(integer) = to_decimal(value, decimals) {
                prop_assert_eq!(from_decimal(integer, decimals).to_bits(), bits);
            }
            prop_assert_eq!(from_ordered(ordered(value)).to_bits(), bits);
        }

        #[test]
        fn many_at_once_are_as_one_by_one(
            numbers in proptest::collection::vec(-(1_i64 << 52)..1 << 52, 1..70),
            shift in 0_u32..52,
            decimals in 0..=6_u8,
            special in 0..200_usize,
        ) {
            let power = super::power(decimals).unwrap();
            let mut values: Vec<f64> =
                numbers.iter().map(|&number| from_decimal(number >> shift, decimals)).collect();
            if let Some(value) = values.get_mut(special) {
                *value = [f64::NAN, -0.0, f64::INFINITY, 0.3333, 1e300][special % 5];
            }
            let mut integers = vec![0; values.len()];
            let all = super::all_to_power(&values, power, &mut integers);
            let one_by_one: Vec<_> = values.iter().map(|&value| super::to_power(value, power)).collect();
            let small = |integer: &Option<i64>| integer.is_some_and(|integer| integer.abs() < 1 << 51);
            if all {
                prop_assert_eq!(integers.into_iter().map(Some).collect::<Vec<_>>(), one_by_one);
            } else {
                prop_assert!(!one_by_one.iter().all(small));
            }
            let singles: Vec<f64> = values.iter().map(|&value| f64::from(value as f32)).collect();
            let mut integers = vec![0; values.len()];
            if super::all_to_single(&singles, power, &mut integers) {
                let one_by_one = singles.iter().map(|&value| super::to_single(value, power));
                prop_assert!(integers.into_iter().map(Some).eq(one_by_one));
            }
        }

        #[test]
        fn nearest_is_nearest(x in -9e15_f64..9e15, scale in 0..16_i32) {
            let x = x / 10_f64.powi(scale);
            prop_assert_eq!(nearest(x), Some(x.round_ties_even() as i64));
        }
    }
}
