//! What questions cost: time, blocks and bytes over one sealed segment of one long series.
//!
//! ```sh
//! cargo run --release -p siltstone-core --example questions [POINTS]
//! ```
//!
//! A random walk with two decimals, one reading a second, 10 million of them unless told otherwise. Each
//! question is asked three times and the median printed. Blocks come from memory; bytes are those of the blocks
//! that the question asked for, without the tail (header, footer, index), which is counted once as opening.

use std::{env, time::Instant};

use siltstone_core::block::{BLOCK_LEN, SegmentId};
use siltstone_core::point::{Point, TimeRange, Timestamp, Value, ValueKind};
use siltstone_core::query::{
    Buckets, Comparison, Filter, Function, Query, Question, Run, Segment, SegmentHandle, Step, Task,
};
use siltstone_core::segment::{Answer, BlockMap, Sealed, SegmentHeader, SegmentKind, Writer};
use siltstone_core::series::{NoRegex, Selector, SeriesName};
use siltstone_core::tree::{Laws, Reference};

const S: i64 = 1_000_000_000;
const HOUR: i64 = 3_600 * S;
const BUDGET_BLOCKS: usize = 256;

fn write(points: i64) -> Vec<u8> {
    let header = SegmentHeader {
        id: SegmentId { device: *b"siltstone bench.", epoch: 1, number: 1 },
        kind: SegmentKind::InOrder,
        rank: 1,
        partition: TimeRange::ALL,
        max_hold_ns: Laws::default().max_hold_ns,
        covered_lsn: 0,
        writer: SegmentHeader::writer_name("questions"),
    };
    let mut writer = Writer::new(header, 1);
    let name = SeriesName::parse("walk{device=\"bench\"}").expect("a name");
    let series = writer.define(&name, ValueKind::Float, "");
    let mut file = Vec::new();
    let (mut dice, mut value) = (0x9E37_79B9_7F4A_7C15_u64, 2_000_i64);
    for second in 0..points {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        value += (dice % 7) as i64 - 3;
        let point = Point { timestamp: Timestamp(second * S), value: Value::Float(value as f64 / 100.0) };
        writer.append(series, &point, 0).expect("in order");
        if second % 100_000 == 0 {
            take(&mut writer, &mut file);
        }
    }
    writer.seal().expect("a small catalog");
    take(&mut writer, &mut file);
    file
}

fn take(writer: &mut Writer, file: &mut Vec<u8>) {
    for block in writer.take_blocks() {
        file.extend_from_slice(&block.bytes[..]);
    }
}

/// Opens the segment and finds the series; gives its root and the blocks that took.
fn open(file: &[u8]) -> (Sealed, Reference, usize) {
    let mut blocks = BlockMap::new();
    let count = (file.len() / BLOCK_LEN) as u32;
    let mut sealed = None;
    loop {
        let need = match &sealed {
            None => match Sealed::open(count, &blocks).expect("a segment") {
                Answer::Ready(opened) => {
                    sealed = Some(opened);
                    continue;
                }
                Answer::Need(need) => need,
            },
            Some(opened) => {
                let selector = Selector::parse("walk").expect("a selector");
                match opened.select(&blocks, &selector, &NoRegex).expect("a catalog") {
                    Answer::Ready(found) => return (opened.clone(), found[0].1[0], blocks.len()),
                    Answer::Need(need) => need,
                }
            }
        };
        for range in need {
            let bytes = range.start as usize * BLOCK_LEN..range.end as usize * BLOCK_LEN;
            blocks.insert(range.start, &file[bytes]);
        }
    }
}

fn ask(name: &str, file: &[u8], sealed: &Sealed, root: Reference, question: &Question) {
    let mut times = Vec::new();
    let mut line = String::new();
    for _ in 0..3 {
        let begin = Instant::now();
        let whole = Segment { id: sealed.header().id, blocks: sealed.block_count() };
        let (segment, series) = (SegmentHandle(0), root.series);
        let run = Run { segment, series, rank: 1, roots: vec![root], hidden: Vec::new() };
        let mut query = Query::new(question.clone(), vec![whole], vec![vec![run]]).expect("a question");
        let (mut rows, mut rounds) = (0, 0);
        let statistics = loop {
            match query.step(BUDGET_BLOCKS) {
                Step::Need(requests) => {
                    rounds += 1;
                    for request in requests {
                        let begin = request.block as usize * BLOCK_LEN;
                        query.feed(&request, Ok(&file[begin..begin + request.count as usize * BLOCK_LEN]));
                    }
                }
                Step::Batch(batch) => rows += batch.rows.len(),
                Step::Done(done) => break done.statistics,
            }
        };
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        line = format!(
            "{rows:>9} rows, {:>6} blocks, {:>9} bytes, {rounds:>3} rounds, {:>9} points decoded",
            statistics.blocks_read, statistics.bytes_read, statistics.points_decoded
        );
    }
    times.sort_by(f64::total_cmp);
    println!("{name:<28} {:>9.3} ms  {line}", times[1]);
}

fn main() {
    let points = env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000_000_i64);
    let begin = Instant::now();
    let file = write(points);
    let seconds = begin.elapsed().as_secs_f64();
    println!("{points} points in {} bytes, written in {seconds:.1} s", file.len());
    let (sealed, root, blocks) = open(&file);
    println!("opening and finding the series: {blocks} blocks");
    let whole = TimeRange::ALL;
    let day = TimeRange::new(points / 2 * S + 1, (points / 2 + 86_400) * S + 1);
    let by = |step_ns| Buckets::Step { origin_ns: 0, step_ns };
    let mut snapped = Question::group(whole, by(points * S / 1_000), [Function::Min, Function::Max]);
    if let Task::Group { snap, .. } = &mut snapped.task {
        *snap = true;
    }
    let filter = Some(Filter { comparison: Comparison::AtLeast, number: root_max(&root) - 0.5 });
    for (name, question) in [
        ("whole range", Question::aggregate(whole, [Function::Mean, Function::Max])),
        ("one day", Question::aggregate(day, [Function::Mean, Function::Max])),
        ("1,000 snapped buckets", snapped),
        ("by day", Question::group(whole, by(24 * HOUR), [Function::Mean])),
        ("by hour", Question::group(whole, by(HOUR), [Function::Mean])),
        ("by minute", Question::group(whole, by(HOUR / 60), [Function::Mean])),
        ("near the maximum", Question { filter, ..Question::select(whole) }),
        ("select one hour", Question::select(TimeRange::new(day.begin, day.begin + HOUR))),
        ("select everything", Question::select(whole)),
    ] {
        ask(name, &file, &sealed, root, &question);
    }
}

fn root_max(root: &Reference) -> f64 {
    root.summary.numbers.map_or(0.0, |numbers| numbers.max.as_f64())
}
