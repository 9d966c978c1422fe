//! The engine as the page drives it, on segments written here: what is needed is fed, nothing else.

use siltstone_core::block::{BLOCK_LEN, SegmentId};
use siltstone_core::point::{Point, TimeRange, Timestamp, Value, ValueKind};
use siltstone_core::segment::{SegmentHeader, SegmentKind, Writer};
use siltstone_core::series::SeriesName;
use siltstone_core::tree::Laws;

use super::{Engine, Fault};
use crate::table::Table;

const SECOND: i64 = 1_000_000_000;

/// A segment with points of some series: name, kind, and what each second's value is.
fn segment(
    number: u32,
    seconds: std::ops::Range<i64>,
    series: &[(&str, ValueKind)],
    is_sealed: bool,
) -> Vec<u8> {
    let header = SegmentHeader {
        id: SegmentId { device: [7; 16], epoch: 1, number },
        kind: SegmentKind::InOrder,
        rank: u64::from(number),
        partition: TimeRange::ALL,
        max_hold_ns: Laws::default().max_hold_ns,
        covered_lsn: 0,
        writer: SegmentHeader::writer_name("test"),
    };
    let mut writer = Writer::new(header, 1);
    for (name, kind) in series {
        let index = writer.define(&SeriesName::parse(name).unwrap(), *kind, "W");
        for second in seconds.clone() {
            let value = match kind {
                ValueKind::Float => Value::Float(reading(second)),
                ValueKind::Integer => Value::Integer(i64::MAX - second),
                ValueKind::Boolean => Value::Boolean(second % 2 == 0),
                ValueKind::State => Value::State(if second % 3 == 0 { "open" } else { "closed" }),
            };
            let timestamp = Timestamp(second * SECOND);
            writer.append(index, &Point { timestamp, value }, 0).unwrap();
        }
    }
    if is_sealed {
        writer.seal().unwrap();
    } else {
        writer.flush();
    }
    let mut file = Vec::new();
    for block in writer.take_blocks() {
        let end = (block.number as usize + 1) * BLOCK_LEN;
        file.resize(file.len().max(end), 0);
        file[end - BLOCK_LEN..end].copy_from_slice(&block.bytes[..]);
    }
    file
}

fn reading(second: i64) -> f64 {
    ((second * 37) % 1000) as f64 / 100.0
}

/// Runs a job to its end over `files`; gives how many blocks it was fed.
fn drive(engine: &mut Engine, job: u32, files: &[Vec<u8>]) -> Result<usize, Fault> {
    let mut fed = 0;
    for _ in 0..10_000 {
        let words = engine.step_on(job, 16)?;
        match words.as_slice() {
            [] => return Ok(fed),
            [_] => {}
            words => {
                for need in words.chunks_exact(3) {
                    let [device, first, count] = need else { unreachable!() };
                    for block in *first..first + count {
                        let begin = block as usize * BLOCK_LEN;
                        engine.feed(job, *device, block, &files[*device as usize][begin..begin + BLOCK_LEN]);
                        fed += 1;
                    }
                }
            }
        }
    }
    panic!("the job never ends");
}

fn open_all(files: &[Vec<u8>]) -> Engine {
    let mut engine = Engine::new();
    for (device, file) in files.iter().enumerate() {
        let job = engine.open(device as u32, file.len() as f64, true).unwrap();
        drive(&mut engine, job, files).unwrap();
        engine.drop_job(job);
    }
    engine
}

fn ask(engine: &mut Engine, files: &[Vec<u8>], select: &str, functions: &[&str], step_ns: i64) -> Table {
    let functions = functions.iter().map(|word| (*word).to_owned()).collect();
    let (begin, end) = (i64::MIN, i64::MAX);
    let job = engine.ask(select.to_owned(), false, begin, end, functions, step_ns, false, 0).unwrap();
    drive(engine, job, files).unwrap();
    engine.take_table(job)
}

#[test]
fn a_sealed_segment_opens_by_its_ends_and_answers_exactly() {
    let files = [segment(1, 0..50_000, &[("power", ValueKind::Float)], true)];
    let mut engine = Engine::new();
    let job = engine.open(0, files[0].len() as f64, false).unwrap();
    let fed = drive(&mut engine, job, &files).unwrap();
    assert!(fed <= 5, "{fed} blocks to open");
    assert_eq!(engine.span(0), [0, 49_999 * SECOND + 1]);
    assert_eq!(engine.warning(0), None);

    let mut table = ask(&mut engine, &files, "power", &["count", "min", "max", "mean", "last"], 0);
    assert_eq!(table.take_series(), ["power"]);
    assert_eq!(table.take_numbers(0), [50_000.0]);
    assert_eq!(table.take_numbers(1), [0.0]);
    assert_eq!(table.take_numbers(2), [9.99]);
    assert_eq!(table.take_numbers(3), [4.995]);
    assert_eq!(table.take_numbers(4), [reading(49_999)]);

    let mut table = ask(&mut engine, &files, "power", &["count"], 1000 * SECOND);
    let (begin, end, counts) = (table.take_begin(), table.take_end(), table.take_numbers(0));
    assert_eq!((begin.len(), end.len()), (50, 50));
    assert_eq!((begin[1], end[1]), (1000 * SECOND, 2000 * SECOND));
    assert!(counts.iter().all(|count| *count == 1000.0));
}

#[test]
fn points_keep_what_a_double_cannot_say() {
    let kinds = [("b", ValueKind::Boolean), ("i", ValueKind::Integer), ("s", ValueKind::State)];
    let files = [segment(1, 0..4, &kinds, true)];
    let mut engine = open_all(&files);
    let mut table = ask(&mut engine, &files, "{}", &[], 0);
    assert_eq!(table.take_series(), ["b", "i", "s"]);
    assert_eq!(table.take_series_at(), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(table.take_begin()[4..8], [0, SECOND, 2 * SECOND, 3 * SECOND]);
    assert!(table.take_end().is_empty());
    assert_eq!(table.take_numbers(0)[..4], [1.0, 0.0, 1.0, 0.0]);
    assert_eq!(table.take_text_rows(0), [4, 5, 6, 7, 8, 9, 10, 11]);
    let texts = table.take_texts(0);
    assert_eq!(texts[0], i64::MAX.to_string());
    assert_eq!(texts[4..], ["open", "closed", "closed", "open"]);
}

#[test]
fn several_segments_are_one_set_of_series() {
    let both = [("a", ValueKind::Float), ("b", ValueKind::Float)];
    let files = [segment(1, 0..3000, &both, true), segment(2, 3000..5000, &both[1..], false)];
    let mut engine = open_all(&files);
    assert!(engine.warning(1).unwrap().contains("never sealed"));
    let job = engine.list("{}").unwrap();
    drive(&mut engine, job, &files).unwrap();
    let mut list = engine.take_list(job);
    assert_eq!(list.take_names(), ["a", "b"]);
    assert_eq!(list.take_kinds(), [0, 0]);
    assert_eq!(list.take_units(), ["W", "W"]);
    let mut table = ask(&mut engine, &files, "{}", &["count", "last"], 0);
    assert_eq!(table.take_numbers(0), [3000.0, 5000.0]);
    assert_eq!(table.take_numbers(1), [reading(2999), reading(4999)]);
}

#[test]
fn an_exact_name_is_that_series_alone() {
    let names = [("t", ValueKind::Float), ("t{room=\"a\"}", ValueKind::Float)];
    let files = [segment(1, 0..10, &names, true)];
    let mut engine = open_all(&files);
    for (is_exact, expected) in [(false, 2), (true, 1)] {
        let job =
            engine.ask("t".to_owned(), is_exact, 0, i64::MAX, vec!["count".to_owned()], 0, false, 0).unwrap();
        drive(&mut engine, job, &files).unwrap();
        assert_eq!(engine.take_table(job).take_series().len(), expected);
    }
}

#[test]
fn a_limit_cuts_and_says_so() {
    let files = [segment(1, 0..100, &[("a", ValueKind::Float)], true)];
    let mut engine = open_all(&files);
    let job = engine.ask("a".to_owned(), true, 0, i64::MAX, Vec::new(), 0, false, 7).unwrap();
    drive(&mut engine, job, &files).unwrap();
    let mut table = engine.take_table(job);
    assert!(table.is_cut());
    assert_eq!(table.take_begin().len(), 7);
}

#[test]
fn a_damaged_block_costs_its_own_points() {
    let mut files = [segment(1, 0..50_000, &[("power", ValueKind::Float)], true)];
    files[0][3 * BLOCK_LEN + 100] ^= 1;
    let mut engine = open_all(&files);
    let mut table = ask(&mut engine, &files, "power", &[], 0);
    let left = table.take_begin().len();
    assert!(left > 20_000 && left < 50_000, "{left}");
    assert_eq!(table.take_warning_segments(), [0]);
    assert!(table.take_warnings()[0].starts_with("block 3: "));
}

#[test]
fn what_cannot_be_opened_is_told_apart() {
    let good = segment(1, 0..5000, &[("a", ValueKind::Float)], true);
    let mut headless = good.clone();
    headless[..BLOCK_LEN].fill(0);
    let cases: [(Vec<u8>, bool, &str); 4] = [
        (vec![b'x'; 3 * BLOCK_LEN], true, "not-a-segment"),
        (segment(1, 0..5000, &[("a", ValueKind::Float)], false), false, "unsealed"),
        (good[..2 * BLOCK_LEN].to_vec(), false, "unsealed"),
        (vec![0; 0], true, "truncated"),
    ];
    for (file, may_scan, cause) in cases {
        let mut engine = Engine::new();
        let opened = super::Opening::new(0, file.len() as f64, may_scan).map(|opening| {
            let job = engine.start(super::Job::Opening(Box::new(opening)));
            drive(&mut engine, job, &[file])
        });
        let fault = opened.and_then(|driven| driven).unwrap_err();
        assert_eq!(fault.cause, cause, "{fault}");
    }
    // The copy of the header at the end serves where the first block is gone.
    let mut engine = open_all(&[headless]);
    assert!(engine.warning(0).unwrap().contains("first block"));
    let job = engine.open(1, good.len() as f64, true).unwrap();
    let fault = drive(&mut engine, job, &[Vec::new(), good]).unwrap_err();
    assert_eq!(fault.cause, "already-open");
}

#[test]
fn a_question_that_makes_no_sense_is_refused() {
    let wish = |select: &str, function: &str, step_ns| crate::asking::Wish {
        select: select.to_owned(),
        is_exact: false,
        range: TimeRange::ALL,
        functions: vec![function.to_owned()],
        step_ns,
        is_snapped: false,
        limit: 0,
    };
    assert_eq!(crate::asking::Asking::new(&wish("a{", "count", 0)).err().unwrap().cause, "bad-request");
    let fault = crate::asking::Asking::new(&wish("a", "median", 0)).err().unwrap();
    assert_eq!(fault.to_string(), "bad-request: `median` is no function");
    let mut engine = Engine::new();
    let asking = crate::asking::Asking::new(&wish("a", "count", -1)).unwrap();
    let job = engine.start(super::Job::Asking(Box::new(asking)));
    assert_eq!(drive(&mut engine, job, &[]).unwrap_err().cause, "bad-request");
    assert_eq!(engine.step_on(99, 1).unwrap_err().cause, "internal");
}
