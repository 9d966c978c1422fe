//! A fleet of trucks that tell where and how they are, in the order of time.
//!
//! The data of the "iot" case of the Time Series Benchmark Suite by its description, from random numbers of our
//! own: two measurements a truck and tick with ten fields together, seven tags and a name. One field in ten
//! is null. One tag in a hundred is, at most one an entry, which makes label sets of its own: nine a truck,
//! and where it is the name that is missing, trucks that are alike write into the same series.

use alloc::format;
use alloc::vec::Vec;

use super::random::Random;
use crate::series::SeriesName;

/// Time from one tick to the next.
pub const INTERVAL_NS: i64 = 10_000_000_000;
/// Series that a truck can have: its fields under each of its label sets.
pub const SERIES_A_TRUCK: u32 = (TAGS.len() as u32 + 1) * FIELDS.len() as u32;

/// The fields; the first ones are those of `readings`, the others those of `diagnostics`.
const FIELDS: [&str; 10] = [
    "readings_latitude",
    "readings_longitude",
    "readings_elevation",
    "readings_velocity",
    "readings_heading",
    "readings_grade",
    "readings_fuel_consumption",
    "diagnostics_fuel_state",
    "diagnostics_current_load",
    "diagnostics_status",
];
const READINGS: usize = 7;
const TAGS: [&str; 8] = [
    "name",
    "fleet",
    "driver",
    "model",
    "device_version",
    "load_capacity",
    "fuel_capacity",
    "nominal_fuel_consumption",
];
const FLEETS: [&str; 4] = ["East", "West", "North", "South"];
const DRIVERS: [&str; 6] = ["Abel", "Berta", "Carl", "Dora", "Emil", "Frida"];
/// Model, what it carries, its tank, and what it is said to need.
const MODELS: [[&str; 4]; 3] =
    [["F-150", "2000", "200", "15"], ["G-2000", "5000", "300", "19"], ["H-2", "1500", "150", "12"]];
const VERSIONS: [&str; 4] = ["v1.0", "v1.5", "v2.0", "v2.3"];

/// A walk of whole numbers that turns back at its ends.
#[derive(Clone, Debug)]
struct Walk {
    at: i64,
    step_max: i64,
    end: i64,
}

impl Walk {
    fn next(&mut self, random: &mut Random) -> i64 {
        let step = random.below(2 * self.step_max as u64 + 1) as i64 - self.step_max;
        self.at = (self.at + step).clamp(0, self.end);
        self.at
    }
}

#[derive(Clone, Debug)]
struct Truck {
    tags: [&'static str; TAGS.len() - 1],
    /// Of the readings and of the status, by field.
    walks: Vec<Walk>,
    fuel: i64,
    load: i64,
}

/// What one measurement of a truck says at one tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When.
    pub at_ns: i64,
    /// Number of its first series in the fleet.
    series: u32,
    values: Vec<Option<f64>>,
}

impl Entry {
    /// The numbers of its series in the fleet, with their values; what is null is not there.
    pub fn points(&self) -> impl Iterator<Item = (u32, f64)> {
        (self.series..).zip(&self.values).filter_map(|(series, value)| Some((series, (*value)?)))
    }

    /// The same entry with other values.
    #[must_use]
    pub fn corrected(&self) -> Self {
        let values = self.values.iter().map(|value| value.map(|value| value + 1.0)).collect();
        Self { values, ..self.clone() }
    }
}

/// The fleet: its entries in the order of time, without end.
#[derive(Clone, Debug)]
pub struct Trucks {
    random: Random,
    trucks: Vec<Truck>,
    at_ns: i64,
    /// The next entry of this tick: two a truck.
    next: usize,
}

impl Trucks {
    /// A fleet of `count` trucks from the time `begin_ns` on.
    pub fn new(seed: u64, count: usize, begin_ns: i64) -> Self {
        let mut random = Random::new(seed);
        let trucks = (0..count).map(|_| truck(&mut random)).collect();
        Self { random, trucks, at_ns: begin_ns, next: 0 }
    }

    /// How many trucks there are.
    pub fn truck_count(&self) -> usize {
        self.trucks.len()
    }

    /// The name of a series by its number. Two numbers may have one name.
    pub fn name(&self, series: u32) -> SeriesName {
        let number = (series / SERIES_A_TRUCK) as usize;
        let (variant, field) = (series % SERIES_A_TRUCK / 10, series % 10);
        let own = format!("truck_{number}");
        let values = core::iter::once(own.as_str()).chain(self.trucks[number].tags);
        let tags = TAGS.into_iter().zip(values).zip(1..).filter(|(_, at)| *at != variant);
        let name = SeriesName::new(FIELDS[field as usize], tags.map(|(tag, _)| tag));
        name.unwrap_or_else(|error| panic!("{error}"))
    }
}

fn truck(random: &mut Random) -> Truck {
    let mut pick = |count: usize| random.below(count as u64) as usize;
    let (fleet, driver, version) = (FLEETS[pick(4)], DRIVERS[pick(6)], VERSIONS[pick(4)]);
    let [model, load, tank, needs] = MODELS[pick(3)];
    let tags = [fleet, driver, model, version, load, tank, needs];
    // Degrees in steps of 0.00001, tenths of litres, whole numbers.
    let ends =
        [(18_000_000, 500), (36_000_000, 500), (5_000, 50), (100, 10), (360, 5), (100, 5), (500, 10), (5, 1)];
    let walks = ends.map(|(end, step_max)| Walk { at: random.below(end as u64) as i64, step_max, end });
    Truck { tags, walks: walks.to_vec(), fuel: 10_000, load: random.below(5_001) as i64 }
}

impl Truck {
    /// The values of `readings` (0) or `diagnostics` (1).
    fn values(&mut self, measurement: usize, random: &mut Random) -> Vec<Option<f64>> {
        let mut values = Vec::with_capacity(READINGS);
        if measurement == 0 {
            let scale = [1e5, 1e5, 1.0, 1.0, 1.0, 1.0, 10.0];
            let offset = [9_000_000, 18_000_000, 0, 0, 0, 0, 0];
            for ((walk, scale), offset) in self.walks.iter_mut().zip(scale).zip(offset) {
                values.push((walk.next(random) - offset) as f64 / scale);
            }
        } else {
            // A tank lasts some hours, and is told in tenths.
            self.fuel = if self.fuel < 10 { 10_000 } else { self.fuel - random.below(10) as i64 };
            if random.one_in(20) {
                self.load = random.below(5_001) as i64;
            }
            let status = self.walks[READINGS].next(random);
            values.extend([(self.fuel / 1_000) as f64 / 10.0, self.load as f64, status as f64]);
        }
        values.into_iter().map(|value| (!random.one_in(10)).then_some(value)).collect()
    }
}

impl Iterator for Trucks {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let (number, measurement) = (self.next / 2, self.next % 2);
        let at_ns = self.at_ns;
        let random = &mut self.random;
        let values = self.trucks.get_mut(number)?.values(measurement, random);
        let is_null = |random: &mut Random| random.one_in(100);
        let variant = (1..=TAGS.len() as u32).find(|_| is_null(random)).unwrap_or(0);
        let first = if measurement == 0 { 0 } else { READINGS as u32 };
        let series = number as u32 * SERIES_A_TRUCK + variant * FIELDS.len() as u32 + first;
        self.next += 1;
        if self.next == 2 * self.trucks.len() {
            (self.next, self.at_ns) = (0, at_ns + INTERVAL_NS);
        }
        Some(Entry { at_ns, series, values })
    }
}
