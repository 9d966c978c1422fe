//! Segments made of random trees, and a driver that feeds their blocks in any order.

use std::collections::{BTreeMap, BTreeSet};
use std::string::String;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use crate::block::{BLOCK_LEN, Block, BlockHeader, BlockKind, SegmentId, seal};
use crate::codec::{Plan, Rows as CodecRows, ScratchBuffer, Values, choose, encode};
use crate::point::{TimeRange, Value, ValueKind};
use crate::query::{Batch, Done, Query, Question, Request, Run, Segment, SegmentHandle, Step, Unreadable};
use crate::tree::leaf::{Entry, LeafBuilder};
use crate::tree::{Laws, Reference, node, summarize};

/// A second; times of the tests are whole seconds, so that integrals are numbers of a usual size.
pub(super) const S: i64 = 1_000_000_000;
/// Values are held for this long.
pub(super) const LAWS: Laws = Laws { max_hold_ns: 50 * S };

pub(super) type Points = Vec<(i64, Value<'static>)>;

/// A source of decisions that a failing seed repeats.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// A number below `sides`.
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % sides
    }
}

/// Some series over some segments.
#[derive(Debug)]
pub(super) struct World {
    pub(super) segments: Vec<Segment>,
    pub(super) blocks: BTreeMap<(SegmentHandle, u32), Vec<u8>>,
    pub(super) series: Vec<Vec<Run>>,
    /// What a map of all points holds in the end.
    pub(super) points: Vec<BTreeMap<i64, Value<'static>>>,
}

/// Runs of one series, each with its rank.
pub(super) type SeriesPoints = Vec<(u64, Points)>;

impl World {
    pub(super) fn new(series: &[SeriesPoints], dice: &mut Dice) -> Self {
        let segments_count = series.iter().map(Vec::len).max().unwrap_or(0);
        let mut makers: Vec<Maker> = (0..segments_count).map(Maker::new).collect();
        let mut world =
            Self { segments: Vec::new(), blocks: BTreeMap::new(), series: Vec::new(), points: Vec::new() };
        for (number, runs) in series.iter().enumerate() {
            let mut in_order: Vec<&(u64, Points)> = runs.iter().collect();
            in_order.sort_by_key(|(rank, _)| *rank);
            // Deleted spans, each later than the runs up to some rank.
            let deleted: Vec<(u64, TimeRange)> = (0..dice.roll(8).saturating_sub(5))
                .map(|_| (10 * dice.roll(runs.len() + 1) as u64 + 5, span(dice)))
                .collect();
            let hidden = |rank: u64| {
                let above = deleted.iter().filter(|(above, _)| *above > rank).map(|(_, span)| *span);
                above.collect::<Vec<_>>()
            };
            let counts = |rank: u64, at: i64| !hidden(rank).iter().any(|span| span.contains(at));
            let points = in_order
                .iter()
                .flat_map(|(rank, points)| points.iter().filter(|(at, _)| counts(*rank, *at)).copied());
            world.points.push(points.collect());
            let index = 7 + 3 * number as u32;
            let runs =
                runs.iter().zip(&mut makers).enumerate().map(|(segment, ((rank, points), maker))| Run {
                    segment: SegmentHandle(segment as u32),
                    series: index,
                    rank: *rank,
                    roots: maker.tree(index, points, dice),
                    hidden: joined(hidden(*rank)),
                });
            world.series.push(runs.collect());
        }
        for (number, mut maker) in makers.into_iter().enumerate() {
            maker.end_leaf();
            world.segments.push(Segment { id: maker.id, blocks: maker.next });
            let handle = SegmentHandle(number as u32);
            world.blocks.extend(maker.blocks.into_iter().map(|(block, bytes)| ((handle, block), bytes)));
        }
        world
    }

    pub(super) fn ask(&self, question: Question) -> Query {
        Query::new(question, self.segments.clone(), self.series.clone()).unwrap()
    }

    /// Answers with every block at hand.
    pub(super) fn answer(&self, question: Question, dice: &mut Dice) -> (Vec<Batch>, Done) {
        self.drive(question, dice, &BTreeSet::new())
    }

    /// Answers where `faulty` blocks are torn or can't be fetched.
    pub(super) fn drive(
        &self,
        question: Question,
        dice: &mut Dice,
        faulty: &BTreeSet<(SegmentHandle, u32)>,
    ) -> (Vec<Batch>, Done) {
        let budget = 1 + dice.roll(9);
        let mut query = self.ask(question);
        let mut batches = Vec::new();
        for _ in 0..100_000 {
            match query.step(budget) {
                Step::Batch(batch) => {
                    assert!(!batch.rows.is_empty());
                    batches.push(batch);
                }
                Step::Done(done) => return (batches, done),
                Step::Need(mut requests) => {
                    assert!(!requests.is_empty());
                    let count: u32 = requests.iter().map(|request| request.count).sum();
                    assert!(count as usize * 2 <= budget * 3, "{requests:?} for a budget of {budget}");
                    while !requests.is_empty() {
                        let request = requests.swap_remove(dice.roll(requests.len()));
                        self.feed(&mut query, request, dice, faulty);
                        if dice.roll(4) == 0 {
                            // The others are asked for again.
                            break;
                        }
                    }
                }
            }
        }
        panic!("no end");
    }

    fn feed(
        &self,
        query: &mut Query,
        request: Request,
        dice: &mut Dice,
        faulty: &BTreeSet<(SegmentHandle, u32)>,
    ) {
        if dice.roll(2) == 0 {
            // In pieces of one block.
            for block in (request.block..request.block + request.count).rev() {
                let one = Request { block, count: 1, ..request };
                match self.read(one, faulty) {
                    Some(bytes) => query.feed(&one, Ok(&bytes)),
                    None => query.feed(&one, Err(Unreadable)),
                }
            }
            return;
        }
        match self.read(request, faulty) {
            Some(bytes) => query.feed(&request, Ok(&bytes)),
            None => query.feed(&request, Err(Unreadable)),
        }
    }

    fn read(&self, request: Request, faulty: &BTreeSet<(SegmentHandle, u32)>) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for block in request.block..request.block + request.count {
            let key = (request.segment, block);
            let mut one = self.blocks.get(&key).cloned().unwrap_or(vec![0; BLOCK_LEN]);
            if faulty.contains(&key) {
                if block % 2 == 0 && request.count == 1 {
                    return None;
                }
                one[100] ^= 0x10;
            }
            bytes.extend(one);
        }
        Some(bytes)
    }
}

/// A span in which something was deleted: short, long, or everything.
fn span(dice: &mut Dice) -> TimeRange {
    match dice.roll(5) {
        0 => TimeRange::ALL,
        longer => {
            let begin = (dice.roll(900) as i64 - 100) * S;
            TimeRange::new(begin, begin + dice.roll(200 * longer) as i64 * S)
        }
    }
}

/// The same spans in order and disjoint.
fn joined(mut spans: Vec<TimeRange>) -> Vec<TimeRange> {
    spans.sort_by_key(|span| span.begin);
    let mut joined: Vec<TimeRange> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.begin <= last.end => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

/// Makes the blocks of one segment.
struct Maker {
    id: SegmentId,
    next: u32,
    blocks: BTreeMap<u32, Vec<u8>>,
    leaf: LeafBuilder<600>,
    leaf_block: u32,
}

impl Maker {
    fn new(number: usize) -> Self {
        let id = SegmentId { device: [number as u8 + 1; 16], epoch: 2, number: number as u32 + 5 };
        Self { id, next: 2, blocks: BTreeMap::new(), leaf: LeafBuilder::new(), leaf_block: 1 }
    }

    fn put(&mut self, number: u32, kind: BlockKind, payload_len: u16, mut block: Block) {
        let header = BlockHeader {
            kind,
            flags: 0,
            payload_len,
            block: number,
            number: self.id.number,
            epoch: self.id.epoch,
            write_epoch: self.id.epoch,
            lsn: 0,
        };
        seal(&mut block, &header, &self.id.device);
        self.blocks.insert(number, block.to_vec());
    }

    fn end_leaf(&mut self) {
        if !self.leaf.is_empty() {
            let mut block = [0; BLOCK_LEN];
            let len = self.leaf.finish(&mut block);
            self.put(self.leaf_block, BlockKind::Leaf, len, block);
            self.leaf_block = self.next;
            self.next += 1;
        }
    }

    /// The tree of one series: references to its roots.
    fn tree(&mut self, series: u32, points: &Points, dice: &mut Dice) -> Vec<Reference> {
        let mut references = Vec::new();
        let mut rest = points.as_slice();
        while let Some((_, first)) = rest.first() {
            let kind = rest.iter().find_map(|(_, value)| value.kind()).unwrap_or(ValueKind::Float);
            let kind = first.kind().unwrap_or(kind);
            let sides = if dice.roll(3) == 0 { 30 } else { 6 };
            let len_max = 1 + dice.roll(sides);
            let fits = |(_, value): &&(i64, Value<'_>)| value.kind().is_none_or(|k| k == kind);
            let len = rest.iter().take(len_max).take_while(fits).count();
            let (chunk, behind) = rest.split_at(len);
            references.push(self.chunk(series, kind, chunk));
            rest = behind;
            if dice.roll(3) == 0 {
                self.end_leaf();
            }
        }
        for level in 1..=8 {
            if references.len() < 2 || dice.roll(12) == 0 {
                break;
            }
            let mut above = Vec::new();
            let mut below = references.as_slice();
            while !below.is_empty() {
                let (some, rest) = below.split_at(below.len().min(2 + dice.roll(4)));
                below = rest;
                let mut block = [0; BLOCK_LEN];
                let len = node::encode(some, series, level, &mut block).unwrap();
                let number = self.next;
                self.next += 1 + dice.roll(2) as u32;
                self.put(number, BlockKind::Node, len, block);
                let summary = node::summary_of(some, &LAWS);
                above.push(Reference { series, block: number, slot: 0, level, summary });
            }
            references = above;
        }
        references
    }

    fn chunk(&mut self, series: u32, kind: ValueKind, points: &[(i64, Value<'static>)]) -> Reference {
        let timestamps: Vec<i64> = points.iter().map(|(at, _)| *at).collect();
        let gaps: Vec<u16> =
            (0..).zip(points).filter(|(_, (_, value))| *value == Value::Gap).map(|(row, _)| row).collect();
        let (mut floats, mut integers, mut booleans) = (Vec::new(), Vec::new(), Vec::new());
        let (mut codes, mut texts) = (Vec::new(), Vec::<&str>::new());
        for (_, value) in points {
            match *value {
                Value::Float(float) => floats.push(float),
                Value::Integer(integer) => integers.push(integer),
                Value::Boolean(boolean) => booleans.push(boolean),
                Value::State(text) => {
                    let code = texts.iter().position(|known| *known == text).unwrap_or(texts.len());
                    if code == texts.len() {
                        texts.push(text);
                    }
                    codes.push(code as u16);
                }
                Value::Gap => {
                    floats.push(floats.last().copied().unwrap_or(0.0));
                    integers.push(integers.last().copied().unwrap_or(0));
                    booleans.push(booleans.last().copied().unwrap_or(false));
                    texts.extend(texts.is_empty().then_some(""));
                    codes.push(codes.last().copied().unwrap_or(0));
                }
            }
        }
        let values = match kind {
            ValueKind::Float => Values::Float(&floats),
            ValueKind::Integer => Values::Integer(&integers),
            ValueKind::Boolean => Values::Boolean(&booleans),
            ValueKind::State => Values::State { codes: &codes, texts: &texts },
        };
        let rows = CodecRows { timestamps: &timestamps, values, gaps: &gaps };
        let mut buffer = ScratchBuffer::default();
        let mut scratch = buffer.lend(points.len().max(texts.len()));
        let plan = choose(&rows, &Plan::default(), &mut scratch);
        let mut bytes = [0; BLOCK_LEN];
        let encoded = encode(&rows, &plan, &mut scratch, &mut bytes).unwrap();
        let entry = Entry {
            series,
            rows: points.len() as u16,
            begin: timestamps[0],
            last: timestamps[timestamps.len() - 1],
            len: encoded.len as u16,
        };
        if encoded.len > self.leaf.room(&entry) {
            self.end_leaf();
        }
        let slot = self.leaf.push(entry, &bytes[..encoded.len]).unwrap();
        Reference { series, block: self.leaf_block, slot, level: 0, summary: summarize(&rows, &LAWS) }
    }
}

/// One value of a series of a certain nature.
fn value(nature: u8) -> BoxedStrategy<Value<'static>> {
    let grid = (-50_i32..50).prop_map(|number| Value::Float(f64::from(number) / 10.0));
    match nature {
        0 => grid.boxed(),
        1 => prop_oneof![
            8 => grid,
            1 => Just(Value::Float(f64::NAN)),
            1 => Just(Value::Gap),
            1 => Just(Value::Float(1.0 / 3.0)),
        ]
        .boxed(),
        2 => prop_oneof![5 => any::<bool>().prop_map(Value::Boolean), 1 => Just(Value::Gap)].boxed(),
        3 => prop_oneof![
            5 => prop_oneof![Just("open"), Just("closed"), Just("")].prop_map(Value::State),
            1 => Just(Value::Gap),
        ]
        .boxed(),
        4 => prop_oneof![Just(i64::MAX), Just(i64::MIN), (1_i64 << 54)..(1 << 55)]
            .prop_map(Value::Integer)
            .boxed(),
        _ => (0_u8..5).prop_flat_map(value).boxed(),
    }
}

/// Points of one run; counters rise for a while.
fn points(count_max: usize) -> impl Strategy<Value = Points> {
    let distance = prop_oneof![6 => Just(10_i64), 6 => 1_i64..12, 1 => 40_i64..80];
    (0_u8..7, 0_i64..300).prop_flat_map(move |(nature, begin)| {
        let row = (distance.clone(), value(nature));
        proptest::collection::vec(row, 1..count_max).prop_map(move |rows| {
            let mut at = begin;
            let mut counter = 0.0;
            rows.into_iter()
                .map(|(distance, value)| {
                    at += distance;
                    counter = if distance > 70 { 0.0 } else { counter + distance as f64 };
                    (at * S, if nature == 6 { Value::Float(counter) } else { value })
                })
                .collect()
        })
    })
}

/// A run in order and some late ones, in a random order of ranks.
fn series_points() -> impl Strategy<Value = SeriesPoints> {
    let runs = prop_oneof![
        3 => points(80).prop_map(|run| vec![run]),
        3 => proptest::collection::vec(points(30), 2..4),
        1 => (points(80), points(5)).prop_map(|(a, b)| vec![a, b]),
    ];
    (runs, any::<u64>()).prop_map(|(runs, seed)| {
        let mut dice = Dice::new(seed);
        let mut ranks: Vec<u64> = (0..runs.len() as u64).map(|rank| 10 * rank).collect();
        let mut ranked = Vec::new();
        for run in runs {
            ranked.push((ranks.swap_remove(dice.roll(ranks.len())), run));
        }
        ranked
    })
}

pub(super) fn worlds() -> impl Strategy<Value = (Vec<SeriesPoints>, u64)> {
    (proptest::collection::vec(series_points(), 1..4), any::<u64>())
}

/// A text that says what a batch of points holds, bit by bit.
pub(super) fn shown(at: i64, value: &Value<'_>) -> String {
    match value {
        Value::Float(float) => std::format!("{at} {:016x}", float.to_bits()),
        other => std::format!("{at} {other:?}"),
    }
}

/// The block with the header of another place, so that it passes for the block there.
pub(super) fn resealed(bytes: Vec<u8>, id: SegmentId, number: u32) -> Vec<u8> {
    let mut block: Block = bytes.as_slice().try_into().unwrap();
    let (header, _) = crate::block::peek(&block).unwrap();
    let header = BlockHeader { block: number, number: id.number, epoch: id.epoch, ..header };
    seal(&mut block, &header, &id.device);
    block.to_vec()
}
