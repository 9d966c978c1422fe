//! Columns of floats, read: the other half of `floats`, whose bytes they are.

use super::{
    CodecError, Defect, Entries, Predictor, Rational,
    blocks::{BlockReader, MINI},
    bytes::Source,
    dfcm, gaps,
    grid::{self, from_ordered},
    numbers,
    plan::ValueCodec,
    rational::correct,
};
use core::cell::Cell;

/// Reads a column of `out.len()` values; `scratch` has as many slots, for the entries of a dictionary.
pub(super) fn read(
    source: &mut Source,
    codec: ValueCodec,
    predictor: Predictor,
    scratch: &mut [i64],
    out: &mut [f64],
) -> Result<(), CodecError> {
    let same = |value| value;
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
            let wrong = source.defect(Defect::Grid);
            let power = grid::power(source.byte()?).ok_or(wrong)?;
            read_grid(source, predictor, out, |integer| grid::from_power(integer, power), same)
        }
        ValueCodec::Single => {
            let wrong = source.defect(Defect::Grid);
            let power = grid::power(source.byte()?).ok_or(wrong)?;
            read_grid(source, predictor, out, |integer| grid::from_single(integer, power), same)
        }
        ValueCodec::Rational => read_rational(source, predictor, out),
        ValueCodec::Dictionary => read_dictionary(source, predictor, scratch, out),
        ValueCodec::Dfcm => dfcm::read(source, out),
        ValueCodec::Bits => numbers::read_predicted(source, predictor, out, from_ordered),
        _ => Err(source.defect(Defect::Reserved)),
    }
}

/// Reads exceptions and a divided column; `value` gives an integer's value, `wrap` stores it.
fn read_grid<T>(
    source: &mut Source,
    predictor: Predictor,
    out: &mut [T],
    value: impl Fn(i64) -> f64,
    wrap: impl Fn(f64) -> T,
) -> Result<(), CodecError> {
    let exceptions = Exceptions::read(source, out.len())?;
    numbers::read_divided(source, predictor, out, |integer| wrap(value(integer)))?;
    exceptions.apply(out, wrap)
}

fn read_rational(source: &mut Source, predictor: Predictor, out: &mut [f64]) -> Result<(), CodecError> {
    let (rational, corrected) = Rational::read(source)?;
    let scaled = rational.scaled();
    let exceptions = Exceptions::read(source, out.len())?;
    numbers::read_divided(source, predictor, out, |integer| scaled.value(integer))?;
    if corrected {
        let mut reader = BlockReader::new(out.len());
        let mut block = [0; MINI];
        for out in out.chunks_mut(MINI) {
            reader.next(source, &mut block)?;
            for (out, &correction) in out.iter_mut().zip(&block) {
                *out = correct(*out, correction);
            }
        }
    }
    exceptions.apply(out, |value| value)
}

fn read_dictionary(
    source: &mut Source,
    predictor: Predictor,
    scratch: &mut [i64],
    out: &mut [f64],
) -> Result<(), CodecError> {
    let entries = source.varint_in(0, out.len().saturating_sub(1), Defect::Count)?.saturating_add(1);
    let keys = scratch.get_mut(..entries).ok_or(CodecError::Memory { needed: entries })?;
    let wrong = source.defect(Defect::Grid);
    let wrap = |value: f64| value.to_bits() as i64;
    match Entries::from_code(source.byte()?).ok_or(wrong)? {
        Entries::Decimal { decimals } => {
            let power = grid::power(decimals).ok_or(wrong)?;
            let value = |integer| grid::from_power(integer, power);
            read_grid(source, Predictor::Last, keys, value, wrap)?;
        }
        Entries::Single { decimals } => {
            let power = grid::power(decimals).ok_or(wrong)?;
            let value = |integer| grid::from_single(integer, power);
            read_grid(source, Predictor::Last, keys, value, wrap)?;
        }
        Entries::Bits => {
            numbers::read_predicted(source, Predictor::Last, keys, |key| wrap(from_ordered(key)))?;
        }
    }
    let wrong = source.defect(Defect::Code);
    let beyond = Cell::new(false);
    numbers::read_predicted(source, predictor, out, |code| {
        match usize::try_from(code).ok().and_then(|code| keys.get(code)) {
            Some(&bits) => f64::from_bits(bits as u64),
            None => {
                beyond.set(true);
                0.0
            }
        }
    })?;
    if beyond.get() { Err(wrong) } else { Ok(()) }
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

    fn apply<T>(mut self, out: &mut [T], wrap: impl Fn(f64) -> T) -> Result<(), CodecError> {
        let (values, rows) = (self.values.as_chunks().0, out.len());
        gaps::read_rows(&mut self.rows, values.len(), rows, |index, row| {
            if let (Some(value), Some(out)) = (values.get(index), out.get_mut(usize::from(row))) {
                *out = wrap(f64::from_bits(u64::from_le_bytes(*value)));
            }
        })
    }
}
