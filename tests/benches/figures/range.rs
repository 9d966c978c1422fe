//! What a reader over HTTP fetches of the one-year segment: requests and bytes as the server counted
//! them, for opening it and then for each question, every time from nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use siltstone::api::{Question, parse_condition, parse_function};
use siltstone::shelf::{BlockSource, Member, Shelf, UrlSource};
use siltstone_core::block::BLOCK_LEN;
use siltstone_tests::agent::{segments, siltstone as command};
use siltstone_tests::range_server::RangeServer;
use siltstone_tests::workspace::root;

use crate::{Row, walk};

const SECOND_NS: i64 = 1_000_000_000;
const BEGIN_NS: i64 = walk::BEGIN_S * SECOND_NS;
const END_NS: i64 = BEGIN_NS + walk::COUNT as i64 * SECOND_NS;

/// The rows of the table.
pub(crate) fn rows() -> Vec<Row> {
    let folder = root().join("target/bench");
    let (file, import_seconds) = year_segment(&folder);
    let size = std::fs::metadata(&file).expect("the segment is there").len();
    let server =
        RangeServer::start(0, &[("/", file.parent().expect("in a folder"))]).expect("loopback has ports");
    let url = server.url(&format!("/{}", file.file_name().and_then(|n| n.to_str()).expect("a plain name")));

    let million = walk::COUNT as f64 / 1e6;
    let mut rows = vec![
        Row::new(
            "one year of 1 s readings, one sealed segment, bytes",
            format!("{size} ({:.3} a reading)", size as f64 / walk::COUNT as f64),
            "",
        ),
        Row::new("its import from CSV, M readings/s", format!("{:.1}", million / import_seconds), ""),
    ];
    let (opening, _) = fetch(&server, &url, None);
    rows.push(row("opening it over HTTP Range", opening));
    for (what, question) in questions() {
        let (_, asked) = fetch(&server, &url, Some(&question));
        rows.push(row(what, asked));
    }
    rows
}

/// The questions of the table, in its order.
fn questions() -> Vec<(&'static str, Question)> {
    let function = |name: &str| parse_function(name).expect("a function");
    let year = Question { begin_ns: BEGIN_NS, end_ns: END_NS, limit: 100_000, ..Question::all("value") };
    let middle = BEGIN_NS + 183 * 86_400 * SECOND_NS;
    let buckets = |begin_ns: i64, end_ns: i64| Question {
        begin_ns,
        end_ns,
        step_ns: Some((end_ns - begin_ns) / 1_000),
        functions: ["min", "max", "mean", "count"].map(function).to_vec(),
        snap: true,
        ..year.clone()
    };
    vec![
        ("1,000 snapped buckets of the year, after opening", buckets(BEGIN_NS, END_NS)),
        (
            "1,000 snapped buckets of 30 days, after opening",
            buckets(middle, middle + 30 * 86_400 * SECOND_NS),
        ),
        (
            "one raw hour, after opening",
            Question { begin_ns: middle, end_ns: middle + 3_600 * SECOND_NS, ..year.clone() },
        ),
        (
            "the maximum of the year, after opening",
            Question { functions: vec![function("max")], ..year.clone() },
        ),
        (
            "the readings over 90, after opening",
            Question { condition: Some(parse_condition("> 90").expect("a condition")), ..year.clone() },
        ),
    ]
}

/// What was fetched.
#[derive(Clone, Copy, Default)]
struct Fetched {
    requests: usize,
    bytes: u64,
}

fn row(what: &str, fetched: Fetched) -> Row {
    let blocks = fetched.bytes.div_ceil(BLOCK_LEN as u64);
    Row::new(what, format!("{} bytes, {blocks} blocks, {} requests", fetched.bytes, fetched.requests), "")
}

fn taken(server: &RangeServer) -> Fetched {
    let served = server.take_served();
    Fetched { requests: served.len(), bytes: served.iter().map(|s| s.bytes).sum() }
}

/// Opens the segment anew, and asks.
fn fetch(server: &RangeServer, url: &str, question: Option<&Question>) -> (Fetched, Fetched) {
    server.take_served();
    let source: Arc<dyn BlockSource> = Arc::new(UrlSource::open(url).expect("the server answers"));
    let mut shelf = Shelf::new();
    shelf.add(Member::open(source).expect("a good segment"));
    let opening = taken(server);
    let Some(question) = question else { return (opening, Fetched::default()) };
    let answer = shelf.ask(question).expect("a good question");
    assert!(!answer.rows.is_empty(), "{question:?} has an answer");
    (opening, taken(server))
}

/// Writes the year as CSV, unless it is there, and imports it; the segment, and the seconds it took.
fn year_segment(folder: &Path) -> (PathBuf, f64) {
    std::fs::create_dir_all(folder).expect("target/bench can be made");
    let csv = folder.join("year.csv");
    if !csv.is_file() {
        walk::write_csv(&csv, walk::COUNT).expect("there is room for 700 MB");
    }
    let store = folder.join("year");
    if store.exists() {
        std::fs::remove_dir_all(&store).expect("the store of the run before can be removed");
    }
    let begin = Instant::now();
    let paths = [csv.to_str(), store.to_str()].map(|path| path.expect("a path of plain text"));
    command(&["import", paths[0], "--data", paths[1], "--partition", "year", "--segment-max", "256MiB"])
        .success();
    let seconds = begin.elapsed().as_secs_f64();
    let found = segments(&store);
    assert_eq!(found.len(), 1, "one year is one segment: {found:?}");
    (found[0].clone(), seconds)
}
