//! Limits of a chunk, each with its reason.

/// The most rows of a chunk: its directory entry and its row numbers have 16 bits.
pub const ROWS_MAX: usize = 65_535;

/// The most texts of a state chunk: its codes have 16 bits.
pub const TEXTS_MAX: usize = ROWS_MAX;

const _: () = assert!(ROWS_MAX == u16::MAX as usize);
