//! Siltstone's agent as a library: see the rooms below.

pub mod api;
pub mod clock;
pub mod config;
pub mod decode;
pub mod files;
pub mod http;
pub mod mqtt;
pub mod sheet;

#[cfg(test)]
mod test_dir;
