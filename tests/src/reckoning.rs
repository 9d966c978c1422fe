//! Numbered messages, and the reckoning after a run: what was published, delivered, acknowledged and stored.
//!
//! Each message carries the counter of its series as its value. Most carry it in a time of their own, too. Those of the
//! last two series have none: they are stamped on arrival, so that one that is stored twice is stored at two times and
//! seen. Beside the counter a message can have texts that don't compress, to fill a disk.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use crate::chance::Chance;
use crate::http::Http;
use crate::load::{Compose, Load};
use crate::stored::{number, question, text};
use crate::tap::{Record, Seen, Tap};

/// Series in all, and those whose messages say their time.
const SERIES: u64 = 8;
const SERIES_WITH_TIME: u64 = 6;
/// Characters of a text that fills: as many as a state may have.
const FILLER_CHARACTERS: usize = 64;
/// Messages of each kind that are shown where something is wrong.
const SHOWN_MAX: u64 = 4;

/// The messages of one run.
#[derive(Clone, Copy, Debug)]
pub struct Messages {
    begin_ms: u64,
    fillers: usize,
}

/// How often each message is stored, and how many readings have a time that is not theirs.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// By message.
    pub times: HashMap<u64, u32>,
    /// At a time that is not their own.
    pub strangers: u64,
}

/// Whether a message says its time.
pub fn has_time(message: u64) -> bool {
    message % SERIES < SERIES_WITH_TIME
}

/// The message that a topic and a payload are.
pub fn recognise(topic: &[u8], payload: &[u8]) -> Option<u64> {
    let series: u64 = std::str::from_utf8(topic).ok()?.strip_prefix("kill/")?.parse().ok()?;
    let payload = std::str::from_utf8(payload).ok()?;
    let (_, counter) = payload.strip_suffix('}')?.split_once("\"n\":")?;
    Some(counter.parse::<u64>().ok()? * SERIES + series)
}

impl Messages {
    /// Messages of yesterday, each with so many texts that fill.
    pub fn new(fillers: usize) -> Self {
        let since_epoch = std::time::UNIX_EPOCH.elapsed().expect("the clock is past 1970");
        Self { begin_ms: since_epoch.as_millis() as u64 - 86_400_000, fillers }
    }

    /// What the load publishes.
    pub fn compose(self) -> Compose {
        Arc::new(move |message: u64| {
            let (series, counter) = (message % SERIES, message / SERIES);
            let time = if has_time(message) {
                format!("\"ts\":{},", self.begin_ms + counter)
            } else {
                String::new()
            };
            let mut chance = Chance(message);
            // In one of them only: the more a series gets, the sooner its blocks are full.
            let fillers = if series == 0 { self.fillers } else { 0 };
            let fillers: String =
                (0..fillers).map(|field| format!("\"f{field}\":\"{}\",", filler(&mut chance))).collect();
            (format!("kill/{series}"), format!("{{{time}{fillers}\"n\":{counter}}}"))
        })
    }

    /// What an agent has stored of them.
    pub fn stored(self, http: &Http) -> Stored {
        let mut stored = Stored::default();
        for row in http.query_all(&question("n")) {
            let name = text(&row[0]);
            let series = name.split("kill/").nth(1).and_then(|rest| rest.split('"').next()?.parse().ok());
            let (series, counter): (u64, u64) = (series.expect("a series of ours"), number(&row[2]) as u64);
            let message = counter * SERIES + series;
            let own = (self.begin_ms + counter) * 1_000_000;
            if has_time(message) && text(&row[1]) != own.to_string() {
                stored.strangers += 1;
            } else {
                *stored.times.entry(message).or_default() += 1;
            }
        }
        stored
    }

    /// Panics unless every reading of the messages that are stored is there, not only the counters.
    pub fn assert_whole(self, http: &Http) {
        let counters: u64 = counts(http, "n{device=\"kill/0\"}");
        for field in 0..self.fillers {
            assert_eq!(counts(http, &format!("f{field}")), counters, "readings of f{field}");
        }
    }
}

fn counts(http: &Http, metric: &str) -> u64 {
    let mut question = question(metric);
    question["fn"] = json!(["count"]);
    http.query_all(&question).iter().map(|row| number(&row[row.len() - 1]) as u64).sum()
}

/// A text that begins with no digit, so that nothing takes it for a number or a time.
fn filler(chance: &mut Chance) -> String {
    const ALPHABET: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    let character = |_| {
        let place = (chance.fraction() * ALPHABET.len() as f64) as usize;
        char::from(ALPHABET[place.min(ALPHABET.len() - 1)])
    };
    format!("x{}", (1..FILLER_CHARACTERS).map(character).collect::<String>())
}

/// The figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Messages published, all of them acknowledged by the broker.
    pub published: u64,
    /// Messages that the agent acknowledged.
    pub acknowledged: u64,
    /// Messages that are stored.
    pub stored: u64,
    /// Messages that the agent acknowledged and that are not stored.
    pub acknowledged_but_lost: u64,
    /// Messages that are not stored, those that the broker forgot not counted.
    pub published_not_stored: u64,
    /// Messages that are stored more often than the broker had them, or at a time that is not theirs.
    pub stored_twice: u64,
    /// Messages that came to the agent more than once.
    pub twice_on_wire: u64,
    /// Messages that the broker acknowledged just before it was killed, and never delivered.
    pub forgotten_by_broker: u64,
    /// Acknowledgements of what was not delivered.
    pub strange_acks: u64,
}

impl Account {
    /// Draws up the account; `may_be_forgotten` says of a message without a trace whether the broker may have lost it.
    pub fn draw(
        stored: &Stored,
        load: &Load,
        record: &Record,
        may_be_forgotten: impl Fn(u64, Option<Instant>) -> bool,
    ) -> Self {
        let acknowledged = load.acknowledged();
        let mut account = Self {
            published: acknowledged.len() as u64,
            stored: stored.times.len() as u64,
            stored_twice: stored.strangers,
            strange_acks: record.strange_acks,
            ..Self::default()
        };
        let nothing = Seen::default();
        for (message, at) in (0..).zip(&acknowledged) {
            let seen = record.messages.get(&message).unwrap_or(&nothing);
            let times = stored.times.get(&message).copied().unwrap_or(0);
            account.acknowledged += u64::from(seen.is_acknowledged);
            account.twice_on_wire += u64::from(seen.deliveries > 1);
            if times > seen.packet_ids.len().max(1) as u32 {
                account.stored_twice += 1;
                show(account.stored_twice, &format!("stored {times} times"), message, seen);
            }
            if times > 0 {
                continue;
            }
            if seen.is_acknowledged {
                account.acknowledged_but_lost += 1;
                show(account.acknowledged_but_lost, "acknowledged and not stored", message, seen);
            } else if may_be_forgotten(message, *at) {
                account.forgotten_by_broker += 1;
            } else {
                account.published_not_stored += 1;
                show(account.published_not_stored, "published and not stored", message, seen);
            }
        }
        let unknown = stored.times.keys().filter(|message| **message >= account.published).count();
        account.stored_twice += unknown as u64;
        account
    }

    /// Panics unless everything that was published is stored once.
    pub fn assert_nothing_lost(&self) {
        let (lost, missing, twice) =
            (self.acknowledged_but_lost, self.published_not_stored, self.stored_twice);
        assert_eq!((lost, missing, twice, self.strange_acks), (0, 0, 0, 0), "{self:?}");
        assert!(self.published > 0 && self.stored == self.published, "{self:?}");
    }
}

fn show(count: u64, what: &str, message: u64, seen: &Seen) {
    if count <= SHOWN_MAX {
        eprintln!("{what}: message {message}, {seen:?}");
    }
}

/// Messages that were delivered through a tap, and those of them that wait for their acknowledgement.
pub fn delivered_and_waiting(tap: &Tap) -> (u32, u32) {
    let (mut delivered, mut waiting) = (0, 0);
    for seen in tap.record().messages.values() {
        delivered += seen.deliveries;
        waiting += u32::from(!seen.is_acknowledged);
    }
    (delivered, waiting)
}

#[cfg(test)]
mod tests {
    use super::{Messages, recognise};

    #[test]
    fn messages_are_recognised() {
        assert_eq!(recognise(b"kill/3", b"{\"ts\":1,\"n\":2}"), Some(19));
        assert_eq!(recognise(b"other/3", b"{\"n\":2}"), None);
        let compose = Messages::new(3).compose();
        for message in [0, 7, 19, 12_345] {
            let (topic, payload) = compose(message);
            assert_eq!(recognise(topic.as_bytes(), payload.as_bytes()), Some(message), "{payload}");
        }
    }
}
