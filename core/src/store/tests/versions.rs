//! What becomes of a store that a newer program wrote into: it is refused, and nothing on the medium changes.

use super::reader::{Points, read};
use super::workload::{DEVICE, FROM, open, play, steps, tiny};
use crate::block::{Block, HEADER_LEN, peek};
use crate::store::sim::{Oracle, Random, SimError, SimMedium};
use crate::store::version::tests::{of_device, of_version};
use crate::store::{Device, Medium, Store, StoreError, look_at};

/// A store after a workload, closed or killed, and what it held.
fn used(seed: u64, is_closed: bool) -> (SimMedium, Points) {
    let medium = SimMedium::new();
    let (mut store, _) = open(&medium).expect("open");
    play(&mut store, &mut Oracle::new(), &steps(&mut Random::new(seed), 80, FROM)).expect("play");
    let points = read(&mut store);
    if is_closed {
        store.close().expect("close");
    }
    (medium.after_kill(), points)
}

/// Every bit of every file.
fn image(medium: &SimMedium) -> Vec<(String, u32, Block)> {
    let blocks = |(path, count): (String, u32)| (0..count).map(move |block| (path.clone(), block));
    let all = medium.files().into_iter().flat_map(blocks);
    all.map(|(path, block)| {
        let bytes = medium.raw(&path, block).expect("a block");
        (path, block, bytes)
    })
    .collect()
}

/// What every way in says of the store; whatever it is, nothing may have changed.
fn refused(medium: &SimMedium) -> Option<(String, u16, u16)> {
    let (before, operations) = (image(medium), medium.operations());
    let opened = Store::open(medium.clone(), tiny(), [7; 16]).map(|_| ());
    let said = |result: Result<(), StoreError<SimError>>| match result {
        Err(StoreError::Newer { path, version, known }) => Some((path, version, known)),
        Ok(()) => None,
        Err(error) => panic!("{error}"),
    };
    let opened = said(opened);
    if opened.is_some() {
        assert_eq!(medium.operations(), operations, "something was written, renamed or removed");
        assert!(image(medium) == before, "something changed");
        assert_eq!(said(look_at(medium).map(|_| ())), opened);
    }
    opened
}

fn make_newer(medium: &SimMedium, path: &str, version: u16) {
    let block = medium.raw(path, 0).expect("a first block");
    assert!(medium.put(path, 0, &of_version(block, version)));
}

#[test]
fn a_newer_file_of_any_kind_is_refused_and_nothing_changes() {
    for is_closed in [true, false] {
        let (mut medium, points) = used(3, is_closed);
        // What a start would tidy away, were the store its own.
        medium.create("segments/2023-11-14T22/x.silt.part").expect("create");
        medium.create("store.id.part").expect("create");
        let is_written = |path: &&String| medium.raw(path, 0).is_some_and(|block| peek(&block).is_ok());
        let paths: Vec<String> = medium.files().into_iter().map(|(path, _)| path).collect();
        let (mut tried, mut kinds) = (0, [0; 3]);
        for path in paths.iter().filter(is_written) {
            let newer = medium.after_kill();
            make_newer(&newer, path, 1 + tried);
            assert_eq!(refused(&newer), Some((path.clone(), 1 + tried, 0)), "{path}");
            let kind = ["store.id", "journal/", "segments/"].iter().position(|kind| path.starts_with(kind));
            kinds[kind.expect("a kind of file")] += 1;
            tried += 1;
        }
        assert!(kinds[0] == 1 && kinds[1] >= 2 && kinds[2] > 3, "{kinds:?}");
        let (mut store, _) = open(&medium).expect("open");
        assert!(read(&mut store) == points);
    }
}

#[test]
fn whose_a_newer_segment_is_decides() {
    let (medium, points) = used(5, true);
    let segments = |medium: &SimMedium| -> Vec<String> {
        let files = medium.files().into_iter().map(|(path, _)| path);
        files.filter(|path| path.ends_with(".silt")).collect()
    };
    // One of another device, put there by somebody: left alone, and the store opens.
    let foreign = medium.after_kill();
    let path = segments(&foreign).remove(0);
    let directory = path.rsplit_once('/').expect("a directory").0;
    let strange = format!("{directory}/{}.silt", "ab".repeat(24));
    let header = foreign.raw(&path, 0).expect("a header");
    let newer = of_version(of_device(header, [0xAB; 16]), 2);
    let mut file = foreign.clone().create(&strange).expect("create");
    file.write(0, &newer).expect("write");
    file.flush().expect("flush");
    let (mut store, recovery) = open(&foreign).expect("open");
    assert_eq!((recovery.segments_unknown, recovery.set_aside.len()), (1, 0));
    assert!(read(&mut store) == points);
    assert!(segments(&foreign).contains(&strange), "it is left alone");
    drop(store);
    // Where nothing says whose store it is, it may be its own.
    for path in foreign.files().into_iter().map(|(path, _)| path) {
        if path == "store.id" || path.starts_with("journal/") {
            assert!(foreign.flip(&path, 0, 60, 1));
        }
    }
    assert_eq!(refused(&foreign), Some((strange, 2, 0)));
}

#[test]
fn a_damaged_version_is_damage_and_not_the_future() {
    for is_closed in [true, false] {
        let (medium, points) = used(7, is_closed);
        for (path, _) in medium.files() {
            for byte in [HEADER_LEN + 8, HEADER_LEN + 9, HEADER_LEN + 10] {
                let damaged = medium.after_kill();
                assert!(damaged.flip(&path, 0, byte, 1));
                assert_eq!(refused(&damaged.after_kill()), None, "{path}");
                let (mut store, recovery) = open(&damaged).expect("open");
                assert_eq!(recovery.segments_unknown, 0, "{path}: {recovery:?}");
                // Of a segment that was just begun there is no copy of the header.
                let has_copy = medium.raw(&path, 1).is_some_and(|block| block.iter().any(|byte| *byte > 0));
                assert!(recovery.set_aside.is_empty() || !has_copy, "{path}: {recovery:?}");
                assert_eq!(store.device(), DEVICE);
                assert!(read(&mut store) == points, "{path} byte {byte}");
            }
        }
    }
}
