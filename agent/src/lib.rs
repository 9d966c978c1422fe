//! Siltstone's agent as a library: see the rooms below.

pub mod api;
pub mod cli;
pub mod clock;
pub mod config;
pub mod decode;
pub mod engine;
pub mod files;
pub mod http;
pub mod ingest;
pub mod mqtt;
mod opening;
pub mod run;
pub mod sheet;
pub mod shelf;
pub mod trusted_clock;
mod verify;

#[cfg(test)]
mod test_dir;
#[cfg(test)]
mod test_readings;
