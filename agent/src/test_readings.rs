//! Readings for tests of a store: one a second, of one series.

use std::ops::Range;

use siltstone_core::point::{Point, Timestamp, Value, ValueKind};
use siltstone_core::series::SeriesName;
use siltstone_core::store::Reading;

use crate::engine::Engine;

/// Appends readings of `t{device="a"}` and flushes them together.
pub(crate) fn append(engine: &Engine, range: Range<i64>) {
    let mut store = engine.store();
    let name = SeriesName::parse("t{device=\"a\"}").unwrap();
    let series = store.series(&name, ValueKind::Float, "").unwrap();
    for n in range {
        let timestamp = Timestamp(1_796_022_845_000_000_000 + n * 1_000_000_000);
        let point = Point { timestamp, value: Value::Float(n as f64) };
        store.append(&[Reading { series, point }], None).unwrap();
    }
    store.commit().unwrap();
}
