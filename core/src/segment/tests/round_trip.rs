//! What was appended comes back: sealed, unsealed, while open, and after going on where a scan ended.

use super::harness::{Dice, Row, header, name, read_sealed, row, scan, signal, store, walk};
use crate::block::BLOCK_LEN;
use crate::point::TimeRange;
use crate::segment::{
    Answer, AppendError, Appended, BlockMap, Blocks, Sealed, SegmentHeader, Suggest, View, Writer,
};
use crate::series::{NoRegex, Selector, SeriesIndex};
use std::collections::BTreeMap;

type Oracle = BTreeMap<String, BTreeMap<i64, String>>;

fn rows_of(oracle: &Oracle) -> Vec<(String, Vec<Row>)> {
    oracle
        .iter()
        .map(|(name, rows)| (name.clone(), rows.iter().map(|(at, text)| (*at, text.clone())).collect()))
        .collect()
}

/// Appends `count` points to each of `series` series, round robin, some of them a little out of order.
fn fill(
    writer: &mut Writer,
    oracle: &mut Oracle,
    series: usize,
    count: usize,
    seed: u64,
    file: &mut Vec<u8>,
) {
    let mut dice = Dice(seed);
    let mut signals: Vec<_> = (0..series).map(|s| signal(s, count, &mut dice)).collect();
    for points in &mut signals {
        for at in (1..points.len()).step_by(17) {
            points.swap(at - 1, at);
        }
    }
    for turn in 0..count {
        for (s, points) in signals.iter().enumerate() {
            let (at, value) = points[turn];
            let index = writer.define(&name(s), value.kind(), "unit");
            let point = value.point(at);
            match writer.append(index, &point, turn as u64) {
                Ok(_) => {
                    let (at, text) = row(&point);
                    oracle.entry(name(s).as_str().to_string()).or_default().insert(at, text);
                }
                Err(AppendError::Late) => {}
                Err(error) => panic!("{error}"),
            }
        }
        store(writer, file);
    }
}

#[test]
fn a_sealed_segment_holds_what_was_appended() {
    for (series, count) in [(1, 1), (7, 40), (3, 9_000), (120, 70)] {
        let (mut file, mut oracle) = (Vec::new(), Oracle::new());
        let mut writer = Writer::new(header(1), 1);
        fill(&mut writer, &mut oracle, series, count, 42, &mut file);
        writer.seal().expect("sealed");
        store(&mut writer, &mut file);
        assert_eq!(read_sealed(&file).expect("valid"), rows_of(&oracle), "{series} series of {count}");
        assert_eq!(
            writer.append(SeriesIndex(0), &super::harness::Owned::Gap.point(i64::MAX - 1), 0),
            Err(AppendError::Sealed)
        );
    }
}

#[test]
fn series_of_a_few_chunks_have_no_node() {
    let (mut file, mut oracle) = (Vec::new(), Oracle::new());
    let mut writer = Writer::new(header(1), 1);
    for (part, begin) in [0i64, 1_000_000, 2_000_000].into_iter().enumerate() {
        for s in 0..300 {
            let index = writer.define(&name(s), crate::point::ValueKind::Float, "");
            for at in begin..begin + 20 {
                let point = super::harness::Owned::Float(part as f64).point(at);
                writer.append(index, &point, 0).expect("in order");
                let (at, text) = row(&point);
                oracle.entry(name(s).as_str().to_string()).or_default().insert(at, text);
            }
        }
        // As a checkpoint does.
        writer.flush();
    }
    writer.seal().expect("sealed");
    store(&mut writer, &mut file);
    assert_eq!(read_sealed(&file).expect("valid"), rows_of(&oracle));
    let bytes = file.len() as f64 / (300.0 * 60.0);
    assert!(bytes < 10.0, "{bytes} bytes a point, names counted");
}

#[test]
fn series_of_one_node_each_share_blocks() {
    let (mut file, mut oracle) = (Vec::new(), Oracle::new());
    let mut writer = Writer::new(header(1), 1);
    let mut dice = Dice(11);
    // Of every tenth series there are enough chunks for several nodes.
    for part in 0..200 {
        for s in (0..50).filter(|s| part < 25 || s % 10 == 0) {
            let index = writer.define(&name(s), crate::point::ValueKind::Float, "");
            for at in 100 * part..100 * part + 9 {
                let point = super::harness::Owned::Float(dice.below(1 << 40) as f64 / 7.0).point(at);
                writer.append(index, &point, 0).expect("in order");
                let (at, text) = row(&point);
                oracle.entry(name(s).as_str().to_string()).or_default().insert(at, text);
            }
        }
        writer.flush();
    }
    writer.seal().expect("sealed");
    store(&mut writer, &mut file);
    assert_eq!(read_sealed(&file).expect("valid"), rows_of(&oracle));
    let kind = |block: &&[u8]| block[0] == crate::block::BlockKind::Node as u8;
    let blocks = file.chunks(BLOCK_LEN).filter(kind).count();
    // Five series with nodes of their own, at least three, and 45 that would take a block each.
    assert!((5 * 3..5 * 5 + 45 / 2).contains(&blocks), "{blocks} blocks of nodes");
}

#[test]
fn an_empty_segment_can_be_sealed_and_opened() {
    let mut file = Vec::new();
    let mut writer = Writer::new(header(1), 1);
    writer.seal().expect("sealed");
    store(&mut writer, &mut file);
    assert_eq!(read_sealed(&file).expect("valid"), Vec::new());
}

#[test]
fn a_view_of_an_open_segment_holds_everything_and_changes_nothing() {
    let (mut file, mut oracle) = (Vec::new(), Oracle::new());
    let mut writer = Writer::new(header(1), 1);
    for seed in 1..4 {
        fill(&mut writer, &mut oracle, 7, 900 * seed as usize, seed, &mut file);
        let mut seen = Vec::new();
        let mut view = View::new();
        let looks: Vec<_> =
            (0..writer.series_count()).map(|index| writer.look(SeriesIndex(index), &mut view)).collect();
        writer.end_view(&mut view);
        let blocks = Both { view: &view, file: &file };
        for (index, references) in looks.iter().enumerate() {
            let rows =
                references.iter().map(|reference| walk(&blocks, &header(1), reference).expect("valid"));
            seen.push((name(index).as_str().to_string(), rows.flatten().collect::<Vec<_>>()));
        }
        assert_eq!(seen, rows_of(&oracle));
    }
}

struct Both<'a> {
    view: &'a View,
    file: &'a [u8],
}

impl Blocks for Both<'_> {
    fn block(&self, number: u32) -> Option<&[u8; BLOCK_LEN]> {
        let at = number as usize * BLOCK_LEN;
        self.view.block(number).or_else(|| self.file.get(at..)?.first_chunk())
    }
}

#[test]
fn a_flushed_segment_is_scanned_and_continued() {
    let (mut file, mut oracle) = (Vec::new(), Oracle::new());
    let mut writer = Writer::new(header(1), 1);
    for epoch in 2..6 {
        fill(&mut writer, &mut oracle, 7, 1_500, u64::from(epoch), &mut file);
        writer.flush();
        store(&mut writer, &mut file);
        // Preallocated space behind the last block.
        let mut on_device = file.clone();
        on_device.resize(file.len() + 10 * BLOCK_LEN, 0);
        let scanned = scan(&on_device, true).expect("valid");
        assert_eq!(scanned.end_block as usize * BLOCK_LEN, file.len());
        assert!(scanned.faults.is_empty());
        writer = Writer::resume(scanned, epoch).expect("consistent");
    }
    writer.seal().expect("sealed");
    store(&mut writer, &mut file);
    assert_eq!(read_sealed(&file).expect("valid"), rows_of(&oracle));
}

#[test]
fn logs_spare_decoding_and_tell_the_same() {
    let (mut file, mut oracle) = (Vec::new(), Oracle::new());
    let mut writer = Writer::new(header(1), 1);
    // Noise fills leaves fast, so that logs are written.
    let mut dice = Dice(5);
    let index = writer.define(&name(1), crate::point::ValueKind::Float, "");
    for (at, value) in signal(1, 200_000, &mut dice) {
        let point = value.point(at);
        writer.append(index, &point, 0).expect("in order");
        let (at, text) = row(&point);
        oracle.entry(name(1).as_str().to_string()).or_default().insert(at, text);
    }
    writer.flush();
    store(&mut writer, &mut file);
    let logs = file
        .chunks(BLOCK_LEN)
        .filter(|block| block[0] == crate::block::BlockKind::ReferenceLog as u8)
        .count();
    assert!(logs >= 2, "{logs} logs");
    let scanned = scan(&file, true).expect("valid");
    assert!(scanned.unlogged.len() < scanned.references.len() / 2);
    let mut writer = Writer::resume(scanned, 2).expect("consistent");
    writer.seal().expect("sealed");
    store(&mut writer, &mut file);
    assert_eq!(read_sealed(&file).expect("valid"), rows_of(&oracle));
}

#[test]
fn late_points_and_foreign_times_are_told_apart() {
    let partition = TimeRange::new(0, 1_000_000);
    let mut writer = Writer::new(SegmentHeader { partition, ..header(1) }, 1);
    let index = writer.define(&name(0), crate::point::ValueKind::Float, "");
    let put = |writer: &mut Writer, at: i64| {
        writer.append(index, &super::harness::Owned::Float(at as f64).point(at), 0)
    };
    assert_eq!(put(&mut writer, 10), Ok(Appended::InOrder));
    assert_eq!(put(&mut writer, 30), Ok(Appended::InOrder));
    assert_eq!(put(&mut writer, 20), Ok(Appended::SortedIn));
    assert_eq!(put(&mut writer, 20), Ok(Appended::Replaced));
    assert_eq!(put(&mut writer, 1_000_000), Err(AppendError::OutsidePartition(partition)));
    assert_eq!(put(&mut writer, -1), Err(AppendError::OutsidePartition(partition)));
    writer.flush();
    assert_eq!(put(&mut writer, 30), Err(AppendError::Late));
    assert_eq!(put(&mut writer, 31), Ok(Appended::InOrder));
    assert_eq!(writer.last_at(index), Some(31));
}

#[test]
fn a_selector_reads_little_of_a_large_tail() {
    let mut file = Vec::new();
    let mut writer = Writer::new(header(1), 1);
    for s in 0..20_000 {
        let index = writer.define(&name(s), crate::point::ValueKind::Float, "");
        writer.append(index, &super::harness::Owned::Float(1.0).point(s as i64), 0).expect("in order");
    }
    writer.seal().expect("sealed");
    store(&mut writer, &mut file);
    let mut at_hand = BlockMap::new();
    let sealed = super::harness::open_sealed(&file, &mut at_hand).expect("valid");
    let selector = Selector::parse("metric{device=\"d14321\"}").expect("selector");
    let found =
        super::harness::ready(&file, &mut at_hand, |blocks| sealed.select(blocks, &selector, &NoRegex))
            .expect("valid");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1[0].summary.begin, 14_321);
    let tail = sealed.block_count() - sealed.footer().tail_block;
    assert!(at_hand.len() * 3 < tail as usize, "{} of {tail} blocks of the tail", at_hand.len());
    let suggested = super::harness::ready(&file, &mut at_hand, |blocks| {
        sealed.suggest(blocks, Suggest::Value("device"), "d1432", 4)
    });
    assert_eq!(suggested.expect("valid"), ["d1432", "d14320", "d14321", "d14322"]);
}

#[test]
fn opening_asks_for_both_ends_at_once() {
    assert_eq!(Sealed::open(100, &BlockMap::new()).expect("asks"), Answer::Need(vec![0..1, 96..100]));
    let Answer::Need(all) = Sealed::open(3, &BlockMap::new()).expect("asks") else {
        panic!("nothing is at hand")
    };
    assert_eq!((all.len(), all[0].clone()), (1, 0..3));
}

impl PartialEq for Sealed {
    fn eq(&self, other: &Self) -> bool {
        self.footer() == other.footer() && self.block_count() == other.block_count()
    }
}
