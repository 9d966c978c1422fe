//! A store that was given a new id has all of its readings and takes new ones under the new id.

use super::run;
use crate::cli::arguments::NewIdOptions;
use crate::config::DataConfig;
use crate::engine::Engine;
use crate::shelf::{ParsedSelector, Shelf};
use crate::test_dir::TestDir;
use crate::test_readings::append;

fn count(shelf: &mut Shelf) -> u64 {
    let holdings = shelf.select(&ParsedSelector::everything().unwrap());
    let runs = holdings.iter().flat_map(|holding| &holding.runs);
    runs.flat_map(|run| &run.roots).map(|root| root.summary.rows()).sum()
}

#[test]
fn old_segments_keep_their_id_and_new_ones_get_the_new_one() {
    let dir = TestDir::new("new-id");
    let config = DataConfig { dir: dir.path().to_owned(), ..DataConfig::default() };
    let (engine, _) = Engine::open(&config).unwrap();
    append(&engine, 0..5_000);
    drop(engine);
    std::fs::write(dir.path().join("state/mqtt.json"), "{\"client_id\": \"siltstone-1\"}").unwrap();
    let before = std::fs::read(dir.path().join("store.id")).unwrap();
    for round in 0..3_i64 {
        run(&NewIdOptions { dir: dir.path().to_owned() }).unwrap();
        let (engine, recovery) = Engine::open(&config).unwrap();
        assert!(recovery.set_aside.is_empty() && recovery.points_replayed == 0, "{recovery:?}");
        append(&engine, 5_000 + round * 100..5_100 + round * 100);
        let mut shelf = engine.shelf(&ParsedSelector::everything().unwrap()).unwrap();
        assert_eq!(count(&mut shelf), 5_100 + 100 * round as u64);
    }
    assert_ne!(std::fs::read(dir.path().join("store.id")).unwrap(), before);
    assert!(!dir.path().join("state/mqtt.json").exists());
    let (engine, _) = Engine::open(&config).unwrap();
    engine.store().seal().unwrap();
    let devices: std::collections::BTreeSet<_> =
        engine.store().segments().iter().map(|file| file.header.id.device).collect();
    assert_eq!(devices.len(), 4, "one for each id the store had");
}

#[test]
fn a_directory_without_a_store_or_a_store_in_use_is_refused() {
    let dir = TestDir::new("new-id-refused");
    let options = NewIdOptions { dir: dir.path().to_owned() };
    assert!(run(&options).unwrap_err().0.ends_with("there is no store in it"));
    let config = DataConfig { dir: dir.path().to_owned(), ..DataConfig::default() };
    let (engine, _) = Engine::open(&config).unwrap();
    assert!(run(&options).unwrap_err().0.contains("in use"));
    drop(engine);
    run(&options).unwrap();
}
