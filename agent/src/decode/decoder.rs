//! The stage itself: one message in, samples out.
//!
//! Order of decisions: excluded topic, length of the topic, text or binary, JSON or bare value, the
//! payload's own time, retained without such a time, then field by field. Each field stands alone.

use std::borrow::Cow;
use std::collections::HashMap;

use siltstone_core::point::ValueKind;
use siltstone_core::series::SeriesName;

use super::json::{self, Json, JsonFault};
use super::message::Message;
use super::number::{self, Numeric};
use super::rejection::{Counters, Journal, Reason, Rejection};
use super::scalar::{self, Scalar};
use super::series::{Caps, PatternCap, SEPARATOR, Sample, SampleValue, SeriesHandle, SeriesTable, Source};
use super::time::{self, PayloadTime};
use super::topic::{TopicPattern, split_scalar};

/// Bytes of the longest topic that can name a device.
const TOPIC_BYTES_MAX: usize = 1024;
/// Numbers of the longest array that is taken apart.
const ARRAY_MAX: usize = 8;
/// Keys at the top of a document that may hold its time, the first that does counts.
const TIME_KEYS: [&str; 6] = ["ts", "timestamp", "time", "Time", "last_seen", "received_at"];
/// Of those, the ones whose numbers are always meant as times.
const EPOCH_KEYS: usize = 2;

/// What decides how messages become samples.
#[derive(Clone, Debug)]
pub struct DecodeOptions {
    /// Topics left out.
    pub exclude: Vec<TopicPattern>,
    /// A payload time may be this old, nanoseconds.
    pub max_age_ns: i64,
    /// A payload time may be this far ahead, nanoseconds.
    pub max_ahead_ns: i64,
    /// Series in all.
    pub max_series: u32,
    /// Series of one topic.
    pub max_series_per_topic: u32,
    /// Series of the topics that match a pattern, with the pattern's text.
    pub max_series_in: Vec<(String, u32)>,
    /// Levels of a document that are looked at.
    pub max_depth: u32,
}

/// What is already stored under a name: after a restart the decoder asks it for kinds.
pub trait Catalog {
    /// The kind of a stored series; `None` where there is none.
    fn kind_of(&self, name: &SeriesName) -> Option<ValueKind>;

    /// The time of the last reading of a stored series, as far as that is known.
    fn last_time_ns(&self, _name: &SeriesName) -> Option<i64> {
        None
    }

    /// How many series are known.
    fn series_count(&self) -> usize {
        0
    }
}

/// A catalog of nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoCatalog;

impl Catalog for NoCatalog {
    fn kind_of(&self, _: &SeriesName) -> Option<ValueKind> {
        None
    }
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It gave this many samples.
    Samples(usize),
    /// Its topic is left out.
    Excluded,
    /// It came from the broker's memory and carries no time of its own.
    Retained,
    /// It said nothing new: empty, or no value again.
    Empty,
    /// Nothing of it can be stored.
    Rejected(Reason),
}

/// The decode stage: pure, but for what it remembers of the series it has seen.
#[derive(Debug)]
pub struct Decoder {
    options: DecodeOptions,
    table: SeriesTable,
    journal: Journal,
}

/// What holds for every field of one message.
struct Frame<'a, 'b> {
    message: &'a Message<'b>,
    catalog: &'a dyn Catalog,
    /// The payload's own time; `None` for that of arrival.
    own_ns: Option<i64>,
    out: &'a mut Vec<Sample>,
    /// The last reason why a field was left out.
    reason: Option<Reason>,
}

impl Decoder {
    /// A decoder that has seen nothing.
    pub fn new(options: DecodeOptions) -> Self {
        let caps = Caps {
            series: options.max_series,
            per_topic: options.max_series_per_topic,
            of_patterns: options
                .max_series_in
                .iter()
                .map(|(text, max)| PatternCap::new(text, *max))
                .collect(),
        };
        Self { options, table: SeriesTable::new(caps), journal: Journal::default() }
    }

    /// The name of a series that a sample named.
    pub fn name(&self, series: SeriesHandle) -> Option<&SeriesName> {
        self.table.slot(series).map(|slot| &slot.name)
    }

    /// The unit that stood behind the numbers of a series.
    pub fn unit(&self, series: SeriesHandle) -> Option<&'static str> {
        self.table.slot(series).and_then(|slot| slot.unit)
    }

    /// Series seen.
    pub fn series_count(&self) -> usize {
        self.table.len()
    }

    /// A sentence about the series that were refused last, and what grows; `None` where none were.
    pub fn refusal(&self) -> Option<String> {
        self.table.refusal()
    }

    /// What was counted.
    pub fn counters(&self) -> &Counters {
        &self.journal.counters
    }

    /// The last things left out, the latest last.
    pub fn rejections(&self) -> impl Iterator<Item = &Rejection> {
        self.journal.recent()
    }

    /// Appends the samples of `message` to `out`.
    pub fn decode(&mut self, message: &Message<'_>, catalog: &dyn Catalog, out: &mut Vec<Sample>) -> Outcome {
        self.journal.counters.messages += 1;
        if self.options.exclude.iter().any(|pattern| pattern.matches(message.topic)) {
            self.journal.counters.excluded += 1;
            return Outcome::Excluded;
        }
        if message.topic.len() > TOPIC_BYTES_MAX {
            return self.reject(message, "", Reason::LongTopic);
        }
        let Ok(text) = std::str::from_utf8(message.payload) else {
            return self.reject(message, "", Reason::Binary);
        };
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0' || c == '\u{feff}');
        let document = if text.starts_with(['{', '[', '"']) {
            match json::parse(text) {
                Ok(document) => document,
                Err(JsonFault::TooBig) => return self.reject(message, "", Reason::HugeJson),
                Err(JsonFault::Syntax(at)) => {
                    return self.reject(message, &format!("byte {at}"), Reason::BrokenJson);
                }
            }
        } else {
            Json::Text(Cow::Borrowed(text))
        };
        self.decode_document(message, &document, catalog, out)
    }

    fn decode_document(
        &mut self,
        message: &Message<'_>,
        document: &Json<'_>,
        catalog: &dyn Catalog,
        out: &mut Vec<Sample>,
    ) -> Outcome {
        let own_ns = match document {
            Json::Object(fields) => self.own_time(fields, message.arrival_ns),
            _ => None,
        };
        if message.retain && own_ns.is_none() {
            self.journal.counters.retained += 1;
            return Outcome::Retained;
        }
        let before = out.len();
        let mut frame = Frame { message, catalog, own_ns, out, reason: None };
        match document {
            Json::Object(fields) => {
                if has_bare_nan(document) {
                    self.journal.counters.lenient_json += 1;
                }
                self.object(&mut frame, fields, &mut Vec::new());
            }
            bare => self.field(&mut frame, &[], bare),
        }
        let (reason, samples) = (frame.reason, out.len().saturating_sub(before));
        self.journal.counters.samples += samples as u64;
        self.journal.counters.stamped += if own_ns.is_none() { samples as u64 } else { 0 };
        match (samples, reason) {
            (0, Some(reason)) => Outcome::Rejected(reason),
            (0, None) => {
                self.journal.counters.empty += 1;
                Outcome::Empty
            }
            _ => Outcome::Samples(samples),
        }
    }

    fn reject(&mut self, message: &Message<'_>, place: &str, reason: Reason) -> Outcome {
        self.journal.reject(message, place, reason);
        Outcome::Rejected(reason)
    }

    /// The time that the document gives itself, if it lies in the window around its arrival.
    fn own_time(&mut self, fields: &[(Cow<'_, str>, Json<'_>)], arrival_ns: i64) -> Option<i64> {
        let mut outside = false;
        for key in TIME_KEYS {
            // The last of duplicate keys counts.
            let Some((_, value)) = fields.iter().rev().find(|(name, _)| name == key) else { continue };
            let time = match value {
                Json::Number(lexeme) => time::from_number(lexeme),
                Json::Text(text) => time::from_text(text),
                _ => PayloadTime::None,
            };
            let PayloadTime::At(nanos) = time else { continue };
            let begin = arrival_ns.saturating_sub(self.options.max_age_ns);
            let end = arrival_ns.saturating_add(self.options.max_ahead_ns);
            if (begin..=end).contains(&nanos) {
                return Some(nanos);
            }
            outside = true;
        }
        if outside {
            self.journal.counters.time_outside += 1;
        }
        None
    }

    fn object<'j>(
        &mut self,
        frame: &mut Frame<'_, '_>,
        fields: &'j [(Cow<'j, str>, Json<'j>)],
        path: &mut Vec<&'j str>,
    ) {
        let last = last_of_duplicates(fields);
        for (index, (key, value)) in fields.iter().enumerate() {
            if last.get(key.as_ref()).is_some_and(|last| *last > index) {
                self.journal.counters.duplicate_keys += 1;
                continue;
            }
            if path.is_empty() && is_time_field(key, value, frame.own_ns.is_some()) {
                continue;
            }
            path.push(key);
            match value {
                Json::Object(inner) if path.len() < self.options.max_depth as usize => {
                    self.object(frame, inner, path)
                }
                Json::Object(_) => self.leave_out(frame, path, Reason::TooDeep),
                _ => self.field(frame, path, value),
            }
            path.pop();
        }
    }

    /// A leaf, or an array of numbers.
    fn field(&mut self, frame: &mut Frame<'_, '_>, path: &[&str], value: &Json<'_>) {
        let Json::Array(items) = value else {
            return match read_leaf(value) {
                Scalar::Unusable(reason) => self.leave_out(frame, path, reason),
                scalar => self.sample(frame, path, None, scalar),
            };
        };
        let numeric = |item: &Json<'_>| matches!(item, Json::Number(_) | Json::Null | Json::NotANumber);
        if !items.iter().all(numeric) {
            return self.leave_out(frame, path, Reason::MixedArray);
        }
        if items.len() > ARRAY_MAX {
            return self.leave_out(frame, path, Reason::LongArray);
        }
        for (index, item) in items.iter().enumerate() {
            self.sample(frame, path, Some(index), read_leaf(item));
        }
    }

    fn leave_out(&mut self, frame: &mut Frame<'_, '_>, path: &[&str], reason: Reason) {
        frame.reason = Some(reason);
        self.journal.reject(frame.message, &path.join("."), reason);
    }

    fn sample(&mut self, frame: &mut Frame<'_, '_>, path: &[&str], index: Option<usize>, scalar: Scalar<'_>) {
        if let Scalar::Number(Numeric::OutOfRange, _) = scalar {
            return self.leave_out(frame, path, Reason::NumberRange);
        }
        let suffix = index.map_or_else(String::new, |index| format!(".{index}"));
        let topic = frame.message.topic;
        let (device, metric) = match path {
            [] => {
                let split = split_scalar(topic);
                (split.device, format!("{}{suffix}", split.field))
            }
            levels => (topic, format!("{}{suffix}", levels.join("_"))),
        };
        let mut key = path.join(SEPARATOR.encode_utf8(&mut [0; 4]));
        key.push_str(&suffix);
        // A level that holds the separator would pass for two.
        if path.iter().any(|level| level.contains(SEPARATOR)) {
            return self.leave_out(frame, path, Reason::BadName);
        }
        let source = Source { topic, path: &key, device, metric: &metric };
        let handle = match self.series_of(frame, source, scalar) {
            Ok(Some(handle)) => handle,
            Ok(None) => return,
            Err(reason) => return self.leave_out(frame, path, reason),
        };
        let Some(slot) = self.table.slot_mut(handle) else { return };
        let value = match scalar {
            Scalar::Gap if !slot.holds_value => return,
            Scalar::Gap | Scalar::Unusable(_) | Scalar::Number(Numeric::OutOfRange, _) => SampleValue::Gap,
            Scalar::Number(number, unit) => {
                slot.unit = unit.or(slot.unit);
                match number {
                    Numeric::Integer(integer) => SampleValue::Integer(integer),
                    Numeric::Float(float) => SampleValue::Float(float),
                    Numeric::OutOfRange => SampleValue::Gap,
                }
            }
            Scalar::Boolean(boolean, text) => boolean_as(slot.kind, boolean, text),
            Scalar::State(text) => SampleValue::State(text.into()),
        };
        slot.holds_value = value != SampleValue::Gap;
        slot.kind = kind_after(slot.kind, &value);
        let timestamp_ns = frame.own_ns.unwrap_or_else(|| slot.stamp(frame.message.arrival_ns));
        frame.out.push(Sample { series: handle, timestamp_ns, value });
    }

    /// The series of a field, made if need be. A gap makes no series, unless one is stored.
    fn series_of(
        &mut self,
        frame: &Frame<'_, '_>,
        source: Source<'_>,
        scalar: Scalar<'_>,
    ) -> Result<Option<SeriesHandle>, Reason> {
        if let Some(handle) = self.table.find(source) {
            return Ok(Some(handle));
        }
        if scalar == Scalar::Gap {
            let (name, _) = self.table.name_of(source, frame.catalog)?;
            if frame.catalog.kind_of(&name).is_none() {
                return Ok(None);
            }
        }
        let (handle, clash) = self.table.create(source, frame.catalog)?;
        self.journal.counters.name_clashes += u64::from(clash);
        Ok(Some(handle))
    }
}

/// The place of the last field of each key.
fn last_of_duplicates<'j>(fields: &'j [(Cow<'j, str>, Json<'j>)]) -> HashMap<&'j str, usize> {
    fields.iter().enumerate().map(|(index, (key, _))| (key.as_ref(), index)).collect()
}

/// Whether a top-level field is the document's time, or a time that could not be used.
fn is_time_field(key: &str, value: &Json<'_>, used: bool) -> bool {
    let Some(index) = TIME_KEYS.iter().position(|known| *known == key) else { return false };
    match value {
        // `time` may also be a reading; `ts` and `timestamp` never are.
        Json::Number(_) => index < EPOCH_KEYS || used,
        Json::Text(_) => true,
        _ => false,
    }
}

fn read_leaf<'a>(value: &'a Json<'_>) -> Scalar<'a> {
    match value {
        Json::Number(lexeme) => Scalar::Number(number::from_json(lexeme), None),
        Json::Boolean(true) => Scalar::Boolean(true, "true"),
        Json::Boolean(false) => Scalar::Boolean(false, "false"),
        Json::Text(text) => scalar::read(text),
        Json::Null | Json::NotANumber => Scalar::Gap,
        Json::Array(_) | Json::Object(_) => Scalar::Unusable(Reason::MixedArray),
    }
}

/// A boolean in a numeric series is 1 or 0, a word of a pair in a series of states is its text.
fn boolean_as(kind: Option<ValueKind>, boolean: bool, text: &str) -> SampleValue {
    match kind {
        Some(ValueKind::Float | ValueKind::Integer) => SampleValue::Float(f64::from(u8::from(boolean))),
        Some(ValueKind::State) => SampleValue::State(text.into()),
        Some(ValueKind::Boolean) | None => SampleValue::Boolean(boolean),
    }
}

/// The kind of a series after one more value: numbers and states stay what they are, a series of
/// booleans becomes what comes next.
fn kind_after(kind: Option<ValueKind>, value: &SampleValue) -> Option<ValueKind> {
    let new = match value {
        SampleValue::Float(_) | SampleValue::Integer(_) => ValueKind::Float,
        SampleValue::Boolean(_) => ValueKind::Boolean,
        SampleValue::State(_) => ValueKind::State,
        SampleValue::Gap => return kind,
    };
    match kind {
        Some(ValueKind::Float | ValueKind::Integer | ValueKind::State) => kind,
        Some(ValueKind::Boolean) | None => Some(new),
    }
}

fn has_bare_nan(document: &Json<'_>) -> bool {
    match document {
        Json::NotANumber => true,
        Json::Array(items) => items.iter().any(has_bare_nan),
        Json::Object(fields) => fields.iter().any(|(_, value)| has_bare_nan(value)),
        _ => false,
    }
}

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;
