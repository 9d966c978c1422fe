//! The browser engine: a skin over `siltstone-core`.
