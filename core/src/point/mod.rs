//! A point: a timestamp and a value of one series.
//!
//! The leftmost room of the flow. It knows neither series nor bytes.
//!
//! | file | idea |
//! | --- | --- |
//! | `timestamp` | nanoseconds since the Unix epoch and half-open ranges of them |
//! | `value` | the value kinds and one value |

mod timestamp;
mod value;

pub use timestamp::{TimeRange, Timestamp};
pub use value::{Point, Value, ValueKind};
