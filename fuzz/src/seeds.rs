//! The inputs that the corpus began with: small, valid, generated.

use std::io;

use siltstone_core::block::{BLOCK_LEN, BlockKind, HEADER_LEN, SegmentId, peek};
use siltstone_core::codec::{Plan, Rows, ScratchBuffer, Values, choose, encode};
use siltstone_core::index::{CatalogWriter, write_index};
use siltstone_core::point::{Point, TimeRange, Timestamp, Value, ValueKind};
use siltstone_core::segment::{SegmentHeader, SegmentKind, Writer};
use siltstone_core::series::SeriesName;
use siltstone_core::store::sim::SimMedium;
use siltstone_core::store::{Reading, Store, StoreConfig};

use crate::corpus::keep;
use crate::mutator::Random;
use crate::targets::DEVICE;

/// Writes them into `fuzz/corpus/`.
///
/// # Errors
/// The file system's.
pub fn write() -> io::Result<()> {
    chunks()?;
    let image = segment(true);
    let unsealed = segment(false);
    keep("image", "sealed", &image)?;
    keep("image", "unsealed", &unsealed)?;
    keep("image", "empty", &tombstones())?;
    let with_nodes = many_chunks();
    keep("image", "nodes", &with_nodes)?;
    payloads(&with_nodes)?;
    payloads(&image)?;
    payloads(&unsealed)?;
    sections()?;
    store()?;
    texts()
}

fn chunks() -> io::Result<()> {
    let mut random = Random::new(1);
    let timestamps: Vec<i64> = (0..48).map(|row| 1_000 + row * 1_000_000_000 + row % 3).collect();
    let walk: Vec<f64> = (0..48).map(|row| (2_000 + row * row % 37) as f64 / 100.0).collect();
    let bits: Vec<f64> = (0..48).map(|_| f64::from_bits(random.draw())).collect();
    let few: Vec<f64> = (0..48).map(|row| [21.5, 22.0, -0.0][row / 16]).collect();
    let integers: Vec<i64> = (0..48).map(|row| i64::MAX - row * 3).collect();
    let booleans: Vec<bool> = (0..48).map(|row| row % 5 == 0).collect();
    let codes: Vec<u16> = (0..48).map(|row| row / 9 % 3).collect();
    let columns = [
        ("walk", Values::Float(&walk)),
        ("bits", Values::Float(&bits)),
        ("few", Values::Float(&few)),
        ("integers", Values::Integer(&integers)),
        ("booleans", Values::Boolean(&booleans)),
        ("states", Values::State { codes: &codes, texts: &["on", "off", "heating"] }),
    ];
    for (name, values) in columns {
        for gaps in [&[][..], &[3, 20]] {
            let rows = Rows { timestamps: &timestamps, values, gaps };
            let mut memory = ScratchBuffer::default();
            let mut scratch = memory.lend(rows.len());
            let plan = choose(&rows, &Plan::default(), &mut scratch);
            let mut bytes = vec![0; 4_064];
            let encoded = encode(&rows, &plan, &mut scratch, &mut bytes).expect("it fits");
            let mut input = Vec::from(48_u16.to_le_bytes());
            input.extend_from_slice(&timestamps[0].to_le_bytes());
            input.extend_from_slice(&bytes[..encoded.len]);
            keep("chunk", &format!("{name}-{}", gaps.len()), &input)?;
        }
    }
    for kind in [0x00, 0x10, 0x20, 0x01, 0x02, 0x03] {
        let mut input = vec![kind];
        for _ in 0..40 {
            input.push((random.draw() & 0x81) as u8);
            input.extend_from_slice(&random.draw().to_le_bytes());
        }
        keep("round_trip", &format!("kind-{kind:02x}"), &input)?;
    }
    Ok(())
}

fn header(kind: SegmentKind) -> SegmentHeader {
    SegmentHeader {
        id: SegmentId { device: DEVICE, epoch: 1, number: 1 },
        kind,
        rank: 5,
        partition: TimeRange::ALL,
        max_hold_ns: 3_600_000_000_000,
        covered_lsn: 0,
        writer: SegmentHeader::writer_name("seed"),
    }
}

fn names() -> Vec<SeriesName> {
    let name = |n: usize| format!("temperature{{device=\"a{n}\",room=\"{}\"}}", ["cellar", "attic"][n % 2]);
    (0..5).map(|n| SeriesName::parse(&name(n)).expect("a name")).collect()
}

fn blocks(writer: &mut Writer) -> Vec<u8> {
    writer.take_blocks().iter().flat_map(|block| block.bytes.iter().copied()).collect()
}

fn segment(is_sealed: bool) -> Vec<u8> {
    let mut writer = Writer::new(header(SegmentKind::InOrder), 1);
    let mut random = Random::new(2);
    for (n, name) in names().iter().enumerate() {
        let series = writer.define(name, [ValueKind::Float, ValueKind::State][n / 4], "°C");
        for row in 0..if n == 0 { 1_600 } else { 70 } {
            let value = match n {
                0 => Value::Float(f64::from_bits(random.draw() >> 2)),
                1 => Value::Float((row * 7 % 90) as f64 / 10.0),
                2 => Value::Boolean(row % 4 == 0),
                3 => Value::Integer(i64::MAX - row),
                _ => Value::State(["on", "off"][usize::from(row % 9 == 0)]),
            };
            let timestamp = Timestamp(1_700_000_000_000_000_000 + row * 1_000_000_000);
            writer.append(series, &Point { timestamp, value }, 0).expect("in order");
        }
    }
    if is_sealed {
        writer.seal().expect("sealed")
    } else {
        writer.flush()
    }
    blocks(&mut writer)
}

/// More chunks of one series than its roots name: there is a node.
fn many_chunks() -> Vec<u8> {
    let mut writer = Writer::new(header(SegmentKind::Late), 1);
    let series = writer.define(&names()[0], ValueKind::Float, "");
    for row in 0..54 {
        let timestamp = Timestamp(1_700_000_000_000_000_000 + row * 1_000_000_000);
        let value = Value::Float((row * 7 % 90) as f64 / 10.0);
        writer.append(series, &Point { timestamp, value }, 0).expect("in order");
        if row % 3 == 2 {
            writer.flush();
        }
    }
    writer.seal().expect("sealed");
    blocks(&mut writer)
}

fn tombstones() -> Vec<u8> {
    let mut writer = Writer::new(header(SegmentKind::Tombstones), 1);
    names().iter().for_each(|name| _ = writer.define(name, ValueKind::Float, ""));
    writer.seal().expect("sealed");
    blocks(&mut writer)
}

/// Each kind of block, whole and its payload alone.
fn payloads(image: &[u8]) -> io::Result<()> {
    keep("block", "leaf", &image[3 * BLOCK_LEN..4 * BLOCK_LEN])?;
    keep("header", "block", &image[..BLOCK_LEN])?;
    keep("header", "copy", &image[BLOCK_LEN..2 * BLOCK_LEN])?;
    keep("header", "payload", &image[HEADER_LEN..HEADER_LEN + 107])?;
    for (number, block) in image.chunks(BLOCK_LEN).enumerate() {
        let (header, payload) = peek(block).expect("a block");
        let is_last = (number + 1) * BLOCK_LEN == image.len();
        match header.kind {
            BlockKind::Leaf if (4..7).contains(&number) => {
                drop(keep("leaf", &format!("leaf-{number}"), payload)?)
            }
            BlockKind::Node => {
                keep("node", &format!("node-{number}"), payload)?;
                // Series and level stand before the table.
                keep("table", &format!("node-{number}"), &payload[5..])?;
            }
            BlockKind::Tail if is_last => {
                let footer = payload.len().saturating_sub(300);
                keep("footer", "footer", &payload[footer..])?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn sections() -> io::Result<()> {
    let names = names();
    let mut catalog = CatalogWriter::new();
    for (n, name) in names.iter().enumerate() {
        catalog.push(name.name_ref(), ValueKind::Float, ["°C", ""][n / 3]).expect("in order");
    }
    keep("catalog", "five", &catalog.finish().expect("small"))?;
    let index = write_index(names.iter().map(SeriesName::name_ref)).expect("small");
    keep("index", "five", &index)?;
    let many: Vec<_> =
        (100..160).map(|n| SeriesName::parse(&format!("m{n}{{device=\"a{n}\"}}")).expect("a name")).collect();
    keep("index", "sixty", &write_index(many.iter().map(SeriesName::name_ref)).expect("small"))?;
    Ok(())
}

/// A journal file with every kind of entry, and an identity.
fn store() -> io::Result<()> {
    let config = StoreConfig { journal_files: 3, journal_file_blocks: 16, ..StoreConfig::default() };
    let medium = SimMedium::new();
    let (mut store, _) = Store::open(medium.clone(), config, DEVICE).expect("a new store");
    let kinds =
        [ValueKind::Float, ValueKind::Boolean, ValueKind::Integer, ValueKind::State, ValueKind::Float];
    let series: Vec<_> =
        names().iter().zip(kinds).map(|(name, kind)| store.series(name, kind, "°C").expect("room")).collect();
    for row in 0..40_i64 {
        let values = [
            Value::Float(row as f64 / 3.0),
            Value::Boolean(row % 2 == 0),
            Value::Integer(i64::MAX - row),
            Value::State("on"),
            if row % 7 == 0 { Value::Gap } else { Value::Float(row as f64) },
        ];
        for (series, value) in series.iter().zip(values) {
            // Every fifth is late.
            let at = if row % 5 == 4 { row - 4 } else { row };
            let timestamp = Timestamp(1_796_022_845_000_000_000 + at * 1_000_000_000 + row);
            let reading = Reading { series: *series, point: Point { timestamp, value } };
            store.append(&[reading], None).expect("taken");
        }
        store.commit().expect("flushed");
    }
    for number in 0..3 {
        let path = format!("journal/{number:02}.journal");
        let mut bytes: Vec<u8> = (0..16).filter_map(|block| medium.raw(&path, block)).flatten().collect();
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at / BLOCK_LEN + 1);
        bytes.truncate(end.min(8) * BLOCK_LEN);
        if !bytes.is_empty() {
            keep("journal", &format!("file-{number}"), &bytes)?;
        }
    }
    let id = medium.raw("store.id", 0).expect("an identity");
    keep("store_id", "id", &id)?;
    Ok(())
}

fn texts() -> io::Result<()> {
    let all: &[(&str, &str, &str)] = &[
        (
            "payload",
            "object",
            "home/attic/sensor\n{\"temperature\": 21.5, \"ts\": 1796022840, \"on\": true, \"s\": \"open\"}",
        ),
        (
            "payload",
            "nested",
            "zigbee2mqtt/lamp\n{\"a\": {\"b\": [1, 2, 3], \"c\": null}, \"time\": \"2026-11-30T12:00:00+01:00\"}",
        ),
        ("payload", "bare", "plug/power\n9007199254740993"),
        ("payload", "word", "door/state\nOFF"),
        ("payload", "escapes", "a/ü\n{\"k\\u00e9\\n\": -1.5e-7, \"k\": \"\\ud83d\\ude00\", \"n\": NaN}"),
        (
            "csv",
            "seconds",
            "timestamp_s,temperature,\"{\"\"soil moisture\"\",device=\"\"x\"\"}\"\n1796022840,21.5,true\n1796022841.25,,open\n",
        ),
        ("csv", "nanoseconds", "timestamp_ns,m\r\n1796022840000000001,-9223372036854775808\r\n"),
        ("selector", "classic", "temperature{device=\"attic\",room!=\"x\"}"),
        ("selector", "quoted", "{\"soil moisture\",device=~\"a.*|b\",\"ta\\\"g\"!~\"\"}"),
        ("selector", "name", "{__name__=\"t\", a=\"\\\\ \\n ü\"}"),
        (
            "config",
            "all",
            "[data]\ndir = \"x\"\npartition = \"day\"\nscrub_interval = \"7d\"\n[mqtt]\nurl = \"mqtt://h:1\"\nsubscribe = [\"a/#\", \"+/b\"]\nqos = 1\n[ingest]\nmax_age = \"1y\"\n[http]\nlisten = \"127.0.0.1:1\"\n[log]\nlevel = \"info\"\n",
        ),
        (
            "question",
            "aggregate",
            "{\"select\": \"t{a=\\\"b\\\"}\", \"from\": \"2026-01-01T00:00:00Z\", \"to\": \"1796022840000000000\", \"step\": \"10m\", \"fn\": [\"mean\", \"max\"], \"snap\": true, \"where\": \"> 30\", \"limit\": 100, \"order\": \"desc\"}",
        ),
        (
            "question",
            "edges",
            "{\"select\": \"t\", \"edges\": [\"0\", \"5\", \"9\"], \"fn\": [\"count\"], \"cursor\": \"x\"}",
        ),
        ("question", "condition", ">= -1.5e3"),
        ("question", "instant", "2026-11-30T12:00:00.123456789+02:00"),
    ];
    for (target, name, text) in all {
        keep(target, name, text.as_bytes())?;
    }
    Ok(())
}
