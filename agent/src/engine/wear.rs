//! What is written to the card, and how long it will last at that.
//!
//! Blocks are counted by the store; here they become bytes a day and, where the card's rated endurance is known, years:
//! since this start, of an agent that runs, and over the time that the checkpoints of a store know. What the file
//! system writes besides is not in it.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use siltstone_core::block::BLOCK_LEN;
use siltstone_core::store::{Meter, Written};

use crate::api::format_instant;

/// Before that the first checkpoint weighs too much.
const RATE_AFTER: Duration = Duration::from_secs(600);
const DAY_S: f64 = 86_400.0;

/// The count at this start.
#[derive(Debug)]
pub(super) struct Wear {
    began: Instant,
    at_start: Written,
    card_bytes: Option<u64>,
}

impl Wear {
    pub(super) fn new(at_start: Written, card_bytes: Option<u64>) -> Self {
        Self { began: Instant::now(), at_start, card_bytes }
    }

    /// Bytes a day since this start, once that says something.
    fn bytes_per_day(&self, now: Written) -> Option<u64> {
        let elapsed = self.began.elapsed();
        let bytes = now.total_bytes().saturating_sub(self.at_start.total_bytes());
        (elapsed >= RATE_AFTER).then(|| (bytes as f64 / elapsed.as_secs_f64() * DAY_S) as u64)
    }

    fn years_left(&self, now: Written) -> Option<f64> {
        years_left(self.card_bytes, now, self.bytes_per_day(now))
    }

    /// The part of the health document.
    pub(super) fn to_json(&self, now: Written) -> Value {
        let mut document = written_json(now);
        document["bytes_per_day"] = self.bytes_per_day(now).into();
        document["card_years_left"] = self.years_left(now).into();
        document
    }

    /// One sentence.
    pub(super) fn sentence(&self, now: Written) -> String {
        let mut text = written_words(now);
        if let Some(bytes) = self.bytes_per_day(now) {
            text.push_str(&format!("; {:.1} MB a day since the start", bytes as f64 / 1e6));
        }
        if let Some(years) = self.years_left(now) {
            text.push_str(&format!("; at that the card lasts {years:.1} more years"));
        }
        text
    }
}

/// Years until the card has taken what it is rated for, at so many bytes a day.
fn years_left(card_bytes: Option<u64>, now: Written, bytes_per_day: Option<u64>) -> Option<f64> {
    let left = card_bytes?.saturating_sub(now.total_bytes());
    let per_year = bytes_per_day.filter(|bytes| *bytes > 0)? as f64 * 365.0;
    Some((left as f64 / per_year * 10.0).round() / 10.0)
}

/// Bytes a day over the time that a store's checkpoints know, once that says something.
fn metered_per_day(meter: Option<Meter>) -> Option<u64> {
    let meter = meter.filter(|meter| u128::from(meter.span_ns().unsigned_abs()) >= RATE_AFTER.as_nanos())?;
    Some((meter.bytes() as f64 / (meter.span_ns() as f64 / 1e9) * DAY_S) as u64)
}

/// What a store wrote by its last checkpoint, over which time, and how long a card lasts at that.
pub fn measured_json(written: Written, meter: Option<Meter>, card_bytes: Option<u64>) -> Value {
    let mut document = written_json(written);
    let per_day = metered_per_day(meter);
    document["measured"] = meter.map_or(Value::Null, |meter| {
        let (begin, end) = (meter.begin_ns.to_string(), meter.end_ns.to_string());
        json!({ "begin": begin, "end": end, "bytes": meter.bytes() })
    });
    document["bytes_per_day"] = per_day.into();
    document["card_years_left"] = years_left(card_bytes, written, per_day).into();
    document
}

/// The same for people, in lines.
pub fn measured_words(written: Written, meter: Option<Meter>, card_bytes: Option<u64>) -> String {
    let mut text = format!("{}, up to the last checkpoint\n", written_words(written));
    let per_day = metered_per_day(meter);
    match (meter, per_day) {
        (Some(meter), Some(bytes)) => text.push_str(&format!(
            "{:.1} MB a day, measured over {:.1} days of trusted time, from {} to {}, whether an agent ran or not\n",
            bytes as f64 / 1e6,
            meter.span_ns() as f64 / 1e9 / DAY_S,
            format_instant(meter.begin_ns),
            format_instant(meter.end_ns),
        )),
        _ => text.push_str(
            "bytes a day are not known: that takes two checkpoints, ten minutes apart or more, by a clock that can be \
             trusted\n",
        ),
    }
    if let (Some(card), Some(years)) = (card_bytes, years_left(card_bytes, written, per_day)) {
        text.push_str(&format!(
            "at that a card rated for {:.1} TB lasts {years:.1} more years\n",
            card as f64 / 1e12
        ));
    }
    text
}

/// Bytes by cause, and all of them.
fn written_json(written: Written) -> Value {
    let bytes = |blocks: u64| blocks.saturating_mul(BLOCK_LEN as u64);
    let causes: Map<String, Value> =
        written.by_cause().iter().map(|(name, blocks)| ((*name).to_owned(), bytes(*blocks).into())).collect();
    json!({ "bytes": written.total_bytes(), "by_cause": causes })
}

/// The same for people.
fn written_words(written: Written) -> String {
    let megabytes = |blocks: u64| blocks as f64 * BLOCK_LEN as f64 / 1e6;
    let causes: Vec<String> =
        written.by_cause().iter().map(|(name, blocks)| format!("{name} {:.1}", megabytes(*blocks))).collect();
    format!("{:.1} MB written since the store was made ({})", megabytes(written.total()), causes.join(", "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use siltstone_core::store::{Meter, Written};

    use super::{Wear, measured_json, measured_words};

    #[test]
    fn a_day_is_measured_over_the_time_that_checkpoints_know() {
        const DAY_NS: i64 = 86_400_000_000_000;
        let written = Written { journal: 30_000, leaves: 10_000, ..Written::default() };
        let begin_ns = 1_796_000_000_000_000_000;
        let meter =
            Meter { begin_ns, begin_blocks: 20_000, end_ns: begin_ns + 10 * DAY_NS, end_blocks: 40_000 };
        let document = measured_json(written, Some(meter), Some(1_000_000_000_000));
        assert_eq!(
            (&document["bytes"], &document["measured"]["bytes"]),
            (&163_840_000.into(), &81_920_000.into())
        );
        assert_eq!(document["bytes_per_day"], 8_192_000);
        // (10^12 - 163,840,000) / 8,192,000 / 365
        assert_eq!(document["card_years_left"], 334.4);
        let text = measured_words(written, Some(meter), Some(1_000_000_000_000));
        assert!(
            text.contains("8.2 MB a day, measured over 10.0 days") && text.contains("334.4 more years"),
            "{text}"
        );
        for unknown in [None, Some(Meter { end_ns: begin_ns + 599_000_000_000, ..meter })] {
            let document = measured_json(written, unknown, Some(1));
            assert!(
                document["bytes_per_day"].is_null() && document["card_years_left"].is_null(),
                "{document}"
            );
            assert!(measured_words(written, unknown, Some(1)).contains("not known"));
        }
    }

    #[test]
    fn years_follow_from_bytes_a_day() {
        let at_start = Written { journal: 1_000, ..Written::default() };
        let mut wear = Wear::new(at_start, Some(1_000_000_000_000));
        let now = Written { journal: 1_100, leaves: 400, ..Written::default() };
        assert!(wear.to_json(now)["bytes_per_day"].is_null(), "too early to say");
        let Some(began) = wear.began.checked_sub(Duration::from_secs(86_400)) else { return };
        wear.began = began;
        let document = wear.to_json(now);
        assert_eq!(document["bytes"], 1_500 * 4096);
        assert_eq!(document["by_cause"]["leaves"], 400 * 4096);
        let per_day = document["bytes_per_day"].as_u64().unwrap();
        assert!((2_047_000..=2_048_000).contains(&per_day), "{per_day}");
        let years = document["card_years_left"].as_f64().unwrap();
        assert!((1_337.0..1_339.0).contains(&years), "{years}");
        let sentence = wear.sentence(now);
        assert!(sentence.contains("2.0 MB a day") && sentence.contains("leaves 1.6"), "{sentence}");
    }
}
