//! Coding of a reference table, without a heap: a column is computed, packed, and forgotten.

use super::TABLE_MAX;
use super::columns::{
    CHANGES, EXPLICIT, GAPS, LEVEL, NUMBERS, RESETS, ROUNDED, SERIES, TAGS, WORDS, code_of, expected_squares,
    expected_sum, form_of, sorted, tag_of,
};
use crate::codec::bytes::Sink;
use crate::tree::column;
use crate::tree::number::{Number, ordered_bits};
use crate::tree::reference::Reference;
use crate::tree::summary::{Hold, Numbers};
use crate::tree::sums::Sums;

/// Codes `references` with series and level columns where `wide` is set; gives the bytes used.
///
/// `scratch` holds one column. `None` where `out` or `scratch` is too small, or there are no references or
/// more than [`TABLE_MAX`].
pub fn encode(references: &[Reference], wide: bool, scratch: &mut [i128], out: &mut [u8]) -> Option<usize> {
    let mut sink = Sink::new(out);
    put(references, wide, scratch, &mut sink)?;
    sink.fits().then_some(sink.len())
}

/// How many bytes [`encode`] would use.
pub fn encoded_len(references: &[Reference], wide: bool, scratch: &mut [i128]) -> Option<usize> {
    let mut sink = Sink::new(&mut []);
    put(references, wide, scratch, &mut sink)?;
    Some(sink.len())
}

fn put(references: &[Reference], wide: bool, scratch: &mut [i128], sink: &mut Sink<'_>) -> Option<()> {
    if references.is_empty() || references.len() > TABLE_MAX {
        return None;
    }
    let column = scratch.get_mut(..references.len())?;
    let base = references.first()?.summary.begin;
    let times = Times::of(references, base);
    let flags = flags_of(references, wide);
    sink.varint(references.len() as u64);
    sink.varint(flags);
    sink.zigzag(base);
    sink.varint(times.unit as u64);
    sink.varint(times.step as u64);
    let mut table =
        Columns { references, column, sink, unit: i128::from(times.unit), step: i128::from(times.step) };
    table.places(flags);
    table.counts(flags);
    table.times();
    if flags & NUMBERS != 0 {
        table.numbers(flags);
        table.sums();
        table.conditional(flags);
    }
    if flags & WORDS != 0 {
        table.words();
    }
    Some(())
}

fn flags_of(references: &[Reference], wide: bool) -> u64 {
    let mut flags = if wide { SERIES | LEVEL } else { 0 };
    let (mut resets, mut changes) = (true, true);
    for reference in references {
        let summary = &reference.summary;
        if let Some(numbers) = &summary.numbers {
            let kept = numbers.trimmed();
            flags |= NUMBERS;
            resets &= kept.resets.is_some();
            changes &= kept.changes.is_some();
            if matches!(numbers.hold, Hold::Explicit { .. }) {
                flags |= EXPLICIT;
            }
            let form = form_in(numbers);
            if four(numbers).iter().any(|number| tag_of(*number, form)) {
                flags |= TAGS;
            }
        }
        if summary.words.is_some() {
            flags |= WORDS;
        }
        if summary.gaps > 0 || summary.nans > 0 {
            flags |= GAPS;
        }
    }
    if flags & NUMBERS != 0 {
        flags |= if resets { RESETS } else { 0 } | if changes { CHANGES } else { 0 };
    }
    flags
}

fn four(numbers: &Numbers) -> [Number; 4] {
    [numbers.first, numbers.last, numbers.min, numbers.max]
}

fn form_in(numbers: &Numbers) -> u8 {
    form_of(&numbers.sums, &four(numbers))
}

/// Unit of all times of a table, and the step that predicts spans.
struct Times {
    unit: i64,
    step: i64,
}

impl Times {
    fn of(references: &[Reference], base: i64) -> Self {
        let mut unit = 0u64;
        let mut step_ns = 0i128;
        for reference in references {
            let summary = &reference.summary;
            let begin = i128::from(summary.begin);
            let last = i128::from(summary.end) - 1;
            let mut meet = |difference: i128| unit = gcd(unit, difference.unsigned_abs());
            meet(begin - i128::from(base));
            meet(last - begin);
            if let Some(numbers) = &summary.numbers {
                for at in [numbers.first_at, numbers.last_at, numbers.min_at, numbers.max_at] {
                    meet(i128::from(at) - begin);
                }
                if let Hold::Step(step) = numbers.hold {
                    meet(i128::from(step));
                }
            }
            if let Some(words) = &summary.words {
                meet(i128::from(words.first_at) - begin);
                meet(i128::from(words.last_at) - begin);
            }
            let steps = i128::from(summary.rows()) - 1;
            if step_ns == 0 && steps > 0 {
                step_ns = (last - begin) / steps;
            }
        }
        let unit = i64::try_from(unit).unwrap_or(1).max(1);
        let step = i64::try_from(step_ns / i128::from(unit)).unwrap_or(0).max(0);
        Self { unit, step }
    }
}

fn gcd(a: u64, b: u128) -> u64 {
    if b == 0 {
        return a;
    }
    // A difference beyond 64 bits has no unit worth finding.
    let Ok(mut b) = u64::try_from(b) else { return 1 };
    let mut a = a;
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

struct Columns<'t, 'o> {
    references: &'t [Reference],
    column: &'t mut [i128],
    sink: &'t mut Sink<'o>,
    unit: i128,
    step: i128,
}

impl Columns<'_, '_> {
    /// Puts the column of `value(reference, the one before)`.
    fn put(&mut self, mut value: impl FnMut(&Reference, Option<&Reference>) -> i128) {
        let mut before = None;
        for (to, reference) in self.column.iter_mut().zip(self.references) {
            *to = value(reference, before);
            before = Some(reference);
        }
        column::put(self.column, self.sink);
    }

    /// Puts a column of the numbers; references without numbers have 0 and are passed over.
    fn put_numbers(&mut self, mut value: impl FnMut(&Reference, &Numbers, Option<&Numbers>) -> i128) {
        let mut before = None;
        for (to, reference) in self.column.iter_mut().zip(self.references) {
            *to = 0;
            if let Some(numbers) = &reference.summary.numbers {
                *to = value(reference, numbers, before);
                before = Some(numbers);
            }
        }
        column::put(self.column, self.sink);
    }

    fn places(&mut self, flags: u64) {
        self.put(|r, before| i128::from(r.block) - before.map_or(0, |b| i128::from(b.block)));
        self.put(|r, _| i128::from(r.slot));
        if flags & SERIES != 0 {
            self.put(|r, before| i128::from(r.series) - before.map_or(0, |b| i128::from(b.series)));
        }
        if flags & LEVEL != 0 {
            self.put(|r, _| i128::from(r.level));
        }
    }

    fn counts(&mut self, flags: u64) {
        if flags & NUMBERS != 0 {
            self.put(|r, _| i128::from(r.summary.numbers.map_or(0, |numbers| numbers.count)));
        }
        if flags & WORDS != 0 {
            self.put(|r, _| i128::from(r.summary.words.map_or(0, |words| words.count)));
        }
        if flags & GAPS != 0 {
            self.put(|r, _| i128::from(r.summary.gaps));
            self.put(|r, _| i128::from(r.summary.nans));
            self.put(|r, _| i128::from(r.summary.gap_before) | i128::from(r.summary.gap_behind) << 1);
        }
    }

    fn times(&mut self) {
        let (unit, step) = (self.unit, self.step);
        self.put(|r, before| {
            before.map_or(0, |b| (i128::from(r.summary.begin) - i128::from(b.summary.end) + 1) / unit)
        });
        self.put(|r, _| {
            let span = i128::from(r.summary.end) - 1 - i128::from(r.summary.begin);
            span / unit - (i128::from(r.summary.rows()) - 1) * step
        });
    }

    fn numbers(&mut self, flags: u64) {
        let unit = self.unit;
        let since = move |at: i64, r: &Reference| (i128::from(at) - i128::from(r.summary.begin)) / unit;
        self.put_numbers(|r, n, _| since(n.first_at, r));
        self.put_numbers(|r, n, _| (i128::from(r.summary.end) - 1 - i128::from(n.last_at)) / unit);
        self.put_numbers(|r, n, _| since(n.min_at, r));
        self.put_numbers(|r, n, _| since(n.max_at, r));
        self.put_numbers(|_, n, _| i128::from(form_in(n)));
        if flags & TAGS != 0 {
            self.put_numbers(|_, n, _| i128::from(tags_in(n)));
        }
        self.put_numbers(|_, n, before| {
            let form = form_in(n);
            let alike = before.filter(|b| form_in(b) == form && tags_in(b) == tags_in(n));
            i128::from(code_of(n.first, form)) - alike.map_or(0, |b| i128::from(code_of(b.last, form)))
        });
        self.put_numbers(|_, n, _| {
            let form = form_in(n);
            i128::from(code_of(n.last, form)) - i128::from(code_of(n.first, form))
        });
        self.put_numbers(|_, n, _| {
            let form = form_in(n);
            let (low, _) = sorted(code_of(n.first, form), code_of(n.last, form));
            i128::from(low) - i128::from(code_of(n.min, form))
        });
        self.put_numbers(|_, n, _| {
            let form = form_in(n);
            let (_, high) = sorted(code_of(n.first, form), code_of(n.last, form));
            i128::from(code_of(n.max, form)) - i128::from(high)
        });
    }

    fn sums(&mut self) {
        self.put_numbers(|_, n, _| {
            let form = form_in(n);
            match n.sums {
                Sums::Exact { sum, .. } if form != ROUNDED => {
                    sum.wrapping_sub(expected_sum(n.count, code_of(n.min, form), code_of(n.max, form)))
                }
                _ => i128::from(ordered_bits(n.sums.sum())),
            }
        });
        self.put_numbers(|_, n, _| match n.sums {
            Sums::Exact { sum, squares, .. } if form_in(n) != ROUNDED => {
                squares.wrapping_sub(expected_squares(n.count, sum))
            }
            _ => i128::from(ordered_bits(n.sums.m2(n.count))),
        });
    }

    fn conditional(&mut self, flags: u64) {
        let unit = self.unit;
        if flags & RESETS != 0 {
            self.put_numbers(|_, n, _| i128::from(n.trimmed().resets.unwrap_or(0)));
            self.put_numbers(|_, n, _| match n.trimmed().sums {
                Sums::Exact { fallen, .. } if form_in(n) != ROUNDED => fallen,
                sums => i128::from(ordered_bits(sums.fallen())),
            });
        }
        if flags & CHANGES != 0 {
            self.put_numbers(|_, n, _| i128::from(n.changes.unwrap_or(0)));
        }
        self.put_numbers(|_, n, _| match n.hold {
            Hold::Step(step) => 1 + i128::from(step) / unit,
            Hold::Explicit { .. } => 0,
        });
        if flags & EXPLICIT != 0 {
            self.explicit(|stepwise, _| stepwise);
            self.explicit(|_, linear| linear);
        }
    }

    fn explicit(&mut self, choose: impl Fn(f64, f64) -> f64) {
        let mut before = 0;
        self.put_numbers(|_, n, _| match n.hold {
            Hold::Explicit { stepwise, linear } => {
                let bits = i128::from(ordered_bits(choose(stepwise, linear)));
                let value = bits - before;
                before = bits;
                value
            }
            Hold::Step(_) => 0,
        });
    }

    fn words(&mut self) {
        let unit = self.unit;
        let since = move |at: i64, r: &Reference| (i128::from(at) - i128::from(r.summary.begin)) / unit;
        self.put(|r, _| r.summary.words.map_or(0, |words| i128::from(words.first as i64)));
        self.put(|r, _| r.summary.words.map_or(0, |words| i128::from(words.last as i64)));
        self.put(|r, _| r.summary.words.map_or(0, |words| since(words.first_at, r)));
        self.put(|r, _| r.summary.words.map_or(0, |words| since(words.last_at, r)));
        self.put(|r, _| r.summary.words.map_or(0, |words| i128::from(words.changes)));
    }
}

fn tags_in(numbers: &Numbers) -> u8 {
    let form = form_in(numbers);
    let mut tags = 0;
    for (bit, number) in four(numbers).into_iter().enumerate() {
        tags |= u8::from(tag_of(number, form)) << bit;
    }
    tags
}
