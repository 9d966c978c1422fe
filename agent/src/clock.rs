//! The one place where the wall clock is read.
//!
//! Everything else is given the time, or this function, as an argument.

use std::time::{SystemTime, UNIX_EPOCH};

/// Nanoseconds since the Unix epoch, now; 0 for a clock set before it.
pub fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_nanos());
    since.ok().and_then(|nanos| i64::try_from(nanos).ok()).unwrap_or(0)
}
