//! The verifier against whole segments of every kind, every flipped bit, and faults whose checksum is right.

use super::{Check, CheckReport, CheckStep, Fault, What};
use crate::block::{BLOCK_LEN, Block, BlockKind, HEADER_LEN, PAYLOAD_MAX, peek, seal};
use crate::segment::Writer;
use crate::segment::tests::harness::{DEVICE, Dice, header, name, signal, store};
use crate::tree::node;

/// All faults of a file, and what was seen.
pub(in crate::segment) fn check(file: &[u8]) -> (Vec<Fault>, CheckReport) {
    check_without(file, &[])
}

/// The same with blocks that the medium does not give.
fn check_without(file: &[u8], unreadable: &[u32]) -> (Vec<Fault>, CheckReport) {
    let count = (file.len() / BLOCK_LEN) as u32;
    let mut check = Check::new(count, (file.len() % BLOCK_LEN) as u32);
    let (mut faults, mut reads) = (Vec::new(), 0u64);
    loop {
        match check.step() {
            CheckStep::Done => return (faults, check.report()),
            CheckStep::Fault(fault) => faults.push(fault),
            CheckStep::Need(range) => {
                assert!(range.start < range.end && range.end <= count, "{range:?} of {count}");
                reads += u64::from(range.end - range.start);
                assert!(reads < 1_000 + 40 * u64::from(count), "reads without end");
                for block in range {
                    let bytes = &file[block as usize * BLOCK_LEN..][..BLOCK_LEN];
                    if unreadable.contains(&block) {
                        check.feed_unreadable(block);
                    } else {
                        check.feed(block, bytes);
                    }
                }
            }
        }
    }
}

fn segment(series: usize, rows: usize, is_sealed: bool) -> Vec<u8> {
    segment_in_pieces(series, rows, 500, is_sealed)
}

/// The same, flushed every `piece` rows of a series.
fn segment_in_pieces(series: usize, rows: usize, piece: usize, is_sealed: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(header(1), 1);
    let mut dice = Dice(9);
    for s in 0..series {
        let mut points = signal(s, rows, &mut dice);
        // Not every series is in every part of the file.
        points.truncate(rows - rows * (s % 3) / 5);
        for (i, (at, value)) in points.into_iter().enumerate() {
            let index = writer.define(&name(s), value.kind(), if s % 2 == 0 { "°C" } else { "" });
            writer.append(index, &value.point(at), 0).expect("in order");
            if i % piece == piece - 1 {
                writer.flush();
            }
        }
    }
    if is_sealed {
        writer.seal().expect("sealed");
    } else {
        writer.flush();
    }
    store(&mut writer, &mut file);
    file
}

#[test]
fn whole_segments_have_no_fault() {
    for (series, rows) in [(1, 0), (1, 1), (7, 700), (14, 9_000), (400, 30), (1, 400_000)] {
        for is_sealed in [true, false] {
            let file = segment(series, rows, is_sealed);
            let (faults, report) = check(&file);
            assert_eq!(faults, [], "{series} series of {rows} rows, sealed: {is_sealed}");
            assert_eq!((report.is_sealed, report.blocks), (is_sealed, (file.len() / BLOCK_LEN) as u64));
            let wanted: usize = (0..series).map(|s| rows - rows * (s % 3) / 5).sum();
            assert_eq!(report.rows, wanted as u64);
        }
    }
}

#[test]
fn many_chunks_are_compared_window_by_window() {
    // More chunks than are kept at a time: rows that are flushed one by one.
    let (mut file, mut writer) = (Vec::new(), Writer::new(header(1), 1));
    let series: Vec<_> =
        (0..300).map(|s| writer.define(&name(s), crate::point::ValueKind::Float, "")).collect();
    for round in 0..(super::CHUNKS_MAX as i64 / 300 * 2 + 7) {
        for (s, index) in series.iter().enumerate() {
            let value = crate::point::Value::Float((round * 7 % 5 + s as i64) as f64);
            let timestamp = crate::point::Timestamp(round * 1_000_000_000);
            writer.append(*index, &crate::point::Point { timestamp, value }, 0).expect("in order");
        }
        writer.flush();
    }
    writer.seal().expect("sealed");
    store(&mut writer, &mut file);
    let (faults, report) = check(&file);
    assert_eq!(faults, []);
    assert!(report.chunks > 2 * super::CHUNKS_MAX as u64);
}

#[test]
fn every_flipped_bit_is_a_fault_of_its_block() {
    for is_sealed in [true, false] {
        let file = segment(3, 400, is_sealed);
        let mut dice = Dice(5);
        for at in (0..file.len()).step_by(5) {
            flip(&file, at, dice.below(8) as u8);
        }
    }
}

#[test]
#[ignore = "minutes: every bit, one by one"]
fn every_single_bit_is_a_fault_of_its_block() {
    let mut flips = 0;
    for is_sealed in [true, false] {
        let file = segment(3, 150, is_sealed);
        for at in 0..file.len() {
            (0..8).for_each(|bit| flip(&file, at, bit));
            flips += 8;
        }
    }
    println!("{flips} single bits flipped, each found in its block and in no other");
}

fn flip(file: &[u8], at: usize, bit: u8) {
    let mut damaged = file.to_vec();
    damaged[at] ^= 1 << bit;
    let (faults, _) = check(&damaged);
    let block = (at / BLOCK_LEN) as u32;
    assert!(!faults.is_empty(), "byte {at}, bit {bit}");
    let elsewhere = faults.iter().find(|fault| fault.block.is_some_and(|found| found != block));
    assert_eq!(elsewhere, None, "byte {at}, bit {bit}: a healthy block is accused");
}

#[test]
fn unreadable_stale_and_misplaced_blocks_are_named() {
    let file = segment(3, 5_000, true);
    let count = (file.len() / BLOCK_LEN) as u32;
    let (faults, _) = check_without(&file, &[4]);
    assert_eq!(faults, [Fault { block: Some(4), what: What::Unreadable }]);
    for block in 1..count {
        let (faults, _) = check_without(&file, &[block]);
        assert!(faults.contains(&Fault { block: Some(block), what: What::Unreadable }), "{block}");
        let mut swapped = file.clone();
        let other = if block + 1 < count { block + 1 } else { 1 };
        let from = other as usize * BLOCK_LEN..(other as usize + 1) * BLOCK_LEN;
        swapped.copy_within(from, block as usize * BLOCK_LEN);
        assert_ne!(check(&swapped).0, [], "another block in place of {block}");
    }
    let mut stale = file.clone();
    reseal(&mut stale, 5, |_, header| header.write_epoch = 0);
    assert!(check(&stale).0.contains(&Fault { block: Some(5), what: What::Stale }));
    let mut hole = segment(3, 5_000, false);
    hole[3 * BLOCK_LEN..4 * BLOCK_LEN].fill(0);
    assert!(check(&hole).0.contains(&Fault { block: Some(3), what: What::Hole }));
    assert_eq!(check(&file[..file.len() - 5]).0[0].what, What::Cut);
}

/// Changes a block and gives it a right checksum.
fn reseal(file: &mut [u8], number: u32, change: impl FnOnce(&mut Block, &mut crate::block::BlockHeader)) {
    let at = number as usize * BLOCK_LEN;
    let mut block: Block = *file[at..].first_chunk().expect("whole");
    let (mut header, _) = peek(&block).expect("a block");
    change(&mut block, &mut header);
    seal(&mut block, &header, &DEVICE);
    file[at..at + BLOCK_LEN].copy_from_slice(&block);
}

fn first_of(file: &[u8], kind: BlockKind) -> u32 {
    (0..).zip(file.chunks(BLOCK_LEN)).find(|(_, b)| b[0] == kind as u8).expect("one").0
}

#[test]
fn tombstones_and_merged_segments_are_whole() {
    use crate::segment::{SegmentKind, SegmentNumber, Supersedes};
    let mut file = Vec::new();
    let mut writer =
        Writer::new(crate::segment::SegmentHeader { kind: SegmentKind::Tombstones, ..header(1) }, 1);
    for s in 0..40 {
        writer.define(&name(s), crate::point::ValueKind::Float, "");
    }
    writer.seal().expect("sealed");
    store(&mut writer, &mut file);
    assert_eq!(check(&file).0, []);

    let (mut file, mut writer) = (Vec::new(), Writer::new(header(1), 1));
    let inputs = (0..700).map(|number| SegmentNumber { epoch: 1, number }).collect();
    writer.supersede(Supersedes { inputs, applied: Vec::new() });
    let index = writer.define(&name(0), crate::point::ValueKind::Float, "");
    writer.append(index, &signal(0, 1, &mut Dice(1))[0].1.point(5), 0).expect("in order");
    writer.seal().expect("sealed");
    store(&mut writer, &mut file);
    assert_eq!(check(&file).0, []);
    // A count beyond the list.
    let tail = file.windows(4).rposition(|w| w == 700u32.to_le_bytes()).expect("the list");
    reseal(&mut file, (tail / BLOCK_LEN) as u32, |block, _| block[tail % BLOCK_LEN + 1] ^= 8);
    assert!(check(&file).0.iter().any(|fault| matches!(fault.what, What::Segment(_))));
}

#[test]
fn a_head_that_is_not_where_rows_end_is_found() {
    use crate::segment::{Carried, SectionKind};
    let (mut file, mut writer) = (Vec::new(), Writer::new(header(1), 1));
    for s in 0..3 {
        let index = writer.define(&name(s), crate::point::ValueKind::Float, "");
        writer.append(index, &signal(0, 1, &mut Dice(1))[0].1.point(5 + s as i64), 0).expect("in order");
    }
    writer.carry(Carried::default());
    writer.seal().expect("sealed");
    store(&mut writer, &mut file);
    assert_eq!(check(&file).0, []);
    let last = (file.len() / BLOCK_LEN) as u32 - 1;
    let mut at_hand = crate::segment::BlockMap::new();
    let sealed = crate::segment::tests::harness::open_sealed(&file, &mut at_hand).expect("a segment");
    let section = sealed.footer().sections.iter().find(|section| section.kind == SectionKind::Heads as u16);
    let begin = HEADER_LEN + section.expect("a section").begin as usize;
    // Three numbers and how many segments are listed; then the first end, the unit, and the steps.
    for at in [13, 15, 16, 17] {
        let mut damaged = file.clone();
        reseal(&mut damaged, last, |block, _| block[begin + at] ^= 4);
        let faults = check(&damaged).0;
        assert!(faults.iter().any(|f| matches!(f.what, What::Series { .. })), "{at}: {faults:?}");
    }
    // One end less than there are names.
    let mut damaged = file.clone();
    reseal(&mut damaged, last, |block, _| {
        block[begin] = 2;
        block[begin + 8] -= 1;
        let section = begin + 12..begin + 18;
        block.copy_within(section.start..section.end - 1, section.start + 1);
        block.copy_within(begin..begin + 12, begin + 1);
    });
    assert_ne!(check(&damaged).0, []);
}

#[test]
fn a_wrong_summary_with_a_right_checksum_is_found() {
    let file = segment(2, 120_000, true);
    let nodes = || (0..).zip(file.chunks(BLOCK_LEN)).filter(|(_, b)| b[0] == BlockKind::Node as u8);
    // The level stands behind the series.
    let of_level = |level| nodes().find(|(_, b)| b[HEADER_LEN + 4] == level).expect("a node").0;
    for (of_leaf, level) in [(true, 0), (false, 1)] {
        let mut damaged = file.clone();
        let number = of_level(level + 1);
        reseal(&mut damaged, number, |block, header| {
            let payload = &block[HEADER_LEN..HEADER_LEN + usize::from(header.payload_len)];
            let mut node = node::decode(payload, 0).expect("a node");
            assert_eq!(node.level, if of_leaf { 1 } else { 2 });
            if let Some(numbers) = &mut node.references[0].summary.numbers {
                numbers.max_at += 1_000_000_000;
            }
            block[HEADER_LEN..].fill(0);
            header.payload_len =
                node::encode(&node.references, node.series, node.level, block).expect("fits");
        });
        let (faults, _) = check(&damaged);
        let is_it =
            |fault: &Fault| matches!(fault.what, What::Summary { level: found, .. } if found == level);
        assert!(faults.iter().any(is_it), "{level}: {faults:?}");
    }
}

#[test]
fn nodes_that_begin_elsewhere_than_is_named_are_found() {
    let file = segment_in_pieces(5, 3_000, 100, true);
    let number = first_of(&file, BlockKind::Node);
    let mut damaged = file.clone();
    reseal(&mut damaged, number, |block, header| {
        let end = HEADER_LEN + usize::from(header.payload_len);
        let slots: Vec<usize> = node::all(&block[HEADER_LEN..end])
            .map(|node| HEADER_LEN + usize::from(node.expect("a node").0))
            .collect();
        assert!(slots.len() > 1, "small nodes share a block");
        // The second in front.
        block[HEADER_LEN..end].rotate_left(slots[1] - HEADER_LEN);
    });
    let (faults, _) = check(&damaged);
    let is_it = |fault: &Fault| matches!(fault.what, What::Series { what, .. } if what.contains("node"));
    assert!(faults.iter().any(is_it), "{faults:?}");
}

#[test]
fn contradictions_with_right_checksums_are_found() {
    // With nodes over the chunks of each series, and with chunks that the roots name themselves: of those the last
    // digits of rounded integrals may differ, and they are a quarter of that tail.
    for (piece, tenths) in [(100, 8), (500, 7)] {
        find_contradictions(&segment_in_pieces(5, 3_000, piece, true), tenths);
    }
}

/// At least so many tenths of the bytes of a tail matter.
fn find_contradictions(file: &[u8], tenths: usize) {
    let last = (file.len() / BLOCK_LEN) as u32 - 1;
    let altered = |number: u32, at: usize, with: u8| {
        let mut damaged = file.to_vec();
        reseal(&mut damaged, number, |block, _| block[at] ^= with);
        check(&damaged).0
    };
    // The unit of the first definition: the catalog has another one.
    let definitions = first_of(file, BlockKind::Definitions);
    let text = &file[definitions as usize * BLOCK_LEN..][..BLOCK_LEN];
    let unit = text.windows(3).position(|w| w == "°C".as_bytes()).expect("a unit");
    let faults = altered(definitions, unit + 2, 1);
    assert!(faults.iter().any(|f| matches!(f.what, What::Series { .. })), "{faults:?}");
    // Rows in the footer.
    let payload_len = {
        let (header, _) = peek(&file[last as usize * BLOCK_LEN..]).expect("tail");
        usize::from(header.payload_len)
    };
    let footer = &file[last as usize * BLOCK_LEN + HEADER_LEN..][..payload_len];
    let len = u32::from_le_bytes(*footer[..payload_len - 8].last_chunk().expect("length")) as usize;
    let rows_at = HEADER_LEN + payload_len - len + 107 + 16;
    let faults = altered(last, rows_at, 1);
    assert!(faults.iter().any(|f| matches!(f.what, What::Count { .. })), "{faults:?}");
    // Anything else in the tail that decodes to something: it may say the same, or it is a fault.
    let mut found = 0;
    for at in (HEADER_LEN..HEADER_LEN + payload_len).step_by(3) {
        found += usize::from(!altered(last, at, 1 << (at % 8)).is_empty());
    }
    assert!(found * 10 > payload_len / 3 * tenths, "{found} of {}", payload_len / 3);
}

#[test]
fn hostile_blocks_with_right_checksums_end_the_check() {
    let file = segment(3, 2_000, true);
    let count = (file.len() / BLOCK_LEN) as u64;
    let mut dice = Dice(77);
    for _ in 0..3_000 {
        let mut damaged = file.clone();
        for _ in 0..=dice.below(3) {
            let number = dice.below(count) as u32;
            reseal(&mut damaged, number, |block, header| {
                for _ in 0..=dice.below(6) {
                    let at = HEADER_LEN + dice.below(PAYLOAD_MAX as u64) as usize;
                    block[at] = dice.next() as u8;
                }
                if dice.below(9) == 0 {
                    header.payload_len = dice.below(PAYLOAD_MAX as u64 + 1) as u16;
                }
            });
        }
        check(&damaged);
    }
}
