//! Answers over random trees, runs and questions equal those of the naive twin.

use std::collections::BTreeMap;
use std::string::String;
use std::vec::Vec;

use proptest::prelude::*;

use super::naive;
use super::world::{Dice, LAWS, S, World, shown, worlds};
use crate::point::{TimeRange, Value};
use crate::query::{
    Batch, Bucket, Buckets, Comparison, Filter, Function, Order, Question, QuestionError, Resume, Rows, Task,
};

pub(super) type Points = Vec<(i64, Value<'static>)>;

pub(super) fn kept(points: &BTreeMap<i64, Value<'static>>, filter: Option<Filter>) -> Points {
    let passes = |value: &Value<'_>| filter.is_none_or(|filter| filter.passes(value));
    points.iter().filter(|(_, value)| passes(value)).map(|(at, value)| (*at, *value)).collect()
}

pub(super) fn filter() -> impl Strategy<Value = Option<Filter>> {
    let signs = [">", ">=", "<", "<=", "=", "!="];
    proptest::option::weighted(
        0.3,
        (0_usize..6, -50_i32..50).prop_map(move |(sign, number)| Filter {
            comparison: Comparison::parse(signs[sign]).unwrap(),
            number: f64::from(number) / 10.0,
        }),
    )
}

pub(super) fn range() -> impl Strategy<Value = TimeRange> {
    prop_oneof![
        Just(TimeRange::new(-100 * S, 2000 * S)),
        (-10_i64..800, 0_i64..600).prop_map(|(begin, len)| TimeRange::new(begin * S, (begin + len) * S)),
    ]
}

pub(super) fn buckets() -> impl Strategy<Value = Buckets> {
    let edges = proptest::collection::btree_set(-50_i64..900, 2..12);
    prop_oneof![
        Just(Buckets::Whole),
        (-20_i64..20, prop_oneof![2_i64..20, 20_i64..300])
            .prop_map(|(origin, step)| Buckets::Step { origin_ns: origin * S, step_ns: step * S }),
        edges.prop_map(|edges| Buckets::Edges(edges.into_iter().map(|edge| edge * S).collect())),
    ]
}

fn functions() -> impl Strategy<Value = Vec<Function>> {
    let all: Vec<Function> = Function::all().collect();
    prop_oneof![proptest::sample::subsequence(all.clone(), 1..4), Just(all),]
}

/// What batches of points hold, a text for each, by series.
pub(super) fn texts(batches: &[Batch]) -> Vec<(u32, String)> {
    let mut texts = Vec::new();
    for batch in batches {
        let Rows::Points(chunk) = &batch.rows else { panic!("points") };
        texts.extend(chunk.points().map(|point| (batch.series, shown(point.timestamp.0, &point.value))));
    }
    texts
}

pub(super) fn all_buckets(batches: &[Batch]) -> Vec<(u32, Bucket)> {
    let mut buckets = Vec::new();
    for batch in batches {
        let Rows::Buckets(some) = &batch.rows else { panic!("buckets") };
        buckets.extend(some.iter().map(|bucket| (batch.series, bucket.clone())));
    }
    buckets
}

/// Whether the twin gives a row for `span`.
pub(super) fn has_row(points: &Points, span: TimeRange, holds: bool) -> bool {
    points.iter().any(|(at, _)| span.contains(*at)) || holds && naive::integrals(points, span).2 > 0.0
}

pub(super) fn holds(functions: &[Function]) -> bool {
    functions.iter().any(|function| {
        matches!(function, Function::Integral | Function::IntegralStepwise | Function::TimeWeightedMean)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn selects_give_every_point_once((series, seed) in worlds(), range in range(), filter in filter(), backward in any::<bool>(), limit in proptest::option::of(0_u64..120)) {
        let mut dice = Dice::new(seed);
        let world = World::new(&series, &mut dice);
        let order = if backward { Order::Backward } else { Order::Forward };
        let question = Question { filter, task: Task::Select(order), limit, ..Question::select(range) };
        let mut wanted = Vec::new();
        for (number, points) in (0_u32..).zip(&world.points) {
            let mut texts: Vec<(u32, String)> = kept(points, filter)
                .iter()
                .filter(|(at, _)| range.contains(*at))
                .map(|(at, value)| (number, shown(*at, value)))
                .collect();
            if backward {
                texts.reverse();
            }
            wanted.extend(texts);
        }
        // Page after page.
        let mut found = Vec::new();
        let mut resume: Option<Resume> = None;
        loop {
            let (batches, done) = world.answer(Question { resume, ..question.clone() }, &mut dice);
            prop_assert!(!done.statistics.is_partial);
            let page = texts(&batches);
            prop_assert!(page.len() as u64 <= limit.unwrap_or(u64::MAX));
            found.extend(page);
            match done.next {
                None => break,
                next => prop_assert!(core::mem::replace(&mut resume, next) != next),
            }
        }
        if limit == Some(0) {
            prop_assert!(found.is_empty());
        } else {
            prop_assert_eq!(found, wanted);
        }
    }

    #[test]
    fn groups_say_what_the_points_say((series, seed) in worlds(), range in range(), filter in filter(), buckets in buckets(), functions in functions(), limit in proptest::option::weighted(0.2, 1_u64..9)) {
        let mut dice = Dice::new(seed);
        let world = World::new(&series, &mut dice);
        let question = Question {
            filter, laws: LAWS, limit, ..Question::group(range, buckets.clone(), functions.clone())
        };
        let mut found = Vec::new();
        let mut resume: Option<Resume> = None;
        loop {
            let (batches, done) = world.answer(Question { resume, ..question.clone() }, &mut dice);
            prop_assert!(!done.statistics.is_partial);
            found.extend(all_buckets(&batches));
            match done.next {
                None => break,
                next => prop_assert!(core::mem::replace(&mut resume, next) != next),
            }
        }
        let mut found = found.into_iter();
        for (number, points) in (0_u32..).zip(&world.points) {
            let points = kept(points, filter);
            for span in naive::spans(&buckets, range) {
                if !has_row(&points, span, holds(&functions)) {
                    continue;
                }
                let Some((series, bucket)) = found.next() else {
                    panic!("no bucket for {span:?} of series {number}");
                };
                prop_assert_eq!((series, bucket.span, bucket.is_partial), (number, span, false));
                for function in &functions {
                    let (said, wanted) = (bucket.answer(*function), naive::answer(*function, &points, span));
                    prop_assert!(
                        naive::agree(*function, &said, &wanted, &points),
                        "{:?} of {:?}: {:?}, but the points say {:?}", function, span, said, wanted
                    );
                }
            }
        }
        prop_assert!(found.next().is_none());
    }

    #[test]
    fn snapped_buckets_say_what_their_points_say((series, seed) in worlds(), range in range(), step in 10_i64..300) {
        let mut dice = Dice::new(seed);
        let world = World::new(&series, &mut dice);
        let functions = [Function::Count, Function::Min, Function::MaxAt, Function::Sum, Function::IntegralStepwise];
        let buckets = Buckets::Step { origin_ns: 0, step_ns: step * S };
        let mut question = Question { laws: LAWS, ..Question::group(range, buckets, functions) };
        if let Task::Group { snap, .. } = &mut question.task {
            *snap = true;
        }
        let found = all_buckets(&world.answer(question, &mut dice).0);
        for (number, points) in (0_u32..).zip(&world.points) {
            let all = kept(points, None);
            let some: Vec<&Bucket> = found.iter().filter(|(series, _)| *series == number).map(|(_, b)| b).collect();
            prop_assert!(some.windows(2).all(|pair| pair[0].span.end <= pair[1].span.begin));
            for (at, _) in all.iter().filter(|(at, _)| range.contains(*at)) {
                prop_assert!(some.iter().any(|bucket| bucket.span.contains(*at)));
            }
            let mut whole = 0.0;
            for bucket in &some {
                prop_assert!(bucket.span.end - bucket.span.begin <= 2 * step * S);
                for function in &functions[..4] {
                    let (said, wanted) = (bucket.answer(*function), naive::answer(*function, &all, bucket.span));
                    prop_assert!(naive::agree(*function, &said, &wanted, &all), "{:?}: {:?}, not {:?}", function, said, wanted);
                }
                if let crate::query::Answer::Float(float) = bucket.answer(Function::IntegralStepwise) {
                    whole += float;
                }
            }
            if range.begin < 0 && range.end > 1900 * S {
                let wanted = naive::integrals(&all, range).0;
                let largest = all.iter().map(|(_, v)| if let Value::Integer(_) = v { 1e19 } else { 5.0 }).fold(5.0, f64::max);
                prop_assert!((whole - wanted).abs() <= 1e-8 * largest * 2000.0, "{whole}, not {wanted}");
            }
        }
    }
}

#[test]
fn questions_without_an_answer_are_refused() {
    let world = World::new(&[], &mut Dice::new(1));
    let range = TimeRange::new(0, 10 * S);
    let ask =
        |question: Question| crate::query::Query::new(question, world.segments.clone(), Vec::new()).err();
    let step = |step_ns| Buckets::Step { origin_ns: 0, step_ns };
    assert_eq!(ask(Question::group(range, step(0), [Function::Count])), Some(QuestionError::Step));
    assert_eq!(ask(Question::group(range, step(1), [Function::Integral])), Some(QuestionError::StepTooShort));
    assert_eq!(ask(Question::group(range, step(1), [Function::Count])), None);
    for edges in [Vec::new(), Vec::from([1]), Vec::from([1, 1]), Vec::from([2, 1])] {
        assert_eq!(ask(Question::group(range, Buckets::Edges(edges), [])), Some(QuestionError::Edges));
    }
    let edges = Buckets::Edges((0..=crate::query::EDGES_MAX as i64).collect());
    assert_eq!(ask(Question::group(range, edges, [])), Some(QuestionError::TooManyEdges));
    let mut snapped = Question::aggregate(range, [Function::Count]);
    if let Task::Group { snap, .. } = &mut snapped.task {
        *snap = true;
    }
    assert_eq!(ask(snapped), Some(QuestionError::SnapWithoutStep));
}

#[test]
fn no_series_and_empty_ranges_end_at_once() {
    let mut dice = Dice::new(5);
    let world = World::new(&[Vec::from([(1, Vec::from([(5 * S, Value::Float(1.0))]))])], &mut dice);
    let (batches, done) = world.answer(Question::select(TimeRange::new(9, 9)), &mut dice);
    assert!(batches.is_empty() && done.statistics.blocks_read == 0);
    let (batches, _) = world.answer(Question::select(TimeRange::ALL), &mut dice);
    assert_eq!(texts(&batches).len(), 1);
    let step = Buckets::Step { origin_ns: 0, step_ns: S };
    let functions = [Function::Integral, Function::Count];
    let (batches, _) = world.answer(Question::group(TimeRange::ALL, step, functions), &mut dice);
    assert_eq!(all_buckets(&batches).len(), 1);
}
