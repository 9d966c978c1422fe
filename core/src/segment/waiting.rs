//! References that wait for their node, in as little memory as their columns take.
//!
//! ```text
//! tables: | 16 references | 16 references | … | the last few |
//! ```
//!
//! Each group is a reference table of its own, one behind the other. A new reference joins the last
//! group, which is decoded and coded again for that: leaves are cut rarely. What a table does not keep (resets of
//! gauges) a node would not keep either. Bytes here are this writer's own: they decode.

use crate::block::Cursor;
use crate::tree::{Reference, table};
use alloc::vec;
use alloc::vec::Vec;

/// References of a group.
pub(super) const GROUP: usize = 16;

/// References of one series, in time order.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    tables: Vec<u8>,
    /// Where the last group begins.
    last: u32,
    count: u32,
}

impl Waiting {
    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.count as usize
    }

    /// Bytes of memory beyond its own.
    pub(super) fn heap_len(&self) -> usize {
        self.tables.capacity()
    }

    /// Takes the next one.
    pub(super) fn push(&mut self, reference: Reference) {
        let last = self.last as usize;
        let mut group = Vec::with_capacity(GROUP);
        if self.len().is_multiple_of(GROUP) {
            self.last = self.tables.len() as u32;
        } else {
            let mut cursor = Cursor::new(self.tables.get(last..).unwrap_or_default());
            group.extend(table::decode(&mut cursor, reference.series, reference.level).unwrap_or_default());
        }
        group.push(reference);
        let begin = self.last as usize;
        let mut scratch = [0; GROUP];
        let len = table::encoded_len(&group, false, &mut scratch).unwrap_or(0);
        let mut tables = vec![0; begin + len];
        let (before, behind) = tables.split_at_mut(begin);
        before.copy_from_slice(self.tables.get(..begin).unwrap_or_default());
        // Just as long as it said that it would be.
        let _ = table::encode(&group, false, &mut scratch, behind);
        self.tables = tables;
        self.count += 1;
    }

    /// All of them, of `series`.
    pub(super) fn references(&self, series: u32) -> Vec<Reference> {
        let mut references = Vec::with_capacity(self.len());
        let mut cursor = Cursor::new(&self.tables);
        while let Ok(group) = table::decode(&mut cursor, series, 0) {
            references.extend(group);
        }
        references
    }
}

#[cfg(test)]
mod tests {
    use super::{GROUP, Waiting};
    use crate::block::{BLOCK_LEN, Block};
    use crate::point::Value;
    use crate::tree::{Laws, Reference, Summary, node};
    use proptest::{collection::vec, prelude::*};

    fn value() -> impl Strategy<Value = Value<'static>> {
        prop_oneof![
            6 => (-500i32..500).prop_map(|n| Value::Float(f64::from(n) / 100.0)),
            2 => any::<f64>().prop_map(Value::Float),
            1 => any::<i64>().prop_map(Value::Integer),
            1 => any::<bool>().prop_map(Value::Boolean),
            1 => prop_oneof![Just("on"), Just("off"), Just("")].prop_map(Value::State),
            1 => Just(Value::Gap),
        ]
    }

    /// Chunks of a few rows each, one after the other.
    fn references() -> impl Strategy<Value = Vec<Reference>> {
        let rows = vec((prop_oneof![Just(10i64), 1i64..1_000, Just(1i64 << 40)], value()), 1..6);
        let begin = prop_oneof![Just(i64::MIN), Just(0), Just(i64::MAX / 2)];
        (begin, vec((rows, any::<u32>(), any::<u16>()), 1..60)).prop_map(|(begin, chunks)| {
            let mut at = begin;
            let chunk = |(rows, block, slot)| {
                let mut summary = Summary::EMPTY;
                for (step, value) in rows {
                    summary = summary.combine(&Summary::of_row(at, &value), &Laws::default());
                    at += step;
                }
                Reference { series: 7, block, slot, level: 0, summary }
            };
            chunks.into_iter().map(chunk).collect()
        })
    }

    fn node_of(references: &[Reference]) -> (Option<u16>, Box<Block>) {
        let mut block = Box::new([0; BLOCK_LEN]);
        (node::encode(references, 7, 1, &mut block), block)
    }

    proptest! {
        #[test]
        fn a_node_of_them_is_that_of_plain_ones(references in references()) {
            let mut waiting = Waiting::default();
            for (count, reference) in references.iter().enumerate() {
                waiting.push(*reference);
                prop_assert_eq!(waiting.len(), count + 1);
            }
            let back = waiting.references(7);
            let places = |list: &[Reference]| -> Vec<_> {
                list.iter().map(|r| (r.block, r.slot, r.summary.span(), r.summary.rows())).collect()
            };
            prop_assert_eq!(places(&back), places(&references));
            prop_assert!(node_of(&back) == node_of(&references));
            prop_assert!(node_of(&back[..back.len().min(GROUP)]) == node_of(&references[..back.len().min(GROUP)]));
        }
    }
}
