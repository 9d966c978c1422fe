//! What coder and decoder of the reference table share: flags, the code of a number, and predictors.

use crate::tree::number::{Number, from_ordered_bits, ordered_bits};
use crate::tree::sums::{Sums, on_grid, power_of_ten};

pub(super) const SERIES: u64 = 1 << 0;
pub(super) const LEVEL: u64 = 1 << 1;
pub(super) const NUMBERS: u64 = 1 << 2;
pub(super) const WORDS: u64 = 1 << 3;
pub(super) const GAPS: u64 = 1 << 4;
pub(super) const RESETS: u64 = 1 << 5;
pub(super) const CHANGES: u64 = 1 << 6;
pub(super) const EXPLICIT: u64 = 1 << 7;
pub(super) const TAGS: u64 = 1 << 8;
#[cfg_attr(not(feature = "alloc"), expect(dead_code, reason = "what reads needs a heap"))]
pub(super) const KNOWN: u64 = (1 << 9) - 1;

/// The form of sums on no grid.
pub(super) const ROUNDED: u8 = 16;

/// The form of `sums`, provided that `numbers` lie on its grid.
pub(super) fn form_of(sums: &Sums, numbers: &[Number; 4]) -> u8 {
    match *sums {
        Sums::Exact { decimals, .. } if numbers.iter().all(|number| on_grid(*number, decimals).is_some()) => {
            decimals
        }
        _ => ROUNDED,
    }
}

/// Whether `number` needs its tag in `form`.
pub(super) fn tag_of(number: Number, form: u8) -> bool {
    form == ROUNDED && matches!(number, Number::Integer(_))
}

/// The integer that stands for `number` in `form`.
pub(super) fn code_of(number: Number, form: u8) -> i64 {
    match number {
        Number::Integer(integer) => integer,
        Number::Float(float) if form == ROUNDED => ordered_bits(float),
        Number::Float(_) => on_grid(number, form).unwrap_or(0),
    }
}

/// The number that `code` stands for in `form`.
#[cfg_attr(not(feature = "alloc"), expect(dead_code, reason = "what reads needs a heap"))]
pub(super) fn number_of(code: i64, form: u8, tagged: bool) -> Number {
    if tagged {
        return Number::Integer(code);
    }
    if form == ROUNDED {
        return Number::Float(from_ordered_bits(code));
    }
    match Number::from_integer(code) {
        Number::Float(grid) => Number::Float(grid / power_of_ten(form) as f64),
        integer => integer,
    }
}

/// What the sum of numbers between `min` and `max` is expected to be.
pub(super) fn expected_sum(count: u64, min: i64, max: i64) -> i128 {
    i128::from(count).wrapping_mul(i128::from(min) + i128::from(max)) >> 1
}

/// The least sum of squares that `count` numbers with this sum can have; 0 where it overflows.
pub(super) fn expected_squares(count: u64, sum: i128) -> i128 {
    let count = i128::from(count.max(1));
    sum.checked_mul(sum).map_or(0, |square| square.div_euclid(count))
}

/// Keeps the smaller of two codes below the larger.
pub(super) fn sorted(a: i64, b: i64) -> (i64, i64) {
    if a <= b { (a, b) } else { (b, a) }
}
