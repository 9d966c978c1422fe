//! Siltstone's engine: everything from a point to an answer, without I/O.
//!
//! Data flows one way, and so do the modules; each uses only those above it:
//!
//! ```text
//! point → series → codec → block → tree → index → segment → store → query
//! ```
//!
//! Nothing here knows a clock, a file, a socket, a thread or a random source: blocks, times and
//! identities come in as arguments, finished blocks and wanted addresses go out. Bytes that were
//! read are never trusted: a decoder gives points or a typed error, whatever it is fed.
//!
//! Features: none is `no_std` without a heap (codecs, blocks, tree nodes, the lean segment writer);
//! `alloc` adds readers, index, store and query; `std` adds the CPU's CRC instruction.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod block;
pub mod codec;
#[cfg(feature = "alloc")]
pub mod index;
pub mod point;
#[cfg(feature = "alloc")]
pub mod query;
pub mod segment;
pub mod series;
#[cfg(feature = "alloc")]
pub mod store;
pub mod tree;
