//! Rows that wait to be coded: a chunk that grows point by point.
//!
//! Rows rise strictly in time. A point between the rows is sorted in, one on a row replaces it: the last
//! write wins. All rows have one kind; a point that doesn't fit it says so, and the caller begins a new
//! buffer. A number joins an integer buffer when it is whole, a boolean joins numbers as 0 or 1.

use crate::codec::{Chunk, OwnedValues};
use crate::point::{Value, ValueKind};
use alloc::string::String;
use alloc::vec::Vec;

/// How a point came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    /// Behind all rows.
    Appended,
    /// Between rows.
    Inserted,
    /// In the place of a row with its timestamp.
    Replaced,
}

/// The kind of a buffer that begins with `value`; a gap begins one of `fallback`.
pub(super) fn kind_for(value: &Value<'_>, fallback: ValueKind) -> ValueKind {
    value.kind().unwrap_or(fallback)
}

/// No rows, of `kind`.
pub(super) fn empty(kind: ValueKind) -> Chunk {
    let values = match kind {
        ValueKind::Float => OwnedValues::Float(Vec::new()),
        ValueKind::Integer => OwnedValues::Integer(Vec::new()),
        ValueKind::Boolean => OwnedValues::Boolean(Vec::new()),
        ValueKind::State => OwnedValues::State { codes: Vec::new(), texts: Vec::new() },
    };
    let mut chunk = Chunk::default();
    chunk.values = values;
    chunk
}

/// Puts a point at its place; `None` where its kind needs another buffer.
pub(super) fn place(rows: &mut Chunk, at: i64, value: &Value<'_>) -> Option<Placed> {
    let behind = rows.timestamps.last().is_none_or(|last| *last < at);
    let row = if behind { rows.timestamps.len() } else { rows.timestamps.partition_point(|t| *t < at) };
    let replaced = rows.timestamps.get(row) == Some(&at);
    if !put_value(&mut rows.values, row, value, replaced) {
        return None;
    }
    if !replaced {
        rows.timestamps.insert(row, at);
    }
    put_gap(&mut rows.gaps, row, matches!(value, Value::Gap), replaced);
    Some(match (replaced, behind) {
        (true, _) => Placed::Replaced,
        (false, true) => Placed::Appended,
        (false, false) => Placed::Inserted,
    })
}

fn put_gap(gaps: &mut Vec<u16>, row: usize, is_gap: bool, replaced: bool) {
    let row = row as u16;
    let at = gaps.partition_point(|gap| *gap < row);
    if !replaced {
        for gap in gaps.iter_mut().skip(at) {
            *gap += 1;
        }
    }
    let there = replaced && gaps.get(at) == Some(&row);
    match (there, is_gap) {
        (false, true) => gaps.insert(at, row),
        (true, false) => drop(gaps.remove(at)),
        _ => {}
    }
}

fn put<T>(values: &mut Vec<T>, row: usize, value: T, replaced: bool) -> bool {
    if replaced {
        if let Some(old) = values.get_mut(row) {
            *old = value;
        }
    } else {
        values.insert(row, value);
    }
    true
}

/// Puts a value, or the one before it for a gap.
fn put_value(values: &mut OwnedValues, row: usize, value: &Value<'_>, replaced: bool) -> bool {
    let before = row.wrapping_sub(1);
    match values {
        OwnedValues::Float(floats) => {
            let float = match *value {
                Value::Float(float) => float,
                Value::Boolean(boolean) => f64::from(u8::from(boolean)),
                Value::Gap => floats.get(before).copied().unwrap_or(0.0),
                Value::Integer(_) | Value::State(_) => return false,
            };
            put(floats, row, float, replaced)
        }
        OwnedValues::Integer(integers) => {
            let integer = match *value {
                Value::Integer(integer) => integer,
                Value::Float(float) => match whole(float) {
                    Some(integer) => integer,
                    None => return false,
                },
                Value::Boolean(boolean) => i64::from(boolean),
                Value::Gap => integers.get(before).copied().unwrap_or(0),
                Value::State(_) => return false,
            };
            put(integers, row, integer, replaced)
        }
        OwnedValues::Boolean(booleans) => {
            let boolean = match *value {
                Value::Boolean(boolean) => boolean,
                Value::Gap => booleans.get(before).copied().unwrap_or(false),
                _ => return false,
            };
            put(booleans, row, boolean, replaced)
        }
        OwnedValues::State { codes, texts } => {
            let code = match *value {
                Value::State(text) => code_of(texts, text),
                Value::Gap => match codes.get(before) {
                    Some(code) => *code,
                    None => code_of(texts, ""),
                },
                _ => return false,
            };
            put(codes, row, code, replaced)
        }
    }
}

/// The integer that a float is, where its bits come back from it.
fn whole(float: f64) -> Option<i64> {
    let integer = float as i64;
    let same = (integer as f64).to_bits() == float.to_bits() && integer != i64::MAX;
    same.then_some(integer)
}

fn code_of(texts: &mut Vec<String>, text: &str) -> u16 {
    let code = texts.iter().position(|known| known == text).unwrap_or_else(|| {
        texts.push(String::from(text));
        texts.len() - 1
    });
    code as u16
}

/// Keeps the first `count` rows.
pub(super) fn truncate(rows: &mut Chunk, count: usize) {
    rows.timestamps.truncate(count);
    rows.gaps.retain(|gap| usize::from(*gap) < count);
    match &mut rows.values {
        OwnedValues::Float(values) => values.truncate(count),
        OwnedValues::Integer(values) => values.truncate(count),
        OwnedValues::Boolean(values) => values.truncate(count),
        OwnedValues::State { codes, texts } => {
            codes.truncate(count);
            if count == 0 {
                texts.clear();
            }
        }
    }
}

/// Forgets the first `count` rows.
pub(super) fn drop_front(rows: &mut Chunk, count: usize) {
    rows.remove(0..count);
    if let OwnedValues::State { codes, texts } = &mut rows.values {
        forget_unused(codes, texts);
    }
}

/// Drops the texts that no row has any more, so that a buffer that is never empty does not grow.
fn forget_unused(codes: &mut [u16], texts: &mut Vec<String>) {
    let mut is_used = alloc::vec![false; texts.len()];
    for code in codes.iter() {
        if let Some(used) = is_used.get_mut(usize::from(*code)) {
            *used = true;
        }
    }
    let mut next = 0u16;
    let places: Vec<u16> = is_used
        .iter()
        .map(|used| {
            let place = next;
            next += u16::from(*used);
            place
        })
        .collect();
    for code in codes {
        *code = places.get(usize::from(*code)).copied().unwrap_or(0);
    }
    let mut used = is_used.into_iter();
    texts.retain(|_| used.next().unwrap_or(false));
}

/// Appends all rows of `next`, of the same kind and later in time, to `rows`.
pub(super) fn extend(rows: &mut Chunk, next: &Chunk) {
    let offset = rows.timestamps.len() as u16;
    rows.timestamps.extend_from_slice(&next.timestamps);
    rows.gaps.extend(next.gaps.iter().map(|gap| gap.saturating_add(offset)));
    match (&mut rows.values, &next.values) {
        (OwnedValues::Float(to), OwnedValues::Float(from)) => to.extend_from_slice(from),
        (OwnedValues::Integer(to), OwnedValues::Integer(from)) => to.extend_from_slice(from),
        (OwnedValues::Boolean(to), OwnedValues::Boolean(from)) => to.extend_from_slice(from),
        (OwnedValues::State { codes: to, texts }, OwnedValues::State { codes: from, texts: from_texts }) => {
            let codes: Vec<u16> = from_texts.iter().map(|text| code_of(texts, text)).collect();
            to.extend(from.iter().map(|code| codes.get(usize::from(*code)).copied().unwrap_or(0)));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{Placed, empty, extend, place};
    use crate::codec::Chunk;
    use crate::point::{Value, ValueKind};
    use proptest::{collection::vec, prelude::*};
    use std::collections::BTreeMap;

    fn listed(rows: &Chunk) -> Vec<(i64, Option<u64>)> {
        rows.points()
            .map(|point| match point.value {
                Value::Float(float) => (point.timestamp.0, Some(float.to_bits())),
                _ => (point.timestamp.0, None),
            })
            .collect()
    }

    proptest! {
        #[test]
        fn same_as_a_map(points in vec((0i64..40, proptest::option::of(-5i8..5)), 1..80)) {
            let mut rows = empty(ValueKind::Float);
            let mut map = BTreeMap::new();
            for (at, value) in &points {
                let value = value.map(f64::from);
                let placed = place(&mut rows, *at, &value.map_or(Value::Gap, Value::Float)).expect("floats");
                let last = map.keys().next_back().is_none_or(|last| last < at);
                let replaced = map.insert(*at, value.map(f64::to_bits)).is_some();
                prop_assert_eq!(placed == Placed::Replaced, replaced);
                prop_assert_eq!(placed == Placed::Appended, last);
            }
            prop_assert_eq!(listed(&rows), map.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn kinds_that_fit_join_and_others_say_so() {
        let mut integers = empty(ValueKind::Integer);
        assert_eq!(place(&mut integers, 1, &Value::Integer(i64::MAX)), Some(Placed::Appended));
        assert_eq!(place(&mut integers, 2, &Value::Float(5.0)), Some(Placed::Appended));
        assert_eq!(place(&mut integers, 3, &Value::Float(-0.0)), None);
        assert_eq!(place(&mut integers, 3, &Value::Float(5.5)), None);
        let mut booleans = empty(ValueKind::Boolean);
        assert_eq!(place(&mut booleans, 1, &Value::Float(1.0)), None);
        let mut states = empty(ValueKind::State);
        let mut more = empty(ValueKind::State);
        assert_eq!(place(&mut states, 1, &Value::State("on")), Some(Placed::Appended));
        place(&mut more, 2, &Value::State("off"));
        place(&mut more, 3, &Value::State("on"));
        extend(&mut states, &more);
        let texts: Vec<_> = states.points().map(|point| format!("{:?}", point.value)).collect();
        assert_eq!(texts, ["State(\"on\")", "State(\"off\")", "State(\"on\")"]);
    }
}
