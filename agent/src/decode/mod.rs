//! Messages to points, purely: no clock, no socket, no disk.
//!
//! The first step of the flow after the broker. A message is a topic, a payload, the retain flag
//! and the instant it was read; out come samples of named series. What can't become a sample is
//! counted with its reason and the last hundred are kept for the reader of `/api/health`; nothing
//! here fails, and one bad field never costs its neighbours.
//!
//! | file | idea |
//! | --- | --- |
//! | `message` | what comes in |
//! | `json` | a small lenient JSON reader that keeps the text of numbers |
//! | `number` | numbers as text: the exact kind, and what only looks like a number |
//! | `scalar` | one text to a value: number, word of a pair, state, gap |
//! | `time` | a payload's own time, by magnitude or with a zone |
//! | `topic` | topic to device and field; patterns of excluded topics |
//! | `series` | the series seen: names, kinds, caps, arrival times |
//! | `growth` | what grows where series are refused |
//! | `rejection` | reasons, counters, the last hundred |
//! | `decoder` | the stage itself |

mod decoder;
mod growth;
mod json;
mod message;
mod number;
mod rejection;
mod scalar;
mod series;
mod time;
mod topic;

pub use decoder::{Catalog, DecodeOptions, Decoder, NoCatalog, Outcome};
pub use message::Message;
pub use rejection::{Counters, Reason, Rejection};
pub use series::{Sample, SampleValue, SeriesHandle};
pub use topic::TopicPattern;
