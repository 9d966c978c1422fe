//! Property tests of names and selectors against a naive reading of the rules.

use std::collections::BTreeMap;
use std::string::{String, ToString};
use std::vec::Vec;

use proptest::prelude::*;

use super::{
    NAME_BYTES_MAX, NameError, NameReason, NameRef, Operator, RegexMatcher, Selector, SeriesName,
    is_canonical,
};

/// The canonical spelling, written down once more without the printer.
fn naive_text(metric: &str, tags: &BTreeMap<String, String>) -> String {
    let quote = |text: &str| {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        std::format!("\"{text}\"")
    };
    let bare = |text: &str, colon: bool| {
        !text.starts_with(|letter: char| letter.is_ascii_digit())
            && text.chars().all(|l| l == '_' || l.is_ascii_alphanumeric() || (colon && l == ':'))
    };
    let mut parts: Vec<String> = Vec::new();
    if !bare(metric, true) {
        parts.push(quote(metric));
    }
    for (name, value) in tags.iter().filter(|(_, value)| !value.is_empty()) {
        let name = if bare(name, false) { name.clone() } else { quote(name) };
        parts.push(name + "=" + &quote(value));
    }
    let braces = if parts.is_empty() { String::new() } else { std::format!("{{{}}}", parts.join(",")) };
    if bare(metric, true) { metric.to_string() + &braces } else { braces }
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z_:][a-zA-Z0-9_:]{0,8}",
        "[ -~]{1,6}",
        "[\"\\\\\n\ta{}=,é€😀]{1,6}",
        any::<String>().prop_filter("not empty", |text| !text.is_empty() && text.len() < 64),
    ]
    .prop_filter("reserved", |text| text != "__name__")
}

fn any_parts() -> impl Strategy<Value = (String, BTreeMap<String, String>)> {
    let value = prop_oneof!["[a-z]{0,5}", "[\"\\\\\n'`{},=]{0,5}", any::<String>()]
        .prop_filter("short", |text| text.len() < 100);
    (any_name(), proptest::collection::btree_map(any_name(), value, 0..6))
}

fn pairs(tags: &BTreeMap<String, String>) -> impl DoubleEndedIterator<Item = (&str, &str)> {
    tags.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}

proptest! {
    #[test]
    fn names_are_printed_as_the_rules_say((metric, tags) in any_parts()) {
        let name = SeriesName::new(&metric, pairs(&tags).rev()).unwrap();
        prop_assert_eq!(name.as_str(), naive_text(&metric, &tags));
        prop_assert_eq!(is_canonical(name.as_str()), Ok(()));
        prop_assert_eq!(&SeriesName::parse(name.as_str()).unwrap(), &name);
        prop_assert_eq!(&SeriesName::from_canonical(name.as_str()).unwrap(), &name);
        prop_assert_eq!(name.metric(), metric.as_str());
        let read: BTreeMap<String, String> = name.tags().map(|(n, v)| (n.into_owned(), v.into_owned())).collect();
        let kept: BTreeMap<String, String> =
            tags.iter().filter(|(_, v)| !v.is_empty()).map(|(n, v)| (n.clone(), v.clone())).collect();
        prop_assert_eq!(read, kept);
        for (tag, value) in &tags {
            prop_assert_eq!(name.tag(tag).unwrap_or_default(), value.as_str());
        }
    }

    #[test]
    fn canonical_is_a_fixed_point_of_parsing(text in "[ab:0]{0,2}[ ]?(\\{(([ab_]|\"[a\\\\n\"é ]{0,3}\")=?[\"'`][a\\\\\"n]{0,2}[\"'`],? ?){0,3}\\}?)?") {
        if let Ok(name) = SeriesName::parse(&text) {
            prop_assert_eq!(is_canonical(name.as_str()), Ok(()));
            prop_assert_eq!(&SeriesName::parse(name.as_str()).unwrap(), &name);
            prop_assert_eq!(is_canonical(&text).is_ok(), name.as_str() == text);
        } else {
            prop_assert!(is_canonical(&text).is_err());
        }
    }

    #[test]
    fn arbitrary_text_is_read_or_refused(text in any::<String>(), braces in "[{}\"'`=~!, a\\\\]{0,24}") {
        for text in [text, braces] {
            let errors = [SeriesName::parse(&text).err(), Selector::parse(&text).err(), is_canonical(&text).err()];
            for NameError { at, .. } in errors.into_iter().flatten() {
                    prop_assert!(at <= text.len() && text.is_char_boundary(at));
            }
            if let Ok(selector) = Selector::parse(&text) {
                prop_assert_eq!(Selector::parse(&selector.to_string()).unwrap(), selector);
            }
        }
    }

    #[test]
    fn a_selector_of_a_name_selects_it((metric, tags) in any_parts(), (other, others) in any_parts()) {
        let name = SeriesName::new(&metric, pairs(&tags)).unwrap();
        let selector = Selector::of_name(name.name_ref());
        prop_assert!(selector.matches(&name, &Twin));
        let other = SeriesName::new(&other, pairs(&others)).unwrap();
        let wanted = other.metric() == name.metric() && name.tags().all(|(t, v)| other.tag(&t) == Some(v));
        prop_assert_eq!(selector.matches(&other, &Twin), wanted);
    }

    #[test]
    fn matchers_decide_as_the_words_say(value in "[ab|]{0,4}", tag in "[ab]{0,2}", operator in 0_usize..4) {
        let sign = ["=", "!=", "=~", "!~"][operator];
        let selector = Selector::parse(&std::format!("m{{t{sign}\"{value}\"}}")).unwrap();
        let name = SeriesName::new("m", [("t", tag.as_str())]).unwrap();
        let equal = if operator < 2 { tag == value } else { value.split('|').any(|word| word == tag) };
        prop_assert_eq!(selector.matches(&name, &Twin), equal == (operator % 2 == 0));
        prop_assert!(!selector.matches(&SeriesName::new("n", [("t", tag.as_str())]).unwrap(), &Twin));
    }
}

/// Knows one pattern.
struct Twin;

impl RegexMatcher for Twin {
    fn is_match(&self, pattern: &str, text: &str) -> bool {
        pattern == "a.c" && text.len() == 3 && text.starts_with('a') && text.ends_with('c')
    }
}

#[test]
fn any_spelling_becomes_the_canonical_one() {
    for (spelling, canonical) in [
        ("temperature", "temperature"),
        (" temperature { } ", "temperature"),
        ("temperature{room='a',device=\"x\",}", "temperature{device=\"x\",room=\"a\"}"),
        ("{\"temperature\"}", "temperature"),
        ("{__name__=\"soil moisture\",device=\"x\"}", "{\"soil moisture\",device=\"x\"}"),
        ("{ device=\"x\" , \"soil moisture\" }", "{\"soil moisture\",device=\"x\"}"),
        ("m{\"a b\"=`c\\d`}", "m{\"a b\"=\"c\\\\d\"}"),
        ("m{a=\"\",b=\"\\t\"}", "m{b=\"\t\"}"),
        ("m:n{_a1=\"é\"}", "m:n{_a1=\"é\"}"),
    ] {
        assert_eq!(
            SeriesName::parse(spelling).map(|name| name.to_string()),
            Ok(canonical.to_string()),
            "{spelling}"
        );
        assert_eq!(is_canonical(spelling).is_ok(), spelling == canonical, "{spelling}");
    }
}

#[test]
fn faults_are_named_with_their_place() {
    use NameReason as R;
    for (text, at, reason) in [
        ("", 0, R::Empty),
        ("  ", 2, R::Empty),
        ("{}", 0, R::NoMetric),
        ("{a=\"b\"}", 0, R::NoMetric),
        ("{\"\"}", 1, R::EmptyName),
        ("m{\"\"=\"v\"}", 2, R::EmptyName),
        ("m{a=\"1\",a=\"2\"}", 8, R::DuplicateTag),
        ("m{a=\"1\",a=\"\"}", 8, R::DuplicateTag),
        ("m{\"n\"}", 2, R::SecondMetric),
        ("m{a!=\"1\"}", 2, R::OperatorInName),
        ("m{a", 3, R::ExpectedOperator),
        ("m{a=1}", 4, R::ExpectedQuoted),
        ("m{a=\"1}", 4, R::UnclosedQuote),
        ("m{a=\"1\\x\"}", 6, R::BadEscape),
        ("m{a=\"1\" b=\"2\"}", 8, R::ExpectedCommaOrBrace),
        ("m{a=\"1\"} x", 9, R::TrailingText),
        ("1m", 0, R::ExpectedName),
        ("m{=\"x\"}", 2, R::ExpectedName),
    ] {
        assert_eq!(SeriesName::parse(text), Err(NameError { at, reason }), "{text}");
    }
    assert_eq!(SeriesName::parse("m{a=1}").unwrap_err().to_string(), "expected a quoted text at byte 4");
    let bad = |metric: &str, tag: &str| SeriesName::new(metric, [(tag, "v")]).unwrap_err().reason;
    assert_eq!(
        (bad("", "a"), bad("m", ""), bad("m", "__name__")),
        (R::EmptyName, R::EmptyName, R::ReservedTag)
    );
}

#[test]
fn the_longest_name_fits_and_one_more_byte_does_not() {
    let metric = "m".repeat(NAME_BYTES_MAX);
    assert_eq!(SeriesName::parse(&metric).map(|name| name.as_str().len()), Ok(NAME_BYTES_MAX));
    let longer = metric + "m";
    let too_long = |result: Result<SeriesName, NameError>| result.unwrap_err().reason == NameReason::TooLong;
    assert!(too_long(SeriesName::parse(&longer)) && too_long(SeriesName::new(&longer, [])));
    assert!(too_long(SeriesName::from_canonical(&longer)));
    // Quotes and escapes count as they are written.
    let spaces = " ".repeat(NAME_BYTES_MAX - 4);
    assert!(SeriesName::new(&spaces, []).is_ok());
    assert!(too_long(SeriesName::new(&(spaces + " "), [])));
}

#[test]
fn selectors_read_every_operator() {
    let name = |text| SeriesName::parse(text).unwrap();
    let series = [
        name("temp{room=\"a\",device=\"x\"}"),
        name("temp{room=\"abc\"}"),
        name("temp"),
        name("{\"soil moisture\",room=\"a\"}"),
    ];
    let selected = |text: &str| {
        let selector = Selector::parse(text).unwrap();
        series.iter().map(|name| if selector.matches(name, &Twin) { '1' } else { '0' }).collect::<String>()
    };
    assert_eq!(selected("{}"), "1111");
    assert_eq!(selected("temp"), "1110");
    assert_eq!(selected("temp{room=\"a\"}"), "1000");
    assert_eq!(selected("temp{room!=\"a\"}"), "0110");
    assert_eq!(selected("temp{room=\"\"}"), "0010");
    assert_eq!(selected("{room=~\"a.c\"}"), "0100");
    assert_eq!(selected("{room!~\"a.c\"}"), "1011");
    assert_eq!(selected("{room=~\".+\"}"), "1101");
    assert_eq!(selected("{room=~\".*\"}"), "1111");
    assert_eq!(selected("{__name__=~\"temp|hum\",room=~\"a|\"}"), "1010");
    assert_eq!(selected("{\"soil moisture\"}"), "0001");
    assert_eq!(selected("{__name__!=\"temp\",room=\"a\"}"), "0001");
    let selector = Selector::parse("{room=~\"a.c\",b=~\"x|y\"}").unwrap();
    assert_eq!(selector.patterns().collect::<Vec<_>>(), ["a.c"]);
    assert_eq!(selector.matchers().iter().map(|m| m.operator).collect::<Vec<_>>(), [Operator::Match; 2]);
    assert!(Selector::parse("a{__name__=\"b\"}").is_err() && Selector::parse("").is_err());
}

#[test]
fn borrowed_names_read_their_parts() {
    let name = NameRef::new("m{a=\"x\\\"y\"}").unwrap();
    assert_eq!((name.metric().as_ref(), name.tag("a").as_deref(), name.tag("b")), ("m", Some("x\"y"), None));
    assert_eq!(NameRef::new("m{ }").unwrap_err().reason, NameReason::NotCanonical);
}
