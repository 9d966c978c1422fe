//! What people, sensors and clients send.

use std::sync::atomic::{AtomicU64, Ordering};

use siltstone::api::{Question, parse_condition, parse_instant, parse_step};
use siltstone::config;
use siltstone::decode::{DecodeOptions, Decoder, Message, NoCatalog, TopicPattern};
use siltstone::sheet::{ColumnRules, Row, SheetReader};
use siltstone_core::series::{NoRegex, Selector, SeriesName, is_canonical};

/// A topic, a newline, a payload.
pub(super) fn payload(input: &[u8]) {
    let at = input.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let (topic, payload) = input.split_at(at);
    let Ok(topic) = std::str::from_utf8(topic) else { return };
    let payload = payload.strip_prefix(b"\n").unwrap_or(payload);
    let day_ns = 86_400_000_000_000;
    let mut decoder = Decoder::new(DecodeOptions {
        exclude: vec![TopicPattern::new("$SYS/#"), TopicPattern::new(topic)],
        max_age_ns: 3_650 * day_ns,
        max_ahead_ns: day_ns,
        max_series: 1_000,
        max_series_per_topic: 100,
        max_series_in: vec![("+/#".to_owned(), 50)],
        max_depth: 6,
    });
    let mut samples = Vec::new();
    for (topic, retain) in [(topic, false), ("a/b", true)] {
        let message = Message { topic, payload, retain, arrival_ns: 1_796_022_845_000_000_000 };
        decoder.decode(&message, &NoCatalog, &mut samples);
        for sample in samples.drain(..) {
            let name = decoder.name(sample.series).expect("a sample's series has a name");
            assert!(is_canonical(name.as_str()).is_ok(), "{name:?}");
        }
    }
}

pub(super) fn csv(input: &[u8]) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let ending = if input.starts_with(&[0x1F, 0x8B]) { "csv.gz" } else { "csv" };
    let name = format!("siltstone-fuzz-{}-{number}.{ending}", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, input).expect("a file for a moment");
    let rules = ColumnRules { metric: None, tags: vec![("site".to_owned(), "a".to_owned())] };
    if let Ok(mut reader) = SheetReader::open(&path, &rules) {
        let mut row = Row::default();
        // A few bytes of gzip may hold many rows: enough is enough.
        for _ in 0..20_000 {
            if !reader.next_row(&mut row).is_ok_and(|is_there| is_there) {
                break;
            }
        }
    }
    std::fs::remove_file(&path).expect("it was there");
}

pub(super) fn selector(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let name = SeriesName::parse(text);
    if let Ok(selector) = Selector::parse(text)
        && let Ok(name) = &name
    {
        // A name is also the selector of itself.
        assert!(selector.matches(name.name_ref(), &NoRegex), "{text}");
    }
    if let Ok(name) = name {
        assert!(is_canonical(name.as_str()).is_ok());
        assert_eq!(SeriesName::parse(name.as_str()).as_ref(), Ok(&name), "the canonical text is its own");
        let parts: Vec<_> = name.tags().collect();
        let again = SeriesName::new(&name.metric(), parts.iter().map(|(tag, value)| (&**tag, &**value)));
        assert_eq!(again.as_ref(), Ok(&name), "the parts make the name");
    }
}

pub(super) fn config(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Err(error) = config::parse("siltstone.toml", text) {
        assert!(error.to_string().starts_with("siltstone.toml"), "{error}");
    }
}

pub(super) fn question(input: &[u8]) {
    if let Ok(question) = Question::from_json(input) {
        let _ = question.check(true);
    }
    let Ok(text) = std::str::from_utf8(input) else { return };
    let _ = (parse_condition(text), parse_instant(text), parse_step(text));
}
