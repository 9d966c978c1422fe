//! Damage: every flipped byte of a small segment is noticed, every truncation opens or says why not.

use super::harness::{Dice, header, name, open_sealed, read_sealed, scan, signal, store};
use crate::block::{BLOCK_LEN, BlockError};
use crate::segment::{BlockMap, SegmentError, Writer};

fn small() -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(header(1), 1);
    let mut dice = Dice(9);
    for s in 0..3 {
        for (at, value) in signal(s, 700, &mut dice) {
            let index = writer.define(&name(s), value.kind(), "");
            writer.append(index, &value.point(at), 0).expect("in order");
        }
    }
    writer.seal().expect("sealed");
    store(&mut writer, &mut file);
    file
}

/// Every block of the file, held against its place.
fn verify(file: &[u8]) -> Result<(), SegmentError> {
    let sealed = open_sealed(file, &mut BlockMap::new())?;
    if let Some(fault) = sealed.header_fault() {
        return Err(fault);
    }
    for (number, block) in (0..).zip(file.chunks(BLOCK_LEN)) {
        crate::block::open(block, &sealed.header().id, number)
            .map_err(|error| SegmentError::Block { block: number, error })?;
    }
    read_sealed(file).map(drop)
}

#[test]
fn every_flipped_byte_is_noticed() {
    let file = small();
    verify(&file).expect("whole");
    let mut dice = Dice(3);
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 1 << dice.below(8);
        let found = verify(&damaged);
        assert!(found.is_err(), "byte {at} of block {}", at / BLOCK_LEN);
    }
}

#[test]
fn every_truncation_opens_or_says_why_not() {
    let file = small();
    for len in (0..file.len()).step_by(61).chain((0..file.len()).step_by(BLOCK_LEN)) {
        let cut = &file[..len];
        match open_sealed(cut, &mut BlockMap::new()) {
            Ok(_) => panic!("cut to {len} bytes and taken for whole"),
            Err(SegmentError::NotASegment) => assert!(len < 40),
            Err(SegmentError::Truncated) => assert!(len < BLOCK_LEN),
            Err(SegmentError::Unsealed) => {
                let scanned = scan(cut, false).expect("block 0 is whole");
                assert!(scanned.end_block as usize <= len / BLOCK_LEN + 1);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_bad_header_block_is_replaced_by_the_footers_copy() {
    let file = small();
    let whole = read_sealed(&file).expect("valid");
    let mut damaged = file.clone();
    damaged[..BLOCK_LEN].fill(0xA5);
    assert_eq!(read_sealed(&damaged).expect("by the copy"), whole);
    let sealed = open_sealed(&damaged, &mut BlockMap::new()).expect("by the copy");
    assert_eq!(sealed.header_fault(), Some(SegmentError::NotASegment));
}

#[test]
fn a_bad_tail_leaves_the_leaves_to_a_scan() {
    let file = small();
    let mut damaged = file.clone();
    let last = file.len() - BLOCK_LEN;
    damaged[last + 50] ^= 1;
    let bad = SegmentError::Block { block: (last / BLOCK_LEN) as u32, error: BlockError::Checksum };
    assert_eq!(open_sealed(&damaged, &mut BlockMap::new()).map(drop), Err(bad));
    let mut writer = Writer::resume(scan(&damaged, false).expect("scanned"), 2).expect("consistent");
    let rows: u64 = (0..3)
        .flat_map(|s| writer.look(crate::series::SeriesIndex(s), &mut crate::segment::View::new()))
        .map(|root| root.summary.rows())
        .sum();
    assert_eq!(rows, 2_100);
}

#[test]
fn a_damaged_block_costs_a_lenient_scan_only_itself() {
    let mut file = Vec::new();
    let mut writer = Writer::new(header(1), 1);
    let index = writer.define(&name(1), crate::point::ValueKind::Float, "");
    for (at, value) in signal(1, 20_000, &mut Dice(4)) {
        writer.append(index, &value.point(at), 0).expect("in order");
    }
    writer.flush();
    store(&mut writer, &mut file);
    let whole = scan(&file, true).expect("valid");
    file[5 * BLOCK_LEN + 77] ^= 1;
    let strict = scan(&file, true).expect("valid");
    let lenient = scan(&file, false).expect("valid");
    assert_eq!(strict.end_block, 5);
    assert_eq!(lenient.references.len(), whole.references.len() - 1);
    assert_eq!(lenient.faults, [SegmentError::Block { block: 5, error: BlockError::Checksum }]);
}
