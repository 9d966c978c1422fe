//! The bytes of every prefix of some rows, mini-block by mini-block.

use super::{
    Predictor,
    blocks::{BlockMeter, MINI},
};

/// A column as it would be written, for adding up the bytes of its prefixes.
#[derive(Clone, Debug)]
pub(super) struct Stream<'a> {
    numbers: &'a [i64],
    /// `None` where the numbers are residuals themselves.
    predictor: Option<Predictor>,
    /// Of n rows, n - lag have a residual.
    lag: usize,
    /// The bytes up to the last mini-block that was counted in, and behind it.
    meter: BlockMeter,
    next: BlockMeter,
}

impl<'a> Stream<'a> {
    /// A predicted column whose number 0 belongs to row `lag - 1`.
    pub(super) fn predicted(numbers: &'a [i64], predictor: Predictor, lag: usize) -> Self {
        Self {
            numbers,
            predictor: Some(predictor),
            lag,
            meter: BlockMeter::default(),
            next: BlockMeter::default(),
        }
    }

    /// A stream with a residual for each row.
    pub(super) fn plain(numbers: &'a [i64]) -> Self {
        Self { numbers, predictor: None, lag: 0, meter: BlockMeter::default(), next: BlockMeter::default() }
    }

    /// The meter before `block` with the first `count` residuals of that block.
    fn meter_with(&self, block: usize, count: usize) -> BlockMeter {
        let begin = block * MINI;
        let all = self.numbers.len().saturating_sub(usize::from(self.predictor.is_some()));
        let count = all.saturating_sub(begin).min(MINI).min(count);
        let mut meter = self.meter;
        match self.predictor {
            None => meter.push(self.numbers.get(begin..begin + count).unwrap_or_default()),
            Some(predictor) => {
                let mut buffer = [0; MINI];
                let out = buffer.get_mut(..count).unwrap_or_default();
                predictor.residuals(self.numbers, begin + 1, out);
                meter.push(out);
            }
        }
        meter
    }

    /// Counts `block` in; the bytes up to its end.
    fn advance(&mut self, block: usize) -> usize {
        self.meter = self.next;
        self.next = self.meter_with(block, MINI);
        self.next.bytes()
    }

    /// The bytes of the first `rows` rows, which end in `block`, the last one that was counted in.
    fn bytes_at(&self, block: usize, rows: usize) -> usize {
        self.meter_with(block, rows.saturating_sub(self.lag + block * MINI)).bytes()
    }
}

/// The most rows up to `rows` for which the mini-blocks of all streams take at most what `room` gives
/// for a count of rows; `room` may fall as rows are added.
pub(super) fn rows_that_fit(
    streams: &mut [Stream],
    rows: usize,
    room: impl Fn(usize) -> Option<usize>,
) -> usize {
    let mut block = 0;
    loop {
        let begin = block * MINI;
        let bytes: usize = streams.iter_mut().map(|stream| stream.advance(block)).sum();
        // What this mini-block adds is more than what its first rows need, by the lag at most.
        let end = begin + MINI;
        if room(end.min(rows)).is_none_or(|room| bytes > room) {
            let fits = |rows: usize| {
                let bytes: usize = streams.iter().map(|stream| stream.bytes_at(block, rows)).sum();
                room(rows).is_some_and(|room| bytes <= room)
            };
            let (mut low, mut high) = (begin, end.min(rows));
            while low < high {
                let middle = (low + high).div_ceil(2);
                if fits(middle) {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            return low;
        }
        block += 1;
        if end >= rows {
            return rows;
        }
    }
}
