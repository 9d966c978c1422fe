//! Several segments as one set: sealed, late and unsealed ones, and a question over all of them.

use crate::block::BLOCK_LEN;
use crate::point::{Point, TimeRange, Timestamp, Value, ValueKind};
use crate::query::{
    Answer as BucketAnswer, Found, Function, Holding, Library, Merge, MergeStep, Question, Request, Rows,
    SegmentHandle, Step, Unreadable,
};
use crate::segment::{
    Answer, Opened, Opening, SegmentError, SegmentHeader, SegmentKind, SegmentNumber, Suggest, Supersedes,
    Unsealed, Writer,
};
use crate::series::{NoRegex, Selector, SeriesName};
use crate::tree::Laws;
use std::collections::BTreeMap;

type Oracle = BTreeMap<(String, i64), f64>;

struct Files {
    library: Library,
    files: Vec<Vec<u8>>,
    oracle: Oracle,
}

fn writer(number: u32, kind: SegmentKind) -> Writer {
    let header = SegmentHeader {
        id: crate::block::SegmentId { device: [7; 16], epoch: 1, number },
        kind,
        rank: u64::from(number),
        partition: TimeRange::ALL,
        max_hold_ns: Laws::default().max_hold_ns,
        covered_lsn: 0,
        writer: SegmentHeader::writer_name("test"),
    };
    Writer::new(header, 1)
}

impl Files {
    fn write(&mut self, number: u32, points: &[(&str, i64, f64)], seal: bool) {
        let mut writer = writer(number, SegmentKind::InOrder);
        for (name, at, value) in points {
            let name = SeriesName::parse(name).expect("name");
            let index = writer.define(&name, ValueKind::Float, "");
            let point = Point { timestamp: Timestamp(*at), value: Value::Float(*value) };
            writer.append(index, &point, 0).expect("in order");
            self.oracle.insert((name.as_str().to_string(), *at), *value);
        }
        if seal {
            writer.seal().expect("sealed");
        }
        let file: Vec<u8> = writer.take_blocks().iter().flat_map(|block| block.bytes.to_vec()).collect();
        if seal {
            self.library.add(opened(&file, false).expect("valid"));
        } else {
            let names: Vec<_> =
                points.iter().map(|(name, ..)| SeriesName::parse(name).expect("name")).collect();
            let names = names.iter().collect::<std::collections::BTreeSet<_>>();
            let unsealed = Unsealed::of(&mut writer, names.into_iter());
            self.library.add(Opened::Unsealed(Box::new(unsealed)));
        }
        self.files.push(file);
    }

    fn bytes(&self, request: &Request) -> Option<Vec<u8>> {
        self.library.read(request).or_else(|| {
            let file = self.files.get(request.segment.0 as usize)?;
            let begin = request.block as usize * BLOCK_LEN;
            file.get(begin..begin + request.count as usize * BLOCK_LEN).map(<[u8]>::to_vec)
        })
    }

    fn found<T>(&mut self, mut ask: impl FnMut(&Library) -> Found<T>) -> T {
        loop {
            match ask(&self.library) {
                Found::Ready(answer) => return answer,
                Found::Need(requests) => {
                    for request in requests {
                        let bytes = self.bytes(&request).expect("in the file");
                        self.library.feed(request.segment, request.block, &bytes);
                    }
                }
            }
        }
    }

    fn ask(&mut self, question: Question, selector: &str) -> Vec<(String, Rows)> {
        let selector = Selector::parse(selector).expect("selector");
        let holdings =
            self.found(|library| library.select_for(&question, &selector, &NoRegex).expect("valid"));
        let mut query = self.library.query(question, holdings.clone()).expect("a question");
        let mut rows = Vec::new();
        loop {
            match query.step(8) {
                Step::Need(requests) => {
                    for request in requests {
                        let bytes = self.bytes(&request);
                        query.feed(&request, bytes.as_deref().ok_or(Unreadable));
                    }
                }
                Step::Batch(batch) => {
                    let name = holdings[batch.series as usize].name.as_str().to_string();
                    rows.push((name, batch.rows));
                }
                Step::Done(done) => {
                    assert!(!done.statistics.is_partial, "{:?}", done.statistics);
                    return rows;
                }
            }
        }
    }
}

/// Opens a file by its ends, or by a scan.
fn opened(file: &[u8], is_scanned: bool) -> Result<Opened, SegmentError> {
    let mut opening = Opening::new((file.len() / BLOCK_LEN) as u32);
    if is_scanned {
        opening.scan();
    }
    loop {
        match opening.step(7)? {
            Answer::Ready(opened) => return Ok(opened),
            Answer::Need(ranges) => {
                assert!(!ranges.is_empty());
                for range in ranges {
                    let bytes = &file[range.start as usize * BLOCK_LEN..][..range.len() * BLOCK_LEN];
                    opening.feed(range.start, bytes);
                }
            }
        }
    }
}

fn files() -> Files {
    let mut files = Files { library: Library::new(), files: Vec::new(), oracle: Oracle::new() };
    let steps = |name: &'static str, from: i64, to: i64, by: f64| {
        (from..to).map(move |i| (name, i * 1_000_000_000, i as f64 + by))
    };
    let first: Vec<_> = steps("x", 0, 6_000, 0.25).chain(steps("y{device=\"a\"}", 0, 3_000, 0.5)).collect();
    files.write(1, &first, true);
    let late: Vec<_> = steps("x", 100, 140, 9_000.0).chain(steps("x", 5_990, 6_010, 7_000.0)).collect();
    files.write(2, &late, true);
    let open: Vec<_> =
        steps("y{device=\"a\"}", 3_000, 9_000, 0.0).chain(steps("z{room=\"ü\"}", 10, 20, 0.0)).collect();
    files.write(3, &open, false);
    files
}

#[test]
fn points_of_all_segments_come_once_and_the_later_write_wins() {
    let mut files = files();
    let answer = files.ask(Question::select(TimeRange::ALL), "{__name__!=\"\"}");
    let mut seen = Oracle::new();
    for (name, rows) in answer {
        let Rows::Points(chunk) = rows else { panic!("points were asked for") };
        for point in chunk.points() {
            let Value::Float(value) = point.value else { panic!("floats were written") };
            assert!(seen.insert((name.clone(), point.timestamp.0), value).is_none(), "once");
        }
    }
    assert_eq!(seen, files.oracle);
}

#[test]
fn an_aggregate_counts_a_rewritten_point_once() {
    let mut files = files();
    let question = Question::aggregate(TimeRange::ALL, [Function::Count, Function::Max, Function::Sum]);
    for (name, rows) in files.ask(question, "{__name__!=\"\"}") {
        let Rows::Buckets(buckets) = rows else { panic!("buckets were asked for") };
        let values: Vec<f64> =
            files.oracle.iter().filter(|((series, _), _)| *series == name).map(|(_, value)| *value).collect();
        assert_eq!(buckets.len(), 1);
        let answer = |function| buckets[0].answer(function);
        assert_eq!(answer(Function::Count), BucketAnswer::Count(values.len() as u64), "{name}");
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(answer(Function::Max), BucketAnswer::Float(max));
        assert_eq!(answer(Function::Sum), BucketAnswer::Float(values.iter().sum()));
    }
}

#[test]
fn readings_of_several_series_come_in_the_order_of_time() {
    let mut files = files();
    let all = Selector::parse("{}").expect("selector");
    let holdings = files.found(|library| library.select(&all, &NoRegex).expect("valid"));
    let names: Vec<_> = holdings.iter().map(|holding| holding.name.to_string()).collect();
    let query = |holding: Holding| {
        files.library.query(Question::select(TimeRange::ALL), vec![holding]).expect("a question")
    };
    let mut merge = Merge::new(holdings.into_iter().map(query).collect());
    let mut seen = Vec::new();
    loop {
        match merge.step(2) {
            MergeStep::Need(requests) => {
                for request in requests {
                    merge.feed(&request, files.bytes(&request).as_deref().ok_or(Unreadable));
                }
            }
            MergeStep::Reading => {
                let (series, point) = merge.reading().expect("a reading");
                let Value::Float(value) = point.value else { panic!("floats were written") };
                seen.push((point.timestamp.0, names[series].clone(), value));
            }
            MergeStep::Done(warnings) => {
                assert!(warnings.is_empty(), "{warnings:?}");
                break;
            }
        }
    }
    let mut wanted: Vec<_> =
        files.oracle.iter().map(|((name, at), value)| (*at, name.clone(), *value)).collect();
    wanted.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    assert_eq!(seen, wanted);
}

#[test]
fn the_open_ends_of_a_range_are_those_of_what_is_held() {
    let mut files = files();
    let rows = files.ask(Question::aggregate(TimeRange::ALL, [Function::Count]), "z");
    let Rows::Buckets(buckets) = &rows[0].1 else { panic!("buckets were asked for") };
    assert_eq!(buckets[0].span, TimeRange::new(10_000_000_000, 19_000_000_001));
}

#[test]
fn names_are_selected_and_completed_over_all_segments() {
    let mut files = files();
    let selector = Selector::parse("y").expect("selector");
    let found = files.found(|library| library.select(&selector, &NoRegex).expect("valid"));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].runs.len(), found[0].rows()), (2, 9_000));
    assert_eq!(found[0].span(), Some(TimeRange::new(0, 8_999_000_000_001)));
    let metrics = files.found(|library| library.suggest(Suggest::Metric, "", 9).expect("valid"));
    assert_eq!(metrics, ["x", "y", "z"]);
    let rooms = files.found(|library| library.suggest(Suggest::Value("room"), "", 9).expect("valid"));
    assert_eq!(rooms, ["ü"]);
}

#[test]
fn a_scanned_segment_is_read_without_its_writer() {
    let mut files = files();
    let (mut writer, mut file) = (writer(4, SegmentKind::InOrder), Vec::new());
    let index = writer.define(&SeriesName::parse("w").expect("name"), ValueKind::Float, "W");
    for at in 0..20_000_i64 {
        let point = Point { timestamp: Timestamp(at), value: Value::Float(((at * 37) % 1000) as f64) };
        writer.append(index, &point, 0).expect("in order");
        files.oracle.insert(("w".to_string(), at), ((at * 37) % 1000) as f64);
    }
    writer.flush();
    writer.take_blocks().iter().for_each(|block| file.extend_from_slice(&block.bytes[..]));
    assert_eq!(opened(&file, false).err(), Some(SegmentError::Unsealed));
    let scanned = opened(&file, true).expect("valid");
    assert_eq!(scanned.span(), Some(TimeRange::new(0, 20_000)));
    files.library.add(scanned);
    files.files.push(file);

    let question = Question::aggregate(TimeRange::ALL, [Function::Count, Function::Max]);
    let answer = files.ask(question, "w");
    let Rows::Buckets(buckets) = &answer[0].1 else { panic!("buckets were asked for") };
    assert_eq!(buckets[0].answer(Function::Count), BucketAnswer::Count(20_000));
    assert_eq!(buckets[0].answer(Function::Max), BucketAnswer::Float(999.0));
    let points = files.ask(Question::select(TimeRange::ALL), "w");
    assert_eq!(points.iter().map(|(_, rows)| rows.len()).sum::<usize>(), 20_000);
    let metrics = files.found(|library| library.suggest(Suggest::Metric, "", 9).expect("valid"));
    assert_eq!(metrics, ["w", "x", "y", "z"]);
}

#[test]
fn a_list_names_what_every_segment_knows() {
    let mut files = files();
    let all = Selector::parse("{}").expect("selector");
    let listed = files.found(|library| library.list(&all, &NoRegex).expect("valid"));
    let names: Vec<_> = listed.iter().map(|known| known.name.as_str()).collect();
    assert_eq!(names, ["x", "y{device=\"a\"}", "z{room=\"ü\"}"]);
    let some = Selector::parse("{device=\"a\"}").expect("selector");
    assert_eq!(files.found(|library| library.list(&some, &NoRegex).expect("valid")).len(), 1);
}

#[test]
fn segments_outside_of_the_range_are_not_looked_at() {
    let mut files = files();
    let all = Selector::parse("{}").expect("selector");
    let range = TimeRange::new(8_000_000_000_000, 8_500_000_000_000);
    let mut segments = |function| {
        let question = Question::aggregate(range, [function]);
        let found = |library: &Library| library.select_for(&question, &all, &NoRegex).expect("valid");
        let runs = files.found(found).into_iter().flat_map(|holding| holding.runs);
        runs.map(|run| run.segment.0).collect::<std::collections::BTreeSet<_>>()
    };
    assert!(segments(Function::Count).into_iter().eq([2]), "the unsealed one alone has rows there");
    assert!(segments(Function::TimeWeightedMean).into_iter().eq([0, 1, 2]), "a value may still be held");
}

#[test]
fn a_removed_segment_is_gone_and_the_others_keep_their_handles() {
    let mut files = files();
    assert!(files.library.remove(SegmentHandle(1)).is_some());
    assert_eq!(files.library.header(SegmentHandle(1)), None);
    assert!(files.library.header(SegmentHandle(2)).is_some());
    let answer = files.ask(Question::aggregate(TimeRange::ALL, [Function::Count]), "x");
    let Rows::Buckets(buckets) = &answer[0].1 else { panic!("buckets were asked for") };
    assert_eq!(buckets[0].answer(Function::Count), BucketAnswer::Count(6_000));
    let metrics = files.found(|library| library.suggest(Suggest::Metric, "", 9).expect("valid"));
    assert_eq!(metrics, ["x", "y", "z"]);
}

#[test]
fn deleted_rows_and_merged_segments_are_left_out() {
    let mut files = files();
    // Deleted after the late segment was written: a part of one series, all of another.
    let mut tombstone = |number: u32, names: &[&str], span: TimeRange| {
        let mut header = *writer(number, SegmentKind::Tombstones).header();
        header.partition = span;
        let mut writer = Writer::new(header, 1);
        for name in names {
            writer.define(&SeriesName::parse(name).expect("name"), ValueKind::Float, "");
        }
        writer.seal().expect("sealed");
        let file: Vec<u8> = writer.take_blocks().iter().flat_map(|block| block.bytes.to_vec()).collect();
        files.library.add(opened(&file, false).expect("valid"));
        files.files.push(file);
    };
    let second = 1_000_000_000;
    tombstone(4, &["x", "nobody"], TimeRange::new(50 * second, 5_000 * second));
    tombstone(5, &["z{room=\"ü\"}"], TimeRange::ALL);
    files.oracle.retain(|(name, at), _| {
        let is_in_span = (50 * second..5_000 * second).contains(at);
        !(name.starts_with('z') || name == "x" && is_in_span)
    });
    // Written again after that, in a segment that took the place of the late one.
    let mut merged = writer(6, SegmentKind::Late);
    let number = |number| SegmentNumber { epoch: 1, number };
    merged.supersede(Supersedes { inputs: vec![number(2)], applied: Vec::new() });
    let index = merged.define(&SeriesName::parse("x").expect("name"), ValueKind::Float, "");
    let at = 60 * second;
    merged
        .append(index, &Point { timestamp: Timestamp(at), value: Value::Float(-1.0) }, 0)
        .expect("in order");
    merged.seal().expect("sealed");
    let file: Vec<u8> = merged.take_blocks().iter().flat_map(|block| block.bytes.to_vec()).collect();
    files.library.add(opened(&file, false).expect("valid"));
    files.files.push(file);
    files.oracle.retain(|(name, _), value| name != "x" || *value < 7_000.0);
    // What the late segment had written over counts again: its place is taken by one without it.
    files.oracle.extend((5_990..6_000).map(|i| (("x".to_string(), i * second), i as f64 + 0.25)));
    files.oracle.insert(("x".to_string(), at), -1.0);

    let mut seen = Oracle::new();
    for (name, rows) in files.ask(Question::select(TimeRange::ALL), "{__name__!=\"\"}") {
        let Rows::Points(chunk) = rows else { panic!("points were asked for") };
        for point in chunk.points() {
            let Value::Float(value) = point.value else { panic!("floats were written") };
            assert!(seen.insert((name.clone(), point.timestamp.0), value).is_none(), "once");
        }
    }
    assert_eq!(seen, files.oracle);
    let all = Selector::parse("{}").expect("selector");
    let listed = files.found(|library| library.list(&all, &NoRegex).expect("valid"));
    let names: Vec<_> = listed.iter().map(|holding| holding.name.as_str()).collect();
    assert_eq!(names, ["x", "y{device=\"a\"}"], "a series that is deleted as a whole is not known");
}
