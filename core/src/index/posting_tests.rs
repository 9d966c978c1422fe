//! Posting lists against sets of numbers.

use std::collections::BTreeSet;
use std::vec::Vec;

use proptest::prelude::*;

use super::{PostingWriter, Ranges, count, intersect, push_range, read, unite};

fn ranges(set: &BTreeSet<u32>) -> Ranges {
    let mut ranges = Ranges::new();
    for number in set {
        push_range(&mut ranges, *number..number + 1);
    }
    ranges
}

fn set() -> impl Strategy<Value = BTreeSet<u32>> {
    prop_oneof![
        proptest::collection::btree_set(0_u32..60, 0..60),
        proptest::collection::btree_set(0_u32..1_000_000, 0..60),
    ]
}

proptest! {
    #[test]
    fn lists_are_sets(a in set(), b in set()) {
        let mut writer = PostingWriter::default();
        for number in &a {
            writer.push(*number);
            writer.push(*number);
        }
        prop_assert_eq!(read(&writer.finish(), 1_000_000), Ok(ranges(&a)));
        prop_assert_eq!(intersect(&ranges(&a), &ranges(&b)), ranges(&(&a & &b)));
        prop_assert_eq!(unite(&ranges(&a), &ranges(&b)), ranges(&(&a | &b)));
        prop_assert_eq!(count(&ranges(&a)), a.len() as u64);
    }

    #[test]
    fn any_bytes_are_a_list_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40), end in any::<u32>()) {
        if let Ok(ranges) = read(&bytes, end) {
            prop_assert!(ranges.iter().all(|range| range.start < range.end && range.end <= end));
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
        }
    }
}

#[test]
fn the_documented_example_holds() {
    let mut writer = PostingWriter::default();
    for number in [3, 10, 11, 12, 13] {
        writer.push(number);
    }
    assert_eq!(writer.finish(), [0x06, 0x0D, 0x02]);
    assert_eq!(read(&[0x06, 0x0D, 0x02], 14).unwrap(), Vec::from([3..4, 10..14]));
    assert!(read(&[0x06, 0x0D, 0x02], 13).is_err());
}
