//! Heads: the last in-order point of each series in a partition that is open.
//!
//! In order means after the head, whichever segment of the partition holds it; so a head outlives
//! sealing and restart. A point at or before it is late, and an exact repeat of it is not stored again.

use alloc::vec::Vec;

use super::owned_value::OwnedValue;
use crate::point::Value;

/// The last in-order point of a series.
#[derive(Clone, Debug)]
struct Head {
    at: i64,
    /// Its value, where that is known and no late point came at the same time.
    value: Option<OwnedValue>,
}

/// How a point is to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// Into the open segment of its partition.
    InOrder,
    /// As a late point.
    Late,
    /// Not at all: it repeats the last point of its series.
    Repeat,
}

/// The heads of one partition, by the store's numbers of series.
#[derive(Debug, Default)]
pub(super) struct Heads(Vec<Option<Head>>);

impl Heads {
    /// The in-order points of a series end here, at least.
    pub(super) fn raise(&mut self, series: u32, at: i64) {
        let slot = self.slot(series);
        if slot.as_ref().is_none_or(|head| head.at < at) {
            *slot = Some(Head { at, value: None });
        }
    }

    /// The head of a series.
    pub(super) fn at(&self, series: u32) -> Option<i64> {
        self.0.get(series as usize)?.as_ref().map(|head| head.at)
    }

    /// Decides where a point belongs, and notes that it is put there.
    pub(super) fn place(&mut self, series: u32, at: i64, value: Value<'_>) -> Placement {
        let slot = self.slot(series);
        match slot {
            Some(head) if at < head.at => Placement::Late,
            Some(head) if at == head.at => {
                if head.value.as_ref().is_some_and(|last| last.value().same_bits(&value)) {
                    return Placement::Repeat;
                }
                head.value = None;
                Placement::Late
            }
            _ => {
                *slot = Some(Head { at, value: Some(value.into()) });
                Placement::InOrder
            }
        }
    }

    /// Notes a late point that an earlier run wrote.
    pub(super) fn note_late(&mut self, series: u32, at: i64) {
        if let Some(head) = self.slot(series).as_mut().filter(|head| head.at == at) {
            head.value = None;
        }
    }

    fn slot(&mut self, series: u32) -> &mut Option<Head> {
        let at = series as usize;
        if self.0.len() <= at {
            self.0.resize_with(at + 1, || None);
        }
        &mut self.0[at]
    }
}

#[cfg(test)]
mod tests {
    use super::{Heads, Placement};
    use crate::point::Value;

    #[test]
    fn only_what_is_after_the_head_is_in_order() {
        let mut heads = Heads::default();
        let mut place = |at, value| heads.place(3, at, Value::Float(value));
        assert_eq!(place(10, 1.0), Placement::InOrder);
        assert_eq!(place(10, 1.0), Placement::Repeat);
        assert_eq!(place(5, 1.0), Placement::Late);
        assert_eq!(place(10, 2.0), Placement::Late, "another value at the same time");
        assert_eq!(place(10, 1.0), Placement::Late, "it was written over, so it is no repeat");
        assert_eq!(place(11, 1.0), Placement::InOrder);
        heads.raise(3, 20);
        assert_eq!(heads.place(3, 20, Value::Float(1.0)), Placement::Late, "its value is not known");
        assert_eq!(heads.place(4, 1, Value::Gap), Placement::InOrder);
        assert_eq!((heads.at(3), heads.at(9)), (Some(20), None));
    }
}
