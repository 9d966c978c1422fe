//! The scrub over a real store: it finds rot, goes on after a restart, and touches nothing.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use siltstone_core::point::{Point, Timestamp, Value, ValueKind};
use siltstone_core::series::SeriesName;
use siltstone_core::store::Reading;

use super::{Scrub, ScrubOptions};
use crate::config::DataConfig;
use crate::engine::Engine;
use crate::test_dir::TestDir;

static NOW_NS: AtomicI64 = AtomicI64::new(1_796_022_845_000_000_000);

/// A store with three sealed segments.
fn store(dir: &TestDir) -> Engine {
    let config = DataConfig { dir: dir.path().join("store"), ..DataConfig::default() };
    let (engine, _) = Engine::open(&config).unwrap();
    for part in 0..3 {
        let mut store = engine.store();
        let name = SeriesName::parse("t{device=\"a\"}").unwrap();
        let series = store.series(&name, ValueKind::Float, "").unwrap();
        for n in 0..3_000_i64 {
            let timestamp = Timestamp(1_796_022_845_000_000_000 + (part * 3_000 + n) * 1_000_000_000);
            let point = Point { timestamp, value: Value::Float((n * n % 1_000) as f64 / 8.0) };
            store.append(&[Reading { series, point }], None).unwrap();
        }
        store.seal().unwrap();
    }
    engine
}

fn scrub(dir: &TestDir, ending: &'static AtomicBool, sealed: Vec<String>) -> Scrub {
    Scrub::new(ScrubOptions {
        root: dir.path().join("store"),
        interval: Duration::from_secs(3_600),
        sealed: Box::new(move || sealed.clone()),
        is_idle: Box::new(|| true),
        is_ending: Box::new(|| ending.load(Ordering::Relaxed)),
        clock: || NOW_NS.load(Ordering::Relaxed),
    })
}

#[test]
fn rot_is_counted_and_the_round_goes_on_after_a_restart() {
    static ENDING: AtomicBool = AtomicBool::new(false);
    let dir = TestDir::new("scrub");
    let engine = store(&dir);
    let sealed = engine.sealed_files();
    assert_eq!(sealed.len(), 3);
    let path = dir.path().join("store").join(&sealed[1]);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[2 * 4096 + 99] ^= 8;
    std::fs::write(&path, &bytes).unwrap();

    let first = scrub(&dir, &ENDING, sealed.clone());
    assert!(first.is_due() && first.step() && first.step());
    let seen = first.status().to_json();
    assert_eq!((seen["files"].as_u64(), seen["faults"].as_u64()), (Some(2), Some(1)), "{seen}");
    assert_eq!(seen["damaged"][0]["path"], sealed[1].as_str());
    assert_eq!(seen["damaged"][0]["first"], "block 2: bad checksum");
    drop(first);

    let second = scrub(&dir, &ENDING, sealed.clone());
    assert!(second.is_due() && second.step(), "the third file");
    assert!(!second.step(), "the round is over");
    assert!(!second.is_due(), "and the next one is not due yet");
    let seen = second.status().to_json();
    assert_eq!((seen["files"].as_u64(), seen["round_over"].as_bool()), (Some(3), Some(true)), "{seen}");
    assert!(seen["problem"].is_string());
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "nothing was touched");

    NOW_NS.fetch_add(3_600_000_000_000, Ordering::Relaxed);
    bytes[2 * 4096 + 99] ^= 8;
    std::fs::write(&path, &bytes).unwrap();
    assert!(second.is_due() && second.step() && second.step());
    assert_eq!(second.status().to_json()["faults"], 0, "a file that was mended is forgotten");
}

#[test]
fn it_ends_when_it_is_told_to() {
    static ENDING: AtomicBool = AtomicBool::new(true);
    let dir = TestDir::new("scrub-end");
    let engine = store(&dir);
    let scrub = scrub(&dir, &ENDING, engine.sealed_files());
    assert!(scrub.is_due() && !scrub.step(), "told to end inside the first file");
    scrub.run();
    assert_eq!(scrub.status().to_json()["files"], 0);
}
