//! The typed configuration and its defaults.
//!
//! Every value here is already valid: durations are nanoseconds, sizes are bytes, addresses are
//! addresses. The defaults are those of a gateway with a broker beside it; an empty file is a
//! complete configuration.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::units::BrokerAddress;

/// Nanoseconds in one second.
const SECOND_NS: i64 = 1_000_000_000;

/// Topics that carry commands, logs, descriptions or pictures, not readings.
const DEFAULT_EXCLUDE: [&str; 21] = [
    "cmnd/#",
    "#/set",
    "#/set/#",
    "#/get",
    "#/command",
    "#/rpc",
    "R/#",
    "W/#",
    "homeassistant/#/config",
    "#/bridge/logging",
    "#/bridge/devices",
    "#/bridge/groups",
    "#/bridge/definitions",
    "#/bridge/info",
    "#/debug",
    "#/snapshot",
    "#/$nodes",
    "#/$properties",
    "#/$description",
    "spBv1.0/#",
    "frigate/events",
];

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// `[data]`: where the store lives and how it is cut.
    pub data: DataConfig,
    /// `[mqtt]`: the broker and the session with it.
    pub mqtt: MqttConfig,
    /// `[ingest]`: what becomes a reading, and the caps.
    pub ingest: IngestConfig,
    /// `[http]`: the API and the dashboard.
    pub http: HttpConfig,
    /// `[log]`: what is printed.
    pub log: LogConfig,
}

/// The calendar span of a partition, in UTC; a segment never spans two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// One hour.
    Hour,
    /// One day.
    Day,
    /// One calendar month.
    Month,
    /// One calendar year.
    Year,
}

impl Partition {
    /// Every span, by the word that names it.
    pub const NAMES: [(&'static str, Self); 4] =
        [("hour", Self::Hour), ("day", Self::Day), ("month", Self::Month), ("year", Self::Year)];

    /// The span that `word` names.
    pub fn from_name(word: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(name, _)| *name == word).map(|(_, partition)| *partition)
    }
}

/// `[data]`.
#[derive(Clone, Debug, PartialEq)]
pub struct DataConfig {
    /// The store's directory.
    pub dir: PathBuf,
    /// The span of a partition.
    pub partition: Partition,
    /// Bytes at which a segment is sealed; `None` for what suits `max_bytes`.
    pub segment_max_bytes: Option<u64>,
    /// Segments go when their partition ended so long ago, nanoseconds; `None` for never.
    pub retention_ns: Option<i64>,
    /// Bytes that all segments may have; `None` for 80 % of the space that is free at the first start.
    pub max_bytes: Option<u64>,
    /// Whether the wall clock counts as right without a time service.
    pub trusts_clock: bool,
    /// From the begin of one scrub of the sealed segments to the next; zero for none.
    pub scrub_interval: Duration,
    /// Bytes that may be written to the card in its life, if that is known.
    pub card_tbw_bytes: Option<u64>,
}

impl Default for DataConfig {
    fn default() -> Self {
        Self {
            dir: PathBuf::from("siltstone-data"),
            partition: Partition::Month,
            segment_max_bytes: None,
            retention_ns: None,
            max_bytes: None,
            trusts_clock: false,
            scrub_interval: Duration::from_secs(30 * 86_400),
            card_tbw_bytes: None,
        }
    }
}

/// The protocol version of the first attempt; the other one follows where it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolVersion {
    /// MQTT 3.1.1.
    V4,
    /// MQTT 5.
    V5,
}

/// A text that must not be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// `[mqtt]`.
#[derive(Clone, Debug, PartialEq)]
pub struct MqttConfig {
    /// Where the broker is.
    pub broker: BrokerAddress,
    /// Our name in the session; `None` for one that is made once and kept beside the data.
    pub client_id: Option<String>,
    /// User name, if the broker asks for one.
    pub username: Option<String>,
    /// Password, if the broker asks for one.
    pub password: Option<Secret>,
    /// Topic filters to subscribe to.
    pub subscribe: Vec<String>,
    /// Quality of service to ask for, 0 or 1.
    pub qos: u8,
    /// The version of the first attempt.
    pub protocol: ProtocolVersion,
    /// Seconds between pings.
    pub keep_alive: Duration,
    /// How long the broker keeps our session while we are away (MQTT 5).
    pub session_expiry: Duration,
    /// Largest packet taken in, bytes; announced to an MQTT 5 broker.
    pub max_packet_bytes: u32,
}

impl Default for MqttConfig {
    fn default() -> Self {
        Self {
            broker: BrokerAddress { host: "127.0.0.1".to_owned(), port: 1883 },
            client_id: None,
            username: None,
            password: None,
            subscribe: vec!["#".to_owned()],
            qos: 1,
            protocol: ProtocolVersion::V5,
            keep_alive: Duration::from_secs(15),
            session_expiry: Duration::from_secs(7 * 86_400),
            max_packet_bytes: 1 << 20,
        }
    }
}

/// `[ingest]`.
#[derive(Clone, Debug, PartialEq)]
pub struct IngestConfig {
    /// Topics that are acknowledged and not looked at.
    pub exclude: Vec<String>,
    /// A payload's own time may be at most this old, nanoseconds.
    pub max_age_ns: i64,
    /// A payload's own time may be at most this far ahead, nanoseconds.
    pub max_ahead_ns: i64,
    /// Series that may exist in all.
    pub max_series: u32,
    /// Series that one topic may make.
    pub max_series_per_topic: u32,
    /// Series that topics of a pattern may make.
    pub max_series_in: Vec<(String, u32)>,
    /// Levels of a JSON document that are looked at.
    pub max_depth: u32,
    /// Unacknowledged messages that force a commit where the broker's window is small (MQTT 3.1.1).
    pub commit_messages: u32,
    /// Longest time a message waits for its commit.
    pub commit_interval: Duration,
}

impl Default for IngestConfig {
    fn default() -> Self {
        Self {
            exclude: DEFAULT_EXCLUDE.map(str::to_owned).to_vec(),
            max_age_ns: 400 * 86_400 * SECOND_NS,
            max_ahead_ns: 600 * SECOND_NS,
            max_series: 20_000,
            max_series_per_topic: 256,
            max_series_in: Vec::new(),
            max_depth: 6,
            commit_messages: 16,
            commit_interval: Duration::from_secs(5),
        }
    }
}

/// `[http]`.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpConfig {
    /// Where the API and the dashboard answer; loopback only.
    pub listen: SocketAddr,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self { listen: SocketAddr::from(([127, 0, 0, 1], 8642)) }
    }
}

/// `[log]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// The least severe level that is printed.
    pub level: String,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { level: "info".to_owned() }
    }
}
