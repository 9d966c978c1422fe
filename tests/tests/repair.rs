//! Damage from the outside: `verify` names it, `repair` copies what is left, and the damaged file stays as it is.

use std::path::PathBuf;

use siltstone_tests::agent::siltstone;
use siltstone_tests::scratch::Scratch;

const BLOCK_LEN: usize = 4_096;

/// A store with a sealed segment of two series.
fn made_store(scratch: &Scratch) -> (PathBuf, PathBuf) {
    let mut csv = String::from("timestamp_s,temperature,humidity\n");
    let mut state = 1u64;
    for at in 0..6_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        csv +=
            &format!("{},{}.{:02},{}\n", 1_790_000_000 + at * 10, state >> 58, state >> 40 & 63, state >> 52);
    }
    let (sheet, store) = (scratch.join("made.csv"), scratch.join("store"));
    std::fs::write(&sheet, csv).unwrap();
    siltstone(&["import", sheet.to_str().unwrap(), "--data", store.to_str().unwrap()]).success();
    let partitions = std::fs::read_dir(store.join("segments")).unwrap();
    let files = partitions.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    let segment = files.map(|file| file.unwrap().path()).find(|path| path.extension().is_some()).unwrap();
    (store, segment)
}

fn count(file: &std::path::Path) -> usize {
    let exported = siltstone(&["export", "--file", file.to_str().unwrap()]).success();
    exported.lines().skip(1).flat_map(|line| line.split(',').skip(1)).filter(|cell| !cell.is_empty()).count()
}

#[test]
fn a_damaged_file_is_copied_without_what_is_lost() {
    let scratch = Scratch::new("repair");
    let (store, segment) = made_store(&scratch);
    let carried = scratch.join("carried.silt");
    std::fs::copy(&segment, &carried).unwrap();
    let path = carried.to_str().unwrap();
    let whole = siltstone(&["repair", path]);
    assert!(whole.code == Some(0) && whole.stderr.contains("nothing to repair"), "{whole:?}");
    let rows = count(&carried);

    let mut bytes = std::fs::read(&carried).unwrap();
    bytes[2 * BLOCK_LEN + 77] ^= 1;
    std::fs::write(&carried, &bytes).unwrap();
    let verified = siltstone(&["verify", path]);
    assert_eq!((verified.code, verified.stdout), (Some(1), format!("{path}: block 2: bad checksum\n")));
    let told = siltstone(&["repair", path]).success();
    let lost: usize = told
        .lines()
        .map(|line| line.split("lost: ").nth(1).unwrap().split(' ').next().unwrap().parse::<usize>().unwrap())
        .sum();
    let copy = scratch.join("carried.repaired.silt");
    assert_eq!(siltstone(&["verify", copy.to_str().unwrap()]).code, Some(0));
    assert!(lost > 0 && told.contains(" readings of "), "{told}");
    assert_eq!(count(&copy) + lost, rows, "{told}");
    assert_eq!(std::fs::read(&carried).unwrap(), bytes, "the damaged file is as it was");
    let again = siltstone(&["repair", path]).failure();
    assert!(again.contains("it is there already"), "{again}");

    // Inside a store the copy must not count beside its original.
    std::fs::write(&segment, &bytes).unwrap();
    siltstone(&["repair", segment.to_str().unwrap()]).success();
    let aside: Vec<_> =
        std::fs::read_dir(store.join("quarantine")).unwrap().map(|f| f.unwrap().path()).collect();
    assert_eq!(aside.len(), 1, "{aside:?}");
    assert_eq!(siltstone(&["verify", aside[0].to_str().unwrap()]).code, Some(0));
    let verified = siltstone(&["verify", store.to_str().unwrap()]);
    assert_eq!((verified.code, verified.stdout.lines().count()), (Some(1), 1), "{verified:?}");
}

#[test]
fn a_stores_journal_and_identity_are_verified_too() {
    let scratch = Scratch::new("verify-store");
    let (store, _) = made_store(&scratch);
    let path = store.to_str().unwrap();
    assert_eq!(siltstone(&["verify", path]).code, Some(0));
    for (file, at) in [("store.id", 40), ("journal/00.journal", 90)] {
        let damaged = store.join(file);
        let good = std::fs::read(&damaged).unwrap();
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        std::fs::write(&damaged, bytes).unwrap();
        let verified = siltstone(&["verify", path]);
        assert_eq!(verified.code, Some(1), "{verified:?}");
        assert!(verified.stdout.contains(file), "{verified:?}");
        std::fs::write(&damaged, good).unwrap();
    }
}
