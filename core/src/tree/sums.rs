//! Sum and sum of squares of numbers: exact on a decimal grid, rounded elsewhere.
//!
//! While every number is `d / 10^k`, the sums of `d` and `d²` are integers: adding them in any order
//! gives the same result, so a mean does not depend on the shape of a tree. Off every grid, or when
//! 128 bits are not enough, the sum is a compensated f64 (Neumaier 1974) and the squares are m2, the
//! sum of squared deviations, combined by the parallel form of Chan, Golub and LeVeque (1979).
//! This file does not find the grid of a value; the codec room does.

use super::number::Number;

/// The finest grid: 15 decimals.
pub const DECIMALS_MAX: u8 = 15;

/// Powers of ten up to 10^15, exact in both forms.
const POWERS: [i64; 16] = {
    let mut powers = [1i64; 16];
    let mut k = 1;
    while k < 16 {
        powers[k] = powers[k - 1] * 10;
        k += 1;
    }
    powers
};

/// 10^k, for k up to 15; larger ones as 10^15.
pub(super) fn power_of_ten(decimals: u8) -> i64 {
    POWERS.get(usize::from(decimals)).copied().unwrap_or(POWERS[15])
}

/// Sum, squares, and the sum of the numbers before resets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sums {
    /// Integers on the grid of 10^-decimals.
    Exact {
        /// k: every number is an integer divided by 10^k.
        decimals: u8,
        /// Σ d.
        sum: i128,
        /// Σ d².
        squares: i128,
        /// Σ of the d before a reset; 0 where resets are not kept.
        fallen: i128,
    },
    /// Binary64.
    Rounded {
        /// Σ x.
        sum: f64,
        /// What `sum` lost to rounding so far.
        lost: f64,
        /// Σ (x − mean)².
        m2: f64,
        /// Σ of the x before a reset; 0 where resets are not kept.
        fallen: f64,
    },
}

impl Sums {
    /// The sums of one number that is `grid / 10^decimals`.
    pub fn of_grid(decimals: u8, grid: i64) -> Self {
        let wide = i128::from(grid);
        Self::Exact { decimals, sum: wide, squares: wide * wide, fallen: 0 }
    }

    /// The sums of one number on no grid.
    pub fn of_float(float: f64) -> Self {
        Self::Rounded { sum: float, lost: 0.0, m2: 0.0, fallen: 0.0 }
    }

    /// Σ x as the nearest f64.
    pub fn sum(&self) -> f64 {
        match *self {
            Self::Exact { decimals, sum, .. } => scaled(sum, decimals),
            Self::Rounded { sum, lost, .. } => {
                let whole = sum + lost;
                if whole.is_nan() { sum } else { whole }
            }
        }
    }

    /// Σ (x − mean)² over `count` numbers.
    pub fn m2(&self, count: u64) -> f64 {
        match *self {
            Self::Exact { decimals, sum, squares, .. } => {
                let n = i128::from(count.max(1));
                let scale = power_of_ten(decimals) as f64;
                let exact =
                    squares.checked_mul(n).zip(sum.checked_mul(sum)).and_then(|(a, b)| a.checked_sub(b));
                let scaled_m2 = match exact {
                    Some(exact) => exact as f64 / n as f64,
                    None => (squares as f64 - sum as f64 / n as f64 * sum as f64).max(0.0),
                };
                scaled_m2 / scale / scale
            }
            Self::Rounded { m2, .. } => m2,
        }
    }

    /// The sum of the numbers before resets.
    pub fn fallen(&self) -> f64 {
        match *self {
            Self::Exact { decimals, fallen, .. } => scaled(fallen, decimals),
            Self::Rounded { fallen, .. } => fallen,
        }
    }

    /// `last − first + fallen`, exact on the grid.
    pub fn increase(&self, first: Number, last: Number) -> f64 {
        if let Self::Exact { decimals, fallen, .. } = *self
            && let (Some(first), Some(last)) = (on_grid(first, decimals), on_grid(last, decimals))
        {
            return scaled(i128::from(last) - i128::from(first) + fallen, decimals);
        }
        last.as_f64() - first.as_f64() + self.fallen()
    }

    /// The sums of both spans. `before` is the number that falls away at the seam when it is a reset.
    /// `counts` are the numbers of `self` and `next`.
    #[must_use]
    pub fn combine(&self, next: &Self, counts: (u64, u64), before: Option<Number>) -> Self {
        self.combine_exact(next, before).unwrap_or_else(|| self.combine_rounded(next, counts, before))
    }

    fn combine_exact(&self, next: &Self, before: Option<Number>) -> Option<Self> {
        let (Self::Exact { decimals: a, .. }, Self::Exact { decimals: b, .. }) = (self, next) else {
            return None;
        };
        let decimals = (*a).max(*b);
        let (sum_a, squares_a, fallen_a) = self.rescaled(decimals)?;
        let (sum_b, squares_b, fallen_b) = next.rescaled(decimals)?;
        let seam = match before {
            // It is a number of this side, so it lies on this side's grid.
            Some(number) => {
                let factor = power_of_ten(decimals.checked_sub(*a)?);
                i128::from(on_grid(number, *a)?).checked_mul(i128::from(factor))?
            }
            None => 0,
        };
        Some(Self::Exact {
            decimals,
            sum: sum_a.checked_add(sum_b)?,
            squares: squares_a.checked_add(squares_b)?,
            fallen: fallen_a.checked_add(fallen_b)?.checked_add(seam)?,
        })
    }

    /// Sum, squares and fallen on the finer grid of `decimals`.
    pub fn rescaled(&self, decimals: u8) -> Option<(i128, i128, i128)> {
        let Self::Exact { decimals: own, sum, squares, fallen } = *self else { return None };
        let factor = i128::from(power_of_ten(decimals.checked_sub(own)?));
        let squared = factor.checked_mul(factor)?;
        Some((sum.checked_mul(factor)?, squares.checked_mul(squared)?, fallen.checked_mul(factor)?))
    }

    fn combine_rounded(&self, next: &Self, counts: (u64, u64), before: Option<Number>) -> Self {
        let (n_a, n_b) = (counts.0 as f64, counts.1 as f64);
        let (sum_a, sum_b) = (self.sum(), next.sum());
        let delta = sum_b / n_b - sum_a / n_a;
        let m2 = self.m2(counts.0) + next.m2(counts.1) + delta * delta * n_a * n_b / (n_a + n_b);
        let (sum, lost) = self.parts().add(next.parts());
        Self::Rounded {
            sum,
            lost,
            m2,
            fallen: self.fallen() + next.fallen() + before.map_or(0.0, Number::as_f64),
        }
    }

    fn parts(&self) -> Compensated {
        match *self {
            Self::Exact { .. } => Compensated { sum: self.sum(), lost: 0.0 },
            Self::Rounded { sum, lost, .. } => Compensated { sum, lost },
        }
    }
}

/// A Neumaier sum.
#[derive(Clone, Copy)]
struct Compensated {
    sum: f64,
    lost: f64,
}

impl Compensated {
    fn add(self, other: Self) -> (f64, f64) {
        let sum = self.sum + other.sum;
        let error = if self.sum.abs() >= other.sum.abs() {
            (self.sum - sum) + other.sum
        } else {
            (other.sum - sum) + self.sum
        };
        // Infinities leave no error to speak of.
        let error = if error.is_nan() { 0.0 } else { error };
        (sum, self.lost + other.lost + error)
    }
}

/// The integer of `number` on the grid of 10^-decimals; `None` where it is not on it.
pub(super) fn on_grid(number: Number, decimals: u8) -> Option<i64> {
    match number {
        Number::Integer(integer) => (decimals == 0).then_some(integer),
        Number::Float(float) => crate::codec::to_decimal(float, decimals),
    }
}

fn scaled(integer: i128, decimals: u8) -> f64 {
    integer as f64 / power_of_ten(decimals) as f64
}

#[cfg(test)]
mod tests {
    use super::Sums;

    #[test]
    fn grids_combine_to_the_finer_one_and_overflow_becomes_rounded() {
        let sum = Sums::of_grid(1, 15).combine(&Sums::of_grid(2, 225), (1, 1), None);
        assert_eq!(sum, Sums::Exact { decimals: 2, sum: 375, squares: 22_500 + 50_625, fallen: 0 });
        assert_eq!((sum.sum(), sum.m2(2)), (3.75, 0.28125));
        let huge = Sums::of_grid(0, i64::MAX).combine(&Sums::of_grid(15, 1), (1, 1), None);
        assert!(matches!(huge, Sums::Rounded { .. }));
        assert!((huge.sum() - i64::MAX as f64).abs() < 1.0);
    }

    #[test]
    fn compensation_keeps_small_addends() {
        let mut sums = Sums::of_float(1e100);
        for (i, x) in [1.0, -1e100, 1.0].into_iter().enumerate() {
            sums = sums.combine(&Sums::of_float(x), (i as u64 + 1, 1), None);
        }
        assert_eq!(sums.sum(), 2.0);
    }
}
