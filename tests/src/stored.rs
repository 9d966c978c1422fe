//! What an agent has stored, asked over its API, and how that compares with what was published.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::dataset::Readings;
use crate::http::Http;

/// Readings by the canonical name of their series.
pub type Series = BTreeMap<String, Readings>;

/// A selector of every series there is.
pub const EVERYTHING: &str = "{__name__=~\".+\"}";

/// A question about all readings of a selector, whenever they were.
pub fn question(select: &str) -> Json {
    json!({ "select": select, "from": "1971-01-01T00:00:00Z", "to": "2200-01-01T00:00:00Z", "limit": 10_000 })
}

/// How many readings are stored in all.
pub fn count(http: &Http) -> u64 {
    let mut question = question(EVERYTHING);
    question["fn"] = json!(["count"]);
    // One series a row, the count last.
    http.query_all(&question).iter().map(|row| number(&row[row.len() - 1]) as u64).sum()
}

/// Everything that is stored; panics where a series has a time twice.
pub fn everything(http: &Http) -> Series {
    let mut found = Series::new();
    for row in http.query_all(&question(EVERYTHING)) {
        let at: i64 = text(&row[1]).parse().expect("a time is nanoseconds as text");
        let series = found.entry(text(&row[0])).or_default();
        assert!(series.insert(at, number(&row[2]).to_bits()).is_none(), "{} has {at} twice", row[0]);
    }
    found
}

/// Panics with the first differences where the two are not the same to the last bit.
pub fn assert_same(stored: &Series, expected: &Series) {
    let names: Vec<_> = stored.keys().collect();
    assert_eq!(names, expected.keys().collect::<Vec<_>>());
    for (name, readings) in expected {
        let found = &stored[name];
        let missing: Vec<_> = readings.iter().filter(|(at, _)| !found.contains_key(at)).take(5).collect();
        assert!(missing.is_empty(), "{name}: missing {missing:?} and perhaps more");
        let wrong: Vec<_> =
            found.iter().filter(|(at, bits)| readings.get(at) != Some(bits)).take(5).collect();
        assert!(wrong.is_empty(), "{name}: stored {wrong:?}, and perhaps more, which was not published");
    }
}

/// A cell that holds a number, as JSON has it or, beyond that, as text.
pub fn number(cell: &Json) -> f64 {
    match cell {
        Json::Number(number) => number.to_string().parse().expect("a number"),
        Json::String(text) => text.parse().expect("a number as text"),
        other => panic!("{other} is no number"),
    }
}

/// A cell as text.
pub fn text(cell: &Json) -> String {
    cell.as_str().map_or_else(|| cell.to_string(), str::to_owned)
}
