//! The JSON reader against its naive twin, `serde_json`, and the one liberty it takes.

use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::Value;

use super::{Json, JsonFault, parse};

/// Our document as the twin would hold it; the last of duplicate keys wins there.
fn twin(json: &Json<'_>) -> Value {
    match json {
        Json::Null | Json::NotANumber => Value::Null,
        Json::Boolean(boolean) => Value::Bool(*boolean),
        Json::Number(text) => serde_json::from_str(text).unwrap(),
        Json::Text(text) => Value::String(text.clone().into_owned()),
        Json::Array(items) => Value::Array(items.iter().map(twin).collect()),
        Json::Object(fields) => {
            Value::Object(fields.iter().map(|(key, value)| (key.clone().into_owned(), twin(value))).collect())
        }
    }
}

fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter_map("finite", |float| serde_json::Number::from_f64(float).map(Value::Number)),
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::hash_map(any::<String>(), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn reads_what_the_twin_prints(document in documents(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) };
        let text = text.unwrap();
        prop_assert_eq!(twin(&parse(&text).unwrap()), document);
    }

    #[test]
    fn agrees_on_damaged_documents(document in documents(), at in any::<prop::sample::Index>(), byte in "[ -~]") {
        let mut text = serde_json::to_string(&document).unwrap();
        let place = (0..=text.len()).filter(|&i| text.is_char_boundary(i)).collect::<Vec<_>>();
        text.insert_str(place[at.index(place.len())], &byte);
        let lower = text.to_lowercase();
        prop_assume!(!lower.contains("nan") && !lower.contains("inf"));
        // The twin refuses lone surrogates and numbers beyond binary64, which are faults of another kind here.
        match (parse(&text), serde_json::from_str::<Value>(&text)) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(twin(&ours), theirs),
            (Ok(_), Err(error)) => {
                let error = error.to_string();
                prop_assert!(error.contains("surrogate") || error.contains("hex escape") || error.contains("out of range"),
                    "{} accepted: {}", text, error);
            }
            (Err(fault), theirs) => prop_assert!(theirs.is_err(), "{text} refused: {fault:?}"),
        }
    }

    #[test]
    fn any_text_gives_an_answer(text in any::<String>()) {
        let _ = parse(&text);
    }
}

#[test]
fn bare_nan_and_infinity_are_values() {
    let json = parse(r#"{"a":nan,"b":-Infinity,"c":NaN,"d":+inf,"e":1}"#).unwrap();
    let Json::Object(fields) = json else { panic!("an object") };
    assert_eq!(fields.iter().filter(|(_, value)| *value == Json::NotANumber).count(), 4);
    assert_eq!(fields.last().unwrap(), &(Cow::Borrowed("e"), Json::Number("1")));
    for wrong in [r#"{"a":nano}"#, r#"{"a":infinite}"#, r#"{"a":nan1}"#, "-null", "+1", "-", "nul"] {
        assert!(matches!(parse(wrong), Err(JsonFault::Syntax(_))), "{wrong}");
    }
}

#[test]
fn numbers_keep_their_text() {
    assert_eq!(parse(" 9007199254740993 "), Ok(Json::Number("9007199254740993")));
    assert_eq!(parse("-0.10e+5"), Ok(Json::Number("-0.10e+5")));
    for wrong in ["01", "1.", ".5", "1e", "1e+", "--1", "0x1F", "1 2"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn faults_name_the_byte() {
    assert_eq!(parse(r#"{"a":1,}"#), Err(JsonFault::Syntax(7)));
    assert_eq!(parse(r#"{"a" 1}"#), Err(JsonFault::Syntax(5)));
    assert_eq!(parse("\"a\nb\""), Err(JsonFault::Syntax(2)));
    assert_eq!(parse(r#""\q""#), Err(JsonFault::Syntax(2)));
    assert_eq!(parse(""), Err(JsonFault::Syntax(0)));
}

#[test]
fn depth_and_values_are_bounded() {
    assert_eq!(parse(&"[".repeat(1000)), Err(JsonFault::TooBig));
    assert!(parse(&format!("{}1{}", "[".repeat(60), "]".repeat(60))).is_ok());
    assert_eq!(parse(&format!("[{}1]", "1,".repeat(70_000))), Err(JsonFault::TooBig));
}
