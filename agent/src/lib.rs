//! Siltstone's agent as a library: see the rooms below.

pub mod clock;
pub mod config;
pub mod decode;
pub mod files;
pub mod mqtt;

#[cfg(test)]
mod test_dir;
