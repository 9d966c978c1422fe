//! Waiting for a condition: with a bound, a name for the failure, and a short pause between looks.

use std::time::{Duration, Instant};

/// Looks until `look` finds something, and gives that; panics with `what` after `timeout`.
pub fn until<T>(what: &str, timeout: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < timeout, "waited {} s in vain: {what}", timeout.as_secs_f32());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The same for a condition that is true or false.
pub fn for_true(what: &str, timeout: Duration, mut look: impl FnMut() -> bool) {
    until(what, timeout, || look().then_some(()));
}
