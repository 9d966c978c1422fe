//! The query: questions about series as a state machine that asks for blocks and is fed them.
//!
//! Last room of the flow. It knows what the segments hold of each series as *runs* (references and a rank),
//! opens no file and waits for nobody. Which series a selector means is the index room's.
//!
//! | file | idea |
//! | --- | --- |
//! | `question` | what is asked, and what can't be |
//! | `filter` | conditions on values, decided from summaries where possible |
//! | `function` | the functions of a bucket and what they need |
//! | `slots` | which bucket an instant falls into |
//! | `part` | what is known of successive rows |
//! | `group` | parts into buckets, values held across their edges |
//! | `bucket` | a finished bucket and its answers |
//! | `column` | rows collected from chunks |
//! | `sink` | where rows and subtrees go |
//! | `runs` | what each segment holds of a series, opened as needed |
//! | `sweep` | one series in the order of time over all runs |
//! | `blocks` | the blocks at hand, checked and decoded |
//! | `planner` | wanted blocks into few reads |
//! | `damage` | what could not be read, and what an answer cost |
//! | `engine` | the state machine |
//! | `shadows` | which segments others took the place of, and what is deleted |
//! | `library` | several segments as one set of series |
//! | `merge` | the readings of several series in the order of time |

mod blocks;
mod bucket;
mod column;
mod damage;
mod engine;
mod filter;
mod function;
mod group;
mod library;
mod merge;
mod part;
mod planner;
mod question;
mod runs;
mod shadows;
mod sink;
mod slots;
mod sweep;

#[cfg(test)]
pub(crate) mod tests;

pub use bucket::{Answer, Bucket};
pub use damage::{Damage, SegmentReads, Statistics, Unreadable, WARNINGS_MAX, Warning};
pub use engine::{Batch, Done, Query, REFERENCES_MAX, Step};
pub use filter::{Comparison, Filter};
pub use function::Function;
pub use library::{Found, Holding, Library, SegmentFault};
pub use merge::{Merge, MergeStep};
pub use planner::Request;
pub use question::{Buckets, EDGES_MAX, HELD_BUCKETS_MAX, Order, Question, QuestionError, Resume, Task};
pub use runs::{Run, Segment, SegmentHandle};
pub use sink::Rows;
