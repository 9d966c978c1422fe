//! Short sequences of operations, all of them: nearly every known fault of a store needs at most three operations
//! on a fresh one, and a crash right after (Mohan et al., OSDI 2018).
//!
//! An operation is a letter; a new one is a line in [`OPERATIONS`] and a case in [`step`].

use super::workload::{FROM, HOUR_NS, Owned, Step};
use crate::point::TimeRange;
use crate::store::Identity;

/// The operations there are.
pub(super) const OPERATIONS: [char; 12] = ['a', 'b', 'l', 'n', 'c', 'k', 's', 'o', 'x', 'd', 'm', 'r'];

const SECOND_NS: i64 = 1_000_000_000;
/// Rows of a burst: more than fit a leaf, and more than one record of the journal.
pub(super) const BURST_ROWS: i64 = 700;

/// All sequences of at most `length` operations.
pub(super) fn sequences(length: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut begin = 0;
    for _ in 0..length {
        let end = all.len();
        for at in begin..end {
            for operation in OPERATIONS {
                let longer = format!("{}{operation}", all[at]);
                all.push(longer);
            }
        }
        begin = end;
    }
    all.remove(0);
    all
}

/// What comes before a sequence on a store that has a past: points in order and late, in segments and in the journal.
pub(super) fn past() -> Vec<Step> {
    "alckablcar".chars().enumerate().map(|(at, letter)| step(letter, at as i64)).collect()
}

/// The steps of a sequence, the first of them number `from`.
pub(super) fn steps_of(sequence: &str, from: usize) -> Option<Vec<Step>> {
    let letters = sequence.chars().zip(from as i64..);
    letters.map(|(letter, at)| OPERATIONS.contains(&letter).then(|| step(letter, at))).collect()
}

/// Operation number `at`, whose messages differ from those of all others.
fn step(letter: char, at: i64) -> Step {
    let now = FROM + at * 2_000 * SECOND_NS % HOUR_NS;
    let identity = Identity { session: 9, packet: at as u16, hash: [at as u8; 5] };
    let float = |n: i64| Owned::Float(((at + 1) * 7_919 + n * 104_729) as f64 / 3.0);
    match letter {
        // In order: two series, the second of them booleans.
        'a' => {
            let points =
                vec![(0, now, float(0)), (2, now, Owned::Boolean(at % 2 == 0)), (0, now + 1, float(1))];
            Step::Message(identity, points)
        }
        // A burst in order that fills leaves.
        'b' => {
            let row = |n| (1, now + n * 1_000, float(n * n));
            Step::Message(identity, (0..BURST_ROWS).map(row).collect())
        }
        // Late: before everything, and a value written over.
        'l' => {
            let points =
                vec![(0, FROM - SECOND_NS, float(0)), (0, FROM, float(1)), (2, FROM - 1, Owned::Gap)];
            Step::Message(identity, points)
        }
        // The next partition, and a message larger than a record.
        'n' => {
            let long = |n| (3, now + HOUR_NS + n, Owned::State(2));
            Step::Message(identity, (0..20).map(long).collect())
        }
        'c' => Step::Commit,
        'k' => Step::Checkpoint,
        's' => Step::Seal,
        // Some of what was there, some that may come, in two partitions.
        'd' => Step::Delete(0, TimeRange::new(FROM, now + 2 * HOUR_NS)),
        'm' => Step::Work,
        // Its partition is over: a seal begins, and what comes next falls into it.
        'o' => Step::Over,
        'x' => Step::Expire(12),
        _ => Step::Reopen,
    }
}

#[test]
fn every_short_sequence_is_there_once() {
    let all = sequences(3);
    assert_eq!(all.len(), 12 + 144 + 1_728);
    let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
    assert!(all.iter().all(|sequence| steps_of(sequence, 0).is_some()) && steps_of("z", 0).is_none());
}
