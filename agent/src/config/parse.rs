//! TOML text to the typed configuration, with line and column in every error.
//!
//! The raw tables mirror the file and refuse unknown keys; each value keeps its span until it has
//! been checked. Nothing is half applied: the answer is a whole [`Config`] or one error.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::model::{Config, DataConfig, IngestConfig, MqttConfig, Partition, ProtocolVersion, Secret};
use super::units::{parse_broker_url, parse_duration_ns, parse_filter, parse_listen, parse_size_bytes};

/// Why a configuration was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, as it was named.
    pub file: String,
    /// Line and column, from 1; `None` where the file could not be read at all.
    pub at: Option<(usize, usize)>,
    /// One sentence.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some((line, column)) => write!(f, "{}:{line}:{column}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

impl std::error::Error for ConfigError {}

/// A fault inside the text.
struct Fault {
    span: Range<usize>,
    message: String,
}

type Text = Option<Spanned<String>>;
type Whole = Option<Spanned<i64>>;
type Texts = Option<Vec<Spanned<String>>>;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawConfig {
    data: RawData,
    mqtt: RawMqtt,
    ingest: RawIngest,
    http: RawHttp,
    log: RawLog,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawData {
    dir: Text,
    partition: Text,
    segment_max: Text,
    retention: Text,
    max_bytes: Text,
    clock: Text,
    scrub_interval: Text,
    card_tbw: Text,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawMqtt {
    url: Text,
    client_id: Text,
    username: Text,
    password: Text,
    subscribe: Texts,
    qos: Whole,
    protocol: Whole,
    keep_alive: Text,
    session_expiry: Text,
    max_packet: Text,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawIngest {
    exclude: Texts,
    max_age: Text,
    max_ahead: Text,
    max_series: Whole,
    max_series_per_topic: Whole,
    max_series_in: BTreeMap<String, Spanned<i64>>,
    max_depth: Whole,
    commit_messages: Whole,
    commit_interval: Text,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawHttp {
    listen: Text,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawLog {
    level: Text,
}

/// Reads and checks the file at `path`.
pub fn load(path: &Path) -> Result<Config, ConfigError> {
    let file = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&file, &text),
        Err(error) => Err(ConfigError { file, at: None, message: format!("can't read it: {error}") }),
    }
}

/// Checks `text`, which came from `file`.
pub fn parse(file: &str, text: &str) -> Result<Config, ConfigError> {
    let fail = |fault: Fault| ConfigError {
        file: file.to_owned(),
        at: Some(position(text, fault.span.start)),
        message: fault.message,
    };
    let raw: RawConfig = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let sentence = error.message().trim().replace('\n', "; ");
        let message = match key_before(text, span.start) {
            Some(key) => format!("`{key}`: {sentence}"),
            None => sentence,
        };
        fail(Fault { span, message })
    })?;
    check(raw).map_err(fail)
}

/// The key whose value begins at `byte`; `None` where something else does.
fn key_before(text: &str, byte: usize) -> Option<&str> {
    let line = text.get(..byte)?.rsplit('\n').next()?;
    let key = line.trim().strip_suffix('=')?.trim();
    (!key.is_empty() && !key.contains(['=', '"'])).then_some(key)
}

/// Line and column of a byte, from 1, columns in characters.
fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
    (line, column)
}

fn check(raw: RawConfig) -> Result<Config, Fault> {
    Ok(Config {
        data: check_data(raw.data)?,
        mqtt: check_mqtt(raw.mqtt)?,
        ingest: check_ingest(raw.ingest)?,
        http: match raw.http.listen {
            Some(listen) => super::HttpConfig { listen: checked(listen, parse_listen)? },
            None => super::HttpConfig::default(),
        },
        log: match raw.log.level {
            Some(level) => super::LogConfig { level: checked(level, parse_level)? },
            None => super::LogConfig::default(),
        },
    })
}

/// Parses one text, or says where it stands and why it is wrong.
fn checked<T>(text: Spanned<String>, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, Fault> {
    parse(text.get_ref()).map_err(|message| Fault { span: text.span(), message })
}

fn or<T>(text: Text, default: T, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, Fault> {
    text.map_or(Ok(default), |text| checked(text, parse))
}

/// A whole number in `range`.
fn number_or(value: Whole, default: u32, key: &str, range: Range<u32>) -> Result<u32, Fault> {
    let Some(value) = value else { return Ok(default) };
    match u32::try_from(*value.get_ref()) {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(Fault {
            span: value.span(),
            message: format!(
                "`{key}` must be from {} to {}, not {}",
                range.start,
                range.end.saturating_sub(1),
                value.get_ref()
            ),
        }),
    }
}

/// A duration in `[least, most]` seconds.
fn duration_or(text: Text, default: Duration, least_ms: u64, most_s: u64) -> Result<Duration, Fault> {
    or(text, default, |text| {
        let duration = Duration::from_nanos(parse_duration_ns(text)?.unsigned_abs());
        if duration < Duration::from_millis(least_ms) || duration > Duration::from_secs(most_s) {
            return Err(format!("`{text}` is out of range: {least_ms} ms to {most_s} s"));
        }
        Ok(duration)
    })
}

fn texts_or(
    texts: Texts,
    default: Vec<String>,
    check: impl Fn(&str) -> Result<(), String>,
) -> Result<Vec<String>, Fault> {
    let Some(texts) = texts else { return Ok(default) };
    texts.into_iter().map(|text| checked(text, |text| check(text).map(|()| text.to_owned()))).collect()
}

fn parse_level(text: &str) -> Result<String, String> {
    match text {
        "error" | "warn" | "info" | "debug" | "trace" => Ok(text.to_owned()),
        _ => Err(format!("`{text}` is no level; use error, warn, info, debug or trace")),
    }
}

fn parse_segment_max(text: &str) -> Result<Option<u64>, String> {
    if text == "auto" {
        return Ok(None);
    }
    let bytes = parse_size_bytes(text)?;
    if !(1 << 20..=4 << 30).contains(&bytes) {
        return Err(format!("`{text}` is out of range: a segment has 1 MiB to 4 GiB"));
    }
    Ok(Some(bytes))
}

fn parse_scrub_interval(text: &str) -> Result<Duration, String> {
    let interval = Duration::from_nanos(parse_duration_ns(text)?.unsigned_abs());
    if !interval.is_zero() && !(3_600..=5 * 365 * 86_400).contains(&interval.as_secs()) {
        return Err(format!("`{text}` is out of range: 1 h to 5 y, or 0s for none"));
    }
    Ok(interval)
}

fn parse_retention(text: &str) -> Result<Option<i64>, String> {
    match text {
        "forever" => Ok(None),
        _ => match parse_duration_ns(text)? {
            ns if ns >= 3_600_000_000_000 => Ok(Some(ns)),
            _ => Err(format!("`{text}` is out of range: retention is at least 1 h, or \"forever\"")),
        },
    }
}

fn parse_max_bytes(text: &str, segment_max_bytes: Option<u64>) -> Result<Option<u64>, String> {
    match text {
        "auto" => Ok(None),
        _ => match parse_size_bytes(text)? {
            bytes if bytes / 4 >= segment_max_bytes.unwrap_or(1 << 20) => Ok(Some(bytes)),
            _ if segment_max_bytes.is_none() => {
                Err(format!("`{text}` is too little: `max_bytes` is at least 4 MiB"))
            }
            _ => Err(format!("`{text}` is too little: `max_bytes` is at least four times `segment_max`")),
        },
    }
}

fn parse_clock(text: &str) -> Result<bool, String> {
    match text {
        "synchronised" => Ok(false),
        "always" => Ok(true),
        _ => Err(format!("`{text}` says nothing about the clock; use synchronised or always")),
    }
}

/// The span of a partition for data that is kept so long: a segment is dropped as a whole.
fn partition_for(retention_ns: Option<i64>) -> Partition {
    const DAY_NS: i64 = 86_400_000_000_000;
    match retention_ns {
        Some(ns) if ns <= 2 * DAY_NS => Partition::Hour,
        Some(ns) if ns <= 60 * DAY_NS => Partition::Day,
        _ => Partition::Month,
    }
}

fn check_data(raw: RawData) -> Result<DataConfig, Fault> {
    let default = DataConfig::default();
    let retention_ns = or(raw.retention, default.retention_ns, parse_retention)?;
    let segment_max_bytes = or(raw.segment_max, default.segment_max_bytes, parse_segment_max)?;
    Ok(DataConfig {
        retention_ns,
        max_bytes: or(raw.max_bytes, default.max_bytes, |text| parse_max_bytes(text, segment_max_bytes))?,
        trusts_clock: or(raw.clock, default.trusts_clock, parse_clock)?,
        dir: or(raw.dir, default.dir, |text| match text {
            "" => Err("the data directory can't be empty".to_owned()),
            _ => Ok(PathBuf::from(text)),
        })?,
        partition: or(raw.partition, partition_for(retention_ns), |text| {
            Partition::from_name(text)
                .ok_or_else(|| format!("`{text}` is no partition; use hour, day, month or year"))
        })?,
        segment_max_bytes,
        scrub_interval: or(raw.scrub_interval, default.scrub_interval, parse_scrub_interval)?,
        card_tbw_bytes: raw.card_tbw.map(|text| checked(text, parse_size_bytes)).transpose()?,
    })
}

fn check_mqtt(raw: RawMqtt) -> Result<MqttConfig, Fault> {
    let default = MqttConfig::default();
    let qos = number_or(raw.qos, u32::from(default.qos), "qos", 0..2)?;
    let protocol = number_or(raw.protocol, 5, "protocol", 4..6)?;
    if let (None, Some(password)) = (&raw.username, &raw.password) {
        return Err(Fault { span: password.span(), message: "`password` needs `username`".to_owned() });
    }
    Ok(MqttConfig {
        broker: or(raw.url, default.broker, parse_broker_url)?,
        client_id: match raw.client_id {
            Some(id) if id.get_ref() != "auto" => Some(checked(id, parse_client_id)?),
            _ => None,
        },
        username: raw.username.map(Spanned::into_inner),
        password: raw.password.map(|password| Secret(password.into_inner())),
        subscribe: texts_or(raw.subscribe, default.subscribe, parse_filter)?,
        qos: u8::try_from(qos).unwrap_or(default.qos),
        protocol: if protocol == 4 { ProtocolVersion::V4 } else { ProtocolVersion::V5 },
        keep_alive: duration_or(raw.keep_alive, default.keep_alive, 5_000, 3_600)?,
        session_expiry: duration_or(raw.session_expiry, default.session_expiry, 60_000, u64::from(u32::MAX))?,
        max_packet_bytes: or(raw.max_packet, default.max_packet_bytes, |text| {
            match u32::try_from(parse_size_bytes(text)?) {
                Ok(bytes) if (1024..=16 << 20).contains(&bytes) => Ok(bytes),
                _ => Err(format!("`{text}` is out of range: a packet has 1 KiB to 16 MiB")),
            }
        })?,
    })
}

fn parse_client_id(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > 128 || text.contains(char::is_control) {
        return Err("`client_id` must have 1 to 128 bytes and no control characters".to_owned());
    }
    Ok(text.to_owned())
}

fn check_ingest(raw: RawIngest) -> Result<IngestConfig, Fault> {
    let default = IngestConfig::default();
    Ok(IngestConfig {
        exclude: texts_or(raw.exclude, default.exclude, |text| match text {
            "" => Err("an excluded topic can't be empty".to_owned()),
            _ => Ok(()),
        })?,
        max_age_ns: or(raw.max_age, default.max_age_ns, parse_duration_ns)?,
        max_ahead_ns: or(raw.max_ahead, default.max_ahead_ns, parse_duration_ns)?,
        max_series: number_or(raw.max_series, default.max_series, "max_series", 1..10_000_001)?,
        max_series_per_topic: number_or(
            raw.max_series_per_topic,
            default.max_series_per_topic,
            "max_series_per_topic",
            1..100_001,
        )?,
        max_series_in: raw
            .max_series_in
            .into_iter()
            .map(|(topics, max)| Ok((topics, number_or(Some(max), 0, "max_series_in", 0..10_000_001)?)))
            .collect::<Result<_, _>>()?,
        max_depth: number_or(raw.max_depth, default.max_depth, "max_depth", 1..33)?,
        commit_messages: number_or(
            raw.commit_messages,
            default.commit_messages,
            "commit_messages",
            1..65_536,
        )?,
        commit_interval: duration_or(raw.commit_interval, default.commit_interval, 1, 60)?,
    })
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
