//! Reasons why something was not stored, counters of them, and the last hundred.
//!
//! A message that gave no sample at all and a field that was left out are told apart by where they
//! are counted, not by their reasons. The ring holds one entry per topic and reason, so that one
//! chatty topic can't hide the others.

use std::collections::VecDeque;

/// Entries of the ring.
const RING_MAX: usize = 100;
/// Bytes of a payload that are kept, as hex.
const HEAD_BYTES: usize = 32;
/// Bytes of a topic that are kept.
const TOPIC_BYTES: usize = 256;

/// Why a message or a field was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The payload is not UTF-8: a picture, a compressed document, a torn text.
    Binary,
    /// The payload begins like JSON and is none.
    BrokenJson,
    /// A document of too many levels or values.
    HugeJson,
    /// A text of more than 64 bytes.
    LongText,
    /// A text with control characters, such as a coloured log line.
    ControlText,
    /// A date or a time, which is no state.
    TimeText,
    /// A number beyond what a float or a 64-bit integer holds.
    NumberRange,
    /// An array of more than eight numbers.
    LongArray,
    /// An array of anything but numbers.
    MixedArray,
    /// A field below the deepest level that is looked at.
    TooDeep,
    /// The topic is longer than 1 KiB.
    LongTopic,
    /// Topic or key can't be part of a series name: control characters, or too long.
    BadName,
    /// The topic has made as many series as a topic may.
    TopicCap,
    /// Topics of a pattern have made as many series as they may.
    PatternCap,
    /// There are as many series as may be.
    SeriesCap,
}

impl Reason {
    /// Every reason with its word in the API and its sentence.
    pub const ALL: [(Self, &'static str, &'static str); 15] = [
        (Self::Binary, "binary", "the payload is not text"),
        (Self::BrokenJson, "broken_json", "the payload begins like JSON and is none"),
        (Self::HugeJson, "huge_json", "the document has more than 64 levels or 65,536 values"),
        (Self::LongText, "long_text", "a text of more than 64 bytes is no state"),
        (Self::ControlText, "control_text", "a text with control characters is no state"),
        (Self::TimeText, "time_text", "a date or a time is no state"),
        (Self::NumberRange, "number_range", "the number is beyond a float and a 64-bit integer"),
        (Self::LongArray, "long_array", "an array of more than eight numbers"),
        (Self::MixedArray, "mixed_array", "an array of anything but numbers"),
        (Self::TooDeep, "too_deep", "a field below ingest.max_depth"),
        (Self::LongTopic, "long_topic", "the topic is longer than 1 KiB"),
        (Self::BadName, "bad_name", "topic or key can't be part of a series name"),
        (Self::TopicCap, "topic_cap", "the topic has made ingest.max_series_per_topic series"),
        (
            Self::PatternCap,
            "pattern_cap",
            "topics of a pattern have made their series of ingest.max_series_in",
        ),
        (Self::SeriesCap, "series_cap", "there are ingest.max_series series"),
    ];

    /// The word of the API.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(reason, ..)| *reason == self).map_or("", |(_, name, _)| name)
    }

    /// The sentence.
    pub fn sentence(self) -> &'static str {
        Self::ALL.iter().find(|(reason, ..)| *reason == self).map_or("", |(.., sentence)| sentence)
    }
}

/// One line of the ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The topic, cut to 256 bytes.
    pub topic: String,
    /// The field in it, or the place in a broken document; empty for the whole message.
    pub place: String,
    /// Why.
    pub reason: Reason,
    /// How often this topic had this reason since it entered the ring.
    pub count: u64,
    /// Bytes of the last such payload.
    pub size_bytes: usize,
    /// Its first bytes, in hex.
    pub head: String,
    /// When the last one arrived, nanoseconds.
    pub arrival_ns: i64,
}

/// What the stage has seen since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages looked at.
    pub messages: u64,
    /// Samples made.
    pub samples: u64,
    /// Messages of excluded topics.
    pub excluded: u64,
    /// Retained messages without a time of their own, which are no samples.
    pub retained: u64,
    /// Messages without any sample, though nothing was wrong: empty, or gaps after gaps.
    pub empty: u64,
    /// Documents with a bare NaN or infinity.
    pub lenient_json: u64,
    /// Keys that stood twice in a document; the last one counts.
    pub duplicate_keys: u64,
    /// Payload times outside the window of `max_age` and `max_ahead`; arrival was taken.
    pub time_outside: u64,
    /// Samples stamped with their time of arrival.
    pub stamped: u64,
    /// Names made unique by a `path` tag.
    pub name_clashes: u64,
    rejected: [u64; Reason::ALL.len()],
}

impl Counters {
    /// Messages and fields left out, by reason; reasons that never came are absent.
    pub fn rejected(&self) -> impl Iterator<Item = (Reason, u64)> {
        Reason::ALL
            .iter()
            .zip(self.rejected)
            .filter(|(_, count)| *count > 0)
            .map(|((reason, ..), count)| (*reason, count))
    }

    /// Readings left out because their series would have been one too many.
    pub fn beyond_caps(&self) -> u64 {
        let caps = [Reason::TopicCap, Reason::PatternCap, Reason::SeriesCap];
        self.rejected().filter(|(reason, _)| caps.contains(reason)).map(|(_, count)| count).sum()
    }
}

/// Counters and ring together.
#[derive(Debug, Default)]
pub(super) struct Journal {
    pub(super) counters: Counters,
    ring: VecDeque<Rejection>,
}

impl Journal {
    pub(super) fn reject(&mut self, message: &super::Message<'_>, place: &str, reason: Reason) {
        if let Some(index) = Reason::ALL.iter().position(|(known, ..)| *known == reason)
            && let Some(count) = self.counters.rejected.get_mut(index)
        {
            *count += 1;
        }
        let topic = cut(message.topic, TOPIC_BYTES);
        let known = self.ring.iter().position(|entry| entry.reason == reason && entry.topic == topic);
        let count = known.and_then(|index| self.ring.remove(index)).map_or(0, |entry| entry.count);
        if self.ring.len() >= RING_MAX {
            self.ring.pop_front();
        }
        self.ring.push_back(Rejection {
            topic: topic.to_owned(),
            place: cut(place, TOPIC_BYTES).to_owned(),
            reason,
            count: count + 1,
            size_bytes: message.payload.len(),
            head: message.payload.iter().take(HEAD_BYTES).map(|byte| format!("{byte:02x}")).collect(),
            arrival_ns: message.arrival_ns,
        });
    }

    /// The ring, the latest last.
    pub(super) fn recent(&self) -> impl Iterator<Item = &Rejection> {
        self.ring.iter()
    }
}

/// At most `bytes` of `text`, cut between characters.
fn cut(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::{Journal, RING_MAX, Reason, cut};
    use crate::decode::Message;

    fn message(topic: &str) -> Message<'_> {
        Message { topic, payload: b"\xff\xd8", retain: false, arrival_ns: 7 }
    }

    #[test]
    fn every_reason_stands_in_the_table_once() {
        for (index, (reason, name, sentence)) in Reason::ALL.iter().enumerate() {
            assert_eq!(reason.name(), *name);
            assert_eq!(reason.sentence(), *sentence);
            assert_eq!(Reason::ALL.iter().position(|(_, other, _)| other == name), Some(index));
        }
    }

    #[test]
    fn the_ring_keeps_one_line_per_topic_and_reason() {
        let mut journal = Journal::default();
        for _ in 0..5 {
            journal.reject(&message("cam/hall"), "", Reason::Binary);
        }
        assert_eq!(journal.recent().count(), 1);
        let entry = journal.recent().next().unwrap();
        assert_eq!((entry.count, entry.size_bytes, entry.head.as_str()), (5, 2, "ffd8"));
        for index in 0..150 {
            journal.reject(&message(&format!("t/{index}")), "", Reason::Binary);
        }
        assert_eq!(journal.recent().count(), RING_MAX);
        assert_eq!(journal.recent().last().unwrap().topic, "t/149");
        assert_eq!(journal.counters.rejected().collect::<Vec<_>>(), [(Reason::Binary, 155)]);
    }

    #[test]
    fn cuts_between_characters() {
        assert_eq!(cut("añb", 2), "a");
        assert_eq!(cut("abc", 9), "abc");
    }
}
