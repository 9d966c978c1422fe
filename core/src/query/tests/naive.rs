//! The naive twin: answers recomputed from a list of all points.

use std::string::ToString;
use std::vec::Vec;

use super::world::{LAWS, S};
use crate::point::{TimeRange, Value};
use crate::query::{Answer, Buckets, Function};
use crate::tree::Number;

type Points<'a> = [(i64, Value<'a>)];

/// The numbers, NaN apart, each with whether a gap stands between it and the number before.
fn numbers(points: &Points<'_>) -> Vec<(i64, Number, bool)> {
    let mut gap = false;
    let mut numbers = Vec::new();
    for (at, value) in points {
        let number = match *value {
            Value::Float(float) if float.is_nan() => continue,
            Value::Float(float) => Number::Float(float),
            Value::Integer(integer) => Number::from_integer(integer),
            Value::Boolean(boolean) => Number::Float(if boolean { 1.0 } else { 0.0 }),
            Value::State(_) => continue,
            Value::Gap => {
                gap = true;
                continue;
            }
        };
        numbers.push((*at, number, core::mem::take(&mut gap)));
    }
    numbers
}

/// Stepwise and linear integral and the time held inside `span`, seconds.
pub(crate) fn integrals(points: &Points<'_>, span: TimeRange) -> (f64, f64, f64) {
    let seconds = |ns: i64| ns as f64 / S as f64;
    let (mut stepwise, mut linear, mut held) = (0.0, 0.0, 0.0);
    for pair in numbers(points).windows(2) {
        let [(a_at, a, _), (b_at, b, gap)] = pair else { continue };
        let (begin, end) = ((*a_at).max(span.begin), (*b_at).min(span.end));
        if *gap || b_at - a_at > LAWS.max_hold_ns || begin >= end {
            continue;
        }
        let (a, b) = (a.as_f64(), b.as_f64());
        let line = |at: i64| a + (b - a) * (seconds(at - a_at) / seconds(b_at - a_at));
        stepwise += a * seconds(end - begin);
        linear += (line(begin) + line(end)) / 2.0 * seconds(end - begin);
        held += seconds(end - begin);
    }
    (stepwise, linear, held)
}

/// Every bucket of a range that is not too wide.
pub(crate) fn spans(buckets: &Buckets, range: TimeRange) -> Vec<TimeRange> {
    let all: Vec<TimeRange> = match buckets {
        Buckets::Whole => Vec::from([range]),
        Buckets::Edges(edges) => edges.windows(2).map(|pair| TimeRange::new(pair[0], pair[1])).collect(),
        Buckets::Step { origin_ns, step_ns } => {
            let first = (range.begin - origin_ns).div_euclid(*step_ns) * step_ns + origin_ns;
            (0..)
                .map(|k| first + k * step_ns)
                .take_while(|begin| *begin < range.end)
                .map(|begin| TimeRange::new(begin, begin + step_ns))
                .collect()
        }
    };
    all.into_iter().map(|span| span.intersect(range)).filter(|span| !span.is_empty()).collect()
}

/// What `function` says of `span`, given all points of the series.
pub(crate) fn answer(function: Function, all: &Points<'_>, span: TimeRange) -> Answer {
    let points: Vec<(i64, Value<'_>)> = all.iter().filter(|(at, _)| span.contains(*at)).copied().collect();
    let numbers = numbers(&points);
    let of = |wanted: fn(&Value<'_>) -> bool| points.iter().filter(|(_, value)| wanted(value)).count() as u64;
    let words: Vec<(i64, &str)> = points
        .iter()
        .filter_map(|(at, value)| if let Value::State(text) = value { Some((*at, *text)) } else { None })
        .collect();
    let valued = |(at, value): &(i64, Value<'_>)| match value {
        Value::Gap => None,
        Value::Float(float) if float.is_nan() => None,
        Value::State(text) => Some((*at, Answer::Text((*text).to_string()))),
        Value::Boolean(boolean) => Some((*at, Answer::Float(f64::from(u8::from(*boolean))))),
        Value::Float(float) => Some((*at, Answer::Float(*float))),
        Value::Integer(integer) => Some((*at, Number::from_integer(*integer).into())),
    };
    let (first, last) = (points.iter().find_map(valued), points.iter().rev().find_map(valued));
    let falls = || numbers.windows(2).filter(|pair| pair[1].1.below(pair[0].1));
    let floats: Vec<f64> = numbers.iter().map(|(_, number, _)| number.as_f64()).collect();
    let mean = floats.iter().sum::<f64>() / floats.len() as f64;
    // The first of the smallest, and of the largest.
    let min = numbers.iter().copied().reduce(|a, b| if b.1.below(a.1) { b } else { a });
    let max = numbers.iter().copied().reduce(|a, b| if a.1.below(b.1) { b } else { a });
    let edges = numbers.first().zip(numbers.last());
    let increase = edges.map(|((_, first, _), (_, last, _))| {
        last.as_f64() - first.as_f64() + falls().map(|pair| pair[0].1.as_f64()).sum::<f64>()
    });
    let (stepwise, linear, held) = integrals(all, span);
    let some = |float: Option<f64>| float.map_or(Answer::Null, Answer::Float);
    let any = !numbers.is_empty();
    match function {
        Function::Count => Answer::Count((numbers.len() + words.len()) as u64),
        Function::Gaps => Answer::Count(of(|value| *value == Value::Gap)),
        Function::Nans => Answer::Count(of(|value| matches!(value, Value::Float(float) if float.is_nan()))),
        Function::Min => min.map_or(Answer::Null, |(_, number, _)| number.into()),
        Function::MinAt => min.map_or(Answer::Null, |(at, ..)| Answer::Time(at)),
        Function::Max => max.map_or(Answer::Null, |(_, number, _)| number.into()),
        Function::MaxAt => max.map_or(Answer::Null, |(at, ..)| Answer::Time(at)),
        Function::First => first.map_or(Answer::Null, |(_, value)| value),
        Function::FirstAt => first.map_or(Answer::Null, |(at, _)| Answer::Time(at)),
        Function::Last => last.map_or(Answer::Null, |(_, value)| value),
        Function::LastAt => last.map_or(Answer::Null, |(at, _)| Answer::Time(at)),
        Function::Sum => some(any.then(|| floats.iter().sum())),
        Function::Mean => some(any.then_some(mean)),
        Function::Stddev => some(any.then(|| {
            (floats.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / floats.len() as f64).sqrt()
        })),
        Function::Resets => {
            if any {
                Answer::Count(falls().count() as u64)
            } else {
                Answer::Null
            }
        }
        Function::Increase => some(increase),
        Function::Rate => {
            let ns = edges.map_or(0, |((first, ..), (last, ..))| last - first);
            some(increase.filter(|_| ns > 0).map(|increase| increase / (ns as f64 / S as f64)))
        }
        Function::Changes => Answer::Count(
            (numbers.windows(2).filter(|pair| pair[0].1.order(pair[1].1).is_ne()).count()
                + words.windows(2).filter(|pair| pair[0].1 != pair[1].1).count()) as u64,
        ),
        Function::Integral => some((any || held > 0.0).then_some(linear)),
        Function::IntegralStepwise => some((any || held > 0.0).then_some(stepwise)),
        Function::TimeWeightedMean => some((held > 0.0).then(|| stepwise / held)),
    }
}

/// Whether two answers agree; sums may be rounded otherwise, by a share of the largest number.
pub(crate) fn agree(function: Function, a: &Answer, b: &Answer, all: &Points<'_>) -> bool {
    let is_exact = !matches!(
        function,
        Function::Sum
            | Function::Mean
            | Function::Stddev
            | Function::Increase
            | Function::Rate
            | Function::Integral
            | Function::IntegralStepwise
            | Function::TimeWeightedMean
    );
    match (a, b) {
        (Answer::Float(a), Answer::Float(b)) if !is_exact => {
            let largest = numbers(all).iter().map(|(_, number, _)| number.as_f64().abs()).fold(1.0, f64::max);
            (a - b).abs() <= 1e-9 * largest * (1.0 + all.len() as f64) * 10.0
        }
        _ => a == b,
    }
}
