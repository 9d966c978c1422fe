//! Collects the parts of one series, in the order of time, into buckets.
//!
//! A value is held until the next one, also across the edge of a bucket: where integrals are asked for,
//! the piece between the last number of a bucket and the next number is cut at the edges and given to
//! every bucket it touches, so that the integrals of neighbouring buckets add up. So a bucket stays open until
//! it is known what follows it. In snapped buckets the piece goes to the bucket it begins in.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::bucket::{Bucket, Edge};
use super::function::Needs;
use super::part::{Part, held};
use super::slots::{Slot, Slots};
use crate::point::TimeRange;
use crate::tree::{Laws, Number, piece};

/// The last number seen, and whether it is still held.
#[derive(Clone, Copy, Debug)]
struct Carry {
    slot: Slot,
    at_ns: i64,
    number: Number,
    is_held: bool,
}

#[derive(Debug)]
struct Open {
    slot: Slot,
    part: Part,
    edge: Edge,
}

/// The buckets of one series.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) slots: Slots,
    pub(super) needs: Needs,
    pub(super) is_snapped: bool,
    laws: Laws,
    /// Not finished yet, ascending.
    open: VecDeque<Open>,
    carry: Option<Carry>,
    /// Finished, in order.
    pub(super) ready: Vec<Bucket>,
    /// Spans of what could not be read.
    damaged: Vec<TimeRange>,
    is_satisfied: bool,
}

impl Group {
    pub(super) fn new(slots: Slots, needs: Needs, is_snapped: bool, laws: Laws) -> Self {
        Self {
            slots,
            needs,
            is_snapped,
            laws,
            open: VecDeque::new(),
            carry: None,
            ready: Vec::new(),
            damaged: Vec::new(),
            is_satisfied: false,
        }
    }

    pub(super) const fn laws(&self) -> &Laws {
        &self.laws
    }

    /// Whether nothing that follows can change an answer.
    pub(super) const fn is_satisfied(&self) -> bool {
        self.is_satisfied
    }

    /// Whether the last number is still held.
    pub(super) fn is_held(&self) -> bool {
        self.needs.hold && self.carry.is_some_and(|carry| carry.is_held)
    }

    /// Notes that what lies in `span` could not be read.
    ///
    /// Where integrals are asked for, a value that is lost could have been held for a while, and one before
    /// it is held too long.
    pub(super) fn note_damage(&mut self, span: TimeRange) {
        let hold_ns = if self.needs.hold { self.laws.max_hold_ns } else { 0 };
        self.damaged
            .push(TimeRange::new(span.begin.saturating_sub(hold_ns), span.end.saturating_add(hold_ns)));
    }

    /// Appends a part that lies in one slot, behind all before.
    pub(super) fn push(&mut self, slot: Slot, part: Part) {
        if self.needs.hold {
            self.hold_until(slot, &part);
        } else {
            self.finish_before(slot);
        }
        let gap = part.summary.gaps > 0;
        if slot == Slot::Behind && (gap || part.summary.numbers.is_some()) {
            self.is_satisfied = true;
        }
        if let Some(numbers) = &part.summary.numbers {
            let is_held = !part.summary.gap_behind;
            self.carry = Some(Carry { slot, at_ns: numbers.last_at, number: numbers.last, is_held });
        } else if gap && let Some(carry) = &mut self.carry {
            carry.is_held = false;
        }
        let laws = self.laws;
        self.open_at(slot).part.append(part, &laws);
    }

    /// Gives the piece before `part` to the buckets it touches, and finishes those that are complete.
    fn hold_until(&mut self, slot: Slot, part: &Part) {
        let Some(carry) = self.carry else { return self.finish_before(slot) };
        if carry.slot == slot {
            // Combining the two parts adds the piece between them.
            return;
        }
        let Some(numbers) = part.summary.numbers else {
            // Only NaN: the value may still be held beyond it, unless that is too long already.
            let is_over = held(carry.at_ns, part.summary.begin, &self.laws).is_none();
            if part.summary.gaps > 0 || is_over || !carry.is_held {
                self.finish_before(slot);
            }
            return;
        };
        let is_held = carry.is_held && !part.summary.gap_before;
        if is_held && held(carry.at_ns, numbers.first_at, &self.laws).is_some() {
            self.distribute(carry, slot, (numbers.first_at, numbers.first));
        }
        self.finish_before(slot);
    }

    fn distribute(&mut self, from: Carry, to_slot: Slot, to: (i64, Number)) {
        let whole = TimeRange::new(from.at_ns, to.0);
        let mut slot = from.slot;
        loop {
            let span = if self.is_snapped { whole } else { self.slots.span(slot).intersect(whole) };
            if !span.is_empty() {
                let edge = &mut self.open_at(slot).edge;
                let line = |at_ns: i64| {
                    let share = at_ns.abs_diff(whole.begin) as f64 / whole.end.abs_diff(whole.begin) as f64;
                    let (a, b) = (from.number.as_f64(), to.1.as_f64());
                    // The ends are exact, also where the difference overflows.
                    if at_ns == whole.begin {
                        a
                    } else if at_ns == whole.end {
                        b
                    } else {
                        a + (b - a) * share
                    }
                };
                let ns = span.end.saturating_sub(span.begin);
                edge.stepwise += piece(from.number, from.number, ns).0;
                edge.linear += piece(Number::Float(line(span.begin)), Number::Float(line(span.end)), ns).1;
                edge.held_ns = edge.held_ns.saturating_add(ns.unsigned_abs());
            }
            if slot >= to_slot || self.is_snapped {
                return;
            }
            slot = self.slots.next(slot);
        }
    }

    /// The open bucket of `slot`, made where there is none.
    fn open_at(&mut self, slot: Slot) -> &mut Open {
        let at = self.open.partition_point(|open| open.slot < slot);
        if self.open.get(at).is_none_or(|open| open.slot != slot) {
            self.open.insert(at, Open { slot, part: Part::EMPTY, edge: Edge::default() });
        }
        // Inside by now.
        &mut self.open[at]
    }

    fn finish_before(&mut self, slot: Slot) {
        while self.open.front().is_some_and(|open| open.slot < slot)
            && let Some(open) = self.open.pop_front()
        {
            self.finish(open);
        }
    }

    fn finish(&mut self, open: Open) {
        let summary = &open.part.summary;
        let is_inside = matches!(open.slot, Slot::At(_));
        if !is_inside || summary.is_empty() && open.edge.held_ns == 0 {
            return;
        }
        let slot_span = self.slots.span(open.slot);
        let span = if self.is_snapped && !summary.is_empty() { summary.span() } else { slot_span };
        let is_partial =
            self.damaged.iter().any(|damaged| damaged.overlaps(slot_span) || damaged.overlaps(span));
        self.ready.push(Bucket { span, is_partial, part: open.part, edge: open.edge });
    }

    /// Finishes every bucket: nothing follows.
    pub(super) fn end(&mut self) {
        while let Some(open) = self.open.pop_front() {
            self.finish(open);
        }
    }
}
