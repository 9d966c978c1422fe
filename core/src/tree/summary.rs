//! The summary of a span of rows: an associative, ordered monoid.
//!
//! `docs/format.md`, chapter 7, is the law of each field; `summary_tests` holds every field against
//! recomputation from the points. `combine(a, b)` wants b after a in time and no row in both.
//! NaN readings and gaps are counted and stay outside of everything else, but a gap ends the holding of a
//! value. This file knows neither chunks nor references.

use super::number::Number;
use super::sums::Sums;
use crate::point::{TimeRange, Value};

/// Nanoseconds of a second, as the unit of integrals.
const SECOND_NS: f64 = 1e9;

/// What the laws of a summary depend on, beside the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Laws {
    /// The longest time for which a value is held by integrals, nanoseconds.
    pub max_hold_ns: i64,
}

impl Default for Laws {
    /// One hour.
    fn default() -> Self {
        Self { max_hold_ns: 3_600_000_000_000 }
    }
}

/// How integrals over time are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hold {
    /// All successive numbers are this many nanoseconds apart; 0 where there is only one.
    Step(i64),
    /// In value × seconds.
    Explicit {
        /// Each number held until the next.
        stepwise: f64,
        /// A straight line from each number to the next.
        linear: f64,
    },
}

/// The numbers of a span, NaN apart; there is at least one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// How many.
    pub count: u64,
    /// The first, and when.
    pub first: Number,
    /// Nanoseconds.
    pub first_at: i64,
    /// The last, and when.
    pub last: Number,
    /// Nanoseconds.
    pub last_at: i64,
    /// The smallest, and when first.
    pub min: Number,
    /// Nanoseconds.
    pub min_at: i64,
    /// The largest, and when first.
    pub max: Number,
    /// Nanoseconds.
    pub max_at: i64,
    /// Sum and sum of squares.
    pub sums: Sums,
    /// How often a number fell below the one before; `None` where it is not kept.
    pub resets: Option<u64>,
    /// How often a boolean differs from the one before; `None` for other kinds.
    pub changes: Option<u64>,
    /// Integrals over time.
    pub hold: Hold,
}

/// The states of a span; there is at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// How many.
    pub count: u64,
    /// Key of the first text.
    pub first: u64,
    /// Nanoseconds.
    pub first_at: i64,
    /// Key of the last text.
    pub last: u64,
    /// Nanoseconds.
    pub last_at: i64,
    /// How often a text differs from the one before.
    pub changes: u64,
}

/// What is known of a span of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Timestamp of the first row.
    pub begin: i64,
    /// Timestamp of the last row + 1 ns.
    pub end: i64,
    /// Rows without a value.
    pub gaps: u64,
    /// Rows that hold NaN.
    pub nans: u64,
    /// Whether a gap stands before the first number.
    pub gap_before: bool,
    /// Whether a gap stands behind the last number.
    pub gap_behind: bool,
    /// The numbers, booleans included.
    pub numbers: Option<Numbers>,
    /// The states.
    pub words: Option<Words>,
}

impl Summary {
    /// The summary of no rows.
    pub const EMPTY: Self = Self {
        begin: i64::MAX,
        end: i64::MIN,
        gaps: 0,
        nans: 0,
        gap_before: false,
        gap_behind: false,
        numbers: None,
        words: None,
    };

    /// The summary of one row.
    pub fn of_row(timestamp_ns: i64, value: &Value<'_>) -> Self {
        let mut summary = Self { begin: timestamp_ns, end: timestamp_ns.saturating_add(1), ..Self::EMPTY };
        match *value {
            Value::Gap => {
                summary.gaps = 1;
                summary.gap_before = true;
                summary.gap_behind = true;
            }
            Value::Float(float) if float.is_nan() => summary.nans = 1,
            Value::Float(float) => {
                let sums = match crate::codec::decimals_of(&[float]) {
                    Some(decimals) => match crate::codec::to_decimal(float, decimals) {
                        Some(grid) => Sums::of_grid(decimals, grid),
                        None => Sums::of_float(float),
                    },
                    None => Sums::of_float(float),
                };
                summary.numbers = Some(Numbers::of_one(Number::Float(float), timestamp_ns, sums, None));
            }
            Value::Integer(integer) => {
                let (number, sums) = (Number::from_integer(integer), Sums::of_grid(0, integer));
                summary.numbers = Some(Numbers::of_one(number, timestamp_ns, sums, None));
            }
            Value::Boolean(boolean) => {
                let number = Number::Float(f64::from(u8::from(boolean)));
                let sums = Sums::of_grid(0, i64::from(boolean));
                summary.numbers = Some(Numbers::of_one(number, timestamp_ns, sums, Some(0)));
            }
            Value::State(text) => {
                let key = text_key(text);
                summary.words = Some(Words {
                    count: 1,
                    first: key,
                    first_at: timestamp_ns,
                    last: key,
                    last_at: timestamp_ns,
                    changes: 0,
                });
            }
        }
        summary
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.end <= self.begin
    }

    /// All rows: numbers, words, gaps and NaN.
    pub fn rows(&self) -> u64 {
        self.values().saturating_add(self.gaps).saturating_add(self.nans)
    }

    /// Rows with a value: numbers and words.
    pub fn values(&self) -> u64 {
        self.numbers
            .map_or(0, |numbers| numbers.count)
            .saturating_add(self.words.map_or(0, |words| words.count))
    }

    /// The time from the first row to behind the last.
    pub fn span(&self) -> TimeRange {
        TimeRange::new(self.begin, self.end)
    }

    /// The summary of both spans; `next` lies after `self`.
    #[must_use]
    pub fn combine(&self, next: &Self, laws: &Laws) -> Self {
        let held = !self.gap_behind && !next.gap_before;
        Self {
            begin: self.begin.min(next.begin),
            end: self.end.max(next.end),
            gaps: self.gaps.saturating_add(next.gaps),
            nans: self.nans.saturating_add(next.nans),
            gap_before: self.gap_before || (self.numbers.is_none() && next.gap_before),
            gap_behind: next.gap_behind || (next.numbers.is_none() && self.gap_behind),
            numbers: match (&self.numbers, &next.numbers) {
                (Some(a), Some(b)) => Some(a.combine(b, held, laws)),
                (a, b) => a.or(*b),
            },
            words: match (&self.words, &next.words) {
                (Some(a), Some(b)) => Some(a.combine(b)),
                (a, b) => a.or(*b),
            },
        }
    }
}

impl Numbers {
    /// One number.
    pub fn of_one(number: Number, at: i64, sums: Sums, changes: Option<u64>) -> Self {
        Self {
            count: 1,
            first: number,
            first_at: at,
            last: number,
            last_at: at,
            min: number,
            min_at: at,
            max: number,
            max_at: at,
            sums,
            resets: Some(0),
            changes,
            hold: Hold::Step(0),
        }
    }

    /// Mean.
    pub fn mean(&self) -> f64 {
        self.sums.sum() / self.count as f64
    }

    /// Standard deviation of the population.
    pub fn stddev(&self) -> f64 {
        square_root(self.sums.m2(self.count) / self.count as f64)
    }

    /// `last − first`, with what fell away at resets; `None` where resets are not kept.
    pub fn increase(&self) -> Option<f64> {
        self.resets.map(|_| self.sums.increase(self.first, self.last))
    }

    /// Integrals over time in value × seconds: stepwise and linear.
    pub fn integrals(&self) -> (f64, f64) {
        match self.hold {
            Hold::Explicit { stepwise, linear } => (stepwise, linear),
            Hold::Step(step_ns) => {
                let seconds = step_ns as f64 / SECOND_NS;
                let (sum, first, last) = (self.sums.sum(), self.first.as_f64(), self.last.as_f64());
                ((sum - last) * seconds, (sum - (first + last) / 2.0) * seconds)
            }
        }
    }

    /// Without what a node need not keep: resets of a gauge.
    #[must_use]
    pub fn trimmed(mut self) -> Self {
        if self.changes.is_some() || self.resets.is_none_or(|resets| resets.saturating_mul(16) > self.count) {
            self.resets = None;
        }
        if self.resets.is_none() {
            match &mut self.sums {
                Sums::Exact { fallen, .. } => *fallen = 0,
                Sums::Rounded { fallen, .. } => *fallen = 0.0,
            }
        }
        self
    }

    fn combine(&self, next: &Self, held: bool, laws: &Laws) -> Self {
        let falls = next.first.below(self.last);
        let both = |a: Option<u64>, b: Option<u64>, seam: bool| {
            a.zip(b).map(|(a, b)| a.saturating_add(b).saturating_add(u64::from(seam)))
        };
        let resets = both(self.resets, next.resets, falls);
        let changed = self.last.order(next.first).is_ne();
        let (min, min_at) =
            if next.min.below(self.min) { (next.min, next.min_at) } else { (self.min, self.min_at) };
        let (max, max_at) =
            if self.max.below(next.max) { (next.max, next.max_at) } else { (self.max, self.max_at) };
        let before = (resets.is_some() && falls).then_some(self.last);
        Self {
            count: self.count.saturating_add(next.count),
            first: self.first,
            first_at: self.first_at,
            last: next.last,
            last_at: next.last_at,
            min,
            min_at,
            max,
            max_at,
            sums: self.sums.combine(&next.sums, (self.count, next.count), before),
            resets,
            changes: both(self.changes, next.changes, changed),
            hold: self.combine_hold(next, held, laws),
        }
    }

    fn combine_hold(&self, next: &Self, held: bool, laws: &Laws) -> Hold {
        let distance_ns = next.first_at.checked_sub(self.last_at).filter(|ns| *ns <= laws.max_hold_ns);
        let seam_ns = distance_ns.filter(|_| held);
        if let (Hold::Step(a), Hold::Step(b), Some(seam)) = (self.hold, next.hold, seam_ns) {
            let continues = |step: i64, count: u64| count == 1 || step == seam;
            if continues(a, self.count) && continues(b, next.count) {
                return Hold::Step(seam);
            }
        }
        let (stepwise_a, linear_a) = self.integrals();
        let (stepwise_b, linear_b) = next.integrals();
        let (stepwise, linear) = seam_ns.map_or((0.0, 0.0), |ns| piece(self.last, next.first, ns));
        Hold::Explicit { stepwise: stepwise_a + stepwise + stepwise_b, linear: linear_a + linear + linear_b }
    }
}

impl Words {
    fn combine(&self, next: &Self) -> Self {
        Self {
            count: self.count.saturating_add(next.count),
            first: self.first,
            first_at: self.first_at,
            last: next.last,
            last_at: next.last_at,
            changes: self
                .changes
                .saturating_add(next.changes)
                .saturating_add(u64::from(self.last != next.first)),
        }
    }
}

/// The integrals from one number to the next, stepwise and linear, in value × seconds.
pub fn piece(from: Number, to: Number, distance_ns: i64) -> (f64, f64) {
    let seconds = distance_ns as f64 / SECOND_NS;
    let (from, to) = (from.as_f64(), to.as_f64());
    (from * seconds, (from + to) / 2.0 * seconds)
}

/// Key of a state's text: FNV-1a, 64 bits (Fowler, Noll, Vo 1991).
pub fn text_key(text: &str) -> u64 {
    text.bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

/// Square root by Newton's iteration, for a core without libm: within an ulp of the true one.
fn square_root(x: f64) -> f64 {
    #[cfg(feature = "std")]
    {
        x.max(0.0).sqrt()
    }
    #[cfg(not(feature = "std"))]
    {
        if x <= 0.0 {
            return 0.0;
        }
        if !x.is_finite() {
            return x;
        }
        // Halving the exponent gives a start within a factor of two; five steps reach full precision.
        let mut root = f64::from_bits((x.to_bits() >> 1) + (1023u64 << 51));
        for _ in 0..6 {
            root = 0.5 * (root + x / root);
        }
        root
    }
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
