//! What a day at 100 readings a second writes to the card, by cause, for several commit intervals.
//!
//! A day is played as fast as it goes: the store counts its blocks, so that no clock is in it. The making of the journal, which
//! happens once, is left out; the seal at the end of the partition is in.

use siltstone::files::FileMedium;
use siltstone_core::block::BLOCK_LEN;
use siltstone_core::store::{Store, StoreConfig, Work, Written};

use crate::Row;
use crate::load::{Load, READINGS_PER_S, folder_in_memory};

const DAY_S: usize = 86_400;
/// Fields of a message, commit interval in seconds, and the goal in megabytes.
const CASES: [(usize, usize, u32); 6] =
    [(1, 1, 380), (1, 5, 165), (1, 10, 130), (8, 1, 380), (8, 5, 95), (8, 10, 95)];

/// The rows of the table.
pub(crate) fn rows() -> Vec<Row> {
    let row = |(fields, interval_s, goal): (usize, usize, u32)| {
        let day = day(fields, interval_s);
        let megabytes = |blocks: u64| blocks as f64 * BLOCK_LEN as f64 / 1e6;
        let causes: Vec<String> =
            day.by_cause().iter().map(|(name, blocks)| format!("{name} {:.1}", megabytes(*blocks))).collect();
        let what = format!("messages of {fields}, a commit every {interval_s} s ({})", causes.join(", "));
        Row::new(what, format!("{:.0}", megabytes(day.total())), format!("≤ {goal}"))
    };
    CASES.into_iter().map(row).collect()
}

/// Blocks written in a day.
fn day(fields: usize, interval_s: usize) -> Written {
    let folder = folder_in_memory();
    let medium = FileMedium::open(folder.path()).expect("a medium");
    let (mut store, _) = Store::open(medium, StoreConfig::default(), [7; 16]).expect("a store");
    let at_start = store.written();
    let mut load = Load::new(&mut store, fields);
    for second in (interval_s..=DAY_S).step_by(interval_s) {
        load.send_until(&mut store, second * READINGS_PER_S);
        store.commit().expect("committed");
    }
    store.seal().expect("sealed");
    while store.work(1 << 16).expect("work") == Work::More {}
    let now = store.written();
    Written {
        journal: now.journal - at_start.journal,
        leaves: now.leaves - at_start.leaves,
        nodes: now.nodes - at_start.nodes,
        tails: now.tails - at_start.tails,
        merges: now.merges - at_start.merges,
    }
}
