//! Configuration errors: each with its line, its column and its reason.

use super::{Config, parse};
use crate::config::{Partition, ProtocolVersion};

fn error(text: &str) -> String {
    parse("siltstone.toml", text).unwrap_err().to_string()
}

#[test]
fn an_empty_file_is_the_default() {
    assert_eq!(parse("siltstone.toml", "").unwrap(), Config::default());
}

#[test]
fn unknown_keys_are_refused_with_their_place() {
    let message = error("[mqtt]\nurl = \"mqtt://127.0.0.1\"\n  retian = true\n");
    assert!(message.starts_with("siltstone.toml:3:3: unknown field `retian`"), "{message}");
    assert!(message.contains("`url`"), "{message}");
    let message = error("[mqqt]\n");
    assert!(message.starts_with("siltstone.toml:1:2: unknown field `mqqt`"), "{message}");
}

#[test]
fn wrong_types_and_broken_toml_have_a_place() {
    let message = error("[mqtt]\nqos = \"one\"\n");
    assert!(message.starts_with("siltstone.toml:2:7: `qos`: invalid type: string"), "{message}");
    let message = error("[ingest]\nmax_age = \n");
    assert!(message.starts_with("siltstone.toml:2:"), "{message}");
    assert!(!message.contains('\n'), "{message}");
}

#[test]
fn wrong_values_have_a_place_and_a_reason() {
    let cases = [
        ("[mqtt]\nqos = 2\n", "siltstone.toml:2:7: `qos` must be from 0 to 1, not 2"),
        ("[mqtt]\nprotocol = 3\n", "siltstone.toml:2:12: `protocol` must be from 4 to 5, not 3"),
        (
            "[http]\nlisten = \"0.0.0.0:8642\"\n",
            "siltstone.toml:2:10: `0.0.0.0:8642` is no loopback address: it would be reachable from other machines, \
             which this version refuses",
        ),
        (
            "[mqtt]\nsubscribe = [\"a/#\",\n  \"foo/#/bar\"]\n",
            "siltstone.toml:3:3: `foo/#/bar` is no topic filter: `#` at character 5 must come last",
        ),
        (
            "[ingest]\nmax_age = \"400\"\n",
            "siltstone.toml:2:11: `400` is no duration; write a whole number and one of ms, s, m, h, d, w, y",
        ),
        ("[mqtt]\npassword = \"x\"\n", "siltstone.toml:2:12: `password` needs `username`"),
        (
            "[mqtt]\nmax_packet = \"64MiB\"\n",
            "siltstone.toml:2:14: `64MiB` is out of range: a packet has 1 KiB to 16 MiB",
        ),
        (
            "[log]\nlevel = \"loud\"\n",
            "siltstone.toml:2:9: `loud` is no level; use error, warn, info, debug or trace",
        ),
        ("[mqtt]\nkeep_alive = \"1s\"\n", "siltstone.toml:2:14: `1s` is out of range: 5000 ms to 3600 s"),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn columns_count_characters() {
    assert!(error("# Gerät\n[mqtt]\nclient_id = \"ü\" # ok\nqos = 7 # ü\n").contains(":4:7:"));
}

#[test]
fn values_reach_the_typed_form() {
    let config = parse(
        "x",
        "[data]\npartition = \"year\"\nsegment_max = \"256MiB\"\n\
         [mqtt]\nprotocol = 4\nclient_id = \"auto\"\nusername = \"u\"\npassword = \"geheim\"\n\
         [ingest]\nmax_age = \"20y\"\nexclude = []\n",
    )
    .unwrap();
    assert_eq!(config.data.partition, Partition::Year);
    assert_eq!(config.data.segment_max_bytes, Some(256 << 20));
    assert_eq!(config.mqtt.protocol, ProtocolVersion::V4);
    assert_eq!(config.mqtt.client_id, None);
    assert_eq!(config.ingest.max_age_ns, 20 * 365 * 86_400 * 1_000_000_000);
    assert!(config.ingest.exclude.is_empty());
    assert!(!format!("{config:?}").contains("geheim"), "a password is never printed");
}

#[test]
fn the_documented_defaults_are_the_defaults() {
    let page = include_str!("../../../docs/configuration.md");
    let block = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let mut config = parse("docs/configuration.md", block).unwrap();
    // The keys without a default stand in the page with an example.
    assert_eq!(config.mqtt.username.take().as_deref(), Some("siltstone"));
    assert!(config.mqtt.password.take().is_some());
    assert_eq!(config.data.card_tbw_bytes.take(), Some(30_000_000_000_000));
    assert_eq!(config, Config::default());
    for key in [
        "dir",
        "partition",
        "segment_max",
        "retention",
        "max_bytes",
        "clock",
        "scrub_interval",
        "card_tbw",
        "url",
        "client_id",
        "username",
        "password",
        "subscribe",
        "qos",
        "protocol",
        "keep_alive",
        "session_expiry",
        "max_packet",
        "exclude",
        "max_age",
        "max_ahead",
        "max_series",
        "max_series_per_topic",
        "max_series_in",
        "max_depth",
        "commit_messages",
        "commit_interval",
        "listen",
        "level",
    ] {
        assert!(block.lines().any(|line| line.starts_with(&format!("{key} ="))), "{key} is documented");
    }
}
