//! Blocks written by cause: what the store counts is what the medium saw.

use super::workload::{DEVICE, FROM, Owned, SimStore, Step, append, open, play, steps, tiny};
use crate::block::BlockKind;
use crate::store::sim::{Oracle, Random, SimMedium};
use crate::store::{Store, StoreConfig, Written};

/// What the medium saw, merges not told apart.
fn seen(medium: &SimMedium) -> (u64, u64, u64, u64) {
    let (mut journal, mut leaves, mut nodes, mut tails) = (0, 0, 0, 0);
    for ((path, kind), blocks) in medium.wear() {
        match BlockKind::from_code(kind) {
            Some(BlockKind::StoreIdentity) => {}
            Some(BlockKind::Node) => nodes += blocks,
            Some(BlockKind::Tail) => tails += blocks,
            _ if path.starts_with("journal/") => journal += blocks,
            _ => leaves += blocks,
        }
    }
    (journal, leaves, nodes, tails)
}

#[test]
fn every_block_has_its_cause() {
    for seed in 0..20 {
        let medium = SimMedium::new();
        let (mut store, _) = open(&medium).expect("open");
        let (mut random, mut oracle) = (Random::new(seed), Oracle::new());
        for from in [FROM, FROM + 1_000_000_000_000] {
            let steps = steps(&mut random, 60, from);
            // Nothing that works in idle time, where merges write, and no other start.
            let is_kept = |step: &Step| {
                matches!(step, Step::Message(..) | Step::Commit | Step::Checkpoint | Step::Seal)
            };
            play(&mut store, &mut oracle, &steps.into_iter().filter(is_kept).collect::<Vec<_>>())
                .expect("play");
            let Written { journal, leaves, nodes, tails, merges } = store.written();
            assert_eq!((journal, leaves, nodes, tails), seen(&medium), "seed {seed}");
            assert_eq!(merges, 0, "nothing was merged");
        }
        play(&mut store, &mut oracle, &[Step::Seal, Step::Work]).expect("play");
        let (journal, leaves, nodes, tails) = seen(&medium);
        let before = store.written();
        assert_eq!(before.total(), journal + leaves + nodes + tails, "seed {seed}: merges too");
        // A start goes on from the last checkpoint's count.
        store.checkpoint().expect("checkpoint");
        let before = store.written();
        drop(store);
        let (store, _) = open(&medium).expect("open again");
        let after = store.written();
        let pairs = before.by_cause().into_iter().zip(after.by_cause());
        for ((name, before), (_, after)) in pairs {
            // The record itself can't hold its own blocks.
            assert!(after + 2 >= before, "{name}: {before} before, {after} after");
        }
    }
}

#[test]
fn checkpoints_know_over_which_time_it_was_written() {
    const SECOND_NS: i64 = 1_000_000_000;
    let medium = SimMedium::new();
    let (mut store, _) = open(&medium).expect("open");
    let metered = || Written::of_store(&medium).expect("read").expect("a store").1;
    store.checkpoint().expect("checkpoint");
    assert_eq!(metered(), None, "no time is known");
    let checkpoint = |store: &mut SimStore, now| {
        store.set_time(Some(now), true);
        append(store, None, &[(0, now, Owned::Float(1.0))]).expect("append");
        store.checkpoint().expect("checkpoint");
        store.written().total()
    };
    checkpoint(&mut store, FROM);
    let first = metered().expect("a meter");
    assert_eq!((first.begin_ns, first.span_ns(), first.bytes()), (FROM, 0, 0));
    // Over a restart, whose own checkpoint knows no time.
    drop(store);
    let (mut store, _) = open(&medium).expect("open");
    assert_eq!(metered(), Some(first));
    checkpoint(&mut store, FROM + 60 * SECOND_NS);
    let second = metered().expect("a meter");
    assert_eq!((second.begin_ns, second.span_ns()), (FROM, 60 * SECOND_NS));
    assert_eq!(second.begin_blocks, first.begin_blocks);
    assert!(second.end_blocks > first.end_blocks && second.end_blocks <= store.written().total());
    // A clock that was set back behind the begin: there is no telling how long that was.
    checkpoint(&mut store, FROM - SECOND_NS);
    let third = metered().expect("a meter");
    assert_eq!((third.begin_ns, third.span_ns(), third.bytes()), (FROM - SECOND_NS, 0, 0));
}

#[test]
fn what_a_start_writes_again_has_its_cause_too() {
    let medium = SimMedium::new();
    let config = StoreConfig { segment_blocks_max: 9_000, journal_file_blocks: 4_000, ..tiny() };
    let (mut store, _) = Store::open(medium.clone(), config.clone(), DEVICE).expect("open");
    let mut random = Random::new(5);
    // Many leaves, and no checkpoint.
    for n in 0..1_000_i64 {
        let point =
            |m| (0, FROM + (n * 100 + m) * 1_000, Owned::Float(f64::from_bits(random.next_u64() >> 2)));
        let points: Vec<_> = (0..100).map(point).collect();
        append(&mut store, None, &points).expect("append");
    }
    store.commit().expect("commit");
    drop(store);
    let (_, leaves, nodes, tails) = seen(&medium);
    let (written, _) = Written::of_store(&medium).expect("read").expect("a store");
    let (store, _) = Store::open(medium.clone(), config, DEVICE).expect("open again");
    let (_, leaves_now, nodes_now, tails_now) = seen(&medium);
    let now = store.written();
    let more = (now.leaves - written.leaves, now.nodes - written.nodes, now.tails - written.tails);
    assert_eq!(more, (leaves_now - leaves, nodes_now - nodes, tails_now - tails));
    assert!(more.0 > 100, "{more:?}: they were written again");
}
