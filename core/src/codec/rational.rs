//! Rational grids: values that are whole multiples of 1 / (m × 10^k), up to a few units in the last place.
//!
//! Means of three readings, `17.1666666666667`, are sixths; a percentage that went through a sum,
//! `49.538000000000004`, is a thousandth and a last bit. The integer on the grid gives a value near the
//! wanted one, by arithmetic that is the same on every machine; what is missing is listed as a
//! *correction*, a difference of [ordered bits](super::grid::ordered).
//!
//! ```text
//! head   multiplier m (varint, 1 to 65,535), decimals k (1, at most 9), rounding (1)
//!        rounding   6..0: 0 to 15 = decimals that the quotient was rounded to
//!                         16 = rounded to binary32, 17 = not rounded, others reserved
//!                   7: corrections follow the column
//! ```

use super::{
    CodecError, Defect,
    bytes::{Sink, Source},
    grid::{self, from_ordered, ordered, round},
    varint,
};

/// The most decimals of a rational grid.
pub(super) const RATIONAL_DECIMALS_MAX: u8 = 9;
/// Integers up to this size are sought; larger ones have no room for a correction to be small.
const INTEGER_MAX: f64 = (1_u64 << 52) as f64;
/// A correction of more bits is no correction.
const CORRECTION_MAX: u64 = 1 << 40;
const CORRECTED: u8 = 0x80;

/// What was done to a quotient before it was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Nothing.
    None,
    /// It was rounded to binary32.
    Single,
    /// It was rounded to so many decimals, at most 15.
    Decimals(u8),
}

impl Rounding {
    const SINGLE: u8 = 16;
    const NONE: u8 = 17;

    const fn code(self) -> u8 {
        match self {
            Self::Decimals(decimals) => decimals & 15,
            Self::Single => Self::SINGLE,
            Self::None => Self::NONE,
        }
    }

    const fn from_code(code: u8) -> Option<Self> {
        match code {
            0..Self::SINGLE => Some(Self::Decimals(code)),
            Self::SINGLE => Some(Self::Single),
            Self::NONE => Some(Self::None),
            _ => None,
        }
    }
}

/// The multiples of 1 / (multiplier × 10^decimals), rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rational {
    /// At least 1.
    pub multiplier: u16,
    /// At most 9.
    pub decimals: u8,
    /// How quotients were rounded.
    pub rounding: Rounding,
}

impl Rational {
    /// The grid ready for use.
    pub(super) fn scaled(self) -> Scaled {
        let scale = f64::from(self.multiplier) * grid::power(self.decimals).unwrap_or(1.0);
        let power = match self.rounding {
            Rounding::Decimals(decimals) => grid::power(decimals).unwrap_or(1.0),
            _ => 1.0,
        };
        Scaled { rounding: self.rounding, scale, power }
    }

    /// The bytes of the head.
    pub(super) const fn head_len(self) -> usize {
        varint::len(self.multiplier as u64) + 2
    }

    /// Writes the head.
    pub(super) fn write(self, corrected: bool, sink: &mut Sink) {
        sink.varint(u64::from(self.multiplier));
        sink.byte(self.decimals);
        sink.byte(self.rounding.code() | if corrected { CORRECTED } else { 0 });
    }

    /// Reads the head: the grid, and whether corrections follow.
    pub(super) fn read(source: &mut Source) -> Result<(Self, bool), CodecError> {
        let wrong = source.defect(Defect::Grid);
        let multiplier = source.varint_in(1, usize::from(u16::MAX), Defect::Grid)? as u16;
        let decimals = source.byte()?;
        let rounding = source.byte()?;
        let corrected = rounding & CORRECTED != 0;
        let rounding = Rounding::from_code(rounding & !CORRECTED).ok_or(wrong)?;
        if decimals > RATIONAL_DECIMALS_MAX {
            return Err(wrong);
        }
        Ok((Self { multiplier, decimals, rounding }, corrected))
    }
}

/// A rational grid with its factors at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaled {
    rounding: Rounding,
    scale: f64,
    power: f64,
}

impl Scaled {
    /// The value of `integer`, not corrected.
    pub(super) fn value(self, integer: i64) -> f64 {
        let integer = integer as f64;
        match self.rounding {
            Rounding::None => integer / self.scale,
            Rounding::Single => f64::from((integer / self.scale) as f32),
            Rounding::Decimals(_) => round(integer * self.power / self.scale) / self.power,
        }
    }

    /// The integer nearest to `value`, and the correction that gives its bits; `None` if it is far off.
    pub(super) fn integer(self, value: f64) -> Option<(i64, i64)> {
        let multiple = value * self.scale;
        // NaN is not below anything, so it leaves here too.
        let small = multiple.abs() <= INTEGER_MAX;
        if !small {
            return None;
        }
        let integer = round(multiple) as i64;
        let correction = ordered(value).wrapping_sub(ordered(self.value(integer)));
        (correction.unsigned_abs() <= CORRECTION_MAX).then_some((integer, correction))
    }
}

/// The value whose ordered bits are `correction` from those of `value`.
pub(super) fn correct(value: f64, correction: i64) -> f64 {
    from_ordered(ordered(value).wrapping_add(correction))
}

#[cfg(test)]
mod tests {
    use super::{Rational, Rounding, correct};
    use proptest::prelude::*;

    fn on_grid(value: f64, multiplier: u16, decimals: u8, rounding: Rounding) -> Option<(i64, i64)> {
        Rational { multiplier, decimals, rounding }.scaled().integer(value)
    }

    #[test]
    fn means_and_sums_have_small_integers() {
        assert_eq!(on_grid(49.538_000_000_000_004, 1, 3, Rounding::None), Some((49_538, 1)));
        assert_eq!(on_grid(17.0 + 1.0 / 6.0, 6, 0, Rounding::None), Some((103, 0)));
        assert_eq!(on_grid(17.166_666_67, 6, 0, Rounding::Decimals(8)), Some((103, 0)));
        assert_eq!(on_grid(f64::from(5.827_f32), 1, 3, Rounding::Single), Some((5827, 0)));
        assert_eq!(on_grid(-0.0, 1, 3, Rounding::None), Some((0, -1)));
        assert_eq!(on_grid(-0.2, 1, 0, Rounding::Decimals(1)), None);
        assert_eq!(on_grid(f64::NAN, 1, 0, Rounding::None), None);
        assert_eq!(on_grid(f64::INFINITY, 1, 0, Rounding::None), None);
    }

    proptest! {
        #[test]
        fn corrected_values_have_the_same_bits(
            bits in any::<u64>(),
            multiplier in 1..=u16::MAX,
            decimals in 0..=9_u8,
            rounding in 0..=17_u8,
        ) {
            let value = f64::from_bits(bits);
            let rounding = Rounding::from_code(rounding).unwrap();
            let grid = Rational { multiplier, decimals, rounding }.scaled();
            if let Some((integer, correction)) = grid.integer(value) {
                prop_assert_eq!(correct(grid.value(integer), correction).to_bits(), bits);
            }
        }
    }
}
