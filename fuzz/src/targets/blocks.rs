//! Blocks and what is in them.

use siltstone_core::block::{Cursor, PAYLOAD_MAX, SegmentId, open, peek};
use siltstone_core::index::{Catalog, Index, Lookup};
use siltstone_core::segment::{Footer, SegmentHeader};
use siltstone_core::series::Selector;
use siltstone_core::tree::leaf::Leaf;
use siltstone_core::tree::{Laws, node as nodes, table as tables};

use super::images::DEVICE;

pub(super) fn block(input: &[u8]) {
    let peeked = peek(input);
    let opened = open(input, &SegmentId { device: DEVICE, epoch: 1, number: 1 }, 3);
    if let Ok((header, payload)) = opened {
        assert!(payload.len() <= PAYLOAD_MAX && header.block == 3);
        assert_eq!(peeked, Ok((header, payload)));
    }
}

pub(super) fn header(input: &[u8]) {
    if let Ok(header) = SegmentHeader::parse(input, 1, 2) {
        assert_eq!(SegmentHeader::parse(&header.payload(), 1, 2), Ok(header));
    }
    let _ = SegmentHeader::open(input);
    let _ = SegmentHeader::open_copy(input);
}

pub(super) fn footer(input: &[u8]) {
    if let Ok(footer) = Footer::parse(input) {
        assert_eq!(Footer::parse(&footer.encode()), Ok(footer));
    }
}

pub(super) fn leaf(input: &[u8]) {
    let Ok(leaf) = Leaf::open(input) else { return };
    let mut bytes = 0;
    for (slot, (entry, chunk)) in (0..).zip(leaf.iter()) {
        assert_eq!(leaf.chunk(slot), Ok((entry, chunk)));
        assert!(entry.rows > 0 && entry.begin <= entry.last);
        bytes += chunk.len();
    }
    assert!(bytes <= input.len());
}

pub(super) fn node(input: &[u8]) {
    let payload = input.get(..PAYLOAD_MAX).unwrap_or(input);
    for (slot, node) in nodes::all(payload).map_while(Result::ok) {
        assert_eq!(nodes::decode(payload, slot).as_ref(), Ok(&node));
        assert!(node.references.len() <= nodes::FAN_OUT_MAX);
        let _ = nodes::summary_of(&node.references, &Laws::default());
        let _ = nodes::encode(&node.references, node.series, node.level, &mut [0; 4_096]);
    }
}

pub(super) fn table(input: &[u8]) {
    if let Ok(references) = tables::decode(&mut Cursor::new(input), 0, 0) {
        assert!(references.len() <= tables::TABLE_MAX);
        let mut scratch = vec![0; references.len()];
        if let Some(len) = tables::encoded_len(&references, true, &mut scratch) {
            let mut bytes = vec![0; len];
            let encoded = tables::encode(&references, true, &mut scratch, &mut bytes);
            assert_eq!(encoded, Some(len), "as long as it was measured");
        }
    }
}

/// The entries that are at hand; none are missing in a slice.
fn found<T>(lookup: Lookup<T>) -> Option<T> {
    match lookup {
        Lookup::Found(found) => Some(found),
        Lookup::Need(need) => {
            assert!(!need.is_empty(), "something is needed");
            None
        }
    }
}

pub(super) fn catalog(input: &[u8]) {
    let Some(catalog) = Catalog::open(input, 0..input.len() as u64).ok().and_then(found) else { return };
    let mut from = 0;
    // No more names than bytes can stand for one by one.
    while from < catalog.len().min(1 << 16) {
        let positions = from..from.saturating_add(64);
        let Ok(entries) = catalog.entries(input, std::slice::from_ref(&positions)) else { return };
        for entry in found(entries).unwrap_or_default() {
            let at = catalog.find(input, entry.name.name_ref()).ok().and_then(found).flatten();
            if let Some(at) = at {
                assert_eq!(at.name, entry.name);
            }
        }
        from += 64;
    }
}

pub(super) fn index(input: &[u8]) {
    let Some(index) = Index::open(input, 0..input.len() as u64).ok().and_then(found) else { return };
    for text in ["temperature", "temperature{device=\"a1\"}", "{device=~\"a1|a2\",room!=\"\"}"] {
        let Ok(selector) = Selector::parse(text) else { continue };
        if let Some(ranges) = index.candidates(input, &selector).ok().and_then(found) {
            assert!(ranges.iter().all(|range| range.end <= index.len()), "positions of the catalog");
        }
    }
    for prefix in ["", "t", "dev"] {
        let _ = index.suggest_metrics(input, prefix, 50);
        let _ = index.suggest_tags(input, prefix, 50);
        let _ = index.suggest_values(input, "device", prefix, 50);
    }
}
