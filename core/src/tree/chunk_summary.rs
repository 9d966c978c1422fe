//! The summary of a chunk's rows, in one pass.
//!
//! Equal to combining the summaries of its rows one by one (`summary_tests` says so), but it keeps the
//! sums as plain integers and looks for the grid once.

use super::number::Number;
use super::plain_floats;
use super::summary::{Hold, Laws, Numbers, Summary, Words, piece, text_key};
use super::sums::Sums;
use crate::codec::{Rows, Values, decimals_of, to_decimal};

/// The summary of all `rows`, which rise in time.
pub fn summarize(rows: &Rows<'_>, laws: &Laws) -> Summary {
    match rows.values {
        Values::Float(floats) => {
            if rows.gaps.is_empty()
                && let Some(numbers) = plain_floats::numbers(rows.timestamps, floats, laws)
            {
                return Summary { numbers: Some(numbers), ..span_of(rows) };
            }
            let number = |float: f64| (!float.is_nan()).then_some(Number::Float(float));
            summarize_numbers(rows, laws, floats, grid_of(rows, floats), None, number)
        }
        Values::Integer(integers) => {
            let number = |integer| Some(Number::from_integer(integer));
            summarize_numbers(rows, laws, integers, Some(0), None, number)
        }
        Values::Boolean(booleans) => {
            let number = |boolean| Some(Number::Float(f64::from(u8::from(boolean))));
            summarize_numbers(rows, laws, booleans, Some(0), Some(0), number)
        }
        Values::State { codes, texts } => summarize_words(rows, codes, texts),
    }
}

fn summarize_numbers<T: Copy>(
    rows: &Rows<'_>,
    laws: &Laws,
    values: &[T],
    decimals: Option<u8>,
    changes: Option<u64>,
    number: impl Fn(T) -> Option<Number>,
) -> Summary {
    let mut fold = Fold::new(rows, laws, decimals, changes);
    fold.run(values, &number);
    if fold.off_grid {
        // A number beyond the grid, or squares beyond 128 bits: once more, rounded.
        fold = Fold::new(rows, laws, None, changes);
        fold.run(values, &number);
    }
    fold.finish()
}

/// The grid of all numbers, gaps and NaN left out.
fn grid_of(rows: &Rows<'_>, floats: &[f64]) -> Option<u8> {
    if rows.gaps.is_empty() && !floats.iter().any(|float| float.is_nan()) {
        return decimals_of(floats);
    }
    // Row by row, the finest grid of any number is the grid of all, provided all lie on it.
    let mut decimals = 0;
    let mut gaps = rows.gaps.iter().copied().peekable();
    for (row, float) in floats.iter().enumerate() {
        let gap = gaps.next_if(|gap| usize::from(*gap) == row).is_some();
        if !gap && !float.is_nan() && to_decimal(*float, decimals).is_none() {
            decimals = decimals.max(decimals_of(&[*float])?);
        }
    }
    Some(decimals)
}

struct Fold<'r> {
    rows: &'r Rows<'r>,
    laws: &'r Laws,
    decimals: Option<u8>,
    off_grid: bool,
    summary: Summary,
    numbers: Option<Numbers>,
    changes: Option<u64>,
    gap_since_number: bool,
    sum: i128,
    squares: i128,
    fallen: i128,
    step: Option<i64>,
    stepwise: f64,
    linear: f64,
}

impl<'r> Fold<'r> {
    fn new(rows: &'r Rows<'r>, laws: &'r Laws, decimals: Option<u8>, changes: Option<u64>) -> Self {
        Self {
            rows,
            laws,
            decimals,
            off_grid: false,
            summary: span_of(rows),
            numbers: None,
            changes,
            gap_since_number: false,
            sum: 0,
            squares: 0,
            fallen: 0,
            step: Some(0),
            stepwise: 0.0,
            linear: 0.0,
        }
    }

    fn run<T: Copy>(&mut self, values: &[T], number: impl Fn(T) -> Option<Number>) {
        let mut gaps = self.rows.gaps.iter().copied().peekable();
        for (row, (at, value)) in self.rows.timestamps.iter().zip(values).enumerate() {
            if gaps.next_if(|gap| usize::from(*gap) == row).is_some() {
                self.summary.gaps += 1;
                self.summary.gap_before |= self.numbers.is_none();
                self.gap_since_number = true;
            } else if let Some(number) = number(*value) {
                self.push(*at, number);
            } else {
                self.summary.nans += 1;
            }
        }
    }

    fn push(&mut self, at: i64, number: Number) {
        let held = !core::mem::take(&mut self.gap_since_number);
        let grid = self.decimals.and_then(|decimals| super::sums::on_grid(number, decimals));
        let Some(mut numbers) = self.numbers else {
            let sums = Sums::of_float(number.as_f64());
            self.numbers = Some(Numbers::of_one(number, at, sums, self.changes));
            self.add_to_grid(grid);
            return;
        };
        if number.below(numbers.last) {
            numbers.resets = numbers.resets.map(|resets| resets + 1);
            match self.decimals {
                Some(decimals) => {
                    let before = super::sums::on_grid(numbers.last, decimals).unwrap_or(0);
                    self.fallen += i128::from(before);
                }
                None => numbers.sums = add_fallen(numbers.sums, numbers.last.as_f64()),
            }
        }
        numbers.changes = numbers.changes.map(|c| c + u64::from(number != numbers.last));
        self.hold(&numbers, at, number, held);
        if number.below(numbers.min) {
            (numbers.min, numbers.min_at) = (number, at);
        }
        if numbers.max.below(number) {
            (numbers.max, numbers.max_at) = (number, at);
        }
        if self.decimals.is_none() {
            let one = Sums::of_float(number.as_f64());
            numbers.sums = numbers.sums.combine(&one, (numbers.count, 1), None);
        }
        self.add_to_grid(grid);
        (numbers.last, numbers.last_at) = (number, at);
        numbers.count += 1;
        self.numbers = Some(numbers);
    }

    fn add_to_grid(&mut self, grid: Option<i64>) {
        let squares = grid.and_then(|grid| {
            let wide = i128::from(grid);
            self.sum += wide;
            self.squares.checked_add(wide * wide)
        });
        match squares {
            Some(squares) => self.squares = squares,
            None => self.off_grid |= self.decimals.is_some(),
        }
    }

    fn hold(&mut self, numbers: &Numbers, at: i64, number: Number, held: bool) {
        let seam = at.checked_sub(numbers.last_at).filter(|ns| held && *ns <= self.laws.max_hold_ns);
        self.step = match (self.step, seam) {
            (Some(step), Some(seam)) if numbers.count == 1 || step == seam => Some(seam),
            _ => None,
        };
        if let Some(seam) = seam {
            let (stepwise, linear) = piece(numbers.last, number, seam);
            self.stepwise += stepwise;
            self.linear += linear;
        }
    }

    fn finish(mut self) -> Summary {
        self.summary.gap_behind = self.gap_since_number;
        if let Some(mut numbers) = self.numbers {
            if let Some(decimals) = self.decimals {
                let (sum, squares, fallen) = (self.sum, self.squares, self.fallen);
                numbers.sums = Sums::Exact { decimals, sum, squares, fallen };
            }
            numbers.hold = match self.step {
                Some(step) => Hold::Step(step),
                None => Hold::Explicit { stepwise: self.stepwise, linear: self.linear },
            };
            self.summary.numbers = Some(numbers);
        }
        self.summary
    }
}

fn add_fallen(sums: Sums, before: f64) -> Sums {
    match sums {
        Sums::Rounded { sum, lost, m2, fallen } => Sums::Rounded { sum, lost, m2, fallen: fallen + before },
        exact @ Sums::Exact { .. } => exact,
    }
}

fn span_of(rows: &Rows<'_>) -> Summary {
    match (rows.timestamps.first(), rows.timestamps.last()) {
        (Some(begin), Some(last)) => Summary { begin: *begin, end: last.saturating_add(1), ..Summary::EMPTY },
        _ => Summary::EMPTY,
    }
}

fn summarize_words(rows: &Rows<'_>, codes: &[u16], texts: &[&str]) -> Summary {
    let mut summary = span_of(rows);
    let mut gaps = rows.gaps.iter().copied().peekable();
    for (row, (at, code)) in rows.timestamps.iter().zip(codes).enumerate() {
        if gaps.next_if(|gap| usize::from(*gap) == row).is_some() {
            summary.gaps += 1;
            continue;
        }
        let key = text_key(texts.get(usize::from(*code)).copied().unwrap_or_default());
        let words = summary.words.get_or_insert(Words {
            count: 0,
            first: key,
            first_at: *at,
            last: key,
            last_at: *at,
            changes: 0,
        });
        words.count += 1;
        words.changes += u64::from(words.last != key);
        (words.last, words.last_at) = (key, *at);
    }
    // Without numbers, any gap stands on both sides of them.
    summary.gap_before = summary.gaps > 0;
    summary.gap_behind = summary.gaps > 0;
    summary
}

#[cfg(test)]
mod tests {
    use super::{Fold, Number, grid_of};
    use crate::codec::{Rows, Values};
    use crate::tree::{Laws, Summary, summarize};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn plain_floats_are_summed_up_as_row_by_row(
            rows in proptest::collection::vec(
                (prop_oneof![5 => Just(10_i64), 1 => 1_i64..90], -40_000_i32..40_000, 0_u8..4), 1..1_500,
            ),
            regular: bool,
        ) {
            let mut at = -500_i64;
            let mut timestamps = Vec::new();
            let mut floats = Vec::new();
            for (distance, number, decimals) in rows {
                at += if regular { 10 } else { distance };
                timestamps.push(at);
                floats.push(f64::from(number) / [1.0, 10.0, 100.0, 100.0][usize::from(decimals)]);
            }
            let laws = Laws { max_hold_ns: 60 };
            let rows = Rows { timestamps: &timestamps, values: Values::Float(&floats), gaps: &[] };
            let mut fold = Fold::new(&rows, &laws, grid_of(&rows, &floats), None);
            fold.run(&floats, |float| Some(Number::Float(float)));
            let wanted: Summary = fold.finish();
            prop_assert!(super::plain_floats::numbers(&timestamps, &floats, &laws).is_some());
            prop_assert_eq!(summarize(&rows, &laws), wanted);
        }
    }
}
