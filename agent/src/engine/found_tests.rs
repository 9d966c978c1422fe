//! What a person has to look at stands in the health document until it is mended, and not longer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;
use siltstone_core::block::BLOCK_LEN;

use crate::config::DataConfig;
use crate::engine::{AgentService, Engine};
use crate::http::Service;
use crate::test_dir::TestDir;
use crate::test_readings::append;

fn config(dir: &TestDir) -> DataConfig {
    DataConfig { dir: dir.path().join("store"), ..DataConfig::default() }
}

fn open(dir: &TestDir) -> (Arc<Engine>, AgentService) {
    let engine = Arc::new(Engine::open(&config(dir)).unwrap().0);
    (Arc::clone(&engine), AgentService::new(engine))
}

/// Each reading flushed by itself.
fn put(engine: &Engine, range: std::ops::Range<i64>) {
    range.for_each(|n| append(engine, n..n + 1));
}

/// The status, and the store's part.
fn health(service: &AgentService) -> (String, Json) {
    let mut health = service.health();
    (health["status"].as_str().unwrap().to_owned(), health["store"].take())
}

fn assert_ok(service: &AgentService) {
    let (status, store) = health(service);
    assert_eq!((status.as_str(), &store["damage"]), ("ok", &Json::Null), "{store}");
}

fn assert_degraded(service: &AgentService, key: &str, count: u64, part: &str) {
    let (status, store) = health(service);
    assert_eq!((status.as_str(), &store[key]), ("degraded", &count.into()), "{store}");
    assert!(store["damage"].as_str().is_some_and(|sentence| sentence.contains(part)), "{store}");
    assert!(store["problem"].is_null(), "the store takes everything");
}

fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn files_in_quarantine_count_until_somebody_takes_them_away() {
    let dir = TestDir::new("found-quarantine");
    let (engine, service) = open(&dir);
    put(&engine, 0..10);
    engine.seal().unwrap();
    assert_ok(&service);
    std::fs::write(engine.root().join("segments/2026-11/notes.silt"), "these are notes").unwrap();
    assert_ok(&service);
    // As after a failure of the disk, while the agent runs.
    engine.reopen(0).unwrap();
    assert_degraded(&service, "quarantined_files", 1, "quarantine/ holds 1 file that could not be read");
    engine.reopen(0).unwrap();
    assert_degraded(&service, "quarantined_files", 1, "until somebody looks");
    std::fs::remove_file(engine.root().join("quarantine/notes.silt")).unwrap();
    assert_ok(&service);
}

#[test]
fn a_segment_without_a_valid_end_counts_until_it_is_whole() {
    let dir = TestDir::new("found-segment");
    let (engine, service) = open(&dir);
    put(&engine, 0..10);
    engine.seal().unwrap();
    let path = engine.root().join(engine.sealed_files().remove(0));
    let last = std::fs::metadata(&path).unwrap().len() as usize - BLOCK_LEN + 50;
    flip(&path, last);
    engine.reopen(0).unwrap();
    assert_degraded(&service, "segments_damaged", 1, "`siltstone repair` makes a good copy");
    flip(&path, last);
    engine.reopen(0).unwrap();
    assert_ok(&service);
}

#[test]
fn what_the_journal_lost_counts_until_the_next_opening() {
    let dir = TestDir::new("found-journal");
    let (engine, service) = open(&dir);
    put(&engine, 0..10);
    drop((engine, service));
    let mut records: Vec<(u64, PathBuf, usize)> = Vec::new();
    for entry in std::fs::read_dir(dir.path().join("store/journal")).unwrap() {
        let path = entry.unwrap().path();
        for (number, block) in std::fs::read(&path).unwrap().chunks(BLOCK_LEN).enumerate() {
            if block[0] == 8 {
                let lsn = u64::from_le_bytes(block[20..28].try_into().unwrap());
                records.push((lsn, path.clone(), number * BLOCK_LEN));
            }
        }
    }
    records.sort();
    // One before the last, which says that it was flushed.
    let (_, path, at) = &records[records.len() - 2];
    flip(path, at + 40);
    let (engine, service) = open(&dir);
    assert_degraded(&service, "journal_records_damaged", 1, "the journal had 1 damaged record");
    put(&engine, 20..30);
    drop((engine, service));
    assert_ok(&open(&dir).1);
}
