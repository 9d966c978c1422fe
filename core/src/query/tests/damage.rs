//! Damaged blocks cost their points and are reported; nothing else changes.

use std::collections::BTreeSet;
use std::vec::Vec;

use proptest::prelude::*;

use super::answers::{all_buckets, buckets, has_row, holds, kept, range, texts};
use super::naive;
use super::world::{Dice, LAWS, World, shown, worlds};
use crate::query::{Function, Question, Rows};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whole_buckets_are_right_and_others_are_flagged((series, seed) in worlds(), range in range(), buckets in buckets()) {
        let mut dice = Dice::new(seed);
        let world = World::new(&series, &mut dice);
        let faulty: BTreeSet<_> = world.blocks.keys().copied().filter(|_| dice.roll(5) == 0).collect();
        let functions: Vec<Function> = Function::all().collect();
        let question = Question { laws: LAWS, ..Question::group(range, buckets.clone(), functions.clone()) };
        let (batches, done) = world.drive(question, &mut dice, &faulty);
        let found = all_buckets(&batches);
        prop_assert_eq!(done.statistics.is_partial, !done.statistics.warnings.is_empty());
        for warning in &done.statistics.warnings {
            prop_assert!(faulty.contains(&(warning.segment, warning.block)));
        }
        for (series, bucket) in &found {
            if bucket.is_partial {
                prop_assert!(done.statistics.is_partial);
                continue;
            }
            let points = kept(&world.points[*series as usize], None);
            for function in &functions {
                let (said, wanted) = (bucket.answer(*function), naive::answer(*function, &points, bucket.span));
                prop_assert!(
                    naive::agree(*function, &said, &wanted, &points),
                    "{:?} of {:?}: {:?}, but the points say {:?}", function, bucket.span, said, wanted
                );
            }
        }
        if !done.statistics.is_partial {
            let rows = (0_u32..).zip(&world.points).map(|(_, points)| {
                let points = kept(points, None);
                naive::spans(&buckets, range).iter().filter(|span| has_row(&points, **span, holds(&functions))).count()
            });
            prop_assert_eq!(found.len(), rows.sum::<usize>());
        }
    }

    #[test]
    fn points_that_can_be_read_are_given((series, seed) in worlds(), range in range()) {
        let mut dice = Dice::new(seed);
        let world = World::new(&series, &mut dice);
        let faulty: BTreeSet<_> = world.blocks.keys().copied().filter(|_| dice.roll(6) == 0).collect();
        let (batches, done) = world.drive(Question::select(range), &mut dice, &faulty);
        let found = texts(&batches);
        for batch in &batches {
            let Rows::Points(chunk) = &batch.rows else { panic!("points") };
            prop_assert!(chunk.timestamps.is_sorted_by(|a, b| a < b));
        }
        let mut wanted = Vec::new();
        for (number, runs) in (0_u32..).zip(&series) {
            // Without the run that hides it, a point of a lower rank may show.
            let points = runs.iter().flat_map(|(_, points)| points).filter(|(at, _)| range.contains(*at));
            wanted.extend(points.map(|(at, value)| (number, shown(*at, value))));
        }
        let wanted: BTreeSet<_> = wanted.into_iter().collect();
        prop_assert!(found.iter().all(|row| wanted.contains(row)));
        if faulty.is_empty() {
            prop_assert!(!done.statistics.is_partial);
        }
    }

    #[test]
    fn blocks_of_any_bytes_are_refused((series, seed) in worlds(), range in range()) {
        // The block is exchanged for another one of its segment, or is of the right place but lies.
        let mut dice = Dice::new(seed);
        let mut world = World::new(&series, &mut dice);
        let keys: Vec<_> = world.blocks.keys().copied().collect();
        for key in &keys {
            if dice.roll(4) == 0 {
                let other = keys[dice.roll(keys.len())];
                let bytes = world.blocks[&other].clone();
                world.blocks.insert(*key, super::world::resealed(bytes, world.segments[key.0.0 as usize].id, key.1));
            }
        }
        let (_, done) = world.answer(Question::select(range), &mut dice);
        let functions: Vec<Function> = Function::all().collect();
        let (_, grouped) = world.answer(Question { laws: LAWS, ..Question::aggregate(range, functions) }, &mut dice);
        prop_assert!(done.statistics.warnings.len() < 1000 && grouped.statistics.warnings.len() < 1000);
    }
}
