//! A series: a metric name and tags in one canonical text form, and selectors of series.
//!
//! Second room of the flow: it knows points, and no bytes beyond the text of a name. The canonical
//! text is the identity of a series in every segment and store.
//!
//! | file | idea |
//! | --- | --- |
//! | `error` | what can be wrong with a name, with its place |
//! | `text` | one name or quoted value read in place |
//! | `grammar` | the terms that names and selectors are made of |
//! | `canonical` | the one spelling of a name, printed and checked without a heap |
//! | `name_ref` | a borrowed name |
//! | `name` | a name that owns its text |
//! | `selector` | conditions on names |
//! | `index` | the number of a series inside one segment |

mod canonical;
mod error;
mod grammar;
mod index;
#[cfg(feature = "alloc")]
mod name;
mod name_ref;
#[cfg(feature = "alloc")]
mod selector;
mod text;

#[cfg(all(test, feature = "alloc"))]
mod tests;

pub use canonical::{NAME_BYTES_MAX, is_canonical};
pub use error::{NameError, NameReason};
pub use grammar::Operator;
pub use index::SeriesIndex;
#[cfg(feature = "alloc")]
pub use name::SeriesName;
pub use name_ref::NameRef;
#[cfg(feature = "alloc")]
pub use selector::{Matcher, NoRegex, RegexMatcher, SELECTOR_BYTES_MAX, Selector};
