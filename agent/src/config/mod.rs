//! Configuration: one TOML file, checked whole before anything starts.
//!
//! An unknown key, a value of the wrong type or out of its range is one sentence with line and
//! column. Every key has a default and a unit; `docs/configuration.md` lists them, and a test holds
//! that page to [`Config::default`]. Nothing here reads the network, and nothing may ask to listen
//! anywhere but on loopback.
//!
//! | file | idea |
//! | --- | --- |
//! | `model` | the typed configuration and its defaults |
//! | `parse` | TOML text to the typed form, with positions in errors |
//! | `units` | durations, sizes, addresses and filters as people write them |

mod model;
mod parse;
mod units;

pub use model::{
    Config, DataConfig, HttpConfig, IngestConfig, LogConfig, MqttConfig, Partition, ProtocolVersion, Secret,
};
pub use parse::{ConfigError, load, parse};
pub use units::{
    BrokerAddress, parse_broker_url, parse_duration_ns, parse_filter, parse_listen, parse_size_bytes,
};
