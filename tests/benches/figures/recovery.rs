//! How long a store takes to open after a kill, with a journal file full of points that are in no flushed
//! segment, and with little or much stored before.

use std::fs;
use std::path::Path;
use std::time::Instant;

use siltstone::files::FileMedium;
use siltstone_core::store::{Store, StoreConfig, Work};

use crate::Row;
use crate::load::{FileStore, Load, READINGS_PER_S, folder_in_memory};

/// Readings that are in sealed segments.
const STORED: [usize; 3] = [0, 2_000_000, 40_000_000];
/// Segments are small, so that there are many: what opening may depend on is their number.
const SEGMENT_BLOCKS: u32 = 128;
const REPEATS: usize = 5;

/// The rows of the table.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for stored in STORED {
        let folder = folder_in_memory();
        let (segments, readings) = fill(folder.path(), stored);
        let what =
            format!("{stored} readings in {segments} segments, {readings} in the journal alone: ms to open");
        rows.push(Row::new(what, format!("{:.0}", open_ms(folder.path())), "≤ 1000"));
    }
    rows
}

fn open(path: &Path) -> FileStore {
    let medium = FileMedium::open(path).expect("a medium");
    let config = StoreConfig { segment_blocks_max: SEGMENT_BLOCKS, ..StoreConfig::default() };
    Store::open(medium, config, [7; 16]).expect("a store").0
}

/// Stores so many readings, and then as many as the journal takes before the next checkpoint; the store is left
/// as a kill leaves it. Gives its segments and what the journal alone has.
fn fill(path: &Path, stored: usize) -> (usize, usize) {
    let mut store = open(path);
    let mut load = Load::new(&mut store, 1);
    let mut sent = 0;
    let mut send = |store: &mut FileStore, readings: usize| {
        sent += readings;
        load.send_until(store, sent);
        store.commit().expect("committed");
    };
    for _ in 0..stored / READINGS_PER_S {
        send(&mut store, READINGS_PER_S);
    }
    store.checkpoint().expect("a checkpoint");
    while store.work(1 << 16).expect("work") == Work::More {}
    // A file takes so many; one commit less, and no checkpoint has been.
    let per_file = readings_between_checkpoints(&mut store, &mut send);
    for _ in 0..per_file / READINGS_PER_S - 1 {
        send(&mut store, READINGS_PER_S);
    }
    (store.segments().len() + 1, per_file - READINGS_PER_S)
}

/// Sends until there was a checkpoint, which is seen by its leaves: it codes what all series have at once.
fn readings_between_checkpoints(
    store: &mut FileStore,
    send: &mut impl FnMut(&mut FileStore, usize),
) -> usize {
    const LEAVES_AT_ONCE: u64 = 50;
    let mut count = 0;
    loop {
        let before = store.written().leaves;
        send(store, READINGS_PER_S);
        count += READINGS_PER_S;
        if store.written().leaves - before >= LEAVES_AT_ONCE {
            return count;
        }
    }
}

/// The median of several openings, each of a copy.
fn open_ms(path: &Path) -> f64 {
    let mut times: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let copy = folder_in_memory();
            copy_folder(path, copy.path()).expect("a copy");
            let begin = Instant::now();
            let store = open(copy.path());
            let elapsed = begin.elapsed().as_secs_f64() * 1e3;
            drop(store);
            elapsed
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPEATS / 2]
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
