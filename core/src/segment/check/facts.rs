//! A summary in a form that can be kept for many chunks and compared with another way to the same numbers.
//!
//! What is exact is compared exactly. Rounded sums depend on the order of additions, so they may differ by what that
//! explains: a billionth of the sum of the magnitudes. Fields that a reference need not keep are
//! compared where both have them.

use crate::tree::{Number, Numbers, Summary, Sums};

/// What rounding explains, relative to the sum of magnitudes.
const TOLERANCE: f64 = 1e-9;

/// What a summary says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Everything that has one form only.
    exact: u64,
    numbers: Option<Totals>,
}

#[derive(Clone, Copy, Debug)]
struct Totals {
    /// Decimals and a hash of the exact sums.
    grid: Option<(u8, u64)>,
    sum: f64,
    m2: f64,
    stepwise: f64,
    linear: f64,
    resets: Option<(u64, f64)>,
    changes: Option<u64>,
    /// No number is larger than this.
    largest: f64,
    count: f64,
    seconds: f64,
}

impl Facts {
    pub(super) fn of(summary: &Summary) -> Self {
        let mut exact = Hash::new();
        exact.put(summary.begin as u64);
        exact.put(summary.end as u64);
        exact.put(summary.gaps);
        exact.put(summary.nans);
        exact.put(u64::from(summary.gap_before) | u64::from(summary.gap_behind) << 1);
        if let Some(numbers) = &summary.numbers {
            exact.put(numbers.count);
            for (number, at) in [
                (numbers.first, numbers.first_at),
                (numbers.last, numbers.last_at),
                (numbers.min, numbers.min_at),
                (numbers.max, numbers.max_at),
            ] {
                exact.put_number(number);
                exact.put(at as u64);
            }
        }
        if let Some(words) = &summary.words {
            exact.put(!words.count);
            for field in [words.first, words.last, words.first_at as u64, words.last_at as u64, words.changes]
            {
                exact.put(field);
            }
        }
        let span = summary.end.saturating_sub(summary.begin);
        Self { exact: exact.0, numbers: summary.numbers.map(|numbers| Totals::of(&numbers, span)) }
    }

    /// Whether both can be summaries of the same rows.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        self.exact == other.exact
            && match (&self.numbers, &other.numbers) {
                (Some(a), Some(b)) => a.agrees(b),
                (a, b) => a.is_none() && b.is_none(),
            }
    }
}

impl Totals {
    fn of(numbers: &Numbers, span_ns: i64) -> Self {
        let grid = match numbers.sums {
            Sums::Exact { decimals, sum, squares, .. } => {
                let mut hash = Hash::new();
                for wide in [sum, squares] {
                    hash.put(wide as u64);
                    hash.put((wide >> 64) as u64);
                }
                Some((decimals, hash.0))
            }
            Sums::Rounded { .. } => None,
        };
        let (stepwise, linear) = numbers.integrals();
        Self {
            grid,
            sum: numbers.sums.sum(),
            m2: numbers.sums.m2(numbers.count),
            stepwise,
            linear,
            resets: numbers.resets.map(|resets| (resets, numbers.sums.fallen())),
            changes: numbers.changes,
            largest: numbers.min.as_f64().abs().max(numbers.max.as_f64().abs()),
            count: numbers.count as f64,
            seconds: span_ns as f64 / 1e9,
        }
    }

    fn agrees(&self, other: &Self) -> bool {
        if let (Some((a, left)), Some((b, right))) = (self.grid, other.grid)
            && a == b
            && left != right
        {
            return false;
        }
        let magnitude = self.largest * self.count;
        let resets = match (self.resets, other.resets) {
            (Some((a, left)), Some((b, right))) => a == b && near(left, right, magnitude),
            _ => true,
        };
        resets
            && self.changes.zip(other.changes).is_none_or(|(a, b)| a == b)
            && near(self.sum, other.sum, magnitude)
            && near(self.m2, other.m2, magnitude * self.largest)
            && near(self.stepwise, other.stepwise, self.largest * self.seconds)
            && near(self.linear, other.linear, self.largest * self.seconds)
    }
}

/// Whether two sums differ by no more than the order of additions explains. Sums that ran over say nothing.
fn near(a: f64, b: f64, magnitude: f64) -> bool {
    let distance = (a - b).abs();
    !distance.is_finite() || distance <= TOLERANCE * magnitude || a.to_bits() == b.to_bits()
}

/// FNV-1a over words of 64 bits, with a turn so that high bits count as well.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    fn put(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x100_0000_01B3).rotate_left(29);
    }

    fn put_number(&mut self, number: Number) {
        match number {
            Number::Float(float) => self.put(float.to_bits()),
            Number::Integer(integer) => {
                self.put(1);
                self.put(integer as u64);
            }
        }
    }
}
