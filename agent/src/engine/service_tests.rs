//! The service over a real store, and block files by address from a real server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use siltstone_core::point::{Point, Timestamp, Value, ValueKind};
use siltstone_core::series::SeriesName;
use siltstone_core::store::{Reading, SeriesId};

use super::{AgentService, OpenStore};
use crate::api::{Cell, Code, Question};
use crate::config::DataConfig;
use crate::engine::Engine;
use crate::http::{Service, SuggestWhat, bind, router};
use crate::shelf::{Member, Shelf, UrlSource};
use crate::test_dir::TestDir;

const BEGIN_NS: i64 = 1_796_022_845_000_000_000;
const SECOND_NS: i64 = 1_000_000_000;

/// A store with `count` readings of two series, of which all but the last hundred are sealed.
fn service(dir: &TestDir, count: i64) -> AgentService {
    let config = DataConfig { dir: dir.path().join("store"), ..DataConfig::default() };
    let (engine, _) = Engine::open(&config).unwrap();
    {
        let mut store = engine.store();
        let attic = SeriesName::parse(r#"temperature{device="attic"}"#).unwrap();
        let cellar = SeriesName::parse(r#"temperature{device="cellar"}"#).unwrap();
        let attic = store.series(&attic, ValueKind::Float, "°C").unwrap();
        let cellar = store.series(&cellar, ValueKind::Float, "").unwrap();
        for n in 0..count {
            let timestamp = Timestamp(BEGIN_NS + n * SECOND_NS);
            let reading =
                |series, value| Reading { series, point: Point { timestamp, value: Value::Float(value) } };
            store.append(&[reading(attic, n as f64 / 4.0), reading(cellar, 8.0)], None).unwrap();
            if n == count - 100 {
                store.seal().unwrap();
            }
        }
        store.commit().unwrap();
    }
    let service = AgentService::waiting(engine.root());
    service.take(OpenStore {
        engine: Arc::new(engine),
        parts: vec![("mqtt", Box::new(|| serde_json::json!({"problem": "nobody there"})))],
        commits: None,
    });
    service
}

#[test]
fn sealed_and_open_readings_are_one_answer() {
    let dir = TestDir::new("service");
    let service = service(&dir, 10_000);
    for _ in 0..2 {
        let mut question = Question::all(r#"temperature{device="attic"}"#);
        question.functions =
            ["count", "max", "last"].map(|name| crate::api::parse_function(name).unwrap()).to_vec();
        let answer = service.query(&question).unwrap();
        assert_eq!(
            answer.rows,
            [vec![
                Cell::Text(r#"temperature{device="attic"}"#.to_owned()),
                Cell::Instant(BEGIN_NS),
                Cell::Instant(BEGIN_NS + 9_999 * SECOND_NS + 1),
                Cell::Integer(10_000),
                Cell::Float(9_999.0 / 4.0),
                Cell::Float(9_999.0 / 4.0),
            ]]
        );
        assert!(answer.warnings.is_empty() && answer.cost.subtrees_used > 0, "{:?}", answer.cost);
    }
    let (mut question, mut rows, mut pages) =
        (Question { limit: 3_000, ..Question::all("temperature") }, 0, 0);
    loop {
        let answer = service.query(&question).unwrap();
        rows += answer.rows.len();
        pages += 1;
        match answer.next {
            Some(next) => question.cursor = Some(next),
            None => break,
        }
    }
    assert_eq!((rows, pages), (20_000, 7), "page by page over both series");
    let fault = service.query(&Question::all("temperature{")).unwrap_err();
    assert_eq!((fault.code, fault.at.is_some()), (Code::BadRequest, true));
}

#[test]
fn questions_that_waste_reads_end_in_a_merge() {
    let dir = TestDir::new("waste");
    let config = DataConfig { dir: dir.path().join("store"), ..DataConfig::default() };
    let engine = Arc::new(Engine::open(&config).unwrap().0);
    let put = |at_ns: i64, value: f64| {
        let mut store = engine.store();
        let series = store.series(&SeriesName::parse("power").unwrap(), ValueKind::Float, "W").unwrap();
        let point = Point { timestamp: Timestamp(at_ns), value: Value::Float(value) };
        store.append(&[Reading { series, point }], None).unwrap();
    };
    // Four months, so that merges may write what the first one takes; then something late for that.
    for month in 0..4 {
        (0..10_000).for_each(|n| {
            let at_ns = BEGIN_NS + month * 31 * 86_400 * SECOND_NS + n * SECOND_NS;
            put(at_ns, (n as f64 * 0.37).sin());
        });
        engine.store().seal().unwrap();
    }
    (0..100).for_each(|n| put(BEGIN_NS + n * 100 * SECOND_NS + SECOND_NS / 2, 2.0));
    engine.store().seal().unwrap();
    let before = engine.store().segments().len();
    let service = AgentService::new(Arc::clone(&engine));
    let question = Question {
        functions: vec![crate::api::parse_function("max").unwrap()],
        end_ns: BEGIN_NS + 10_000 * SECOND_NS,
        ..Question::all("power")
    };
    let mut decoded = Vec::new();
    for _ in 0..300 {
        decoded.push(service.query(&question).unwrap().cost.points_decoded);
        while engine.work(None, false).unwrap() {}
        if engine.store().segments().len() < before {
            break;
        }
    }
    assert!(decoded.iter().all(|points| *points == 10_100), "{decoded:?}");
    let answer = service.query(&question).unwrap();
    assert_eq!((engine.store().segments().len(), answer.cost.points_decoded), (before - 1, 0));
    assert_eq!(answer.rows[0][3], Cell::Float(2.0));
}

#[test]
fn a_file_whose_tail_was_damaged_is_read_block_by_block() {
    let dir = TestDir::new("service-damage");
    let service = service(&dir, 10_000);
    let sealed = service.segments().unwrap().into_iter().find(|segment| segment.sealed).unwrap();
    let path = dir.path().join(format!("store/segments/{}/{}.silt", sealed.partition, sealed.id));
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 4096 + 50;
    bytes[last] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    for _ in 0..2 {
        let answer = service.query(&Question { limit: 100_000, ..Question::all("temperature") }).unwrap();
        assert_eq!(answer.rows.len(), 20_000);
        assert!(answer.warnings[0].ends_with("; it is read block by block"), "{:?}", answer.warnings);
        assert_eq!(service.series("", 9).unwrap().total, 2);
        assert_eq!(service.suggest(&SuggestWhat::Metric, "", 5).unwrap(), ["temperature"]);
    }
}

#[test]
fn lists_suggestions_and_health() {
    let dir = TestDir::new("service-lists");
    let service = service(&dir, 500);
    let list = service.series("TEMP attic", 10).unwrap();
    assert_eq!((list.total, list.series[0].kind, list.series[0].unit.as_deref()), (1, "float", Some("°C")));
    assert_eq!(list.begin, Some(BEGIN_NS.to_string()));
    assert_eq!(service.series("", 0).unwrap().total, 2);
    assert_eq!(service.suggest(&SuggestWhat::Metric, "te", 5).unwrap(), ["temperature"]);
    assert_eq!(service.suggest(&SuggestWhat::Tag, "", 5).unwrap(), ["device"]);
    let values = service.suggest(&SuggestWhat::Value("device".to_owned()), "", 5).unwrap();
    assert_eq!(values, ["attic", "cellar"]);
    let health = service.health();
    assert_eq!((&health["status"], &health["mqtt"]["problem"]), (&"degraded".into(), &"nobody there".into()));
    assert_eq!(health["store"]["segments"], 1);
}

#[test]
fn the_manifest_names_files_and_sealing_completes_them() {
    let dir = TestDir::new("service-seal");
    let service = service(&dir, 500);
    let before = service.segments().unwrap();
    assert_eq!(before.iter().map(|segment| segment.sealed).collect::<Vec<_>>(), [true, false]);
    assert!(before.iter().all(|segment| segment.partition == "2026-11"));
    let sealed = service.seal().unwrap();
    assert_eq!(sealed, [before[1].id.clone()]);
    let after = service.segments().unwrap();
    assert!(after.iter().all(|segment| segment.sealed && segment.length % 4096 == 0));
    assert_eq!(service.segment(&after[0].id).unwrap().length, after[0].length);
    assert_eq!(service.segment("00ff").unwrap_err().code, Code::NotFound);
    assert!(service.seal().unwrap().is_empty(), "there is nothing open any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn block_files_are_read_by_address() {
    let dir = TestDir::new("service-url");
    let service = Arc::new(service(&dir, 10_000));
    service.seal().unwrap();
    let ids: Vec<_> = service.segments().unwrap().into_iter().map(|segment| segment.id).collect();
    let bound = bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let base = format!("http://{}", bound.address());
    tokio::spawn(bound.serve(router(service), std::future::pending()));
    let asked = tokio::task::spawn_blocking(move || {
        let mut shelf = Shelf::new();
        for id in &ids {
            shelf.add(
                Member::open(Arc::new(UrlSource::open(&format!("{base}/api/segments/{id}")).unwrap()))
                    .unwrap(),
            );
        }
        let mut question = Question::all("temperature");
        question.functions = vec![crate::api::parse_function("count").unwrap()];
        let answer = shelf.ask(&question).unwrap();
        let missing = UrlSource::open(&format!("{base}/api/segments/00ff")).err().unwrap();
        let page = UrlSource::open(&format!("{base}/")).err().unwrap();
        (answer, missing, page)
    });
    let (answer, missing, page) = asked.await.unwrap();
    let counts: Vec<_> = answer.rows.iter().map(|row| row[3].clone()).collect();
    assert_eq!(counts, [Cell::Integer(10_000), Cell::Integer(10_000)]);
    assert!(answer.cost.blocks_read < answer.cost.blocks_total, "{:?}", answer.cost);
    assert!(missing.ends_with("there is no such file on the server (404)"), "{missing}");
    assert!(page.contains("can't send parts of a file"), "{page}");
}

#[test]
fn deleted_readings_are_gone_and_their_files_are_let_go() {
    let dir = TestDir::new("service-delete");
    let service = service(&dir, 500);
    let deletion = |select: &str, to: i64| crate::api::Deletion {
        select: select.to_owned(),
        begin_ns: i64::MIN,
        end_ns: BEGIN_NS + to * SECOND_NS,
    };
    let rows = |select: &str| service.query(&Question::all(select)).unwrap().rows.len();
    assert_eq!(service.delete(&deletion("temperature{device=~\"att.*\"}", 100)).unwrap(), 1);
    assert_eq!((rows("temperature{device=\"attic\"}"), rows("temperature{device=\"cellar\"}")), (400, 500));
    assert_eq!(service.delete(&deletion("nothing", 100)).unwrap(), 0);
    assert!(service.delete(&deletion("{", 100)).is_err());
    // Room for nothing: every sealed file goes, and nobody keeps one open.
    assert_eq!(service.delete(&deletion("{}", 1_000)).unwrap(), 2);
    while service.open().unwrap().engine.work(None, false).unwrap() {}
    assert_eq!(rows("{}"), 0);
    let open = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| {
        let target = std::fs::read_link(entry.ok()?.path()).ok()?;
        let text = target.to_string_lossy().into_owned();
        (text.contains("service-delete") && text.ends_with("(deleted)")).then_some(text)
    });
    assert_eq!(open.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn a_store_that_is_not_open_is_read_from_its_files() {
    let dir = TestDir::new("service-closed");
    drop(service(&dir, 500));
    let closed = AgentService::waiting(&dir.path().join("store"));
    closed.wait_for("the disk is full");
    let health = closed.health();
    assert_eq!(
        (&health["status"], &health["store"]["problem"]),
        (&"failing".into(), &"the disk is full".into())
    );
    // All but the last hundred are sealed; those are in the journal, and in no file.
    let answer = closed.query(&Question::all("temperature{device=\"attic\"}")).unwrap();
    assert_eq!(answer.rows.len(), 401);
    assert!(answer.warnings[0].contains("the disk is full"), "{:?}", answer.warnings);
    assert_eq!(closed.series("", 9).unwrap().total, 2);
    assert_eq!(closed.suggest(&SuggestWhat::Metric, "", 5).unwrap(), ["temperature"]);
    let deletion = crate::api::Deletion { select: "{}".to_owned(), begin_ns: 0, end_ns: i64::MAX };
    let refused = [closed.seal().unwrap_err(), closed.delete(&deletion).unwrap_err()];
    for error in refused.into_iter().chain(closed.segments().err()) {
        assert_eq!((error.code, error.code.status()), (Code::Unavailable, 503));
        assert!(error.message.contains("the disk is full"), "{error}");
    }
}

#[test]
fn a_change_that_the_disk_refuses_is_refused_with_its_reason() {
    let dir = TestDir::new("service-refuses");
    let service = service(&dir, 500);
    let engine = Arc::clone(&service.open().unwrap().engine);
    assert_eq!(service.health()["store"]["problem"], serde_json::Value::Null);
    engine.faults().fail_flushes(true);
    let first = service.seal().unwrap_err();
    assert_eq!(first.code, Code::Unavailable);
    assert!(first.message.contains("may or may not have happened"), "{first}");
    engine.faults().fail_flushes(false);
    let second = service.seal().unwrap_err();
    assert!(second.message.starts_with("nothing was changed"), "{second}");
    for text in [first.message, second.message, service.health()["store"]["problem"].to_string()] {
        assert!(text.contains("an error of the device"), "the first cause is said: {text}");
    }
    assert_eq!(service.health()["status"], "failing");
    assert_eq!(service.query(&Question::all("temperature")).unwrap().rows.len(), 1_000);
    engine.reopen(0).unwrap();
    assert_eq!(service.health()["store"]["problem"], serde_json::Value::Null);
    assert!(service.seal().is_ok());
}

/// How long a deletion and a seal keep others from the store:
/// `cargo test -p siltstone --lib how_long -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn how_long_changes_hold_up_ingest() {
    const SERIES: i64 = 1_000;
    const ROWS: i64 = 1_000;
    let dir = TestDir::new("service-hold-up");
    let config = DataConfig { dir: dir.path().join("store"), ..DataConfig::default() };
    let (engine, _) = Engine::open(&config).unwrap();
    let engine = Arc::new(engine);
    let ids: Vec<_> = {
        let mut store = engine.store();
        let name = |n| SeriesName::parse(&format!("temperature{{device=\"{n}\"}}")).unwrap();
        (0..SERIES).map(|n| store.series(&name(n), ValueKind::Float, "").unwrap()).collect()
    };
    let service = AgentService::new(Arc::clone(&engine));
    type Change<'a> = &'a dyn Fn() -> usize;
    let delete = |select: &str, row: i64| {
        let end_ns = BEGIN_NS + SECOND_NS * row;
        let select = select.to_owned();
        service.delete(&crate::api::Deletion { select, begin_ns: i64::MIN, end_ns }).unwrap()
    };
    let changes: [(&str, Change<'_>); 4] = [
        ("a commit", &|| engine.store().commit().is_ok().into()),
        ("deleting of one series", &|| delete("temperature{device=\"7\"}", 100)),
        ("deleting of all series", &|| delete("{}", 200)),
        ("sealing", &|| service.seal().unwrap().len()),
    ];
    for (round, (what, change)) in (0..).zip(changes) {
        for row in ROWS * round..ROWS * (round + 1) {
            let timestamp = Timestamp(BEGIN_NS + row * SECOND_NS);
            let value = Value::Float((row * 37 % 101) as f64 / 4.0);
            let reading = |series: &SeriesId| Reading { series: *series, point: Point { timestamp, value } };
            engine.store().append(&ids.iter().map(reading).collect::<Vec<_>>(), None).unwrap();
        }
        let is_done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let mut longest = Duration::ZERO;
                while !is_done.load(std::sync::atomic::Ordering::SeqCst) {
                    let begin = Instant::now();
                    drop(engine.store());
                    longest = longest.max(begin.elapsed());
                    std::thread::sleep(Duration::from_micros(200));
                }
                longest
            });
            let begin = Instant::now();
            let count = change();
            let took = begin.elapsed();
            is_done.store(true, std::sync::atomic::Ordering::SeqCst);
            let longest = waiting.join().unwrap();
            eprintln!("{what} ({count}): {took:?}; others waited for the store {longest:?} at most");
        });
    }
}
