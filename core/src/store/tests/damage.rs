//! Damage where it lies: every bit is noticed, it costs the points of its block and no others, no value is wrong,
//! and nothing healthy is set aside. Then whole blocks in wrong places, older ones, and blocks that never came.

use std::collections::BTreeSet;

use super::reader::{Points, list, read, read_left};
use super::sequence::steps_of;
use super::verified::{verify, vouched};
use super::workload::{DEVICE, Step, label, name, open as open_store, play, tiny};
use crate::block::{BLOCK_LEN, Block, BlockKind, SegmentId, get_u16, get_u32, open, peek};
use crate::segment::{SegmentHeader, SegmentKind};
use crate::store::journal::points_of;
use crate::store::sim::{Control, Fault, Oracle, Random, Rot, SimError, SimMedium, Violation};
use crate::store::{Recovery, Store, StoreError};
use crate::tree::leaf::Leaf;

/// What is done to a store that ends as a whole image: a sealed segment, a late one, a tombstone, one that is being
/// written with leaves on both sides of its trusted length, and points that are only in the journal.
const SCRIPT: &str = "abcsablcdkbacac";

/// A promise that was broken, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// What the store holds is wrong.
    Violation(Violation),
    /// It lost more, or said less, than it may.
    Bound(String),
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Violation(violation) => write!(f, "{violation:?}"),
            Self::Bound(text) => f.write_str(text),
        }
    }
}

/// What became of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It holds nothing that was ever written there.
    Changed,
    /// It holds what it held before, or nothing: as after a power cut that came earlier.
    Earlier,
}

/// A whole store as it lies on its medium, killed; what it holds, and everything that was ever written.
pub(super) struct Image {
    medium: SimMedium,
    points: Points,
    written: Oracle,
    /// Blocks of the journal in which damage is damage.
    vouched: BTreeSet<(String, u32)>,
}

/// A block of an image.
pub(super) type Place = (String, u32, Block);

impl Image {
    pub(super) fn new() -> Self {
        let medium = SimMedium::new();
        let (mut store, _) = open_store(&medium).expect("the power is on");
        let script = steps_of(SCRIPT, 0).expect("a sequence");
        play(&mut store, &mut Oracle::new(), &script).expect("the power is on");
        let points = read(&mut store);
        let mut written = Oracle::new();
        for step in script {
            let Step::Message(_, sent) = step else { continue };
            for (series, at, value) in sent {
                written.write(label(name(series).as_str()), at, value.value());
            }
        }
        let medium = medium.after_kill();
        let vouched = vouched(&medium);
        Self { medium, points, written, vouched }
    }

    /// All blocks: those that hold something, or those that were never written.
    pub(super) fn blocks(&self, are_written: bool) -> Vec<Place> {
        let mut blocks = Vec::new();
        for (path, block_count) in self.medium.files() {
            for at in 0..block_count {
                let bytes = self.medium.raw(&path, at).expect("a block");
                if bytes.iter().any(|byte| *byte > 0) == are_written {
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
            BlockKind::JournalRecord => self.cost_of_record(header.epoch, header.lsn, payload),
            BlockKind::Definitions => {
                let first = get_u32(payload, 0).unwrap_or(0);
                let defined = first..first + u32::from(get_u16(payload, 4).unwrap_or(0));
                let of_file = self.blocks(true).into_iter().filter(|(other, ..)| other == path);
                let rows = |(_, _, bytes): Place| match peek(&bytes) {
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

    /// The points of a record of the journal, and of the records before it that begin the same message.
    fn cost_of_record(&self, epoch: u32, lsn: u64, payload: &[u8]) -> u64 {
        let (mut points, mut lsn) = (points_of(payload).0, lsn);
        let blocks = self.blocks(true);
        loop {
            let before = blocks.iter().filter_map(|(_, _, bytes)| peek(bytes).ok()).find(|(header, _)| {
                header.kind == BlockKind::JournalRecord && (header.epoch, header.lsn + 1) == (epoch, lsn)
            });
            let Some((more, true)) = before.map(|(_, payload)| points_of(payload)) else { return points };
            points += more;
            lsn -= 1;
        }
    }

    /// Whether what happens to a block that was written is damage whatever stands elsewhere.
    fn is_vouched(&self, path: &str, at: u32) -> bool {
        !path.starts_with("journal/") || self.vouched.contains(&(path.to_string(), at))
    }

    /// What damage to one block, which may cost so many points, came to: points lost, or which promise it broke.
    fn judge(&self, damaged: &SimMedium, place: &Place, cost: u64, way: Way) -> Result<u64, Broken> {
        let path = &place.0;
        // Before the store is opened: a start writes.
        let found = verify(damaged, path);
        let opened = Store::open(damaged.clone(), tiny(), DEVICE);
        let refused = |error: StoreError<SimError>| Broken::Violation(Violation::Refused(error.to_string()));
        let (mut store, recovery): (_, Recovery) = opened.map_err(refused)?;
        if let Some((other, fault)) = recovery.set_aside.iter().find(|(other, _)| other != path) {
            return Err(Broken::Bound(format!("{other} is healthy and was set aside: {fault}")));
        }
        let (points, bad_blocks) = read_left(&mut store, true).map_err(Broken::Violation)?;
        self.written.check(list(&points)).map_err(Broken::Violation)?;
        if let Some(((series, at), _)) = points.iter().find(|(key, _)| !self.points.contains_key(*key)) {
            return Err(Broken::Bound(format!("{series} at {at} was deleted and is back")));
        }
        let is_lost = |(key, value): &(&(String, i64), _)| points.get(*key) != Some(*value);
        let lost = self.points.iter().filter(is_lost).count() as u64;
        let allowed = cost + recovery.journal.points_nameless;
        if lost > allowed {
            return Err(Broken::Bound(format!("{lost} points lost, {allowed} allowed")));
        }
        let is_noticed = recovery.journal != crate::store::JournalDamage::default()
            || recovery.segments_damaged + recovery.headers_restored + bad_blocks > 0
            || !recovery.set_aside.is_empty();
        self.must_be_found(place, way, &found, is_noticed || lost == 0)?;
        Ok(lost)
    }

    /// The verifier finds damage, in its place; the store notices what costs something.
    fn must_be_found(
        &self,
        (path, at, bytes): &Place,
        way: Way,
        found: &[(String, Option<u32>)],
        is_noticed: bool,
    ) -> Result<(), Broken> {
        let is_here =
            |(other, block): &(String, Option<u32>)| other == path && block.is_none_or(|b| b == *at);
        let is_found = found.iter().any(is_here);
        if let Some((other, block)) = found.iter().find(|(other, _)| other != path) {
            return Err(Broken::Bound(format!(
                "the verifier finds fault with {other} {block:?}, which is healthy"
            )));
        }
        let is_written = bytes.iter().any(|byte| *byte > 0);
        let must_be = is_written && self.is_vouched(path, *at);
        // What looks like an earlier power cut is one for the verifier, where no footer says more.
        if must_be && !is_found && way == Way::Changed {
            return Err(Broken::Bound(String::from("the verifier does not find it")));
        }
        if must_be && !is_found && !is_noticed {
            return Err(Broken::Bound(String::from("points are lost, and nobody noticed")));
        }
        if is_written && !is_noticed && way == Way::Changed {
            return Err(Broken::Bound(String::from("points are lost, and the store did not notice")));
        }
        Ok(())
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
    for (path, at, bytes) in image.blocks(true) {
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

/// Flips every `stride`th bit of a block under the whole store; gives how many stores were opened, and the most
/// points that one bit cost.
pub(super) fn flip_bits(image: &Image, place: &Place, stride: usize) -> Result<(u64, u64), (String, Broken)> {
    let (path, at, bytes) = place;
    let cost = image.cost(path, bytes);
    let (mut tried, mut lost_most) = (0, 0);
    for bit in (*at as usize * 31 % stride..BLOCK_LEN * 8).step_by(stride) {
        let mut flipped = *bytes;
        flipped[bit / 8] ^= 1 << (bit % 8);
        let damaged = image.medium.after_kill();
        damaged.put(path, *at, &flipped);
        let judged = image.judge(&damaged, place, cost, Way::Changed);
        lost_most =
            judged.map_err(|broken| (format!("{path} block {at}, bit {bit}"), broken))?.max(lost_most);
        tried += 1;
    }
    Ok((tried, lost_most))
}

/// Damages each block in many ways, and puts others in its place; gives how many stores were opened.
pub(super) fn damage_everything(image: &Image) -> Result<u64, (String, Broken)> {
    let blocks = image.blocks(true);
    let mut tried = 0;
    for (nth, place) in blocks.iter().enumerate() {
        let (path, at, bytes) = place;
        let (cost, mut random) = (image.cost(path, bytes), Random::new(nth as u64));
        let mut versions: Vec<(String, Way, Block)> = Vec::new();
        for rot in Rot::ALL {
            let damaged = image.medium.after_kill();
            damaged.spoil(path, *at, rot, &mut random);
            versions.push((format!("{rot:?}"), Way::Changed, damaged.raw(path, *at).expect("there")));
        }
        for other in [nth + 1, nth + 7, nth + blocks.len() / 2] {
            let (from, from_at, other) = &blocks[other % blocks.len()];
            if (from, from_at) != (path, at) {
                let what = format!("block {from_at} of {from} in its place");
                versions.push((what, Way::Changed, *other));
            }
        }
        let before = image.medium.raw_before(path, *at);
        versions.extend(before.map(|before| (String::from("an older version"), Way::Earlier, before)));
        versions.push((String::from("never written"), Way::Earlier, [0; BLOCK_LEN]));
        for (what, way, version) in versions.into_iter().filter(|(.., version)| version != bytes) {
            let damaged = image.medium.after_kill();
            damaged.put(path, *at, &version);
            let judged = image.judge(&damaged, place, cost, way);
            judged.map_err(|broken| (format!("{path} block {at}, {what}"), broken))?;
            tried += 1;
        }
    }
    Ok(tried)
}

#[test]
fn the_image_is_whole_and_has_every_kind_of_file() {
    let image = Image::new();
    for (path, _) in image.medium.files() {
        assert_eq!(verify(&image.medium, &path), [], "{path}");
    }
    let kinds: BTreeSet<BlockKind> =
        image.blocks(true).iter().map(|(.., bytes)| peek(bytes).expect("a block").0.kind).collect();
    // Inner nodes and reference logs need more points; flipped bits in them are tests of `segment::check`.
    assert!(kinds.len() >= 7 && kinds.contains(&BlockKind::Tail), "{kinds:?}");
    let (store, _) = Store::open(image.medium.after_kill(), tiny(), DEVICE).expect("open");
    let of_kind = |kind| store.segments().iter().filter(|file| file.header.kind == kind).count();
    let all = [SegmentKind::InOrder, SegmentKind::Late, SegmentKind::Tombstones];
    assert!(all.into_iter().all(|kind| of_kind(kind) > 0));
    let journal = image.blocks(true).into_iter().filter(|(path, ..)| path.starts_with("journal/"));
    let (vouched, others): (Vec<_>, Vec<_>) =
        journal.partition(|(path, at, _)| image.vouched.contains(&(path.clone(), *at)));
    eprintln!("{} blocks of the journal are vouched for, {} are not", vouched.len(), others.len());
    assert!(vouched.len() > others.len() && vouched.len() > 8);
}

#[test]
fn every_flipped_bit_is_noticed() {
    assert!(every_bit(&Image::new(), 67) > 10_000);
}

/// A sample here; every bit in the soak.
#[test]
fn a_flipped_bit_of_a_store_is_found_and_costs_no_more_than_its_block() {
    let image = Image::new();
    let (mut tried, mut lost_most) = (0, 0);
    for (are_written, stride) in [(true, 1_021), (false, 16_381)] {
        for place in image.blocks(are_written) {
            let (more, lost) =
                flip_bits(&image, &place, stride).unwrap_or_else(|(what, broken)| panic!("{what}: {broken}"));
            (tried, lost_most) = (tried + more, lost_most.max(lost));
        }
    }
    eprintln!("{tried} flipped bits, at most {lost_most} of {} points lost", image.points.len());
    assert!(tried > 1_000 && lost_most > 0 && lost_most < image.points.len() as u64 / 2);
}

#[test]
fn a_block_in_another_place_is_noticed() {
    let image = Image::new();
    let blocks = image.blocks(true);
    for (path, at, _) in &blocks {
        let strangers = blocks.iter().filter(|(from, from_at, _)| (from, from_at) != (path, at));
        for (from, from_at, bytes) in strangers {
            assert!(!is_valid(&image, path, *at, bytes), "{from} {from_at} in place of {path} {at}");
        }
    }
}

#[test]
fn damage_costs_the_points_of_its_block_and_no_others() {
    let tried = damage_everything(&Image::new()).unwrap_or_else(|(what, broken)| panic!("{what}: {broken}"));
    eprintln!("{tried} damaged stores");
    assert!(tried > 300);
}

#[test]
fn a_bad_block_is_damage_and_costs_no_more() {
    let image = Image::new();
    for place in image.blocks(true) {
        let (path, at, bytes) = &place;
        let damaged = image.medium.after_kill();
        damaged.inject(Fault::BadBlock { path: path.clone(), block: *at });
        // Reads that fail are no business of the verifier's here: it takes the blocks as they lie.
        let (store, recovery) = Store::open(damaged.clone(), tiny(), DEVICE).expect("open");
        assert!(recovery.set_aside.iter().all(|(other, _)| other == path), "{path} block {at}");
        let mut store = store;
        let (points, _) = read_left(&mut store, true).unwrap_or_else(|v| panic!("{path} block {at}: {v:?}"));
        assert_eq!(image.written.check(list(&points)), Ok(()), "{path} block {at}");
        let lost = image.points.iter().filter(|(key, value)| points.get(*key) != Some(*value)).count() as u64;
        let allowed = image.cost(path, bytes) + recovery.journal.points_nameless;
        assert!(lost <= allowed, "{path} block {at} is bad: {lost} points lost, {allowed} allowed");
    }
}

/// The control: with rotten blocks taken for good the store says what was never written.
#[test]
fn without_checksums_rotten_blocks_are_taken_for_good() {
    let image = Image::new();
    image.medium.control(Control::NoCrc(DEVICE));
    let is_wrong =
        |broken: &Broken| matches!(broken, Broken::Violation(Violation::Wrong(..) | Violation::Invented(..)));
    let mut others = Vec::new();
    for place in image.blocks(true) {
        let Err((what, broken)) = flip_bits(&image, &place, 509) else { continue };
        if is_wrong(&broken) {
            eprintln!("{what}: {broken}; {} other promises broken before it", others.len());
            return;
        }
        others.push((what, broken));
    }
    panic!("nothing wrong is said without checksums: {others:?}");
}
