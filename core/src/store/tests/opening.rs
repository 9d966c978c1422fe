//! What a start finds: a new place, a damaged identity, damaged segments, other settings.

use super::reader::{Points, list, read, read_what_is_left};
use super::workload::{DEVICE, FROM, HOUR_NS, Step, label, name, open, play, steps, tiny};
use crate::segment::SegmentError;
use crate::store::sim::{Oracle, Random, SimMedium};
use crate::store::{PartitionSpan, SegmentState, Store, StoreConfig};

/// A store after a workload, closed or killed, and what it held.
fn used(seed: u64, count: usize, is_closed: bool) -> (SimMedium, Points) {
    let medium = SimMedium::new();
    let (mut store, recovery) = open(&medium).expect("open");
    assert!(recovery.is_new && !recovery.is_identity_restored);
    play(&mut store, &mut Oracle::new(), &steps(&mut Random::new(seed), count, FROM)).expect("play");
    let points = read(&mut store);
    if is_closed {
        store.close().expect("close");
    }
    (medium.after_kill(), points)
}

#[test]
fn epochs_grow_and_the_identity_stays() {
    let (medium, points) = used(1, 60, true);
    let mut epoch = 1;
    for _ in 0..10 {
        let (mut store, recovery) = Store::open(medium.clone(), tiny(), [7; 16]).expect("open");
        assert!(store.epoch() > epoch && !recovery.is_new);
        assert_eq!((store.device(), recovery.points_replayed), (DEVICE, 0));
        epoch = store.epoch();
        assert!(read(&mut store) == points);
    }
    assert_eq!(medium.files().iter().filter(|(path, _)| path.starts_with("journal/")).count(), 3);
}

#[test]
fn a_lost_identity_is_found_again() {
    let (medium, points) = used(2, 60, true);
    assert!(medium.flip("store.id", 0, 40, 1));
    let (mut store, recovery) = Store::open(medium.clone(), tiny(), [7; 16]).expect("open");
    assert!(recovery.is_identity_restored && !recovery.is_new);
    assert!(store.device() == DEVICE && read(&mut store) == points);
    drop(store);
    assert!(medium.files().iter().any(|(path, _)| path == "quarantine/store.id"));
    // And without the journal, from the segments.
    let headers: Vec<_> =
        medium.files().into_iter().filter(|(path, _)| path.starts_with("journal/")).collect();
    assert!(headers.iter().all(|(path, _)| medium.flip(path, 0, 60, 1)) && medium.flip("store.id", 0, 40, 1));
    let (mut store, recovery) = Store::open(medium.clone(), tiny(), [7; 16]).expect("open");
    assert!(recovery.is_identity_restored);
    assert_eq!(store.device(), DEVICE);
    assert!(medium.files().iter().any(|(path, _)| path == "quarantine/store.id.1"));
    assert!(read(&mut store) == points);
}

#[test]
fn one_damaged_block_costs_little_and_is_no_reason_not_to_start() {
    for is_closed in [true, false] {
        let (medium, points) = used(3, 80, is_closed);
        let mut written = Oracle::new();
        for step in steps(&mut Random::new(3), 80, FROM) {
            let Step::Message(_, sent) = step else { continue };
            sent.iter().for_each(|(series, at, value)| {
                written.write(label(name(*series).as_str()), *at, value.value())
            });
        }
        let mut lost_most = 0;
        for (path, block_count) in medium.files() {
            for block in 0..block_count {
                let damaged = medium.after_kill();
                assert!(damaged.flip(&path, block, 1_000 + block as usize, 8));
                let (mut store, recovery) = open(&damaged).unwrap_or_else(|e| panic!("{path} {block}: {e}"));
                let (found, _) = read_what_is_left(&mut store);
                if let Err(violation) = written.check(list(&found)) {
                    panic!("{path} block {block}: {violation:?}");
                }
                assert!(found.len() <= points.len(), "{path} block {block}: deleted points are back");
                if recovery.set_aside.is_empty() {
                    lost_most = lost_most.max(points.len() - found.len());
                }
                drop(store);
                assert!(block % 4 > 0 || open(&damaged).is_ok(), "{path} {block}: again");
            }
        }
        eprintln!("at most {lost_most} of {} points in one block", points.len());
        assert!(lost_most > 0 && lost_most < points.len() / 2);
    }
}

#[test]
fn a_file_that_is_no_segment_is_set_aside() {
    use crate::store::{Device, Medium};
    let (mut medium, points) = used(4, 40, true);
    let (path, _) = medium.files().into_iter().find(|(path, _)| path.ends_with(".silt")).expect("a segment");
    let strange = format!("{}/strange.silt", path.rsplit_once('/').expect("a directory").0);
    medium.create(&strange).expect("create").write(0, &[7; 4096]).expect("write");
    medium.create(&format!("{strange}.part")).expect("create");
    let (mut store, recovery) = open(&medium).expect("open");
    assert_eq!(recovery.set_aside, [(strange.clone(), SegmentError::NotASegment)]);
    assert_eq!(recovery.parts_removed, 1);
    assert!(read(&mut store) == points);
    assert!(medium.files().iter().any(|(path, _)| path == "quarantine/strange.silt"));
    assert!(open(&medium).expect("open").1.set_aside.is_empty());
}

#[test]
fn settings_may_change_between_starts() {
    let (medium, mut points) = used(5, 60, false);
    for (round, partition) in
        [PartitionSpan::Day, PartitionSpan::Year, PartitionSpan::Month, PartitionSpan::Hour]
            .into_iter()
            .enumerate()
    {
        let journal_file_blocks = 16 + 8 * round as u32;
        let config = StoreConfig { partition, journal_file_blocks, ..tiny() };
        let (mut store, _) = Store::open(medium.clone(), config, DEVICE).expect("open");
        assert!(read(&mut store) == points, "{partition:?}");
        let more = steps(&mut Random::new(round as u64), 30, FROM + (round as i64 + 1) * 5_000 * HOUR_NS);
        play(&mut store, &mut Oracle::new(), &more).expect("play");
        points = read(&mut store);
    }
}

#[test]
fn a_seal_leaves_only_whole_files() {
    let (medium, points) = used(6, 60, false);
    let (mut store, _) = open(&medium).expect("open");
    store.seal().expect("seal");
    assert!(store.segments().iter().all(|file| matches!(file.state, SegmentState::Sealed(_))));
    let runs = store.segments().len();
    assert_eq!(medium.files().iter().filter(|(path, _)| path.ends_with(".silt")).count(), runs);
    assert!(read(&mut store) == points);
}

#[test]
fn the_default_settings_hold_together() {
    let config = StoreConfig { journal_file_blocks: 64, ..StoreConfig::default() };
    let (mut store, _) = Store::open(SimMedium::new(), config, DEVICE).expect("open");
    play(&mut store, &mut Oracle::new(), &steps(&mut Random::new(9), 100, FROM)).expect("play");
    let directories = store.segments().iter().filter(|file| file.path.starts_with("segments/2023-1"));
    assert!(directories.count() > 0);
}

#[test]
fn a_store_is_opened_again_only_where_it_is() {
    let (medium, points) = used(7, 60, false);
    let again = |medium: &SimMedium| {
        let operations = medium.operations();
        let opened = Store::open_again(medium.clone(), tiny(), DEVICE).map(|(mut store, _)| read(&mut store));
        (opened, medium.operations() == operations)
    };
    let other = SimMedium::new();
    drop(Store::open(other.clone(), tiny(), [7; 16]).expect("open"));
    for (medium, expected) in [(SimMedium::new(), "no store any more"), (other, "another store than before")]
    {
        let (opened, is_unchanged) = again(&medium);
        assert!(opened.err().is_some_and(|error| error.to_string().ends_with(expected)), "{expected}");
        assert!(is_unchanged, "something was written");
    }
    assert!(medium.flip("store.id", 0, 40, 1));
    let (opened, _) = again(&medium);
    assert!(opened.expect("the same store, as its journal says") == points);
}
