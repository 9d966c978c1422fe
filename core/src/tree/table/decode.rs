//! Decoding of a reference table: total, and bounded by [`TABLE_MAX`] references.

use super::columns::{
    CHANGES, EXPLICIT, GAPS, KNOWN, LEVEL, NUMBERS, RESETS, ROUNDED, SERIES, TAGS, WORDS, expected_squares,
    expected_sum, number_of, sorted,
};
use super::{TABLE_MAX, TableError};
use crate::block::Cursor;
use crate::tree::column;
use crate::tree::number::from_ordered_bits;
use crate::tree::reference::Reference;
use crate::tree::summary::{Hold, Numbers, Summary, Words};
use crate::tree::sums::{DECIMALS_MAX, Sums};
use alloc::vec;
use alloc::vec::Vec;

/// Decodes the table at the cursor. Without a series or level column, references get those given.
///
/// # Errors
/// Whatever makes the bytes no table; memory is bounded by [`TABLE_MAX`] references.
pub fn decode(cursor: &mut Cursor<'_>, series: u32, level: u8) -> Result<Vec<Reference>, TableError> {
    let count = usize::try_from(cursor.varint()?).unwrap_or(usize::MAX);
    if count == 0 || count > TABLE_MAX {
        return Err(TableError::Limit);
    }
    let flags = cursor.varint()?;
    let base = cursor.zigzag()?;
    let unit = cursor.varint()?;
    let step = cursor.varint()?;
    if flags & !KNOWN != 0 || unit == 0 {
        return Err(TableError::Flags);
    }
    let empty = Reference { series, block: 0, slot: 0, level, summary: Summary::EMPTY };
    let mut table = Table {
        references: vec![empty; count],
        codes: vec![Codes::default(); count],
        column: vec![0; count],
        cursor,
        unit: i128::from(unit),
        step: i128::from(step),
    };
    table.places(flags)?;
    table.counts(flags)?;
    table.times(base)?;
    if flags & NUMBERS != 0 {
        table.numbers(flags)?;
        table.sums()?;
        table.conditional(flags)?;
    }
    if flags & WORDS != 0 {
        table.words()?;
    }
    Ok(table.references)
}

/// What later columns need of the numbers' integers.
#[derive(Clone, Copy, Default)]
struct Codes {
    form: u8,
    tags: u8,
    first: i64,
    last: i64,
    min: i64,
    max: i64,
}

struct Table<'t, 'b> {
    references: Vec<Reference>,
    codes: Vec<Codes>,
    column: Vec<i128>,
    cursor: &'t mut Cursor<'b>,
    unit: i128,
    step: i128,
}

fn count_of(value: i128) -> Result<u64, TableError> {
    u64::try_from(value).ok().filter(|count| *count <= i64::MAX as u64).ok_or(TableError::Value)
}

fn time_of(value: i128) -> Result<i64, TableError> {
    i64::try_from(value).map_err(|_| TableError::Value)
}

impl Table<'_, '_> {
    /// Reads the next column and gives each value to its reference.
    fn each(
        &mut self,
        mut set: impl FnMut(&mut Reference, &mut Codes, i128) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        column::get(self.cursor, &mut self.column)?;
        for ((reference, codes), value) in self.references.iter_mut().zip(&mut self.codes).zip(&self.column) {
            set(reference, codes, *value)?;
        }
        Ok(())
    }

    /// The same for references that have numbers.
    fn each_number(
        &mut self,
        mut set: impl FnMut(&Summary, &mut Numbers, &mut Codes, i128) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        self.each(|reference, codes, value| {
            let summary = reference.summary;
            match &mut reference.summary.numbers {
                Some(numbers) => set(&summary, numbers, codes, value),
                None => Ok(()),
            }
        })
    }

    fn places(&mut self, flags: u64) -> Result<(), TableError> {
        let mut block = 0i128;
        self.each(|reference, _, value| {
            block = block.checked_add(value).ok_or(TableError::Value)?;
            reference.block = u32::try_from(block).map_err(|_| TableError::Value)?;
            Ok(())
        })?;
        self.each(|reference, _, value| {
            reference.slot = u16::try_from(value).map_err(|_| TableError::Value)?;
            Ok(())
        })?;
        if flags & SERIES != 0 {
            let mut series = 0i128;
            self.each(|reference, _, value| {
                series = series.checked_add(value).ok_or(TableError::Value)?;
                reference.series = u32::try_from(series).map_err(|_| TableError::Value)?;
                Ok(())
            })?;
        }
        if flags & LEVEL != 0 {
            self.each(|reference, _, value| {
                reference.level = u8::try_from(value).map_err(|_| TableError::Value)?;
                Ok(())
            })?;
        }
        Ok(())
    }

    fn counts(&mut self, flags: u64) -> Result<(), TableError> {
        if flags & NUMBERS != 0 {
            self.each(|reference, _, value| {
                let count = count_of(value)?;
                let placeholder = Numbers::of_one(number_of(0, 0, false), 0, Sums::of_grid(0, 0), None);
                reference.summary.numbers = (count > 0).then_some(Numbers { count, ..placeholder });
                Ok(())
            })?;
        }
        if flags & WORDS != 0 {
            self.each(|reference, _, value| {
                let count = count_of(value)?;
                let words = Words { count, first: 0, first_at: 0, last: 0, last_at: 0, changes: 0 };
                reference.summary.words = (count > 0).then_some(words);
                Ok(())
            })?;
        }
        if flags & GAPS != 0 {
            self.each(|reference, _, value| {
                reference.summary.gaps = count_of(value)?;
                Ok(())
            })?;
            self.each(|reference, _, value| {
                reference.summary.nans = count_of(value)?;
                Ok(())
            })?;
            self.each(|reference, _, value| {
                if !(0..=3).contains(&value) {
                    return Err(TableError::Value);
                }
                reference.summary.gap_before = value & 1 != 0;
                reference.summary.gap_behind = value & 2 != 0;
                Ok(())
            })?;
        }
        Ok(())
    }

    fn times(&mut self, base: i64) -> Result<(), TableError> {
        let (unit, step) = (self.unit, self.step);
        let scaled = |value: i128| value.checked_mul(unit).ok_or(TableError::Value);
        // Begins hang on ends, and those on spans: begins wait as distances until the spans are known.
        let mut distances = vec![0i128; self.references.len()];
        column::get(self.cursor, &mut distances)?;
        column::get(self.cursor, &mut self.column)?;
        let mut last = i128::from(base);
        for ((reference, distance), residual) in self.references.iter_mut().zip(&distances).zip(&self.column)
        {
            let begin = last.checked_add(scaled(*distance)?).ok_or(TableError::Value)?;
            reference.summary.begin = time_of(begin)?;
            let rows = i128::from(reference.summary.rows());
            let predicted =
                rows.checked_sub(1).and_then(|steps| steps.checked_mul(step)).ok_or(TableError::Value)?;
            let span = scaled(residual.checked_add(predicted).ok_or(TableError::Value)?)?;
            last = begin.checked_add(span).ok_or(TableError::Value)?;
            reference.summary.end = time_of(last)?.checked_add(1).ok_or(TableError::Value)?;
            if rows > 0 && reference.summary.is_empty() {
                return Err(TableError::Value);
            }
        }
        Ok(())
    }

    fn numbers(&mut self, flags: u64) -> Result<(), TableError> {
        let unit = self.unit;
        let after = move |from: i64, value: i128| -> Result<i64, TableError> {
            let distance = value.checked_mul(unit).ok_or(TableError::Value)?;
            time_of(i128::from(from).checked_add(distance).ok_or(TableError::Value)?)
        };
        self.each_number(|summary, numbers, _, value| {
            numbers.first_at = after(summary.begin, value)?;
            Ok(())
        })?;
        self.each_number(|summary, numbers, _, value| {
            numbers.last_at =
                after(summary.end.wrapping_sub(1), value.checked_neg().ok_or(TableError::Value)?)?;
            Ok(())
        })?;
        self.each_number(|summary, numbers, _, value| {
            numbers.min_at = after(summary.begin, value)?;
            Ok(())
        })?;
        self.each_number(|summary, numbers, _, value| {
            numbers.max_at = after(summary.begin, value)?;
            Ok(())
        })?;
        self.each_number(|_, _, codes, value| {
            codes.form = u8::try_from(value).map_err(|_| TableError::Value)?;
            if codes.form > DECIMALS_MAX && codes.form != ROUNDED { Err(TableError::Value) } else { Ok(()) }
        })?;
        if flags & TAGS != 0 {
            self.each_number(|_, _, codes, value| {
                codes.tags = u8::try_from(value).ok().filter(|tags| *tags < 16).ok_or(TableError::Value)?;
                Ok(())
            })?;
        }
        self.codes()
    }

    fn codes(&mut self) -> Result<(), TableError> {
        column::get(self.cursor, &mut self.column)?;
        let firsts = self.column.clone();
        column::get(self.cursor, &mut self.column)?;
        let mut before: Option<Codes> = None;
        let numbered = self.references.iter().map(|reference| reference.summary.numbers.is_some());
        for (((codes, first), last), numbered) in
            self.codes.iter_mut().zip(&firsts).zip(&self.column).zip(numbered)
        {
            if numbered {
                let alike = before.filter(|b| b.form == codes.form && b.tags == codes.tags);
                codes.first = alike.map_or(0, |b| b.last).wrapping_add(*first as i64);
                codes.last = codes.first.wrapping_add(*last as i64);
                before = Some(*codes);
            }
        }
        self.each_number(|_, _, codes, value| {
            codes.min = sorted(codes.first, codes.last).0.wrapping_sub(value as i64);
            Ok(())
        })?;
        self.each_number(|_, numbers, codes, value| {
            codes.max = sorted(codes.first, codes.last).1.wrapping_add(value as i64);
            let number = |code: i64, bit: u8| number_of(code, codes.form, codes.tags >> bit & 1 != 0);
            numbers.first = number(codes.first, 0);
            numbers.last = number(codes.last, 1);
            numbers.min = number(codes.min, 2);
            numbers.max = number(codes.max, 3);
            Ok(())
        })
    }

    fn sums(&mut self) -> Result<(), TableError> {
        self.each_number(|_, numbers, codes, value| {
            numbers.sums = if codes.form == ROUNDED {
                Sums::of_float(from_ordered_bits(value as i64))
            } else {
                let sum = value.wrapping_add(expected_sum(numbers.count, codes.min, codes.max));
                Sums::Exact { decimals: codes.form, sum, squares: 0, fallen: 0 }
            };
            Ok(())
        })?;
        self.each_number(|_, numbers, _, value| {
            match &mut numbers.sums {
                Sums::Exact { sum, squares, .. } => {
                    *squares = value.wrapping_add(expected_squares(numbers.count, *sum));
                }
                Sums::Rounded { m2, .. } => *m2 = from_ordered_bits(value as i64),
            }
            Ok(())
        })
    }

    fn conditional(&mut self, flags: u64) -> Result<(), TableError> {
        let unit = self.unit;
        self.each_kept(flags & RESETS != 0, |numbers, kept| numbers.resets = kept)?;
        if flags & RESETS != 0 {
            self.each_number(|_, numbers, _, value| {
                match &mut numbers.sums {
                    Sums::Exact { fallen, .. } => *fallen = value,
                    Sums::Rounded { fallen, .. } => *fallen = from_ordered_bits(value as i64),
                }
                Ok(())
            })?;
        }
        self.each_kept(flags & CHANGES != 0, |numbers, kept| numbers.changes = kept)?;
        self.each_number(|_, numbers, _, value| {
            numbers.hold = match value {
                0 => Hold::Explicit { stepwise: 0.0, linear: 0.0 },
                _ => {
                    let steps = value.checked_sub(1).filter(|steps| *steps >= 0).ok_or(TableError::Value)?;
                    Hold::Step(time_of(steps.checked_mul(unit).ok_or(TableError::Value)?)?)
                }
            };
            Ok(())
        })?;
        if flags & EXPLICIT != 0 {
            self.explicit(|hold, value| {
                if let Hold::Explicit { stepwise, .. } = hold {
                    *stepwise = value;
                }
            })?;
            self.explicit(|hold, value| {
                if let Hold::Explicit { linear, .. } = hold {
                    *linear = value;
                }
            })?;
        }
        Ok(())
    }

    /// A count that is kept by all or by none.
    fn each_kept(
        &mut self,
        kept: bool,
        mut set: impl FnMut(&mut Numbers, Option<u64>),
    ) -> Result<(), TableError> {
        if kept {
            return self.each_number(|_, numbers, _, value| {
                set(numbers, Some(count_of(value)?));
                Ok(())
            });
        }
        for reference in &mut self.references {
            if let Some(numbers) = &mut reference.summary.numbers {
                set(numbers, None);
            }
        }
        Ok(())
    }

    fn explicit(&mut self, mut set: impl FnMut(&mut Hold, f64)) -> Result<(), TableError> {
        let mut before = 0i64;
        self.each_number(|_, numbers, _, value| {
            if matches!(numbers.hold, Hold::Explicit { .. }) {
                before = before.wrapping_add(value as i64);
                set(&mut numbers.hold, from_ordered_bits(before));
            }
            Ok(())
        })
    }

    fn words(&mut self) -> Result<(), TableError> {
        let unit = self.unit;
        let at = move |begin: i64, value: i128| -> Result<i64, TableError> {
            let distance = value.checked_mul(unit).ok_or(TableError::Value)?;
            time_of(i128::from(begin).checked_add(distance).ok_or(TableError::Value)?)
        };
        self.each_word(|_, words, value| {
            words.first = value as i64 as u64;
            Ok(())
        })?;
        self.each_word(|_, words, value| {
            words.last = value as i64 as u64;
            Ok(())
        })?;
        self.each_word(|begin, words, value| {
            words.first_at = at(begin, value)?;
            Ok(())
        })?;
        self.each_word(|begin, words, value| {
            words.last_at = at(begin, value)?;
            Ok(())
        })?;
        self.each_word(|_, words, value| {
            words.changes = count_of(value)?;
            Ok(())
        })
    }

    fn each_word(
        &mut self,
        mut set: impl FnMut(i64, &mut Words, i128) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        self.each(|reference, _, value| {
            let begin = reference.summary.begin;
            reference.summary.words.as_mut().map_or(Ok(()), |words| set(begin, words, value))
        })
    }
}
