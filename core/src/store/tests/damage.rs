//! Damage where it lies: every bit is noticed, it costs the points of its block and no others, no value is wrong,
//! and nothing healthy is set aside. Then whole blocks in wrong places, older ones, and blocks that never came.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::reader::{Points, list, read, read_left};
use super::sequence::steps_of;
use super::workload::{DEVICE, Step, label, name, open as open_store, play, tiny};
use crate::block::{BLOCK_LEN, Block, BlockKind, PAYLOAD_MAX, SegmentId, get_u16, get_u32, open, peek};
use crate::segment::SegmentHeader;
use crate::store::sim::{Control, Oracle, Random, Rot, SimMedium};
use crate::store::{Recovery, Store};
use crate::tree::leaf::Leaf;

/// Points of a record at most, if each takes a tag, an id, a time and a float.
const RECORD_POINTS_MAX: u64 = PAYLOAD_MAX as u64 / 11;

/// A store with a sealed segment, a late one, an open one with leaves on both sides of its trusted length, and points that
/// are only in the journal; killed. What it holds, and everything that was ever written.
pub(super) struct Image {
    medium: SimMedium,
    points: Points,
    written: Oracle,
}

impl Image {
    pub(super) fn new() -> Self {
        let medium = SimMedium::new();
        let (mut store, _) = open_store(&medium).expect("the power is on");
        let script = steps_of("abcsablckbacac", 0).expect("a sequence");
        play(&mut store, &mut Oracle::new(), &script).expect("the power is on");
        let points = read(&mut store);
        let mut written = Oracle::new();
        for step in script {
            let Step::Message(_, sent) = step else { continue };
            for (series, at, value) in sent {
                written.write(label(name(series).as_str()), at, value.value());
            }
        }
        Self { medium: medium.after_kill(), points, written }
    }

    /// All blocks that hold something.
    fn blocks(&self) -> Vec<(String, u32, Block)> {
        let mut blocks = Vec::new();
        for (path, block_count) in self.medium.files() {
            for at in 0..block_count {
                let bytes = self.medium.raw(&path, at).expect("a block");
                if bytes.iter().any(|byte| *byte > 0) {
                    blocks.push((path.clone(), at, bytes));
                }
            }
        }
        blocks
    }

    /// The points that a block may cost: its own, and those that nobody can name without it.
    fn cost(&self, path: &str, bytes: &Block) -> u64 {
        let Ok((header, payload)) = peek(bytes) else { return 0 };
        let rows_of = |payload: &[u8], is_of: &dyn Fn(u32) -> bool| {
            let Ok(leaf) = Leaf::open(payload) else { return 0 };
            leaf.iter().filter(|(entry, _)| is_of(entry.series)).map(|(entry, _)| u64::from(entry.rows)).sum()
        };
        match header.kind {
            BlockKind::Leaf => rows_of(payload, &|_| true),
            BlockKind::JournalRecord => RECORD_POINTS_MAX,
            BlockKind::Definitions => {
                let first = get_u32(payload, 0).unwrap_or(0);
                let defined = first..first + u32::from(get_u16(payload, 4).unwrap_or(0));
                let of_file = self.blocks().into_iter().filter(|(other, ..)| other == path);
                let rows = |(_, _, bytes): (String, u32, Block)| match peek(&bytes) {
                    Ok((header, payload)) if header.kind == BlockKind::Leaf => {
                        rows_of(payload, &|series| defined.contains(&series))
                    }
                    _ => 0,
                };
                of_file.map(rows).sum()
            }
            _ => 0,
        }
    }

    /// What damage to one block came to: points lost, or which promise it broke.
    ///
    /// A block that was never written, or holds what it held before, looks like a power cut that came earlier where
    /// nothing behind it says otherwise: then `is_seen` is false.
    fn judge(&self, damaged: &SimMedium, path: &str, cost: u64, is_seen: bool) -> Result<u64, String> {
        let opened = Store::open(damaged.clone(), tiny(), DEVICE).map_err(|error| error.to_string())?;
        let (mut store, recovery): (_, Recovery) = opened;
        if let Some((other, fault)) = recovery.set_aside.iter().find(|(other, _)| other != path) {
            return Err(format!("{other} is healthy and was set aside: {fault}"));
        }
        let (points, blocks) = read_left(&mut store, true).map_err(|violation| format!("{violation:?}"))?;
        self.written.check(list(&points)).map_err(|violation| format!("{violation:?}"))?;
        let is_lost = |(key, value): &(&(String, i64), _)| points.get(*key) != Some(*value);
        let lost = self.points.iter().filter(is_lost).count() as u64;
        let allowed = cost + recovery.journal.points_nameless;
        if lost > allowed {
            return Err(format!("{lost} points lost, {allowed} allowed"));
        }
        let noticed = recovery.journal != crate::store::JournalDamage::default()
            || recovery.segments_damaged + recovery.headers_restored + blocks > 0
            || !recovery.set_aside.is_empty();
        if lost > 0 && is_seen && !noticed {
            return Err(format!("{lost} points lost, and nobody noticed"));
        }
        Ok(lost)
    }
}

/// Opens a block as its readers do.
fn is_valid(image: &Image, path: &str, at: u32, bytes: &Block) -> bool {
    let id = if path == "store.id" {
        SegmentId { device: [0; 16], epoch: 0, number: 0 }
    } else if let Some(file) = path.strip_prefix("journal/") {
        let Ok((header, _)) = peek(bytes) else { return false };
        let number = file.trim_end_matches(".journal").parse().expect("a number");
        SegmentId { device: DEVICE, epoch: header.epoch, number }
    } else {
        SegmentHeader::open(&image.medium.raw(path, 0).expect("block 0")).expect("a header").id
    };
    let is_journal = |kind| matches!(kind, BlockKind::JournalHeader | BlockKind::JournalRecord);
    let is_here = |kind| match path.split('/').next() {
        Some("journal") => is_journal(kind),
        Some("segments") => !is_journal(kind) && kind != BlockKind::StoreIdentity,
        _ => kind == BlockKind::StoreIdentity,
    };
    open(bytes, &id, at).is_ok_and(|(header, _)| is_here(header.kind))
}

/// Every `stride`th bit of every block, flipped: none passes. Gives how many were tried.
pub(super) fn every_bit(image: &Image, stride: usize) -> u64 {
    let mut tried = 0;
    for (path, at, bytes) in image.blocks() {
        assert!(is_valid(image, &path, at, &bytes), "{path} {at}");
        for bit in (at as usize % stride..BLOCK_LEN * 8).step_by(stride) {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_valid(image, &path, at, &flipped), "{path} block {at} bit {bit}");
            tried += 1;
        }
    }
    tried
}

/// Damages each block in many ways, every `stride`th bit among them; gives how many stores were opened.
pub(super) fn damage_everything(image: &Image, stride: usize) -> Result<u64, String> {
    let blocks = image.blocks();
    let mut tried = 0;
    for (nth, (path, at, bytes)) in blocks.iter().enumerate() {
        let cost = image.cost(path, bytes);
        let mut random = Random::new(nth as u64);
        let mut versions: Vec<(String, Block)> = Vec::new();
        let header_bits = (nth % 64..256).step_by(stride.div_ceil(16));
        let payload_bits = (256 + nth % stride..BLOCK_LEN * 8).step_by(stride * 4);
        for bit in header_bits.chain(payload_bits) {
            let mut flipped = *bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            versions.push((format!("bit {bit}"), flipped));
        }
        for rot in Rot::ALL {
            let damaged = image.medium.after_kill();
            damaged.spoil(path, *at, rot, &mut random);
            versions.push((format!("{rot:?}"), damaged.raw(path, *at).expect("there")));
        }
        for other in [nth + 1, nth + 7, nth + blocks.len() / 2] {
            let (from, from_at, other) = &blocks[other % blocks.len()];
            if (from, from_at) != (path, at) {
                versions.push((format!("block {from_at} of {from} in its place"), *other));
            }
        }
        let before = image.medium.raw_before(path, *at);
        versions.push((String::from("an older version"), before.unwrap_or([0; BLOCK_LEN])));
        versions.push((String::from("never written"), [0; BLOCK_LEN]));
        for (what, version) in versions.into_iter().filter(|(_, version)| version != bytes) {
            let damaged = image.medium.after_kill();
            damaged.put(path, *at, &version);
            let is_seen = !what.contains("version") && !what.contains("never");
            let judged = image.judge(&damaged, path, cost, is_seen);
            judged.map_err(|broken| format!("{path} block {at}, {what}: {broken}"))?;
            tried += 1;
        }
    }
    Ok(tried)
}

#[test]
fn every_flipped_bit_is_noticed() {
    assert!(every_bit(&Image::new(), 67) > 10_000);
}

#[test]
fn a_block_in_another_place_is_noticed() {
    let image = Image::new();
    let blocks = image.blocks();
    for (path, at, _) in &blocks {
        let strangers = blocks.iter().filter(|(from, from_at, _)| (from, from_at) != (path, at));
        for (from, from_at, bytes) in strangers {
            assert!(!is_valid(&image, path, *at, bytes), "{from} {from_at} in place of {path} {at}");
        }
    }
}

#[test]
fn damage_costs_the_points_of_its_block_and_no_others() {
    let tried = damage_everything(&Image::new(), 4_096).unwrap_or_else(|broken| panic!("{broken}"));
    eprintln!("{tried} damaged stores");
    assert!(tried > 300);
}

#[test]
fn a_bad_block_is_damage_and_costs_no_more() {
    let image = Image::new();
    for (path, at, bytes) in image.blocks() {
        let damaged = image.medium.after_kill();
        damaged.inject(crate::store::sim::Fault::BadBlock { path: path.clone(), block: at });
        if let Err(broken) = image.judge(&damaged, &path, image.cost(&path, &bytes), true) {
            panic!("{path} block {at} is bad: {broken}");
        }
    }
}

#[test]
fn without_checksums_the_suite_fails() {
    let image = Image::new();
    image.medium.control(Control::NoCrc(DEVICE));
    let played = catch_unwind(AssertUnwindSafe(|| damage_everything(&image, 4_096)));
    assert!(!matches!(played, Ok(Ok(_))), "with rotten blocks taken for good the suite passes");
}
