//! The heads section: comes back, says the least it must, and refuses what it is not.

use super::{Carried, CarriedHead, HeadsSection, SealedNumber, SegmentNumber};
use crate::index::Lookup;
use crate::point::{Point, Timestamp, Value, ValueKind};
use crate::segment::tests::harness::{header, name, open_sealed, ready, store};
use crate::segment::{BlockMap, SegmentError, Writer};
use proptest::prelude::{any, prop, proptest};

fn decode(bytes: &[u8]) -> Result<HeadsSection, SegmentError> {
    match HeadsSection::read(bytes, 0..bytes.len() as u64)? {
        Lookup::Found(section) => Ok(section),
        Lookup::Need(_) => Err(SegmentError::Truncated),
    }
}

fn number(number: u32) -> SealedNumber {
    SealedNumber { segment: SegmentNumber { epoch: 3, number }, sealed_epoch: 4 }
}

fn head(series: usize, at: i64) -> CarriedHead {
    CarriedHead { name: name(series), kind: ValueKind::Float, unit: String::from("W"), at }
}

/// The section of a segment with rows of series 0 to `count`, series 1 without any.
fn written(count: usize, carried: Option<Carried>) -> Option<HeadsSection> {
    let mut writer = Writer::new(header(1), 1);
    for series in 0..count {
        let index = writer.define(&name(series), ValueKind::Float, "");
        let rows = if series == 1 { 0 } else { 5 };
        for n in 0..rows {
            let point = Point { timestamp: Timestamp(n + series as i64 * 1_000), value: Value::Float(1.0) };
            writer.append(index, &point, 0).expect("in order");
        }
    }
    carried.into_iter().for_each(|carried| writer.carry(carried));
    writer.seal().expect("sealed");
    let (mut file, mut at_hand) = (Vec::new(), BlockMap::new());
    store(&mut writer, &mut file);
    let sealed = open_sealed(&file, &mut at_hand).expect("a segment");
    ready(&file, &mut at_hand, |blocks| sealed.heads(blocks)).expect("a section or none")
}

#[test]
fn a_writer_says_its_own_ends_and_what_it_was_told() {
    assert_eq!(written(3, None), None);
    let heads = vec![head(9, 7), head(0, 3), head(1, -5), head(2, 9_000), head(2, 8_000), head(0, 4)];
    let carried = Carried { segments: vec![number(1), number(300)], heads };
    let found = written(3, Some(carried)).expect("a section");
    assert_eq!(found.segments, [number(1), number(300)]);
    let mut names: Vec<_> = (0..3).map(|series| (name(series), series)).collect();
    names.sort();
    let own: Vec<_> =
        names.iter().map(|(_, series)| (*series != 1).then_some(*series as i64 * 1_000 + 4)).collect();
    assert_eq!(found.own, own);
    let mut others = vec![head(9, 7), head(1, -5), head(2, 9_000)];
    others.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(found.others, others, "what its own rows say as well is left out");
}

#[test]
fn the_worked_example_of_the_format() {
    let section = HeadsSection {
        segments: vec![SealedNumber { segment: SegmentNumber { epoch: 1, number: 2 }, sealed_epoch: 3 }],
        own: vec![Some(5_000), None, Some(3_000)],
        others: Vec::new(),
    };
    let bytes = [3, 0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 0, 1, 1, 2, 3, 0x90, 0x4E, 0xD0, 0x0F, 1, 0, 2];
    assert_eq!(section.encode().as_deref(), Some(&bytes[..]));
    assert_eq!(decode(&bytes), Ok(section));
}

#[test]
fn what_is_no_section_is_refused() {
    let section = HeadsSection {
        segments: vec![number(5)],
        own: vec![Some(1), None],
        others: vec![head(4, 2), head(7, 3)],
    };
    let bytes = section.encode().expect("encodes");
    assert_eq!(decode(&bytes), Ok(section));
    for len in 0..bytes.len() {
        assert!(decode(&bytes[..len]).is_err(), "{len} bytes");
    }
    for place in [0, 3, 4, 7, 8, 11, 12] {
        let mut wrong = bytes.clone();
        wrong[place] = 0xFF;
        assert!(decode(&wrong).is_err(), "byte {place}");
    }
    assert!(decode(&[bytes, vec![0]].concat()).is_err());
    // Times that no difference of 64 bits leads to are not said at all.
    let far = HeadsSection { own: vec![Some(i64::MIN), Some(i64::MAX - 1)], ..HeadsSection::default() };
    assert_eq!(far.encode(), None);
}

proptest! {
    #[test]
    fn comes_back(
        segments in prop::collection::vec(any::<(u32, u32, u32)>(), 0..20),
        own in prop::collection::vec(prop::option::of(-1_i64 << 60..1_i64 << 60), 0..200),
        others in prop::collection::btree_map(0_usize..500, -1_000_000_i64..1_000_000, 0..50),
        unit in prop::sample::select(vec![1_i64, 1_000, 1_000_000]),
    ) {
        let sealed = |(epoch, number, sealed_epoch)| {
            SealedNumber { segment: SegmentNumber { epoch, number }, sealed_epoch }
        };
        let own = own.into_iter().map(|at| at.map(|at| at / unit * unit)).collect();
        let mut others: Vec<_> = others.into_iter().map(|(series, at)| head(series, at * unit)).collect();
        others.sort_by(|a, b| a.name.cmp(&b.name));
        let section = HeadsSection { segments: segments.into_iter().map(sealed).collect(), own, others };
        let bytes = section.encode().expect("encodes");
        assert_eq!(decode(&bytes), Ok(section));
    }

    #[test]
    fn any_bytes_are_taken(mut bytes in prop::collection::vec(any::<u8>(), 0..300), small in any::<bool>()) {
        if small {
            // So that the three numbers are not what ends it.
            for place in [1, 2, 3, 5, 6, 7, 9, 10, 11] {
                bytes.get_mut(place).into_iter().for_each(|byte| *byte = 0);
            }
        }
        let _ = decode(&bytes);
    }
}
