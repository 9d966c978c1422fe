//! The load of the store's benchmarks: 1,000 sensors, each read every ten seconds, in messages of one value or
//! of eight, each with the identity of an MQTT message; the same bytes at every run.

use siltstone::files::FileMedium;
use siltstone_core::point::{Point, Timestamp, Value, ValueKind};
use siltstone_core::series::SeriesName;
use siltstone_core::store::{Identity, Reading, SeriesId, Store};

use crate::walk;

/// A store on files.
pub(crate) type FileStore = Store<FileMedium>;

/// Sensors, and how often each is read.
pub(crate) const SERIES: usize = 1_000;
const INTERVAL_MS: i64 = 10_000;
/// Readings a second that this makes.
pub(crate) const READINGS_PER_S: usize = SERIES * 1_000 / INTERVAL_MS as usize;

/// Where the load stands.
pub(crate) struct Load {
    series: Vec<SeriesId>,
    fields: usize,
    hundredths: Vec<i64>,
    /// Messages sent.
    sent: usize,
}

impl Load {
    /// Names the series of a store; each message has `fields` of them.
    pub(crate) fn new(store: &mut FileStore, fields: usize) -> Self {
        let series = (0..SERIES).map(|at| {
            let (device, field) = (format!("node_{:04}", at / fields), format!("field_{}", at % fields));
            let name = SeriesName::new(&field, [("device", device.as_str())]).expect("a good name");
            store.series(&name, ValueKind::Float, "°C").expect("a new series")
        });
        Self { series: series.collect(), fields, hundredths: walk::hundredths(1 << 20), sent: 0 }
    }

    /// Sends as many messages as have come when `readings` readings have; none of them is durable before a commit.
    pub(crate) fn send_until(&mut self, store: &mut FileStore, readings: usize) {
        while (self.sent + 1) * self.fields <= readings {
            self.send(store);
        }
    }

    /// Sends one message.
    pub(crate) fn send(&mut self, store: &mut FileStore) {
        let rounds = self.series.len() / self.fields;
        let (round, place) = (self.sent / rounds, self.sent % rounds);
        // The sensors are read one after the other, and none at a whole millisecond.
        let at_ms = round as i64 * INTERVAL_MS + place as i64 * INTERVAL_MS / rounds as i64;
        let timestamp = Timestamp(walk::BEGIN_S * 1_000_000_000 + at_ms * 1_000_000);
        let first = place * self.fields;
        let readings: Vec<Reading<'_>> = self.series[first..first + self.fields]
            .iter()
            .enumerate()
            .map(|(field, series)| {
                // Each sensor has a stretch of the walk of its own.
                let value = self.hundredths[((first + field) * 1_013 + round) % self.hundredths.len()];
                Reading {
                    series: *series,
                    point: Point { timestamp, value: Value::Float(value as f64 / 100.0) },
                }
            })
            .collect();
        let packet = (self.sent % 65_535) as u16 + 1;
        let [a, b, c, d, e, ..] = (self.sent as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
        let identity = Identity { session: 1, packet, hash: [a, b, c, d, e] };
        store.append(&readings, Some(identity)).expect("stored");
        self.sent += 1;
    }
}

/// A folder in memory where there is one: what is counted is what is written, not how long a flush takes.
pub(crate) fn folder_in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}
