//! A copy of a damaged segment is whole, holds everything that was not damaged, and says what is missing.

use super::{Salvage, SalvageReport, SalvageStep};
use crate::block::{BLOCK_LEN, BlockKind, SegmentId};
use crate::segment::check::tests::check;
use crate::segment::tests::harness::{DEVICE, Dice, Row, header, name, read_sealed, signal, store};
use crate::segment::{SegmentError, Writer};

fn salvage(file: &[u8]) -> Result<(Vec<u8>, SalvageReport), SegmentError> {
    let id = SegmentId { device: DEVICE, epoch: 1, number: 1 };
    let mut salvage = Salvage::new((file.len() / BLOCK_LEN) as u32, Some(id));
    let mut copy = Vec::new();
    loop {
        match salvage.step() {
            SalvageStep::Need(range) => {
                let bytes = range.start as usize * BLOCK_LEN..range.end as usize * BLOCK_LEN;
                salvage.feed(range.start, &file[bytes]);
            }
            SalvageStep::Write(blocks) => {
                for block in blocks {
                    assert_eq!(copy.len(), block.number as usize * BLOCK_LEN);
                    copy.extend_from_slice(&block.bytes[..]);
                }
            }
            SalvageStep::Done => return Ok((copy, salvage.report().clone())),
            SalvageStep::Failed(error) => return Err(error),
        }
    }
}

fn segment(is_sealed: bool) -> Vec<u8> {
    let (mut file, mut writer, mut dice) = (Vec::new(), Writer::new(header(1), 1), Dice(3));
    for s in 0..7 {
        for (at, value) in signal(s, 2_500, &mut dice) {
            let index = writer.define(&name(s), value.kind(), "°C");
            writer.append(index, &value.point(at), 0).expect("in order");
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

fn rows(file: &[u8]) -> Vec<(String, Vec<Row>)> {
    read_sealed(file).expect("readable")
}

#[test]
fn a_copy_of_a_whole_or_unsealed_segment_holds_all_of_it() {
    let wanted = rows(&segment(true));
    for is_sealed in [true, false] {
        let (copy, report) = salvage(&segment(is_sealed)).expect("a copy");
        assert_eq!(check(&copy).0, []);
        assert_eq!(rows(&copy), wanted);
        assert_eq!((report.rows, report.series, report.blocks_lost), (7 * 2_500, 7, 0));
        assert_eq!((report.losses, report.names_lost), (vec![], 0));
    }
}

#[test]
fn a_damaged_block_costs_what_it_holds_and_the_report_says_so() {
    for is_sealed in [true, false] {
        let file = segment(is_sealed);
        let all: u64 = 7 * 2_500;
        for block in 0..file.len() / BLOCK_LEN {
            let mut damaged = file.clone();
            damaged[block * BLOCK_LEN + 60] ^= 1;
            let (copy, report) = salvage(&damaged).expect("a copy");
            assert_eq!(check(&copy).0, [], "block {block}");
            let lost: u64 = report.losses.iter().map(|loss| loss.rows).sum();
            let is_leaf = file[block * BLOCK_LEN] == BlockKind::Leaf as u8;
            assert_eq!(report.rows < all, is_leaf, "block {block}: {report:?}");
            if is_sealed {
                assert_eq!(report.rows + lost, all, "block {block}: {report:?}");
            }
            // An unsealed segment has its names in one place only.
            let is_names = file[block * BLOCK_LEN] == BlockKind::Definitions as u8;
            assert_eq!(report.names_lost > 0, is_names && !is_sealed, "block {block}: {report:?}");
        }
    }
}

#[test]
fn whatever_is_left_of_a_cut_file_is_kept() {
    let file = segment(true);
    let wanted = rows(&file);
    for blocks in 1..file.len() / BLOCK_LEN {
        let (copy, report) = salvage(&file[..blocks * BLOCK_LEN]).expect("a copy");
        assert_eq!(check(&copy).0, [], "{blocks} blocks");
        for (name, kept) in rows(&copy) {
            let (_, all) = wanted.iter().find(|(known, _)| *known == name).expect("a known name");
            assert_eq!(kept, all[..kept.len()], "{blocks} blocks");
        }
        assert!(report.rows <= 7 * 2_500);
    }
    assert_eq!(salvage(&[]).map(drop), Err(SegmentError::Truncated));
}

#[test]
fn all_headers_may_be_lost_where_the_name_of_the_file_says_whose_it_is() {
    let mut file = segment(true);
    let last = file.len() - BLOCK_LEN;
    file[..BLOCK_LEN].fill(0x55);
    file[last..].fill(0xAA);
    let (copy, report) = salvage(&file).expect("a copy");
    assert_eq!((check(&copy).0, report.is_header_lost, report.names_lost), (vec![], false, 0));
    file[BLOCK_LEN..2 * BLOCK_LEN].fill(0x77);
    let (copy, report) = salvage(&file).expect("a copy");
    assert!(report.is_header_lost && report.names_lost > 0);
    assert_eq!((check(&copy).0, report.rows), (vec![], 7 * 2_500));
}
