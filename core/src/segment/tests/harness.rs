//! What the tests share: a file in memory, and a walk over a tree that checks every summary.

use crate::block::{BLOCK_LEN, BlockKind, SegmentId, open};
use crate::codec::{self, Chunk};
use crate::point::{Point, TimeRange, Timestamp, Value, ValueKind};
use crate::segment::{
    Answer, BlockMap, Blocks, Scan, ScanStep, Scanned, Sealed, SegmentError, SegmentHeader, SegmentKind,
    Writer,
};
use crate::series::{NoRegex, Selector, SeriesName};
use crate::tree::leaf::Leaf;
use crate::tree::{Laws, Reference, Summary, node};

pub(in crate::segment) const DEVICE: [u8; 16] = *b"a device's id 16";

pub(in crate::segment) fn header(number: u32) -> SegmentHeader {
    SegmentHeader {
        id: SegmentId { device: DEVICE, epoch: 1, number },
        kind: SegmentKind::InOrder,
        rank: u64::from(number),
        partition: TimeRange::ALL,
        max_hold_ns: Laws::default().max_hold_ns,
        covered_lsn: 0,
        writer: SegmentHeader::writer_name("test"),
    }
}

/// Everything finished so far, at its place.
pub(in crate::segment) fn store(writer: &mut Writer, file: &mut Vec<u8>) {
    for block in writer.take_blocks() {
        let at = block.number as usize * BLOCK_LEN;
        assert_eq!(at, file.len(), "blocks come in the order of addresses");
        file.extend_from_slice(&block.bytes[..]);
    }
}

/// Gives every block that is asked for.
pub(in crate::segment) fn ready<T>(
    file: &[u8],
    at_hand: &mut BlockMap,
    mut ask: impl FnMut(&BlockMap) -> Result<Answer<T>, SegmentError>,
) -> Result<T, SegmentError> {
    for _ in 0..100 {
        match ask(at_hand)? {
            Answer::Ready(answer) => return Ok(answer),
            Answer::Need(ranges) => {
                assert!(!ranges.is_empty());
                for range in ranges {
                    let bytes = file.get(range.start as usize * BLOCK_LEN..range.end as usize * BLOCK_LEN);
                    at_hand.insert(range.start, bytes.expect("only blocks of the file are asked for"));
                }
            }
        }
    }
    panic!("asks for ever");
}

pub(in crate::segment) fn open_sealed(file: &[u8], at_hand: &mut BlockMap) -> Result<Sealed, SegmentError> {
    let count = (file.len() / BLOCK_LEN) as u32;
    ready(file, at_hand, |blocks| Sealed::open(count, blocks))
}

/// All series of a sealed file with their points.
pub(in crate::segment) fn read_sealed(file: &[u8]) -> Result<Vec<(String, Vec<Row>)>, SegmentError> {
    let mut at_hand = BlockMap::new();
    let sealed = open_sealed(file, &mut at_hand)?;
    let all = Selector::parse("{__name__!=\"\"}").expect("selector");
    let found = ready(file, &mut at_hand, |blocks| sealed.select(blocks, &all, &NoRegex))?;
    at_hand.insert(0, file);
    let mut series = Vec::new();
    for (entry, roots) in found {
        let mut rows = Vec::new();
        for root in roots.iter().filter(|root| root.block > 0) {
            rows.extend(walk(&at_hand, sealed.header(), root)?);
        }
        series.push((entry.name.as_str().to_string(), rows));
    }
    Ok(series)
}

pub(in crate::segment) fn scan(file: &[u8], strict: bool) -> Result<Scanned, SegmentError> {
    let mut scan = Scan::new(SegmentHeader::open(file)?, strict);
    for block in file.chunks(BLOCK_LEN).skip(1) {
        if scan.push(block) == ScanStep::End {
            break;
        }
    }
    Ok(scan.finish())
}

/// A row that compares bit by bit.
pub(in crate::segment) type Row = (i64, String);

pub(in crate::segment) fn row(point: &Point<'_>) -> Row {
    let text = match point.value {
        Value::Float(float) => format!("float {:016x}", float.to_bits()),
        // An integer chunk may hold numbers that a float could hold as well.
        Value::Integer(integer) => match Value::from_integer(integer) {
            Value::Float(float) => format!("float {:016x}", float.to_bits()),
            _ => format!("integer {integer}"),
        },
        other => format!("{other:?}"),
    };
    (point.timestamp.0, text)
}

/// All rows below a reference, in order; every summary on the way is held against them.
pub(in crate::segment) fn walk(
    blocks: &impl Blocks,
    header: &SegmentHeader,
    reference: &Reference,
) -> Result<Vec<Row>, SegmentError> {
    let wrong = |what| SegmentError::Payload { block: reference.block, what };
    let number = reference.block;
    let bytes = blocks.block(number).ok_or(wrong("missing block"))?;
    let (found, payload) =
        open(bytes, &header.id, number).map_err(|error| SegmentError::Block { block: number, error })?;
    let mut rows = Vec::new();
    if reference.level == 0 {
        assert_eq!(found.kind, BlockKind::Leaf);
        let leaf = Leaf::open(payload).map_err(|_| wrong("leaf"))?;
        let (entry, chunk) = leaf.chunk(reference.slot).map_err(|_| wrong("slot"))?;
        assert_eq!(entry.series, reference.series);
        let mut decoded = Chunk::default();
        codec::decode(chunk, entry.rows, entry.begin, &mut decoded).map_err(|_| wrong("chunk"))?;
        rows.extend(decoded.points().map(|point| row(&point)));
        let laws = Laws { max_hold_ns: header.max_hold_ns };
        let fold = decoded.points().fold(Summary::EMPTY, |all, point| {
            all.combine(&Summary::of_row(point.timestamp.0, &point.value), &laws)
        });
        same(&fold, &reference.summary);
    } else {
        assert_eq!(found.kind, BlockKind::Node);
        let node = node::decode(payload, reference.slot).map_err(|_| wrong("node"))?;
        assert_eq!((node.series, node.level), (reference.series, reference.level));
        for child in &node.references {
            rows.extend(walk(blocks, header, child)?);
        }
        let all = node::summary_of(&node.references, &Laws { max_hold_ns: header.max_hold_ns });
        same(&all, &reference.summary);
    }
    assert_eq!(rows.len() as u64, reference.summary.rows());
    assert!(rows.windows(2).all(|pair| pair[0].0 < pair[1].0), "rows rise strictly in time");
    Ok(rows)
}

fn same(a: &Summary, b: &Summary) {
    assert_eq!((a.begin, a.end, a.gaps, a.nans), (b.begin, b.end, b.gaps, b.nans));
    assert_eq!(a.words, b.words);
    assert_eq!(a.numbers.is_some(), b.numbers.is_some());
    if let (Some(a), Some(b)) = (a.numbers, b.numbers) {
        assert_eq!((a.count, a.first, a.last), (b.count, b.first, b.last));
        assert_eq!((a.min, a.min_at, a.max, a.max_at), (b.min, b.min_at, b.max, b.max_at));
        let (x, y) = (a.sums.sum(), b.sums.sum());
        assert!(
            (x - y).abs() <= 1e-9 * (x.abs() + 1.0) || x.to_bits() == y.to_bits() || x.is_nan(),
            "{x} {y}"
        );
    }
}

/// A generator of reproducible numbers (xorshift64*, Vigna 2016).
pub(in crate::segment) struct Dice(pub u64);

impl Dice {
    pub(in crate::segment) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(in crate::segment) fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 16) % limit
    }
}

pub(in crate::segment) fn name(series: usize) -> SeriesName {
    SeriesName::new("metric", [("device", format!("d{series:03}").as_str())]).expect("name")
}

/// Points of `series`, each series of its own kind of signal.
pub(in crate::segment) fn signal(series: usize, count: usize, dice: &mut Dice) -> Vec<(i64, Owned)> {
    let mut at = 1_700_000_000_000_000_000 + series as i64;
    let mut walk = 2_000i64;
    let mut points = Vec::new();
    for i in 0..count {
        at += match series % 3 {
            0 => 1_000_000_000,
            1 => 1_000_000_000 + dice.below(40_000_000) as i64,
            _ => 1 + dice.below(90_000_000_000) as i64,
        };
        walk += dice.below(21) as i64 - 10;
        let value = match series % 7 {
            0 => Owned::Float(walk as f64 / 100.0),
            1 => Owned::Float(f64::from_bits(0x3FF0_0000_0000_0000 | dice.next() >> 12)),
            2 => Owned::Boolean(dice.below(9) == 0),
            3 => Owned::State(["on", "off", "heating up", "ü"][dice.below(4) as usize]),
            4 if dice.below(50) == 0 => Owned::Gap,
            4 => Owned::Float(i as f64),
            5 if dice.below(40) < 20 => Owned::Integer(i64::MAX - dice.below(1000) as i64),
            5 => Owned::Float(walk as f64),
            _ if dice.below(60) == 0 => Owned::State("odd one"),
            _ => Owned::Float(21.5),
        };
        points.push((at, value));
    }
    points
}

#[derive(Clone, Copy, Debug)]
pub(in crate::segment) enum Owned {
    Float(f64),
    Integer(i64),
    Boolean(bool),
    State(&'static str),
    Gap,
}

impl Owned {
    pub(in crate::segment) fn point(self, at: i64) -> Point<'static> {
        let value = match self {
            Self::Float(float) => Value::Float(float),
            Self::Integer(integer) => Value::Integer(integer),
            Self::Boolean(boolean) => Value::Boolean(boolean),
            Self::State(text) => Value::State(text),
            Self::Gap => Value::Gap,
        };
        Point { timestamp: Timestamp(at), value }
    }

    pub(in crate::segment) fn kind(self) -> ValueKind {
        self.point(0).value.kind().unwrap_or(ValueKind::Float)
    }
}
