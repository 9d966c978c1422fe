//! The NB+tree of one series in one segment: leaves of chunks below, inner nodes of references above,
//! each reference with the summary of what it points to.
//!
//! This room codes and decodes leaves and nodes and knows the laws of summaries. It does not decide
//! when a leaf is full, where a block goes, or which nodes a question needs: those are the segment's and
//! the query's.
//!
//! | file | idea |
//! | --- | --- |
//! | `number` | a number that is not NaN, compared exactly |
//! | `sums` | sum and squares, exact on a decimal grid |
//! | `summary` | the ordered monoid of everything known of a span |
//! | `chunk_summary` | the summary of a chunk's rows |
//! | `plain_floats` | the same for the usual case, in tight loops |
//! | `reference` | where something is, with its summary |
//! | `column`, `table` | references stored column by column |
//! | `leaf` | the directory of chunks |
//! | `node` | an inner node |

mod chunk_summary;
mod column;
pub mod leaf;
pub mod node;
mod number;
mod plain_floats;
mod reference;
mod summary;
mod sums;
pub mod table;

pub use chunk_summary::summarize;
pub use number::{FLOAT_EXACT_MAX, Number};
pub use reference::{Reference, VIRTUAL_BLOCK_MIN};
pub use summary::{Hold, Laws, Numbers, Summary, Words, piece, text_key};
pub use sums::{DECIMALS_MAX, Sums};
pub use table::TableError;
