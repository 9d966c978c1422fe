//! From messages to durable readings, and back to acknowledgements.
//!
//! One thread does all of it: take a message from the bounded queue, decode it, append its samples
//! to the store, and after a number of messages or a time commit them all with one flush. Only then
//! are they acknowledged. What was not committed is kept, so that a store that failed can be opened
//! again and given the same samples.
//!
//! | file | idea |
//! | --- | --- |
//! | `pipeline` | the thread |
//! | `pending` | messages between their append and their commit |
//! | `status` | mode and counters, for people |

mod pending;
mod pipeline;
mod status;

pub use pipeline::{Pipeline, PipelineOptions};
pub use status::{IngestStatus, Mode};
