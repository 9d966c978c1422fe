//! Segments as the writer makes them, opened as a reader opens them, asked by name.

use std::vec::Vec;

use super::answers::{all_buckets, kept, texts};
use super::naive;
use super::world::{Dice, LAWS, S, World, shown};
use crate::block::{BLOCK_LEN, SegmentId};
use crate::point::{Point, TimeRange, Timestamp, Value, ValueKind};
use crate::query::{Buckets, Function, Question, Run, Segment, SegmentHandle};
use crate::segment::{Answer, BlockMap, Sealed, SegmentHeader, SegmentKind, Writer};
use crate::series::{NoRegex, Selector, SeriesName};

/// Sealed bytes of the points of some series, appended as they come.
fn write(names: &[SeriesName], rows: &[(usize, i64, Value<'static>)]) -> Vec<u8> {
    let header = SegmentHeader {
        id: SegmentId { device: [9; 16], epoch: 3, number: 4 },
        kind: SegmentKind::InOrder,
        rank: 4,
        partition: TimeRange::ALL,
        max_hold_ns: LAWS.max_hold_ns,
        covered_lsn: 0,
        writer: SegmentHeader::writer_name("test"),
    };
    let mut writer = Writer::new(header, 3);
    for (number, (series, at, value)) in rows.iter().enumerate() {
        let index = writer.define(&names[*series], value.kind().unwrap_or(ValueKind::Float), "");
        writer.append(index, &Point { timestamp: Timestamp(*at), value: *value }, 0).unwrap();
        if number % 9_000 == 8_999 {
            writer.flush();
        }
    }
    writer.seal().unwrap();
    writer.take_blocks().iter().flat_map(|block| block.bytes.iter().copied()).collect()
}

fn ready<T>(
    file: &[u8],
    blocks: &mut BlockMap,
    ask: impl Fn(&BlockMap) -> Result<Answer<T>, crate::segment::SegmentError>,
) -> T {
    loop {
        match ask(blocks).unwrap() {
            Answer::Ready(answer) => return answer,
            Answer::Need(ranges) => {
                for range in ranges {
                    let bytes = range.start as usize * BLOCK_LEN..range.end as usize * BLOCK_LEN;
                    blocks.insert(range.start, &file[bytes]);
                }
            }
        }
    }
}

#[test]
fn written_segments_answer_by_name() {
    let names: Vec<SeriesName> = ["power{device=\"a\"}", "power{device=\"b\"}", "door", "soil"]
        .iter()
        .map(|name| SeriesName::parse(name).unwrap())
        .collect();
    let mut dice = Dice::new(77);
    let mut rows = Vec::new();
    for second in 0..40_000_i64 {
        let at = second * S;
        rows.push((0, at, Value::Float((dice.roll(1_000) as f64) / 10.0)));
        if second % 10 == 0 {
            let value = if dice.roll(50) == 0 { Value::Gap } else { Value::Float(dice.roll(40) as f64) };
            rows.push((1, at + dice.roll(500) as i64, value));
        }
        if second % 400 == 0 {
            rows.push((2, at, Value::State(["open", "closed", "ajar"][dice.roll(3)])));
            rows.push((3, at, Value::Boolean(dice.roll(2) == 0)));
        }
    }
    let file = write(&names, &rows);
    let mut at_hand = BlockMap::new();
    let count = (file.len() / BLOCK_LEN) as u32;
    let sealed = ready(&file, &mut at_hand, |blocks| Sealed::open(count, blocks));
    let selector = Selector::parse("{__name__!=\"soil\"}").unwrap();
    let found = ready(&file, &mut at_hand, |blocks| sealed.select(blocks, &selector, &NoRegex));
    assert_eq!(found.len(), 3);

    let segment = SegmentHandle(0);
    let run = |roots: &Vec<crate::tree::Reference>| Run {
        segment,
        series: roots[0].series,
        rank: 4,
        roots: roots.clone(),
        hidden: Vec::new(),
    };
    let blocks = file.chunks(BLOCK_LEN).zip(0..).map(|(bytes, block)| ((segment, block), bytes.to_vec()));
    let points = found.iter().map(|(entry, _)| {
        let series = names.iter().position(|name| *name == entry.name).unwrap();
        rows.iter().filter(|row| row.0 == series).map(|row| (row.1, row.2)).collect()
    });
    let world = World {
        segments: [Segment { id: sealed.header().id, blocks: count }].into(),
        blocks: blocks.collect(),
        series: found.iter().map(|(_, roots)| [run(roots)].into()).collect(),
        points: points.collect(),
    };
    let (batches, done) = world.answer(Question::select(TimeRange::ALL), &mut dice);
    assert!(!done.statistics.is_partial);
    let wanted = (0_u32..)
        .zip(&world.points)
        .flat_map(|(series, points)| points.iter().map(move |(at, value)| (series, shown(*at, value))));
    assert!(texts(&batches).into_iter().eq(wanted));

    let functions: Vec<Function> = Function::all().collect();
    let buckets = Buckets::Step { origin_ns: 0, step_ns: 7_000 * S };
    let range = TimeRange::new(1_234 * S, 38_765 * S + 1);
    let question = Question { laws: LAWS, ..Question::group(range, buckets, functions.clone()) };
    let found = all_buckets(&world.answer(question, &mut dice).0);
    assert_eq!(found.len(), 3 * 6);
    for (series, bucket) in &found {
        let points = kept(&world.points[*series as usize], None);
        for function in &functions {
            let (said, wanted) = (bucket.answer(*function), naive::answer(*function, &points, bucket.span));
            assert!(
                naive::agree(*function, &said, &wanted, &points),
                "{function:?}: {said:?}, not {wanted:?}"
            );
        }
    }
}
