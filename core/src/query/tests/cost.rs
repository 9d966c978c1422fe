//! What answers cost: summaries are used where they can be, and memory is bounded.

use std::vec::Vec;

use super::world::{Dice, LAWS, S, World};
use crate::point::{TimeRange, Value};
use crate::query::{Buckets, Function, Order, Question, Step, Task};

/// A year of hours in one series.
fn world(dice: &mut Dice) -> World {
    let points = (0..8_760).map(|hour| (hour * 30 * S, Value::Float((hour % 24) as f64 / 10.0))).collect();
    World::new(&[Vec::from([(1, points)])], dice)
}

#[test]
fn a_whole_range_is_answered_by_the_roots() {
    let mut dice = Dice::new(11);
    let world = world(&mut dice);
    let functions = [Function::Count, Function::Max, Function::Mean, Function::Integral, Function::Last];
    let question = Question { laws: LAWS, ..Question::aggregate(TimeRange::ALL, functions) };
    let (_, done) = world.answer(question, &mut dice);
    assert_eq!((done.statistics.blocks_read, done.statistics.points_decoded), (0, 0));
    assert_eq!(done.statistics.blocks_total, u64::from(world.segments[0].blocks));
    assert_eq!(done.statistics.subtrees_used, world.series[0][0].roots.len() as u64);
}

#[test]
fn a_range_decodes_only_its_edges() {
    let mut dice = Dice::new(12);
    let world = world(&mut dice);
    let range = TimeRange::new(1_000 * 30 * S + 7, 8_000 * 30 * S + 7);
    let (_, done) = world.answer(Question::aggregate(range, [Function::Count, Function::Sum]), &mut dice);
    let level = world.series[0][0].roots.iter().map(|root| u64::from(root.level)).max().unwrap();
    // Nodes and a leaf at each edge, half as much again for what lies between joined blocks.
    assert!(done.statistics.blocks_read <= 2 * (level + 1) * 3 / 2, "{:?}", done.statistics);
    assert!(done.statistics.points_decoded <= 60);
}

#[test]
fn a_limit_reads_no_further() {
    let mut dice = Dice::new(13);
    let world = world(&mut dice);
    for order in [Order::Forward, Order::Backward] {
        let task = Task::Select(order);
        let question = Question { task, limit: Some(5), ..Question::select(TimeRange::ALL) };
        let (_, done) = world.answer(question, &mut dice);
        assert!(done.statistics.points_decoded <= 60, "{:?}", done.statistics);
        assert!(done.next.is_some());
    }
}

#[test]
fn round_trips_are_the_depth_of_the_tree() {
    let mut dice = Dice::new(14);
    let world = world(&mut dice);
    let level = world.series[0][0].roots.iter().map(|root| usize::from(root.level)).max().unwrap();
    // Hourly buckets of a narrow range: a few nodes of each level and some leaves.
    let range = TimeRange::new(4_000 * 30 * S, 4_100 * 30 * S);
    let buckets = Buckets::Step { origin_ns: 7, step_ns: 3_600 * S };
    let mut query = world.ask(Question::group(range, buckets, [Function::Mean]));
    let mut rounds = 0;
    loop {
        match query.step(256) {
            Step::Need(requests) => {
                rounds += 1;
                for request in requests {
                    let mut bytes = Vec::new();
                    for block in request.block..request.block + request.count {
                        let there = world.blocks.get(&(request.segment, block));
                        bytes.extend(there.cloned().unwrap_or(std::vec![0; 4096]));
                    }
                    query.feed(&request, Ok(&bytes));
                }
            }
            Step::Batch(_) => {}
            Step::Done(_) => break,
        }
    }
    assert!(rounds <= level + 1, "{rounds} rounds for {level} levels");
}
