//! Columns of floats.
//!
//! ```text
//! raw        value (8) for each row
//! constant   value (8)
//! decimal    decimals (1), exceptions, the integers as a divided column
//! single     the same, through binary32
//! bits       the bits in the order of values, as a predicted column
//! exceptions count (varint), their rows (as a list of gaps), then the value (8) of each
//! ```
//!
//! The rows of exceptions hold any integer in the column; the encoder repeats the one before.

use super::{
    CodecError, Defect, Model, ValuePlan,
    bytes::{Sink, Source},
    gaps, grid, numbers,
    plan::ValueCodec,
};

/// Of this many rows on a grid, one may be off it before the plan is given up.
const EXCEPTION_SHARE: usize = 4;

/// A column of floats as integers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prepared {
    /// The plan that the values could be prepared for.
    pub(super) plan: ValuePlan,
    /// How many rows are off the grid.
    pub(super) exceptions: usize,
}

/// Turns `values` into integers by the plan, or by their bits where they are not what the plan expects.
///
/// Every slice has a slot for each value; `exceptions` gets the rows that are off the grid.
pub(super) fn prepare(
    values: &[f64],
    plan: ValuePlan,
    integers: &mut [i64],
    exceptions: &mut [i64],
) -> Prepared {
    let exact = Prepared { plan, exceptions: 0 };
    match plan.model {
        Model::Raw => return exact,
        Model::Constant => {
            let bits = values.first().copied().unwrap_or_default().to_bits();
            if values.iter().all(|value| value.to_bits() == bits) {
                return exact;
            }
        }
        Model::Decimal { decimals } | Model::Single { decimals } => {
            let power = grid::power(decimals).unwrap_or(1.0);
            let found = if matches!(plan.model, Model::Single { .. }) {
                place(values, integers, exceptions, |value| grid::to_single(value, power))
            } else {
                place(values, integers, exceptions, |value| grid::to_power(value, power))
            };
            if found <= exceptions_max(values.len()) {
                return Prepared { plan, exceptions: found };
            }
        }
        _ => {}
    }
    for (to, &value) in integers.iter_mut().zip(values) {
        *to = grid::ordered(value);
    }
    Prepared { plan: ValuePlan { model: Model::Bits, ..plan }, exceptions: 0 }
}

/// How many rows of so many may be off the grid before it is given up.
pub(super) const fn exceptions_max(rows: usize) -> usize {
    rows / EXCEPTION_SHARE + 1
}

/// Writes `values` and gives the plan that was followed in the end.
///
/// `integers` and `exceptions` have a slot for each value.
pub(super) fn write(
    values: &[f64],
    plan: ValuePlan,
    integers: &mut [i64],
    exceptions: &mut [i64],
    sink: &mut Sink,
) -> ValuePlan {
    let Some(integers) = integers.get_mut(..values.len()) else { return plan };
    let prepared = prepare(values, plan, integers, exceptions);
    let plan = prepared.plan;
    match plan.model {
        Model::Raw => values.iter().for_each(|value| sink.u64(value.to_bits())),
        Model::Constant => sink.u64(values.first().copied().unwrap_or_default().to_bits()),
        Model::Decimal { decimals } | Model::Single { decimals } => {
            sink.byte(decimals);
            write_exceptions(values, exceptions.get(..prepared.exceptions).unwrap_or_default(), sink);
            numbers::write_divided(integers, plan.predictor, sink);
        }
        _ => numbers::write_predicted(integers, plan.predictor, sink),
    }
    plan
}

/// Puts each value on a grid; the rows that are off it go to `exceptions`. How many those are.
fn place(
    values: &[f64],
    integers: &mut [i64],
    exceptions: &mut [i64],
    on_grid: impl Fn(f64) -> Option<i64>,
) -> usize {
    let mut found = 0;
    let mut held = 0;
    for (row, (to, &value)) in integers.iter_mut().zip(values).enumerate() {
        match on_grid(value) {
            Some(integer) => held = integer,
            None => {
                if let Some(exception) = exceptions.get_mut(found) {
                    *exception = row as i64;
                }
                found += 1;
            }
        }
        *to = held;
    }
    // Exceptions before the first integer repeat that one.
    let leading = (0..).zip(exceptions.iter().take(found)).take_while(|(index, row)| index == *row).count();
    if let Some((front, [first, ..])) = integers.split_at_mut_checked(leading) {
        front.fill(*first);
    }
    found
}

fn write_exceptions(values: &[f64], rows: &[i64], sink: &mut Sink) {
    sink.varint(rows.len() as u64);
    if rows.is_empty() {
        return;
    }
    gaps::write_rows(rows.iter().map(|&row| row as u64), sink);
    for &row in rows {
        sink.u64(values.get(row as usize).copied().unwrap_or_default().to_bits());
    }
}

/// Reads a column of `out.len()` values.
pub(super) fn read(
    source: &mut Source,
    codec: ValueCodec,
    predictor: super::Predictor,
    out: &mut [f64],
) -> Result<(), CodecError> {
    match codec {
        ValueCodec::Raw => {
            let bytes = source.take(out.len().saturating_mul(8))?;
            for (out, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                *out = f64::from_bits(u64::from_le_bytes(*bytes));
            }
            Ok(())
        }
        ValueCodec::Constant => {
            out.fill(f64::from_bits(source.u64()?));
            Ok(())
        }
        ValueCodec::Decimal => {
            let (power, exceptions) = read_grid(source, out.len())?;
            numbers::read_divided(source, predictor, out, |integer| grid::from_power(integer, power))?;
            exceptions.apply(out)
        }
        ValueCodec::Single => {
            let (power, exceptions) = read_grid(source, out.len())?;
            numbers::read_divided(source, predictor, out, |integer| grid::from_single(integer, power))?;
            exceptions.apply(out)
        }
        ValueCodec::Bits => numbers::read_predicted(source, predictor, out, grid::from_ordered),
        _ => Err(source.defect(Defect::Reserved)),
    }
}

/// The head of a decimal column: the power of ten and the exceptions.
fn read_grid<'a>(source: &mut Source<'a>, rows: usize) -> Result<(f64, Exceptions<'a>), CodecError> {
    let wrong = source.defect(Defect::Grid);
    let power = grid::power(source.byte()?).ok_or(wrong)?;
    Ok((power, Exceptions::read(source, rows)?))
}

/// Exceptions, checked when they are read and applied when the column is there.
#[derive(Debug)]
struct Exceptions<'a> {
    rows: Source<'a>,
    values: &'a [u8],
}

impl<'a> Exceptions<'a> {
    fn read(source: &mut Source<'a>, rows: usize) -> Result<Self, CodecError> {
        let count = source.varint_in(0, rows, Defect::Count)?;
        let list = source.clone();
        gaps::read_rows(source, count, rows, |_, _| {})?;
        Ok(Self { rows: list, values: source.take(count.saturating_mul(8))? })
    }

    fn apply(mut self, out: &mut [f64]) -> Result<(), CodecError> {
        let (values, rows) = (self.values.as_chunks().0, out.len());
        gaps::read_rows(&mut self.rows, values.len(), rows, |index, row| {
            if let (Some(value), Some(out)) = (values.get(index), out.get_mut(usize::from(row))) {
                *out = f64::from_bits(u64::from_le_bytes(*value));
            }
        })
    }
}
