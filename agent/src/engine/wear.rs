//! What is written to the card, and how long it will last at that.
//!
//! Blocks are counted by the store; here they become bytes a day since this start and, where the
//! card's rated endurance is known, years. What the file system writes besides is not in it.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use siltstone_core::block::BLOCK_LEN;
use siltstone_core::store::Written;

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

    /// Years until the card has taken what it is rated for.
    fn years_left(&self, now: Written) -> Option<f64> {
        let left = self.card_bytes?.saturating_sub(now.total_bytes());
        let per_year = self.bytes_per_day(now).filter(|bytes| *bytes > 0)? as f64 * 365.0;
        Some((left as f64 / per_year * 10.0).round() / 10.0)
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

/// Bytes by cause, and all of them.
pub fn written_json(written: Written) -> Value {
    let bytes = |blocks: u64| blocks.saturating_mul(BLOCK_LEN as u64);
    let causes: Map<String, Value> =
        written.by_cause().iter().map(|(name, blocks)| ((*name).to_owned(), bytes(*blocks).into())).collect();
    json!({ "bytes": written.total_bytes(), "by_cause": causes })
}

/// The same for people.
pub fn written_words(written: Written) -> String {
    let megabytes = |blocks: u64| blocks as f64 * BLOCK_LEN as f64 / 1e6;
    let causes: Vec<String> =
        written.by_cause().iter().map(|(name, blocks)| format!("{name} {:.1}", megabytes(*blocks))).collect();
    format!("{:.1} MB written since the store was made ({})", megabytes(written.total()), causes.join(", "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use siltstone_core::store::Written;

    use super::Wear;

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
