//! The numbers of a chunk in the usual case: floats on one grid, no gap, no NaN; in tight loops.
//!
//! Gives bit for bit what the row by row fold of `chunk_summary` gives, or nothing where the case is another
//! one. It is what most points go through, when they are written and when a bucket is summed up.

use super::number::Number;
use super::summary::{Hold, Laws, Numbers, piece};
use super::sums::Sums;
use crate::codec::{decimals_of, to_decimal};

/// Values of which sums of grid integers fit an `i64`: 2^53 × 2^9.
const BLOCK: usize = 512;
/// Sums of squares of so many grid integers fit an `i128`.
const ROWS_MAX: usize = 1 << 20;

/// The numbers of rows that rise in time; `None` where a value is NaN or on no common grid.
pub(super) fn numbers(timestamps: &[i64], floats: &[f64], laws: &Laws) -> Option<Numbers> {
    let (first_at, last_at) = (*timestamps.first()?, *timestamps.last()?);
    let (first, last) = (*floats.first()?, *floats.last()?);
    if floats.len() > ROWS_MAX || timestamps.len() != floats.len() {
        return None;
    }
    let decimals = decimals_of(floats)?;
    let mut fold = Fold::default();
    let mut before = to_decimal(first, decimals)?;
    (fold.min, fold.max) = (before, before);
    for (number, block) in floats.chunks(BLOCK).enumerate() {
        before = fold.block(block, decimals, before, number * BLOCK)?;
    }
    let at = |row: usize| timestamps.get(row).copied().zip(floats.get(row).copied().map(Number::Float));
    let ((min_at, min), (max_at, max)) = (at(fold.min_row)?, at(fold.max_row)?);
    Some(Numbers {
        count: floats.len() as u64,
        first: Number::Float(first),
        first_at,
        last: Number::Float(last),
        last_at,
        min,
        min_at,
        max,
        max_at,
        sums: Sums::Exact { decimals, sum: fold.sum, squares: fold.squares, fallen: fold.fallen },
        resets: Some(fold.resets),
        changes: None,
        hold: hold(timestamps, floats, laws),
    })
}

#[derive(Default)]
struct Fold {
    sum: i128,
    squares: i128,
    fallen: i128,
    resets: u64,
    min: i64,
    min_row: usize,
    max: i64,
    max_row: usize,
}

impl Fold {
    /// Adds up to [`BLOCK`] values, the first of which is in row `row`; gives the last on the grid.
    fn block(&mut self, floats: &[f64], decimals: u8, mut before: i64, row: usize) -> Option<i64> {
        let (mut sum, mut fallen, mut resets, mut squares) = (0_i64, 0_i64, 0_u64, 0_i128);
        for (offset, float) in floats.iter().enumerate() {
            let grid = to_decimal(*float, decimals)?;
            sum += grid;
            squares += i128::from(grid) * i128::from(grid);
            let falls = grid < before;
            resets += u64::from(falls);
            fallen += if falls { before } else { 0 };
            if grid < self.min {
                (self.min, self.min_row) = (grid, row + offset);
            }
            if grid > self.max {
                (self.max, self.max_row) = (grid, row + offset);
            }
            before = grid;
        }
        self.sum += i128::from(sum);
        self.squares += squares;
        self.fallen += i128::from(fallen);
        self.resets += resets;
        Some(before)
    }
}

fn hold(timestamps: &[i64], floats: &[f64], laws: &Laws) -> Hold {
    let distances =
        || timestamps.iter().zip(timestamps.iter().skip(1)).map(|(from, to)| to.checked_sub(*from));
    let seam = |ns: Option<i64>| ns.filter(|ns| *ns <= laws.max_hold_ns);
    let Some(step) = distances().next() else { return Hold::Step(0) };
    if let Some(step) = seam(step)
        && distances().all(|ns| ns == Some(step))
    {
        return Hold::Step(step);
    }
    let (mut stepwise, mut linear) = (0.0, 0.0);
    for (ns, (from, to)) in distances().zip(floats.iter().zip(floats.iter().skip(1))) {
        if let Some(ns) = seam(ns) {
            let added = piece(Number::Float(*from), Number::Float(*to), ns);
            stepwise += added.0;
            linear += added.1;
        }
    }
    Hold::Explicit { stepwise, linear }
}
