//! Siltstone's agent as a library: see the rooms below.

pub mod config;
pub mod decode;
