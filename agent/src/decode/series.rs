//! The series that messages have made: names, kinds, caps, and the times of arrival given out.
//!
//! A series is found by topic and path, so that its name is built once. Two paths that would share
//! a name are told apart by a `path` tag and counted, never merged. Memory is bounded by the caps:
//! topics without a series leave nothing behind. Caps hold for new series only: what is stored goes on.

use std::collections::HashMap;

use siltstone_core::point::{Value, ValueKind};
use siltstone_core::series::SeriesName;

use super::decoder::Catalog;
use super::growth::Growth;
use super::rejection::Reason;
use super::topic::TopicPattern;

/// A clock that goes back further than this between two messages was set back.
const SET_BACK_NS: i64 = 60_000_000_000;
/// How far an earlier run may have been ahead of the clock by a burst.
const AHEAD_NS: i64 = 9 * 60_000_000_000;
/// Arrival times are whole milliseconds.
const MILLISECOND_NS: i64 = 1_000_000;

/// The number of a series in the decoder, dense from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeriesHandle(pub u32);

/// The value of a sample; like the point's own, but owning its text.
#[derive(Clone, Debug, PartialEq)]
pub enum SampleValue {
    /// A number.
    Float(f64),
    /// A whole number that binary64 can't hold.
    Integer(i64),
    /// True or false.
    Boolean(bool),
    /// A short text.
    State(Box<str>),
    /// No value from here on.
    Gap,
}

impl SampleValue {
    /// The value, borrowed.
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Float(float) => Value::Float(*float),
            Self::Integer(integer) => Value::Integer(*integer),
            Self::Boolean(boolean) => Value::Boolean(*boolean),
            Self::State(text) => Value::State(text),
            Self::Gap => Value::Gap,
        }
    }

    /// The kind of a series that begins with this value.
    pub fn kind(&self) -> ValueKind {
        self.value().kind().unwrap_or(ValueKind::Float)
    }
}

/// One point of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Which series.
    pub series: SeriesHandle,
    /// When, nanoseconds.
    pub timestamp_ns: i64,
    /// What.
    pub value: SampleValue,
}

/// What is known of one series.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) name: SeriesName,
    /// The kind of its values; `None` before the first.
    pub(super) kind: Option<ValueKind>,
    /// Whether the last sample was a value: only then is a gap news.
    pub(super) holds_value: bool,
    /// The unit that stood behind a number.
    pub(super) unit: Option<&'static str>,
    /// The last arrival time given out, here or, as far as is known, by an earlier run, which may have
    /// been ahead of the clock; `i64::MIN` before the first.
    last_stamp_ns: i64,
    /// The clock at that moment, as far as is known.
    last_arrival_ns: i64,
    /// Whether it was not stored before this start.
    is_new: bool,
}

impl Slot {
    /// The arrival time, floored to a millisecond and moved behind the series' last one on a tie.
    ///
    /// A burst moves a series ahead of the clock, as far as it may be; only a clock that was itself set
    /// back by more than a minute starts again from its own time.
    pub(super) fn stamp(&mut self, arrival_ns: i64) -> i64 {
        let floored = arrival_ns - arrival_ns.rem_euclid(MILLISECOND_NS);
        let is_set_back = floored < self.last_arrival_ns.saturating_sub(SET_BACK_NS);
        let stamp = if floored <= self.last_stamp_ns && !is_set_back {
            self.last_stamp_ns.saturating_add(MILLISECOND_NS)
        } else {
            floored
        };
        (self.last_arrival_ns, self.last_stamp_ns) = (floored, stamp);
        stamp
    }
}

/// Caps of [`SeriesTable`].
#[derive(Clone, Debug)]
pub(super) struct Caps {
    pub(super) series: u32,
    pub(super) per_topic: u32,
    pub(super) of_patterns: Vec<PatternCap>,
}

/// A cap on the series of all topics that match a pattern.
#[derive(Clone, Debug)]
pub(super) struct PatternCap {
    text: String,
    pattern: TopicPattern,
    max: u32,
    count: u32,
}

impl PatternCap {
    pub(super) fn new(text: &str, max: u32) -> Self {
        Self { text: text.to_owned(), pattern: TopicPattern::new(text), max, count: 0 }
    }
}

/// Which cap refused a series.
#[derive(Clone, Debug)]
enum Refused {
    All,
    Topic(String),
    Pattern(usize),
}

/// Every series seen.
#[derive(Debug)]
pub(super) struct SeriesTable {
    caps: Caps,
    slots: Vec<Slot>,
    /// Topic, then path, to slot.
    topics: HashMap<Box<str>, HashMap<Box<str>, u32>>,
    /// Names in use, to see clashes.
    names: HashMap<SeriesName, u32>,
    /// The last refusal.
    refused: Option<Refused>,
}

/// Where a field came from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) topic: &'a str,
    /// The path inside the document, levels joined by the unit separator; empty for a bare value.
    pub(super) path: &'a str,
    pub(super) device: &'a str,
    pub(super) metric: &'a str,
}

impl SeriesTable {
    pub(super) fn new(caps: Caps) -> Self {
        Self { caps, slots: Vec::new(), topics: HashMap::new(), names: HashMap::new(), refused: None }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn slot(&self, handle: SeriesHandle) -> Option<&Slot> {
        self.slots.get(usize::try_from(handle.0).ok()?)
    }

    pub(super) fn slot_mut(&mut self, handle: SeriesHandle) -> Option<&mut Slot> {
        self.slots.get_mut(usize::try_from(handle.0).ok()?)
    }

    /// The series of `source`, if it has one.
    pub(super) fn find(&self, source: Source<'_>) -> Option<SeriesHandle> {
        self.topics.get(source.topic)?.get(source.path).copied().map(SeriesHandle)
    }

    /// The name that `source` gets. The flag says that its plain name belongs to another path.
    ///
    /// Which of two paths has the plain name is decided once, by which came first: after a restart the
    /// stored name with a `path` tag tells whose it is.
    pub(super) fn name_of(
        &self,
        source: Source<'_>,
        catalog: &dyn Catalog,
    ) -> Result<(SeriesName, bool), Reason> {
        if source.path.contains(is_unnameable) || source.topic.contains(char::is_control) {
            return Err(Reason::BadName);
        }
        let plain =
            SeriesName::new(source.metric, [("device", source.device)]).map_err(|_| Reason::BadName)?;
        let path = if source.path.is_empty() {
            source.topic.to_owned()
        } else {
            source.path.replace(SEPARATOR, ".")
        };
        let tagged = SeriesName::new(source.metric, [("device", source.device), ("path", &path)]);
        match tagged {
            Ok(tagged) if catalog.kind_of(&tagged).is_some() => Ok((tagged, true)),
            _ if !self.names.contains_key(&plain) => Ok((plain, false)),
            Ok(tagged) => Ok((tagged, true)),
            Err(_) => Err(Reason::BadName),
        }
    }

    /// Makes the series of `source`, which has none yet.
    pub(super) fn create(
        &mut self,
        source: Source<'_>,
        catalog: &dyn Catalog,
    ) -> Result<(SeriesHandle, bool), Reason> {
        let (name, clash) = self.name_of(source, catalog)?;
        let kind = catalog.kind_of(&name);
        if kind.is_none() {
            self.check_caps(source.topic, catalog)?;
        }
        let handle = u32::try_from(self.slots.len()).map_err(|_| Reason::SeriesCap)?;
        for cap in self.caps.of_patterns.iter_mut().filter(|cap| cap.pattern.matches(source.topic)) {
            cap.count = cap.count.saturating_add(1);
        }
        let last_stamp_ns = catalog.last_time_ns(&name).unwrap_or(i64::MIN);
        self.names.insert(name.clone(), handle);
        self.topics.entry(source.topic.into()).or_default().insert(source.path.into(), handle);
        self.slots.push(Slot {
            name,
            kind,
            holds_value: kind.is_some(),
            unit: None,
            last_stamp_ns,
            last_arrival_ns: last_stamp_ns.saturating_sub(AHEAD_NS),
            is_new: kind.is_none(),
        });
        Ok((SeriesHandle(handle), clash))
    }

    /// Whether `topic` may make a series that is not stored.
    fn check_caps(&mut self, topic: &str, catalog: &dyn Catalog) -> Result<(), Reason> {
        let is_full = |count: usize, max: u32| u32::try_from(count).is_ok_and(|count| count >= max);
        let of_topic = self.topics.get(topic).map_or(0, HashMap::len);
        let of_pattern =
            self.caps.of_patterns.iter().position(|cap| cap.count >= cap.max && cap.pattern.matches(topic));
        let (refused, reason) = if is_full(of_topic, self.caps.per_topic) {
            (Refused::Topic(topic.to_owned()), Reason::TopicCap)
        } else if let Some(place) = of_pattern {
            (Refused::Pattern(place), Reason::PatternCap)
        } else if is_full(self.slots.len().max(catalog.series_count()), self.caps.series) {
            (Refused::All, Reason::SeriesCap)
        } else {
            return Ok(());
        };
        self.refused = Some(refused);
        Err(reason)
    }

    /// Which cap refused a series last, and what grows below it; `None` where none did.
    pub(super) fn refusal(&self) -> Option<String> {
        Some(match self.refused.as_ref()? {
            Refused::Topic(topic) => format!(
                "the topic `{topic}` has made its {} series (ingest.max_series_per_topic): it makes no new ones",
                self.caps.per_topic
            ),
            Refused::Pattern(place) => {
                let cap = self.caps.of_patterns.get(*place)?;
                format!(
                    "the topics `{}` have made their {} series (ingest.max_series_in): they make no new ones; {}",
                    cap.text,
                    cap.max,
                    self.growth(|topic| cap.pattern.matches(topic))
                )
            }
            Refused::All => format!(
                "there are {} series (ingest.max_series): new ones are refused; {}",
                self.caps.series,
                self.growth(|_| true)
            ),
        })
    }

    /// What grows among the topics that `choose` takes.
    fn growth(&self, choose: impl Fn(&str) -> bool) -> Growth {
        let topics = self.topics.iter().filter(|(topic, _)| choose(topic));
        let series = topics.flat_map(|(topic, paths)| paths.values().map(move |handle| (&**topic, *handle)));
        Growth::of(series.filter_map(|(topic, handle)| {
            let slot = self.slot(SeriesHandle(handle)).filter(|slot| slot.is_new)?;
            Some((topic, slot.name.metric().into_owned()))
        }))
    }
}

#[cfg(test)]
impl SeriesTable {
    /// The first series of this metric.
    pub(super) fn slots_named(&self, metric: &str) -> SeriesHandle {
        let index = self.slots.iter().position(|slot| slot.name.metric() == metric).unwrap();
        SeriesHandle(u32::try_from(index).unwrap())
    }
}

/// Joins the levels of a path where it is a key of a table; no level may hold it.
pub(super) const SEPARATOR: char = '\u{1f}';

fn is_unnameable(character: char) -> bool {
    character.is_control() && character != SEPARATOR
}

#[cfg(test)]
mod tests {
    use super::{Caps, SeriesTable, Source};
    use crate::decode::decoder::NoCatalog;

    #[test]
    fn ties_of_arrival_move_on_and_clocks_may_step_back() {
        let mut table = SeriesTable::new(Caps { series: 9, per_topic: 9, of_patterns: Vec::new() });
        let source = Source { topic: "a/b", path: "", device: "a", metric: "b" };
        let (handle, _) = table.create(source, &NoCatalog).unwrap();
        let slot = table.slot_mut(handle).unwrap();
        let ms = 1_000_000;
        assert_eq!(slot.stamp(5 * ms + 999), 5 * ms);
        assert_eq!(slot.stamp(5 * ms + 1), 6 * ms);
        assert_eq!(slot.stamp(5 * ms + 2), 7 * ms);
        assert_eq!(slot.stamp(9 * ms), 9 * ms);
        let ahead = (0..70_000).map(|_| slot.stamp(10 * ms)).last();
        assert_eq!(ahead, Some((10 + 69_999) * ms), "a burst never comes back to times it has given");
        assert_eq!(slot.stamp(11 * ms), (10 + 70_000) * ms);
        assert_eq!(slot.stamp(-3_600_000 * ms - 1), -3_600_001 * ms);
    }
}
