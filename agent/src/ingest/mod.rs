//! From messages to durable readings, and back to acknowledgements.
//!
//! One thread does all of it: take a message from the bounded queue, decode it, append its samples
//! to the store, and after a time or a number of messages commit them all with one flush. Only then
//! are they acknowledged. What was not committed is kept, so that a store that failed can be opened
//! again and given the same samples.
//!
//! | file | idea |
//! | --- | --- |
//! | `pipeline` | the thread |
//! | `pace` | when a commit is due |
//! | `commits` | asking for one |
//! | `pending` | messages between their append and their commit |
//! | `status` | mode and counters, for people |

mod commits;
mod pace;
mod pending;
mod pipeline;
mod status;

pub use commits::CommitHandle;
pub use pipeline::{Pipeline, PipelineOptions};
pub use status::{IngestStatus, Mode};
