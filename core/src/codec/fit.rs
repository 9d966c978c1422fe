//! Cutting: how many rows go into a given space.

use super::{Plan, Rows, Scratch, measure};

/// Trials after which the best prefix so far is taken.
const TRIALS_MAX: usize = 8;
/// Space that may stay unused without a further trial.
const SLACK_BYTES: usize = 4;

/// The length of a prefix of `rows` whose encoding by `plan` fits `capacity` bytes, close to the longest.
///
/// 0 where not even one row fits, or where the rows are no chunk.
pub fn fit(rows: &Rows, plan: &Plan, scratch: &mut Scratch, capacity: usize) -> usize {
    let mut size =
        |count: usize| measure(&rows.prefix(count), plan, scratch).map_or(usize::MAX, |encoded| encoded.len);
    let (mut low, mut low_size) = (0, 0);
    let (mut high, mut high_size) = (rows.len(), size(rows.len()));
    if high_size <= capacity {
        return high;
    }
    for _ in 0..TRIALS_MAX {
        if high - low <= 1 || capacity - low_size <= SLACK_BYTES {
            break;
        }
        // Sizes grow nearly evenly with rows.
        let share = (capacity - low_size) * (high - low) / (high_size - low_size).max(1);
        let count = (low + share).clamp(low + 1, high - 1);
        let counted = size(count);
        if counted <= capacity {
            (low, low_size) = (count, counted);
        } else {
            (high, high_size) = (count, counted);
        }
    }
    low
}
