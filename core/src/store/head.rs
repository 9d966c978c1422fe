//! Heads: the last in-order point of each series in a partition that is open.
//!
//! A point after the head is in order, whichever segment of the partition holds the head; so it outlives
//! sealing and restart. An exact repeat of it is not stored again. What is not after it may still fall
//! among the rows of the open segment that can change: the segment knows.

use alloc::vec::Vec;

use super::owned_value::OwnedValue;
use crate::point::Value;

/// The last in-order point of a series.
#[derive(Clone, Debug)]
struct Head {
    at: i64,
    /// Up to here the points are in segments that take no more.
    fixed_at: Option<i64>,
    /// Its value, where that is known and no late point came at the same time.
    value: Option<OwnedValue>,
}

/// How a point is to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// Into the open segment of its partition, behind all points of its series.
    InOrder,
    /// Into the open segment of its partition, among points of its series that are not coded.
    Between,
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
        match slot {
            Some(head) if head.at >= at => head.fixed_at = head.fixed_at.max(Some(at)),
            _ => *slot = Some(Head { at, fixed_at: Some(at), value: None }),
        }
    }

    /// Up to where the points of each series are in segments that take no more.
    pub(super) fn fixed(&self) -> impl Iterator<Item = (u32, i64)> {
        (0..).zip(&self.0).filter_map(|(series, head)| Some((series, head.as_ref()?.fixed_at?)))
    }

    /// The head of a series.
    pub(super) fn at(&self, series: u32) -> Option<i64> {
        self.0.get(series as usize)?.as_ref().map(|head| head.at)
    }

    /// Decides where a point belongs, and notes that it is put there. `among_open` says of one that is not after
    /// the head whether the open segment still takes it.
    pub(super) fn place(
        &mut self,
        series: u32,
        at: i64,
        value: Value<'_>,
        among_open: impl FnOnce() -> Placement,
    ) -> Placement {
        let slot = self.slot(series);
        let Some(head) = slot.as_mut().filter(|head| at <= head.at) else {
            let fixed_at = slot.as_ref().and_then(|head| head.fixed_at);
            *slot = Some(Head { at, fixed_at, value: Some(value.into()) });
            return Placement::InOrder;
        };
        let among_open = || {
            let is_fixed = head.fixed_at.is_some_and(|fixed| at <= fixed);
            if is_fixed { Placement::Late } else { among_open() }
        };
        if at < head.at {
            return among_open();
        }
        if head.value.as_ref().is_some_and(|last| last.value().same_bits(&value)) {
            return Placement::Repeat;
        }
        let placement = among_open();
        head.value = (placement == Placement::Between).then(|| value.into());
        placement
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
        let mut place = |at, value| heads.place(3, at, Value::Float(value), || Placement::Late);
        assert_eq!(place(10, 1.0), Placement::InOrder);
        assert_eq!(place(10, 1.0), Placement::Repeat);
        assert_eq!(place(5, 1.0), Placement::Late);
        assert_eq!(place(10, 2.0), Placement::Late, "another value at the same time");
        assert_eq!(place(10, 1.0), Placement::Late, "it was written over, so it is no repeat");
        assert_eq!(place(11, 1.0), Placement::InOrder);
        let open = || Placement::Between;
        assert_eq!(heads.place(3, 10, Value::Float(1.0), open), Placement::Between);
        assert_eq!(heads.place(3, 11, Value::Float(4.0), open), Placement::Between);
        assert_eq!(heads.place(3, 11, Value::Float(4.0), open), Placement::Repeat);
        heads.raise(3, 20);
        let late = || Placement::Late;
        assert_eq!(heads.place(3, 19, Value::Float(1.0), open), Placement::Late, "a file ends at 20");
        assert_eq!(heads.place(3, 30, Value::Float(1.0), late), Placement::InOrder);
        assert_eq!(heads.place(3, 25, Value::Float(1.0), open), Placement::Between);
        heads.raise(3, 30);
        assert_eq!(heads.place(3, 25, Value::Float(1.0), open), Placement::Late, "sealed");
        assert_eq!(heads.place(3, 20, Value::Float(1.0), late), Placement::Late, "its value is not known");
        assert_eq!(heads.place(4, 1, Value::Gap, late), Placement::InOrder);
        assert_eq!((heads.at(3), heads.at(9)), (Some(30), None));
        assert_eq!(heads.fixed().collect::<Vec<_>>(), [(3, 30)], "series 4 is in no segment yet");
    }
}
