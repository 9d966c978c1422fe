//! A column of integers: common divisor, first number, residuals.
//!
//! ```text
//! divided column     divisor (varint, ≥ 1), remainder (varint, only if divisor > 1, < divisor),
//!                    then the quotients as a predicted column
//! predicted column   number 0 (zigzag varint), residuals of the others (a stream of mini-blocks)
//! ```

use super::{
    CodecError, Defect, Predictor,
    blocks::{BlockMeter, BlockReader, BlockWriter, MINI},
    bytes::{Sink, Source},
    divisor,
    predict::Restorer,
    varint::{self, zigzag},
};

/// Writes `numbers`, which has no common divisor or none worth taking out.
pub(super) fn write_predicted(numbers: &[i64], predictor: Predictor, sink: &mut Sink) {
    sink.zigzag(numbers.first().copied().unwrap_or_default());
    let mut writer = BlockWriter::default();
    let mut block = [0; MINI];
    let mut begin = 1;
    while begin < numbers.len() {
        let count = (numbers.len() - begin).min(MINI);
        let Some(residuals) = block.get_mut(..count) else { break };
        predictor.residuals(numbers, begin, residuals);
        writer.push(residuals, sink);
        begin += count;
    }
    writer.finish(sink);
}

/// Writes `numbers` with their common divisor; they are quotients afterwards.
pub(super) fn write_divided(numbers: &mut [i64], predictor: Predictor, sink: &mut Sink) {
    let (divisor, remainder) = divisor::divide(numbers);
    sink.varint(divisor);
    if divisor > 1 {
        sink.varint(remainder);
    }
    write_predicted(numbers, predictor, sink);
}

/// The bytes of `numbers` as a predicted column.
pub(super) fn predicted_len(numbers: &[i64], predictor: Predictor) -> usize {
    let first = varint::len(zigzag(numbers.first().copied().unwrap_or_default()));
    let mut meter = BlockMeter::default();
    let mut block = [0; MINI];
    for begin in (1..numbers.len()).step_by(MINI) {
        let count = (numbers.len() - begin).min(MINI);
        let Some(residuals) = block.get_mut(..count) else { break };
        predictor.residuals(numbers, begin, residuals);
        meter.push(residuals);
    }
    first + meter.bytes()
}

/// The bytes of `residuals` as a stream.
pub(super) fn stream_len(residuals: &[i64]) -> usize {
    let mut meter = BlockMeter::default();
    for block in residuals.chunks(MINI) {
        meter.push(block);
    }
    meter.bytes()
}

/// Reads a predicted column of `out.len()` numbers; each goes through `value`.
pub(super) fn read_predicted<T>(
    source: &mut Source,
    predictor: Predictor,
    out: &mut [T],
    value: impl Fn(i64) -> T,
) -> Result<(), CodecError> {
    let Some((head, tail)) = out.split_first_mut() else { return Ok(()) };
    let first = source.zigzag()?;
    *head = value(first);
    let mut reader = BlockReader::new(tail.len());
    let mut restorer = Restorer::new(predictor, first);
    let mut block = [0; MINI];
    for out in tail.chunks_mut(MINI) {
        let count = reader.next(source, &mut block)?;
        restorer.restore(block.get_mut(..count).unwrap_or_default());
        for (out, &number) in out.iter_mut().zip(&block) {
            *out = value(number);
        }
    }
    Ok(())
}

/// Reads a divided column of `out.len()` numbers; each goes through `value`.
pub(super) fn read_divided<T>(
    source: &mut Source,
    predictor: Predictor,
    out: &mut [T],
    value: impl Fn(i64) -> T,
) -> Result<(), CodecError> {
    let wrong = source.defect(Defect::Divisor);
    let divisor = source.varint()?;
    match divisor {
        0 => Err(wrong),
        1 => read_predicted(source, predictor, out, value),
        _ => {
            let remainder = source.varint()?;
            if remainder >= divisor {
                return Err(wrong);
            }
            let (divisor, remainder) = (divisor as i64, remainder as i64);
            read_predicted(source, predictor, out, |quotient| {
                value(quotient.wrapping_mul(divisor).wrapping_add(remainder))
            })
        }
    }
}
