//! A column of integers: common divisor, first number, residuals.
//!
//! ```text
//! divided column     divisor (varint, ≥ 1), remainder (varint, only if divisor > 1, < divisor),
//!                    then the quotients as a predicted column
//! predicted column   number 0 (zigzag varint), residuals of the others (a stream of mini-blocks)
//! ```

use super::{
    CodecError, Defect, Predictor,
    blocks::{self, BlockMeter, BlockReader, BlockWriter, MINI},
    bytes::{Sink, Source},
    divisor,
    predict::Restorer,
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

/// A column as it would be written, for adding up the bytes of its prefixes.
#[derive(Clone, Debug)]
pub(super) struct Stream<'a> {
    numbers: &'a [i64],
    predictor: Predictor,
    /// Of n rows, n - lag have a residual.
    lag: usize,
    /// The bytes up to the present mini-block.
    meter: BlockMeter,
}

impl<'a> Stream<'a> {
    /// A predicted column whose number 0 belongs to row `lag - 1`.
    pub(super) fn new(numbers: &'a [i64], predictor: Predictor, lag: usize) -> Self {
        Self { numbers, predictor, lag, meter: BlockMeter::default() }
    }

    /// The meter behind the first `rows` rows, of which all mini-blocks before `block` were counted.
    fn meter_at(&self, block: usize, rows: usize) -> BlockMeter {
        let begin = block * MINI;
        let residuals = rows.min(self.numbers.len() + self.lag - 1).saturating_sub(self.lag);
        let count = residuals.saturating_sub(begin).min(MINI);
        let mut buffer = [0; MINI];
        let mut meter = self.meter;
        if let Some(out) = buffer.get_mut(..count)
            && count > 0
        {
            self.predictor.residuals(self.numbers, begin + 1, out);
            meter.push(out);
        }
        meter
    }
}

/// The most rows up to `rows` for which the mini-blocks of both streams take at most what `room` gives
/// for a count of rows; `room` may fall as rows are added.
pub(super) fn rows_that_fit(
    streams: &mut [Stream; 2],
    rows: usize,
    room: impl Fn(usize) -> Option<usize>,
) -> usize {
    let fits = |streams: &[Stream; 2], block: usize, rows: usize| {
        let bytes: usize = streams.iter().map(|stream| stream.meter_at(block, rows).bytes()).sum();
        room(rows).is_some_and(|room| bytes <= room)
    };
    let lag_min = streams.iter().map(|stream| stream.lag).min().unwrap_or_default();
    for block in 0.. {
        // At this many rows, the present mini-block is full in one stream at least.
        let end = (block + 1) * MINI + lag_min;
        if !fits(streams, block, end.min(rows)) {
            let (mut low, mut high) = (block * MINI, end.min(rows));
            while high - low > 1 {
                let middle = low.midpoint(high);
                if fits(streams, block, middle) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            return low;
        }
        if end >= rows {
            break;
        }
        for stream in streams.iter_mut() {
            stream.meter = stream.meter_at(block, rows);
        }
    }
    rows
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

/// Reads a stream of `out.len()` residuals that stand for themselves.
pub(super) fn read_plain(source: &mut Source, out: &mut [i64]) -> Result<(), CodecError> {
    blocks::read(source, out)
}
