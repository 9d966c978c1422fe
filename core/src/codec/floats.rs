//! Columns of floats, written.
//!
//! ```text
//! raw          value (8) for each row
//! constant     value (8)
//! decimal      decimals (1), exceptions, the integers as a divided column
//! single       the same, through binary32
//! rational     head (see `rational`), exceptions, the integers as a divided column,
//!              if flagged a stream of corrections, one for each row
//! dictionary   see `dictionary`
//! dfcm         see `dfcm`
//! bits         the bits in the order of values, as a predicted column
//! exceptions   count (varint), their rows (as a list of gaps), then the value (8) of each
//! ```
//!
//! The rows of exceptions hold any integer in the column; the encoder repeats the one before.

use super::{
    Entries, Model, Predictor, ValuePlan,
    blocks::{self, MINI},
    bytes::Sink,
    dfcm, dictionary, gaps,
    grid::{self, from_ordered, ordered},
    numbers,
};

/// Of this many rows on a grid, one may be off it before the plan is given up.
const EXCEPTION_SHARE: usize = 4;

/// Memory for a column: a slot for each value in every part.
#[derive(Debug)]
pub(super) struct Memory<'a> {
    /// The integers of the column.
    pub(super) numbers: &'a mut [i64],
    /// Corrections of a rational grid, keys of a dictionary.
    pub(super) corrections: &'a mut [i64],
    /// Rows that are off the grid.
    pub(super) exceptions: &'a mut [i64],
    /// A hash table of a dictionary.
    pub(super) steps: &'a mut [i64],
}

/// A column of floats as integers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prepared {
    /// The model that the values could be prepared for.
    pub(super) model: Model,
    /// How many rows are off the grid.
    pub(super) exceptions: usize,
    /// Whether a correction is not 0.
    pub(super) corrected: bool,
    /// Distinct values in the dictionary.
    pub(super) entries: usize,
}

/// How many rows of so many may be off the grid before it is given up.
pub(super) const fn exceptions_max(rows: usize) -> usize {
    rows / EXCEPTION_SHARE + 1
}

/// Turns `values` into integers for `model`, or by their bits where they are not what it expects.
pub(super) fn prepare(
    values: impl ExactSizeIterator<Item = f64> + Clone,
    model: Model,
    memory: &mut Memory,
) -> Prepared {
    let exact = Prepared { model, exceptions: 0, corrected: false, entries: 0 };
    let rows = values.len();
    match model {
        Model::Raw | Model::Dfcm => return exact,
        Model::Constant => {
            let mut bits = values.clone().map(f64::to_bits);
            let first = bits.next();
            if bits.all(|bits| Some(bits) == first) {
                return exact;
            }
        }
        Model::Decimal { decimals } => {
            let power = grid::power(decimals).unwrap_or(1.0);
            let all = |values: &[f64], out: &mut [i64]| grid::all_to_power(values, power, out);
            let exceptions = place(values.clone(), memory, all, |value| grid::to_power(value, power));
            if exceptions <= exceptions_max(rows) {
                return Prepared { exceptions, ..exact };
            }
        }
        Model::Single { decimals } => {
            let power = grid::power(decimals).unwrap_or(1.0);
            let all = |values: &[f64], out: &mut [i64]| grid::all_to_single(values, power, out);
            let exceptions = place(values.clone(), memory, all, |value| grid::to_single(value, power));
            if exceptions <= exceptions_max(rows) {
                return Prepared { exceptions, ..exact };
            }
        }
        Model::Rational(rational) => {
            let scaled = rational.scaled();
            let (exceptions, corrected) = place_corrected(values.clone(), memory, scaled);
            if exceptions <= exceptions_max(rows) {
                return Prepared { exceptions, corrected, ..exact };
            }
        }
        Model::Dictionary { .. } => {
            let Memory { numbers, corrections: keys, exceptions: ranks, steps: table } = memory;
            if let Some(entries) = dictionary::build(values.clone(), numbers, keys, ranks, table) {
                return Prepared { entries, ..exact };
            }
        }
        _ => {}
    }
    for (to, value) in memory.numbers.iter_mut().zip(values) {
        *to = ordered(value);
    }
    Prepared { model: Model::Bits, ..exact }
}

/// Puts each value on a grid; the rows that are off it become exceptions. How many those are.
///
/// `all` is tried first, on a few values at a time; `one` decides where that fails.
fn place(
    mut values: impl Iterator<Item = f64>,
    memory: &mut Memory,
    all: impl Fn(&[f64], &mut [i64]) -> bool,
    one: impl Fn(f64) -> Option<i64>,
) -> usize {
    let mut found = 0;
    let mut held = 0;
    let mut begin = 0;
    let mut buffer = [0.0; MINI];
    loop {
        let mut count = 0;
        for (slot, value) in buffer.iter_mut().zip(values.by_ref()) {
            *slot = value;
            count += 1;
        }
        let block = buffer.get(..count).unwrap_or_default();
        let Some(out) = memory.numbers.get_mut(begin..begin + count).filter(|out| !out.is_empty()) else {
            break;
        };
        if all(block, out) {
            held = out.last().copied().unwrap_or_default();
        } else {
            for (row, (to, &value)) in (begin..).zip(out.iter_mut().zip(block)) {
                match one(value) {
                    Some(integer) => held = integer,
                    None => {
                        if let Some(exception) = memory.exceptions.get_mut(found) {
                            *exception = row as i64;
                        }
                        found += 1;
                    }
                }
                *to = held;
            }
        }
        begin += count;
    }
    repeat_first(memory.numbers, memory.exceptions.get(..found).unwrap_or_default());
    found
}

/// The same with corrections, which are 0 for exceptions; how many those are, and whether any
/// correction is not 0.
fn place_corrected(
    values: impl Iterator<Item = f64>,
    memory: &mut Memory,
    grid: super::rational::Scaled,
) -> (usize, bool) {
    let mut found = 0;
    let mut held = 0;
    let mut all = 0;
    let columns = memory.numbers.iter_mut().zip(memory.corrections.iter_mut());
    for (row, ((to, to_correction), value)) in columns.zip(values).enumerate() {
        *to_correction = 0;
        match grid.integer(value) {
            Some((integer, correction)) => {
                held = integer;
                all |= correction;
                *to_correction = correction;
            }
            None => {
                if let Some(exception) = memory.exceptions.get_mut(found) {
                    *exception = row as i64;
                }
                found += 1;
            }
        }
        *to = held;
    }
    repeat_first(memory.numbers, memory.exceptions.get(..found).unwrap_or_default());
    (found, all != 0)
}

/// Gives exceptions before the first integer that one.
fn repeat_first(numbers: &mut [i64], exceptions: &[i64]) {
    let leading = (0..).zip(exceptions).take_while(|(index, row)| index == *row).count();
    if let Some((front, [first, ..])) = numbers.split_at_mut_checked(leading) {
        front.fill(*first);
    }
}

/// Writes `values` and gives the plan that was followed in the end.
pub(super) fn write(
    values: impl ExactSizeIterator<Item = f64> + Clone,
    plan: ValuePlan,
    memory: &mut Memory,
    sink: &mut Sink,
) -> ValuePlan {
    let rows = values.len();
    let prepared = prepare(values.clone(), plan.model, memory);
    let Some(numbers) = memory.numbers.get_mut(..rows) else { return plan };
    let exceptions = memory.exceptions.get(..prepared.exceptions).unwrap_or_default();
    match prepared.model {
        Model::Raw => values.for_each(|value| sink.u64(value.to_bits())),
        Model::Constant => sink.u64(values.clone().next().unwrap_or_default().to_bits()),
        Model::Dfcm => dfcm::write(values, sink),
        Model::Decimal { decimals } | Model::Single { decimals } => {
            sink.byte(decimals);
            write_exceptions(values, exceptions, sink);
            numbers::write_divided(numbers, plan.predictor, sink);
        }
        Model::Rational(rational) => {
            rational.write(prepared.corrected, sink);
            write_exceptions(values, exceptions, sink);
            numbers::write_divided(numbers, plan.predictor, sink);
            if prepared.corrected {
                blocks::write(memory.corrections.get(..rows).unwrap_or_default(), sink);
            }
        }
        Model::Dictionary { entries: coded } => {
            write_entries(prepared.entries, coded, memory, sink);
            numbers::write_predicted(memory.numbers.get(..rows).unwrap_or_default(), plan.predictor, sink);
        }
        _ => numbers::write_predicted(numbers, plan.predictor, sink),
    }
    ValuePlan { model: prepared.model, ..plan }
}

/// The bytes of the entries of a prepared dictionary.
pub(super) fn entries_len(entries: usize, coded: Entries, memory: &mut Memory) -> usize {
    let mut sink = Sink::new(&mut []);
    write_entries(entries, coded, memory, &mut sink);
    sink.len()
}

/// Writes the keys of a dictionary, which lie among the corrections; the codes stay among the numbers.
fn write_entries(entries: usize, coded: Entries, memory: &mut Memory, sink: &mut Sink) {
    sink.varint((entries as u64).saturating_sub(1));
    let keys = memory.corrections.get(..entries).unwrap_or_default().iter();
    let values = keys.map(|&key| from_ordered(key));
    let mut inner = Memory {
        numbers: &mut *memory.steps,
        corrections: &mut [],
        exceptions: &mut *memory.exceptions,
        steps: &mut [],
    };
    let prepared = prepare(values.clone(), coded.model(), &mut inner);
    let Some(numbers) = inner.numbers.get_mut(..entries) else { return };
    if prepared.model == Model::Bits {
        sink.byte(Entries::Bits.code());
        numbers::write_predicted(numbers, Predictor::Last, sink);
    } else {
        sink.byte(coded.code());
        write_exceptions(values, inner.exceptions.get(..prepared.exceptions).unwrap_or_default(), sink);
        numbers::write_divided(numbers, Predictor::Last, sink);
    }
}

fn write_exceptions(values: impl ExactSizeIterator<Item = f64> + Clone, rows: &[i64], sink: &mut Sink) {
    sink.varint(rows.len() as u64);
    gaps::write_rows(rows.iter().map(|&row| row as u64), sink);
    let mut listed = rows.iter().peekable();
    if !rows.is_empty() {
        for (row, value) in (0..).zip(values) {
            if listed.next_if_eq(&&row).is_some() {
                sink.u64(value.to_bits());
            }
        }
    }
}
