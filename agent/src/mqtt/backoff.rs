//! Waits between attempts: 0.25 s, doubling to 30 s, with jitter.
//!
//! The jitter comes in as a number, so that this is pure. Only a connection that lived for a while
//! resets the wait: two clients that take one session from each other must not do so at full speed.

use std::time::Duration;

const FIRST_MS: u64 = 250;
const LAST_MS: u64 = 30_000;
/// A connection that lived this long was a good one.
const GOOD_AFTER: Duration = Duration::from_secs(10);

/// The wait to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backoff {
    next_ms: u64,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self { next_ms: FIRST_MS }
    }

    /// The next wait; `jitter` is uniform over all its values.
    pub(super) fn next(&mut self, jitter: u16) -> Duration {
        let full = self.next_ms;
        self.next_ms = (full * 2).min(LAST_MS);
        // Half of it for certain, the other half by chance; never below the first wait.
        let chance = full / 2 * u64::from(jitter) / u64::from(u16::MAX);
        Duration::from_millis((full / 2 + chance).max(FIRST_MS))
    }

    /// The longest wait, for refusals that will not go away by themselves.
    pub(super) fn slow(&mut self, jitter: u16) -> Duration {
        self.next_ms = LAST_MS;
        self.next(jitter)
    }

    /// A connection ended after `lived`.
    pub(super) fn connection_lived(&mut self, lived: Duration) {
        if lived >= GOOD_AFTER {
            *self = Self::new();
        }
    }
}

/// A number from the operating system's random source.
pub(super) fn jitter() -> u16 {
    let mut bytes = [0; 2];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u16::from_le_bytes(bytes),
        Err(_) => u16::MAX / 2,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Backoff;

    #[test]
    fn doubles_to_thirty_seconds_and_starts_again_after_a_good_connection() {
        let mut backoff = Backoff::new();
        let waits: Vec<_> = (0..9).map(|_| backoff.next(u16::MAX).as_millis()).collect();
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
        assert_eq!(backoff.next(0), Duration::from_secs(15), "at least half");
        backoff.connection_lived(Duration::from_secs(9));
        assert_eq!(backoff.next(u16::MAX), Duration::from_secs(30));
        backoff.connection_lived(Duration::from_secs(10));
        assert_eq!(backoff.next(0), Duration::from_millis(250), "never below a quarter of a second");
        assert!(backoff.slow(0) >= Duration::from_secs(15));
    }
}
