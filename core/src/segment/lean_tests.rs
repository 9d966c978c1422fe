//! A segment written without a heap is read like any other.

use super::{LeanError, LeanWriter};
use crate::block::BLOCK_LEN;
use crate::point::{Point, TimeRange, Timestamp, Value};
use crate::segment::SegmentHeader;
use crate::segment::tests::harness::{Dice, header, read_sealed, row};
use crate::series::SeriesIndex;
use std::collections::BTreeMap;

/// A flash that fills up.
struct Flash {
    bytes: Vec<u8>,
    capacity: usize,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
struct FlashFull;

impl core::fmt::Display for FlashFull {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "full")
    }
}

impl core::error::Error for FlashFull {}

impl embedded_io::Error for FlashFull {
    fn kind(&self) -> embedded_io::ErrorKind {
        embedded_io::ErrorKind::OutOfMemory
    }
}

impl embedded_io::ErrorType for Flash {
    type Error = FlashFull;
}

impl embedded_io::Write for Flash {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, FlashFull> {
        // A flash that takes a page at a time.
        let page = bytes.len().min(256);
        if self.bytes.len() + page > self.capacity {
            return Err(FlashFull);
        }
        self.bytes.extend_from_slice(&bytes[..page]);
        Ok(page)
    }

    fn flush(&mut self) -> Result<(), FlashFull> {
        Ok(())
    }
}

fn flash(capacity: usize) -> Flash {
    Flash { bytes: Vec::new(), capacity }
}

#[test]
fn readers_take_a_segment_written_without_a_heap() {
    for count in [0, 1, 300, 40_000] {
        let mut writer = LeanWriter::<_, 4, 256, 8, 5>::new(flash(1 << 24), header(1), 1).expect("room");
        let names = ["temperature{device=\"b\"}", "humidity", "temperature{device=\"a\"}"];
        let series: Vec<_> = names.iter().map(|name| writer.define(name, "°C").expect("defined")).collect();
        let mut oracle: BTreeMap<&str, Vec<_>> = names.iter().map(|name| (*name, Vec::new())).collect();
        let mut dice = Dice(7);
        for i in 0..count {
            for (s, name) in names.iter().enumerate() {
                let at = i * 1_000_000_000 + dice.below(1000) as i64;
                let value = match s {
                    0 => (2_000 + dice.below(100)) as f64 / 100.0,
                    1 => f64::from_bits(dice.next()),
                    _ => 21.5,
                };
                writer.append(series[s], at, value).expect("in order");
                let point = Point { timestamp: Timestamp(at), value: Value::Float(value) };
                oracle.get_mut(name).expect("known").push(row(&point));
            }
        }
        let file = writer.finish().expect("room").bytes;
        assert_eq!(file.len() % BLOCK_LEN, 0);
        let expected: Vec<_> = oracle.into_iter().map(|(name, rows)| (name.to_string(), rows)).collect();
        assert_eq!(read_sealed(&file).expect("valid"), expected, "{count} points");
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let partition = TimeRange::new(0, 1_000_000);
    let mut writer =
        LeanWriter::<_, 1, 8, 2, 1>::new(flash(1 << 20), SegmentHeader { partition, ..header(1) }, 1)
            .expect("room");
    assert!(matches!(writer.define("no canonical name", ""), Err(LeanError::Name(_))));
    let series = writer.define("a", "").expect("defined");
    assert_eq!(writer.define("a", ""), Ok(series));
    assert_eq!(writer.define("b", ""), Err(LeanError::TooManySeries));
    assert_eq!(writer.append(SeriesIndex(1), 0, 0.0), Err(LeanError::UnknownSeries));
    assert_eq!(writer.append(series, 1_000_000, 0.0), Err(LeanError::OutsidePartition));
    assert_eq!(writer.append(series, 10, 0.0), Ok(()));
    assert_eq!(writer.append(series, 10, 0.0), Err(LeanError::OutOfOrder));
    let mut result = Ok(());
    for at in 11..100_000 {
        result = writer.append(series, at, (at as f64).sqrt());
        if result.is_err() {
            break;
        }
    }
    assert_eq!(result, Err(LeanError::Full), "one level of two references is soon full");
    let small = LeanWriter::<_, 1, 8, 2, 1>::new(flash(100), header(1), 1);
    assert!(matches!(small.map(drop), Err(LeanError::Sink(FlashFull))));
}
