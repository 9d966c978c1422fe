//! The oracle: a map of every point ever written, and which of them were acknowledged.
//!
//! After a crash the store must hold every acknowledged point, or what was written over it later, bit
//! for bit; it may hold points that were written and not acknowledged; it must hold nothing else,
//! and nothing twice.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::point::Value;
use crate::store::owned_value::OwnedValue;

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// An acknowledged point is not there.
    Lost(String, i64),
    /// A point is there that nobody wrote.
    Invented(String, i64, OwnedValue),
    /// A point is there with a value that was overwritten before the last acknowledgement, or with
    /// one that was never written.
    Wrong(String, i64, OwnedValue),
    /// A point is there twice.
    Twice(String, i64),
    /// Something that is valid says nothing sensible, or something healthy can't be read.
    Unreadable(String),
    /// A summary of a tree is not that of its points.
    Aggregate(String),
    /// The store did not do what it has to do.
    Refused(String),
    /// A recovery that was interrupted ends in another state than one that was not.
    Differs(String, i64),
}

#[derive(Clone, Debug, Default)]
struct History {
    /// Every value written for this series and time, oldest first; `None` where it was deleted.
    written: Vec<Option<OwnedValue>>,
    /// How many of them were written when the last acknowledgement was given.
    acknowledged: usize,
    /// It may have gone with the segment that held it.
    may_be_gone: bool,
    /// How many of them were written when the store was last started: those of them that were not
    /// acknowledged then may be there or not, for ever.
    of_earlier_runs: usize,
}

impl History {
    /// What may be there: the last that was acknowledged, and everything since.
    fn may_be(&self) -> &[Option<OwnedValue>] {
        &self.written[self.acknowledged.saturating_sub(1)..]
    }
}

/// What was written and what was promised.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    points: BTreeMap<(String, i64), History>,
}

impl Oracle {
    /// Nothing written yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A point was given to the store.
    pub fn write(&mut self, series: &str, timestamp: i64, value: Value<'_>) {
        self.points.entry((series.to_string(), timestamp)).or_default().written.push(Some(value.into()));
    }

    /// Everything of a series from `begin` to before `end` was deleted.
    pub fn delete(&mut self, series: &str, begin: i64, end: i64) {
        let keys = (series.to_string(), begin)..(series.to_string(), end);
        self.points.range_mut(keys).for_each(|(_, history)| history.written.push(None));
    }

    /// Segments may be dropped: what was written so far may be gone, and is right where it is not.
    pub fn expire(&mut self) {
        self.points.values_mut().for_each(|history| history.may_be_gone = true);
    }

    /// Everything given since the start was acknowledged.
    pub fn acknowledge(&mut self) {
        for history in self.points.values_mut() {
            if history.written.len() > history.of_earlier_runs {
                history.acknowledged = history.written.len();
            }
        }
    }

    /// The store was killed and started again: what was not acknowledged may be gone.
    pub fn restart(&mut self) {
        for history in self.points.values_mut() {
            history.of_earlier_runs = history.written.len();
        }
    }

    /// Points that were acknowledged.
    pub fn acknowledged(&self) -> usize {
        self.points.values().filter(|history| history.acknowledged > 0).count()
    }

    /// How many points that must be there are not.
    pub fn missing(&self, is_there: impl Fn(&(String, i64)) -> bool) -> usize {
        let must_be = |history: &History| {
            history.acknowledged > 0 && !history.may_be_gone && !history.may_be().contains(&None)
        };
        self.points.iter().filter(|(key, history)| must_be(history) && !is_there(key)).count()
    }

    /// Compares what is left after damage: anything may be missing, or be what it was before, and nothing may be
    /// there that was never written.
    ///
    /// # Errors
    /// The first promise that was broken.
    pub fn check_left(
        &self,
        read: impl IntoIterator<Item = (String, i64, OwnedValue)>,
    ) -> Result<(), Violation> {
        let mut any = self.clone();
        any.points.values_mut().for_each(|history| history.acknowledged = 0);
        any.check(read)
    }

    /// Compares what was read back.
    ///
    /// # Errors
    /// The first promise that was broken.
    pub fn check(&self, read: impl IntoIterator<Item = (String, i64, OwnedValue)>) -> Result<(), Violation> {
        let mut found = BTreeMap::new();
        for (series, timestamp, value) in read {
            if found.insert((series.clone(), timestamp), value).is_some() {
                return Err(Violation::Twice(series, timestamp));
            }
        }
        for (key, value) in &found {
            let Some(history) = self.points.get(key) else {
                return Err(Violation::Invented(key.0.clone(), key.1, value.clone()));
            };
            if !history.may_be().contains(&Some(value.clone())) {
                return Err(Violation::Wrong(key.0.clone(), key.1, value.clone()));
            }
        }
        let is_lost = |(key, history): &(&(String, i64), &History)| {
            let must_be = history.acknowledged > 0 && !history.may_be_gone;
            must_be && !found.contains_key(*key) && !history.may_be().contains(&None)
        };
        match self.points.iter().find(is_lost) {
            Some((key, _)) => Err(Violation::Lost(key.0.clone(), key.1)),
            None => Ok(()),
        }
    }

    /// The store was opened again and this is what it holds: from here on it must keep all of it.
    pub fn adopt(&mut self, read: impl IntoIterator<Item = (String, i64, OwnedValue)>) {
        let history = |value| History { written: vec![Some(value)], acknowledged: 1, ..History::default() };
        self.points = read.into_iter().map(|(series, at, value)| ((series, at), history(value))).collect();
    }
}
