//! How the entries of a fleet arrive: some never, some after others, some much later.
//!
//! What is lost depends on the seed alone, so that the same points arrive whatever the disorder, and a store that
//! got them out of order can be held against one that got them in order.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::ops::Range;

use super::random::Random;
use super::trucks::{Entry, Trucks};

/// Entries of a batch.
const BATCH_LEN: usize = 10;
/// Of a hundred batches so many are lost, and of a hundred entries of the others.
const BATCHES_LOST: u64 = 1;
const ENTRIES_LOST: u64 = 10;

/// What comes after its time: shares in percent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disorder {
    /// Batches that are held back; after every batch one of them comes with a chance of one half.
    pub batches_held: u64,
    /// Entries that are held back; after every entry one of them comes with a chance of one half.
    pub entries_held: u64,
    /// Batches that come much later.
    pub batches_late: u64,
    /// By how much.
    pub delay_ns: Range<i64>,
}

impl Disorder {
    /// Nothing comes after its time.
    pub const NONE: Self = Self { batches_held: 0, entries_held: 0, batches_late: 0, delay_ns: 0..1 };
    /// The mix of the benchmark suite's "iot" case.
    pub const IOT: Self = Self { batches_held: 5, entries_held: 30, ..Self::NONE };
}

/// Batches of entries as they arrive.
#[derive(Debug)]
pub struct Delivery {
    trucks: Trucks,
    /// Entries that the fleet still tells.
    left: usize,
    disorder: Disorder,
    losses: Random,
    delays: Random,
    held: VecDeque<Entry>,
    held_batches: VecDeque<Vec<Entry>>,
    /// By the time at which they come.
    late: BTreeMap<(i64, u64), Vec<Entry>>,
    ready: VecDeque<Vec<Entry>>,
    count: u64,
}

impl Delivery {
    /// What arrives of `ticks` ticks of a fleet.
    pub fn new(trucks: Trucks, ticks: usize, seed: u64, disorder: Disorder) -> Self {
        Self {
            left: ticks * 2 * trucks.truck_count(),
            trucks,
            disorder,
            losses: Random::new(seed),
            delays: Random::new(!seed),
            held: VecDeque::new(),
            held_batches: VecDeque::new(),
            late: BTreeMap::new(),
            ready: VecDeque::new(),
            count: 0,
        }
    }

    fn is_delayed(&mut self, percent: u64) -> bool {
        self.delays.below(100) < percent
    }

    /// Takes a batch from the fleet; `false` at the end.
    fn take_batch(&mut self) -> bool {
        let mut batch = Vec::new();
        let mut now_ns = i64::MAX;
        let is_lost = self.losses.below(100) < BATCHES_LOST;
        for _ in 0..BATCH_LEN.min(self.left) {
            self.left -= 1;
            let Some(entry) = self.trucks.next() else { return false };
            now_ns = entry.at_ns;
            if self.losses.below(100) < ENTRIES_LOST || is_lost {
                continue;
            }
            if self.is_delayed(self.disorder.entries_held) {
                self.held.push_back(entry);
            } else {
                batch.push(entry);
            }
            if !self.held.is_empty() && self.is_delayed(50) {
                let any = self.delays.below(self.held.len() as u64) as usize;
                batch.extend(self.held.swap_remove_back(any));
            }
        }
        self.count += 1;
        let delay_ns = self.disorder.delay_ns.clone();
        if self.is_delayed(self.disorder.batches_late) {
            let length = (delay_ns.end - delay_ns.start) as u64;
            let due_ns = now_ns.saturating_add(delay_ns.start + self.delays.below(length) as i64);
            self.late.insert((due_ns, self.count), batch);
        } else if self.is_delayed(self.disorder.batches_held) {
            self.held_batches.push_back(batch);
        } else {
            self.ready.push_back(batch);
        }
        if !self.held_batches.is_empty() && self.is_delayed(50) {
            self.ready.extend(self.held_batches.pop_front());
        }
        while let Some(first) = self.late.first_entry().filter(|first| first.key().0 <= now_ns) {
            self.ready.push_back(first.remove());
        }
        self.left > 0
    }
}

impl Iterator for Delivery {
    type Item = Vec<Entry>;

    fn next(&mut self) -> Option<Vec<Entry>> {
        loop {
            match self.ready.pop_front() {
                Some(batch) if batch.is_empty() => {}
                Some(batch) => return Some(batch),
                None if self.left > 0 => {
                    if !self.take_batch() {
                        self.ready.extend(self.held_batches.drain(..));
                        self.ready.push_back(self.held.drain(..).collect());
                        self.ready.extend(core::mem::take(&mut self.late).into_values());
                    }
                }
                None => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    use super::super::trucks::{Entry, INTERVAL_NS, Trucks};
    use super::{Delivery, Disorder};

    fn delivered(disorder: Disorder) -> Vec<Entry> {
        let trucks = Trucks::new(123, 10, 0);
        Delivery::new(trucks, 1_000, 5, disorder).flatten().collect()
    }

    fn by_time(mut entries: Vec<Entry>) -> Vec<Vec<(i64, u32, u64)>> {
        entries.sort_by_key(|entry| (entry.at_ns, entry.points().map(|(series, _)| series).next()));
        let points = |entry: &Entry| -> Vec<_> {
            entry.points().map(|(series, value)| (entry.at_ns, series, value.to_bits())).collect()
        };
        entries.iter().map(points).filter(|points: &Vec<_>| !points.is_empty()).collect()
    }

    #[test]
    fn the_same_points_arrive_whatever_the_disorder() {
        let in_order = delivered(Disorder::NONE);
        assert!(in_order.is_sorted_by_key(|entry| entry.at_ns));
        let late =
            Disorder { batches_late: 5, delay_ns: 3_600_000_000_000..7_200_000_000_000, ..Disorder::IOT };
        for (disorder, back_max) in [(Disorder::IOT, 60), (late, 720)] {
            let disordered = delivered(disorder);
            let mut newest = i64::MIN;
            let (mut behind, mut farthest) = (0, 0);
            for entry in &disordered {
                behind += usize::from(entry.at_ns < newest);
                newest = newest.max(entry.at_ns);
                farthest = farthest.max(newest - entry.at_ns);
            }
            // One in ten or so is out of its place, by seconds; the late ones by up to two hours.
            assert!(behind > disordered.len() / 50 && behind < disordered.len() / 2, "{behind}");
            assert!(
                farthest <= back_max * INTERVAL_NS && farthest > back_max / 20 * INTERVAL_NS,
                "{farthest}"
            );
            assert_eq!(by_time(disordered), by_time(in_order.clone()));
        }
    }

    #[test]
    fn shares_are_those_of_the_description() {
        let entries = delivered(Disorder::NONE);
        let share = entries.len() as f64 / 20_000.0;
        assert!((0.87..0.91).contains(&share), "{share} of the entries arrive");
        let points: Vec<(u32, f64)> = entries.iter().flat_map(Entry::points).collect();
        let filled = points.len() as f64 / (entries.len() as f64 * 5.0);
        assert!((0.89..0.91).contains(&filled), "{filled} of the fields are not null");
        let whole = points.iter().filter(|(series, _)| series % 90 < 10).count() as f64 / points.len() as f64;
        assert!((0.91..0.94).contains(&whole), "{whole} have all tags");
        let trucks = Trucks::new(123, 10, 0);
        let names: BTreeSet<_> = points.iter().map(|(series, _)| trucks.name(*series)).collect();
        assert!(names.len() > 850 && names.len() <= 900, "{} series", names.len());
        let longest = names.iter().map(|name| name.as_str().len()).max();
        assert!(longest.is_some_and(|len| len < 250), "{longest:?}");
    }
}
