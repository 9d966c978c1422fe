//! What is known of some rows that follow each other: a summary and what it does not keep.
//!
//! Parts are made from summaries of subtrees or from decoded rows, and combined in the order of time.

use alloc::string::String;
use alloc::vec::Vec;

use super::function::Needs;
use crate::codec::{Rows, Values};
use crate::tree::{Hold, Laws, Number, Summary, summarize};

/// A summary, and what functions may need beside it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) summary: Summary,
    /// How often a value differs from the one before.
    pub(super) changes: u64,
    /// Nanoseconds over which numbers were held.
    pub(super) held_ns: u64,
    /// Text of the first state.
    pub(super) first_text: Option<String>,
    /// Text of the last state.
    pub(super) last_text: Option<String>,
}

impl Part {
    /// No rows.
    pub(super) const EMPTY: Self =
        Self { summary: Summary::EMPTY, changes: 0, held_ns: 0, first_text: None, last_text: None };

    /// A subtree, of which nothing but the summary is known; `None` where that is not enough.
    pub(super) fn of_summary(summary: &Summary, needs: Needs) -> Option<Self> {
        let mut part = Self { summary: *summary, ..Self::EMPTY };
        if let Some(numbers) = &summary.numbers {
            if needs.resets && numbers.resets.is_none() || needs.changes && numbers.changes.is_none() {
                return None;
            }
            part.changes = numbers.changes.unwrap_or(0);
            match numbers.hold {
                Hold::Step(_) => part.held_ns = numbers.last_at.abs_diff(numbers.first_at),
                Hold::Explicit { .. } if needs.held => return None,
                Hold::Explicit { .. } => {}
            }
        }
        if let Some(words) = &summary.words {
            if needs.texts {
                return None;
            }
            part.changes = part.changes.saturating_add(words.changes);
        }
        Some(part)
    }

    /// Rows that rise in time.
    pub(super) fn of_rows(rows: &Rows<'_>, needs: Needs, laws: &Laws) -> Self {
        let mut part = Self { summary: summarize(rows, laws), ..Self::EMPTY };
        if let Values::State { codes, texts } = rows.values {
            part.changes = part.summary.words.map_or(0, |words| words.changes);
            let is_gap =
                |row: usize| u16::try_from(row).is_ok_and(|row| rows.gaps.binary_search(&row).is_ok());
            let mut words = codes.iter().enumerate().filter(|(row, _)| !is_gap(*row)).map(|(_, code)| code);
            let text = |code: &u16| texts.get(usize::from(*code)).map(|text| String::from(*text));
            part.first_text = words.next().and_then(text);
            part.last_text = words.next_back().and_then(text).or_else(|| part.first_text.clone());
        } else if needs.changes || needs.held {
            part.walk_numbers(rows, laws);
        }
        part
    }

    /// Counts changes and adds up how long numbers were held.
    fn walk_numbers(&mut self, rows: &Rows<'_>, laws: &Laws) {
        let number = |row: usize| match rows.values {
            Values::Float(floats) => {
                floats.get(row).filter(|float| !float.is_nan()).copied().map(Number::Float)
            }
            Values::Integer(integers) => integers.get(row).copied().map(Number::from_integer),
            Values::Boolean(booleans) => {
                booleans.get(row).map(|boolean| Number::Float(f64::from(u8::from(*boolean))))
            }
            Values::State { .. } => None,
        };
        let mut gaps = rows.gaps.iter().copied().peekable();
        let mut last: Option<(i64, Number)> = None;
        let mut is_held = false;
        for (row, at) in rows.timestamps.iter().enumerate() {
            if gaps.next_if(|gap| usize::from(*gap) == row).is_some() {
                is_held = false;
                continue;
            }
            let Some(number) = number(row) else { continue };
            if let Some((last_at, last)) = last {
                self.changes = self.changes.saturating_add(u64::from(last.order(number).is_ne()));
                if is_held && let Some(ns) = held(last_at, *at, laws) {
                    self.held_ns = self.held_ns.saturating_add(ns);
                }
            }
            last = Some((*at, number));
            is_held = true;
        }
    }

    /// Appends rows that lie behind all of these.
    pub(super) fn append(&mut self, next: Self, laws: &Laws) {
        let is_held = !self.summary.gap_behind && !next.summary.gap_before;
        let mut changes = self.changes.saturating_add(next.changes);
        let mut held_ns = self.held_ns.saturating_add(next.held_ns);
        if let (Some(a), Some(b)) = (&self.summary.numbers, &next.summary.numbers) {
            changes = changes.saturating_add(u64::from(a.last.order(b.first).is_ne()));
            if is_held && let Some(ns) = held(a.last_at, b.first_at, laws) {
                held_ns = held_ns.saturating_add(ns);
            }
        }
        if let (Some(a), Some(b)) = (&self.summary.words, &next.summary.words) {
            changes = changes.saturating_add(u64::from(a.last != b.first));
        }
        (self.changes, self.held_ns) = (changes, held_ns);
        self.summary = self.summary.combine(&next.summary, laws);
        if self.first_text.is_none() {
            self.first_text = next.first_text;
        }
        if next.last_text.is_some() {
            self.last_text = next.last_text;
        }
    }
}

/// How long a number is held until the next one; `None` where that is too long.
pub(super) fn held(from_ns: i64, to_ns: i64, laws: &Laws) -> Option<u64> {
    to_ns.checked_sub(from_ns).filter(|ns| *ns <= laws.max_hold_ns).and_then(|ns| u64::try_from(ns).ok())
}

/// Some rows of a chunk, with what a borrowed form of them needs.
#[derive(Debug, Default)]
pub(super) struct Slice {
    gaps: Vec<u16>,
}

impl Slice {
    /// The rows `begin..end` of `rows`.
    pub(super) fn of<'a>(&'a mut self, rows: &Rows<'a>, begin: usize, end: usize) -> Rows<'a> {
        fn cut<T>(values: &[T], begin: usize, end: usize) -> &[T] {
            values.get(begin..end).unwrap_or_default()
        }
        let inside = rows.gaps.iter().filter_map(|gap| usize::from(*gap).checked_sub(begin));
        self.gaps.clear();
        self.gaps.extend(
            inside.filter(|gap| *gap < end.saturating_sub(begin)).filter_map(|gap| u16::try_from(gap).ok()),
        );
        let values = match rows.values {
            Values::Float(values) => Values::Float(cut(values, begin, end)),
            Values::Integer(values) => Values::Integer(cut(values, begin, end)),
            Values::Boolean(values) => Values::Boolean(cut(values, begin, end)),
            Values::State { codes, texts } => Values::State { codes: cut(codes, begin, end), texts },
        };
        Rows { timestamps: cut(rows.timestamps, begin, end), values, gaps: &self.gaps }
    }
}
