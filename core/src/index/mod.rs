//! The index: from selectors to series, without reading every name.
//!
//! A sealed segment carries two sections in its tail, the catalog (names, kinds, units) and the
//! sketch index (posting lists in a Count-Min table, and terms for completion); the running store
//! has its own index in memory. Readers here do no I/O: what they lack they ask for by range. Bytes:
//! `docs/format-index.md`.
//!
//! | file | idea |
//! | --- | --- |
//! | `source` | bytes that may be at hand, and the ranges that are needed |
//! | `error` | what can be wrong |
//! | `varint` | numbers appended to a section |
//! | `dictionary_writer`, `dictionary_reader` | sorted keys in groups with a directory |
//! | `catalog` | the names of a segment with kind and unit |
//! | `posting` | lists of positions |
//! | `hash` | which cells a key falls into |
//! | `sketch` | the Count-Min table |
//! | `section_writer`, `section_reader` | the index section |
//! | `resolve` | selector → entries of a catalog |
//! | `live` | the index of a running store |

mod catalog;
mod dictionary_reader;
mod dictionary_writer;
mod error;
mod hash;
mod live;
mod posting;
mod resolve;
mod section_reader;
mod section_writer;
mod sketch;
mod source;
mod varint;

#[cfg(test)]
mod tests;

pub use catalog::{CATALOG_VERSION, Catalog, CatalogEntry, CatalogWriter, EntryRef, UNIT_BYTES_MAX};
pub use error::{BuildError, IndexError};
pub use live::Live;
pub use posting::{Ranges, count};
pub use resolve::resolve;
pub use section_reader::Index;
pub use section_writer::{INDEX_VERSION, write_index};
pub use source::{Lookup, Source};
