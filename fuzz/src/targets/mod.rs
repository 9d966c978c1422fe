//! What is tried: one function a decoder.
//!
//! | file | idea |
//! | --- | --- |
//! | `chunks` | codecs, decoding and round trip |
//! | `blocks` | blocks and their payloads: header, footer, leaf, node, table, index and catalog |
//! | `images` | whole files with their checksums mended: segment, journal, identity |
//! | `texts` | payloads, CSV, selectors, configuration, questions |
//! | `table` | all of them, with the memory they may take |

mod blocks;
mod chunks;
mod images;
mod table;
mod texts;

pub use images::{DEVICE, mend};
pub use table::{TARGETS, Target};
