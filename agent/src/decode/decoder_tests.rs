//! Decode cases: each message with exactly the points that must come of it.

use std::collections::HashMap;

use siltstone_core::point::ValueKind;
use siltstone_core::series::SeriesName;

use super::{Catalog, DecodeOptions, Decoder, NoCatalog, Outcome};
use crate::config::IngestConfig;
use crate::decode::{Message, Reason, Sample, SampleValue, TopicPattern};

/// 2026-11-30T07:14:05.000250Z.
const ARRIVAL_NS: i64 = 1_796_022_845_000_250_000;
/// The same, as it is stamped.
const STAMP_NS: i64 = 1_796_022_845_000_000_000;
const MS: i64 = 1_000_000;

fn options() -> DecodeOptions {
    let config = IngestConfig::default();
    DecodeOptions {
        exclude: config.exclude.iter().map(|text| TopicPattern::new(text)).collect(),
        max_age_ns: config.max_age_ns,
        max_ahead_ns: config.max_ahead_ns,
        max_series: config.max_series,
        max_series_per_topic: config.max_series_per_topic,
        max_series_in: config.max_series_in,
        max_depth: config.max_depth,
    }
}

struct Bench {
    decoder: Decoder,
    arrival_ns: i64,
    retain: bool,
}

impl Bench {
    fn new() -> Self {
        Self { decoder: Decoder::new(options()), arrival_ns: ARRIVAL_NS, retain: false }
    }

    fn outcome(&mut self, topic: &str, payload: &[u8]) -> (Outcome, Vec<Sample>) {
        let message = Message { topic, payload, retain: self.retain, arrival_ns: self.arrival_ns };
        let mut samples = Vec::new();
        let outcome = self.decoder.decode(&message, &NoCatalog, &mut samples);
        (outcome, samples)
    }

    /// Every sample as `name @ nanoseconds after the stamp = value`, arrival stamps as 0.
    fn lines(&mut self, topic: &str, payload: &str) -> Vec<String> {
        let (_, samples) = self.outcome(topic, payload.as_bytes());
        samples
            .iter()
            .map(|sample| {
                let name = self.decoder.name(sample.series).unwrap();
                let value = match &sample.value {
                    SampleValue::Float(float) => format!("{float}"),
                    SampleValue::Integer(integer) => format!("{integer}i"),
                    SampleValue::Boolean(boolean) => format!("{boolean}"),
                    SampleValue::State(text) => format!("'{text}'"),
                    SampleValue::Gap => "gap".to_owned(),
                };
                format!("{name} @ {} = {value}", sample.timestamp_ns - STAMP_NS)
            })
            .collect()
    }
}

#[test]
fn bare_values() {
    for (topic, payload, expected) in [
        ("solar/112/0/powerdc", "318.4", r#"powerdc{device="solar/112/0"} @ 0 = 318.4"#),
        ("gh/sensor/soil/state", " 37.6\n", r#"soil{device="gh/sensor"} @ 0 = 37.6"#),
        ("gh/binary_sensor/door/state", "ON", r#"door{device="gh/binary_sensor"} @ 0 = true"#),
        ("tele/plug/LWT", "Offline", r#"LWT{device="tele/plug"} @ 0 = false"#),
        ("gh/climate/loft/mode/state", "heat", r#"mode{device="gh/climate/loft"} @ 0 = 'heat'"#),
        ("temp", "-4", "temp @ 0 = -4"),
        ("a/b", "\"21.5\"", r#"b{device="a"} @ 0 = 21.5"#),
        ("a/b", "9007199254740993", r#"b{device="a"} @ 0 = 9007199254740993i"#),
        ("a/b", "21.5 °C", r#"b{device="a"} @ 0 = 21.5"#),
        ("a/b", "true", r#"b{device="a"} @ 0 = true"#),
        ("/sys/x", "1", r#"x{device="/sys"} @ 0 = 1"#),
        ("a//b", "1", r#"b{device="a/"} @ 0 = 1"#),
        ("a/b/", "1", r#"value{device="a/b"} @ 0 = 1"#),
        ("Küche/🌡 innen", "20", r#"{"🌡 innen",device="Küche"} @ 0 = 20"#),
    ] {
        assert_eq!(Bench::new().lines(topic, payload), [expected], "{topic} {payload}");
    }
}

#[test]
fn documents_become_one_series_a_field() {
    let payload = r#"{"battery":91,"humidity":63.18,"temperature":4.7,"voltage":"3.005 V","id":"007","linkquality":102}"#;
    let device = r#"{device="zigbee2mqtt/Keller/Frostwächter Nord"}"#;
    let mut bench = Bench::new();
    assert_eq!(
        bench.lines("zigbee2mqtt/Keller/Frostwächter Nord", payload),
        [
            format!("battery{device} @ 0 = 91"),
            format!("humidity{device} @ 0 = 63.18"),
            format!("temperature{device} @ 0 = 4.7"),
            format!("voltage{device} @ 0 = 3.005"),
            format!("id{device} @ 0 = '007'"),
            format!("linkquality{device} @ 0 = 102"),
        ]
    );
    let voltage = bench.decoder.table.slots_named("voltage");
    assert_eq!(bench.decoder.unit(voltage), Some("V"));
}

#[test]
fn levels_join_and_short_arrays_are_taken_apart() {
    let payload = r#"{"ENERGY":{"Power":[211,0,null],"Voltage":231,"Factor":[0.98]},"switch:0":{"a.b":1.5}}"#;
    assert_eq!(
        Bench::new().lines("tele/m/SENSOR", payload),
        [
            r#"{"ENERGY_Power.0",device="tele/m/SENSOR"} @ 0 = 211"#,
            r#"{"ENERGY_Power.1",device="tele/m/SENSOR"} @ 0 = 0"#,
            r#"ENERGY_Voltage{device="tele/m/SENSOR"} @ 0 = 231"#,
            r#"{"ENERGY_Factor.0",device="tele/m/SENSOR"} @ 0 = 0.98"#,
            r#"{"switch:0_a.b",device="tele/m/SENSOR"} @ 0 = 1.5"#,
        ]
    );
    assert_eq!(
        Bench::new().lines("a/b", "[1,2]"),
        [r#"{"b.0",device="a"} @ 0 = 1"#, r#"{"b.1",device="a"} @ 0 = 2"#]
    );
}

#[test]
fn a_bare_nan_costs_only_itself() {
    let mut bench = Bench::new();
    bench.lines("t/s", r#"{"S2":{"T":3},"S3":{"T":4}}"#);
    bench.arrival_ns += 1000 * MS;
    assert_eq!(
        bench.lines("t/s", r#"{"S1":{"T":17.1},"S2":{"T":nan},"S3":{"T":-inf}}"#),
        [
            r#"S1_T{device="t/s"} @ 1000000000 = 17.1"#,
            r#"S2_T{device="t/s"} @ 1000000000 = gap"#,
            r#"S3_T{device="t/s"} @ 1000000000 = gap"#,
        ]
    );
    assert_eq!(bench.decoder.counters().lenient_json, 1);
    assert_eq!(bench.outcome("t/s", br#"{"a":nano}"#), (Outcome::Rejected(Reason::BrokenJson), vec![]));
}

#[test]
fn null_is_a_gap_and_only_the_first_after_a_value_is_kept() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.lines("d", r#"{"temperature":20.1,"pressure":null,"co2":{"ppm":null}}"#),
        [r#"temperature{device="d"} @ 0 = 20.1"#],
        "no series is made of a gap"
    );
    assert_eq!(bench.lines("d", r#"{"pressure":5}"#), [r#"pressure{device="d"} @ 0 = 5"#]);
    assert_eq!(bench.lines("d", r#"{"pressure":null}"#), [r#"pressure{device="d"} @ 1000000 = gap"#]);
    assert_eq!(bench.outcome("d", br#"{"pressure":null}"#), (Outcome::Empty, vec![]));
    assert_eq!(bench.outcome("d/x", b""), (Outcome::Empty, vec![]));
    assert_eq!(bench.decoder.counters().rejected().count(), 0);
}

#[test]
fn kinds_change_without_a_rejection() {
    let mut bench = Bench::new();
    let lines: Vec<_> = ["20", "20.4", "\"21\"", "true", "off", "9007199254740993"]
        .iter()
        .flat_map(|p| bench.lines("t/x", p))
        .collect();
    assert_eq!(
        lines,
        [
            r#"x{device="t"} @ 0 = 20"#,
            r#"x{device="t"} @ 1000000 = 20.4"#,
            r#"x{device="t"} @ 2000000 = 21"#,
            r#"x{device="t"} @ 3000000 = 1"#,
            r#"x{device="t"} @ 4000000 = 0"#,
            r#"x{device="t"} @ 5000000 = 9007199254740993i"#,
        ]
    );
    let lines: Vec<_> = ["off", "heat", "off"].iter().flat_map(|p| bench.lines("t/mode", p)).collect();
    assert_eq!(
        lines,
        [
            r#"mode{device="t"} @ 0 = false"#,
            r#"mode{device="t"} @ 1000000 = 'heat'"#,
            r#"mode{device="t"} @ 2000000 = 'off'"#,
        ]
    );
}

#[test]
fn own_times_inside_the_window_count() {
    for (payload, offset_ns) in [
        (r#"{"ts":1796022800,"v":1}"#, -45_000 * MS),
        (r#"{"ts":1796022800123,"v":1}"#, -45_000 * MS + 123 * MS),
        (r#"{"timestamp":1796022800.5,"v":1}"#, -44_500 * MS),
        (r#"{"ts":"1796022800","v":1}"#, -45_000 * MS),
        (r#"{"ts":1796022800123456789,"v":1}"#, -45_000 * MS + 123_456_789),
        (r#"{"v":1,"last_seen":"2026-11-30T08:14:00+01:00"}"#, -5_000 * MS),
        (r#"{"v":1,"time":"2026-11-30T07:14:00.5Z"}"#, -4_500 * MS),
        (r#"{"v":1,"timestamp":7,"ts":1796022840}"#, -5_000 * MS),
    ] {
        assert_eq!(
            Bench::new().lines("d", payload),
            [format!(r#"v{{device="d"}} @ {offset_ns} = 1"#)],
            "{payload}"
        );
    }
}

#[test]
fn own_times_outside_the_window_do_not() {
    for payload in [
        r#"{"ts":7,"v":1}"#,
        r#"{"ts":2082758399,"v":1}"#,
        r#"{"ts":1796023745,"v":1}"#,
        r#"{"timestamp":99999999999999999999,"v":1}"#,
        r#"{"Time":"2026-11-30T08:14:05","v":1}"#,
        r#"{"ts":null,"v":1}"#,
    ] {
        assert_eq!(Bench::new().lines("d", payload), [r#"v{device="d"} @ 0 = 1"#], "{payload}");
    }
    let mut bench = Bench::new();
    bench.lines("d", r#"{"ts":7,"v":1}"#);
    assert_eq!(bench.decoder.counters().time_outside, 1);
    // `time` may be a reading of its own.
    assert_eq!(
        bench.lines("e", r#"{"time":12.5}"#),
        [r#"time{device="e"} @ 0 = 12.5"#],
        "a small number under `time` is a value"
    );
}

#[test]
fn retained_needs_its_own_time() {
    let mut bench = Bench::new();
    bench.retain = true;
    assert_eq!(bench.outcome("well/3/level", b"7.25"), (Outcome::Retained, vec![]));
    assert_eq!(bench.outcome("well/3/level", b""), (Outcome::Retained, vec![]));
    for _ in 0..2 {
        assert_eq!(
            bench.lines("well/3", r#"{"v":7.25,"ts":1796022800}"#),
            [r#"v{device="well/3"} @ -45000000000 = 7.25"#]
        );
    }
    assert_eq!(bench.decoder.counters().retained, 2);
}

#[test]
fn arrival_is_floored_and_moved_on_a_tie() {
    let mut bench = Bench::new();
    let lines: Vec<_> = (0..3).flat_map(|n| bench.lines("t/x", &n.to_string())).collect();
    assert_eq!(
        lines,
        [r#"x{device="t"} @ 0 = 0"#, r#"x{device="t"} @ 1000000 = 1"#, r#"x{device="t"} @ 2000000 = 2"#]
    );
    bench.arrival_ns += MS;
    assert_eq!(bench.lines("t/x", "3"), [r#"x{device="t"} @ 3000000 = 3"#], "never before the last one");
    assert_eq!(bench.lines("t/y", "3"), [r#"y{device="t"} @ 1000000 = 3"#], "each series for itself");
}

#[test]
fn arrival_goes_on_behind_what_an_earlier_run_gave_out() {
    // A burst moves a series ahead of the clock; a restart within that time must not give its times again.
    struct Stored;
    impl Catalog for Stored {
        fn kind_of(&self, _: &SeriesName) -> Option<ValueKind> {
            Some(ValueKind::Float)
        }
        fn last_time_ns(&self, _: &SeriesName) -> Option<i64> {
            Some(ARRIVAL_NS + 700 * MS)
        }
    }
    let mut decoder = Decoder::new(options());
    let mut samples = Vec::new();
    for at in [0, 1, 900] {
        let message =
            Message { topic: "t/x", payload: b"1", retain: false, arrival_ns: ARRIVAL_NS + at * MS };
        decoder.decode(&message, &Stored, &mut samples);
    }
    let after: Vec<_> = samples.iter().map(|sample| (sample.timestamp_ns - ARRIVAL_NS) / MS).collect();
    // The last one is floored to a whole millisecond.
    assert_eq!(after, [701, 702, 899]);
}

#[test]
fn names_that_clash_are_told_apart() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.lines("d", r#"{"a":{"b":1},"a_b":2}"#),
        [r#"a_b{device="d"} @ 0 = 1"#, r#"a_b{device="d",path="a_b"} @ 0 = 2"#]
    );
    assert_eq!(bench.lines("d", r#"{"a_b":3}"#), [r#"a_b{device="d",path="a_b"} @ 1000000 = 3"#]);
    assert_eq!(bench.lines("x/t", "1"), [r#"t{device="x"} @ 0 = 1"#]);
    assert_eq!(bench.lines("x/t/state", "2"), [r#"t{device="x",path="x/t/state"} @ 0 = 2"#]);
    assert_eq!(bench.decoder.counters().name_clashes, 2);
}

#[test]
fn a_clash_is_decided_the_same_way_after_a_restart() {
    struct Stored;
    impl Catalog for Stored {
        fn kind_of(&self, name: &SeriesName) -> Option<ValueKind> {
            let stored = [r#"a_b{device="d"}"#, r#"a_b{device="d",path="a_b"}"#];
            stored.contains(&name.as_str()).then_some(ValueKind::Float)
        }
    }
    let mut decoder = Decoder::new(options());
    let mut samples = Vec::new();
    // The path that came second the first time comes first now.
    for payload in [r#"{"a_b":2}"#, r#"{"a":{"b":1}}"#] {
        let message =
            Message { topic: "d", payload: payload.as_bytes(), retain: false, arrival_ns: ARRIVAL_NS };
        decoder.decode(&message, &Stored, &mut samples);
    }
    let names: Vec<_> = samples.iter().map(|sample| decoder.name(sample.series).unwrap().as_str()).collect();
    assert_eq!(names, [r#"a_b{device="d",path="a_b"}"#, r#"a_b{device="d"}"#]);
}

#[test]
fn what_is_no_reading_is_counted_with_its_reason() {
    for (topic, payload, reason) in [
        ("robo/map", &b"\x1f\x8b\x08\x00"[..], Reason::Binary),
        ("a/b", b"caf\xa3", Reason::Binary),
        ("a/b", br#"{"t":1"#, Reason::BrokenJson),
        ("a/log", b"[I] boot done", Reason::BrokenJson),
        ("a/b", b"\x1b[0;32m[I]", Reason::ControlText),
        ("a/b", b"2026-11-30T08:14:05", Reason::TimeText),
        ("a/b", b"[1,2,3,4,5,6,7,8,9]", Reason::LongArray),
        ("a/b", br#"[{"n":"x","v":1}]"#, Reason::MixedArray),
        ("a/b", b"1e999", Reason::NumberRange),
        ("a/b", br#"{"a":{"b":{"c":{"d":{"e":{"f":{"g":1}}}}}}}"#, Reason::TooDeep),
        ("a/b", b"{\"a\\u001fb\":1}", Reason::BadName),
        ("a\u{7}/b", b"1", Reason::BadName),
    ] {
        let mut bench = Bench::new();
        assert_eq!(bench.outcome(topic, payload), (Outcome::Rejected(reason), vec![]), "{topic:?}");
        assert_eq!(bench.decoder.counters().rejected().collect::<Vec<_>>(), [(reason, 1)]);
        let entry = bench.decoder.rejections().next().unwrap().clone();
        assert_eq!((entry.reason, entry.size_bytes), (reason, payload.len()));
    }
    let mut bench = Bench::new();
    assert_eq!(bench.outcome(&"t/".repeat(600), b"1").0, Outcome::Rejected(Reason::LongTopic));
    assert_eq!(bench.outcome("a/b", "x".repeat(65).as_bytes()).0, Outcome::Rejected(Reason::LongText));
    let hostile = "[".repeat(100_000);
    assert_eq!(bench.outcome("a/b", hostile.as_bytes()).0, Outcome::Rejected(Reason::HugeJson));
}

#[test]
fn a_bad_field_spares_its_neighbours() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.lines("d", r#"{"t":1,"note":"2026-11-30 08:14:05","list":[{}],"u":2}"#),
        [r#"t{device="d"} @ 0 = 1"#, r#"u{device="d"} @ 0 = 2"#]
    );
    assert_eq!(
        bench.decoder.counters().rejected().collect::<Vec<_>>(),
        [(Reason::TimeText, 1), (Reason::MixedArray, 1)]
    );
    assert_eq!(
        bench.decoder.rejections().map(|entry| entry.place.as_str()).collect::<Vec<_>>(),
        ["note", "list"]
    );
}

#[test]
fn the_last_of_duplicate_keys_wins() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.lines("d", r#"{"t":1,"T":5,"t":2}"#),
        [r#"T{device="d"} @ 0 = 5"#, r#"t{device="d"} @ 0 = 2"#]
    );
    assert_eq!(bench.decoder.counters().duplicate_keys, 1);
}

#[test]
fn excluded_topics_are_not_looked_at() {
    let mut bench = Bench::new();
    for topic in [
        "cmnd/plug/POWER",
        "zigbee2mqtt/Keller/lamp/set",
        "homeassistant/sensor/gh2/soil/config",
        "zigbee2mqtt/bridge/devices",
        "frigate/hall/person/snapshot",
        "W/c0619ab1/vebus/276/Mode",
    ] {
        assert_eq!(bench.outcome(topic, b"1"), (Outcome::Excluded, vec![]), "{topic}");
    }
    assert_eq!(bench.decoder.counters().excluded, 6);
    assert_eq!(bench.decoder.series_count(), 0);
}

#[test]
fn series_are_capped_and_existing_ones_go_on() {
    let mut decoder = Decoder::new(DecodeOptions { max_series: 5, max_series_per_topic: 3, ..options() });
    let mut out = Vec::new();
    let mut send = |topic: &str, payload: &str| {
        out.clear();
        let message = Message { topic, payload: payload.as_bytes(), retain: false, arrival_ns: ARRIVAL_NS };
        decoder.decode(&message, &NoCatalog, &mut out)
    };
    assert_eq!(
        send("f/stats", r#"{"p":{"1":{"cpu":1},"2":{"cpu":1},"3":{"cpu":1},"4":{"cpu":1}}}"#),
        Outcome::Samples(3)
    );
    for pid in 10..100 {
        assert_eq!(
            send("f/stats", &format!(r#"{{"p":{{"{pid}":1}}}}"#)),
            Outcome::Rejected(Reason::TopicCap)
        );
    }
    assert_eq!(send("f/stats", r#"{"p":{"2":{"cpu":7}}}"#), Outcome::Samples(1));
    assert_eq!(send("a/x", "1"), Outcome::Samples(1));
    assert_eq!(send("a/y", "1"), Outcome::Samples(1));
    assert_eq!(send("a/z", "1"), Outcome::Rejected(Reason::SeriesCap));
    assert_eq!(send("a/x", "2"), Outcome::Samples(1));
    assert_eq!(decoder.series_count(), 5);
    let entry = decoder.rejections().next().unwrap();
    assert_eq!((entry.topic.as_str(), entry.count, entry.place.as_str()), ("f/stats", 91, "p.99"));
}

/// What is stored, by name.
struct Stored(HashMap<String, ValueKind>);

impl Catalog for Stored {
    fn kind_of(&self, name: &SeriesName) -> Option<ValueKind> {
        self.0.get(name.as_str()).copied()
    }

    fn series_count(&self) -> usize {
        self.0.len()
    }
}

#[test]
fn what_is_stored_goes_on_at_any_cap_and_the_growing_topics_are_named() {
    let stored = (0..10).map(|n| (format!(r#"x{{device="room{n}"}}"#), ValueKind::Float));
    let stored = Stored(stored.collect());
    let mut decoder = Decoder::new(DecodeOptions { max_series: 10, ..options() });
    let mut out = Vec::new();
    let mut send = |decoder: &mut Decoder, topic: &str| {
        let message = Message { topic, payload: b"1", retain: false, arrival_ns: ARRIVAL_NS };
        decoder.decode(&message, &stored, &mut out)
    };
    // After a restart a flood comes before what was there.
    for n in 0..20 {
        assert_eq!(send(&mut decoder, &format!("flood/{n}/rssi")), Outcome::Rejected(Reason::SeriesCap));
    }
    let sentence =
        "there are 10 series (ingest.max_series): new ones are refused; none of them is new since the start";
    assert_eq!(decoder.refusal().as_deref(), Some(sentence));
    for n in 0..10 {
        assert_eq!(send(&mut decoder, &format!("room{n}/x")), Outcome::Samples(1), "room {n} is stored");
    }
    assert_eq!((decoder.counters().beyond_caps(), decoder.series_count()), (20, 10));
    let max_series_in = vec![("plant/#".to_owned(), 2)];
    let mut decoder = Decoder::new(DecodeOptions { max_series_in, ..options() });
    assert_eq!(decoder.refusal(), None);
    for topic in ["plant/a/t", "plant/b/t", "home/t"] {
        assert_eq!(send(&mut decoder, topic), Outcome::Samples(1));
    }
    assert_eq!(send(&mut decoder, "plant/c/t"), Outcome::Rejected(Reason::PatternCap));
    assert_eq!(send(&mut decoder, "home/u"), Outcome::Samples(1));
    let sentence = "the topics `plant/#` have made their 2 series (ingest.max_series_in): they make no new ones; \
                    2 are new since the start, 2 of them from `plant/`, 2 with the metric `t`";
    assert_eq!(decoder.refusal().as_deref(), Some(sentence));
}

#[test]
fn kinds_survive_a_restart_through_the_catalog() {
    let stored = Stored(HashMap::from([(r#"x{device="t"}"#.to_owned(), ValueKind::Float)]));
    let mut decoder = Decoder::new(options());
    let mut samples = Vec::new();
    for payload in ["true", "", ""] {
        let message =
            Message { topic: "t/x", payload: payload.as_bytes(), retain: false, arrival_ns: ARRIVAL_NS };
        decoder.decode(&message, &stored, &mut samples);
    }
    let values: Vec<_> = samples.into_iter().map(|sample| sample.value).collect();
    assert_eq!(values, [SampleValue::Float(1.0), SampleValue::Gap]);
}
