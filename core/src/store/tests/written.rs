//! Blocks written by cause: what the store counts is what the medium saw.

use super::workload::{FROM, Step, open, play, steps};
use crate::block::BlockKind;
use crate::store::Written;
use crate::store::sim::{Oracle, Random, SimMedium};

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
