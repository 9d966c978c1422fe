//! When a commit is due: how many messages, how many bytes and how long may wait for one flush.
//!
//! A flush wears the card out, so the longer messages wait the better, as long as the broker goes on
//! sending. With MQTT 5 we announce that 65,535 may be unacknowledged, and it does. With 3.1.1 the
//! broker's own small window counts (20 with Mosquitto), and what it can't send it queues and, beyond a
//! limit, drops without a word: there commits come early. Some brokers stop sooner than they were told;
//! that shows as silence during the wait and the next message on the heels of the acknowledgements, and
//! from then on a commit comes with as many as came before.

use std::time::Duration;

use tokio::time::Instant;

/// Messages that wait at most, a quarter of the window that MQTT 5 allows: the broker must always find room for
/// more while we flush.
pub(super) const HELD_MESSAGES_MAX: usize = 16_384;
/// Bytes of topics and payloads that wait at most, which bounds the memory of their readings.
pub(super) const HELD_BYTES_MAX: usize = 8 << 20;
/// The longest wait where the broker's window is small.
const EARLY_INTERVAL: Duration = Duration::from_millis(100);
/// The longest wait once somebody waits for the commit itself.
pub(super) const URGENT_INTERVAL: Duration = Duration::from_millis(50);
/// A message so soon after acknowledgements was waiting for them.
const HEELS: Duration = Duration::from_millis(50);
/// Fewer messages are no window.
const WINDOW_MIN: usize = 8;

/// The rule, and what the broker has shown so far.
#[derive(Debug)]
pub(super) struct Pace {
    early_messages: usize,
    interval: Duration,
    epoch: u64,
    last_message: Option<Instant>,
    /// A commit of so many messages, after silence.
    silence: Option<(usize, Instant)>,
    /// The window that the broker has shown.
    shown: Option<usize>,
}

impl Pace {
    pub(super) fn new(early_messages: usize, interval: Duration) -> Self {
        let early_messages = early_messages.max(1);
        Self { early_messages, interval, epoch: 0, last_message: None, silence: None, shown: None }
    }

    /// Messages that force a commit.
    pub(super) fn messages(&self, is_held: bool) -> usize {
        if is_held { self.shown.unwrap_or(HELD_MESSAGES_MAX) } else { self.early_messages }
    }

    /// How long a message may wait.
    pub(super) fn interval(&self, is_held: bool) -> Duration {
        if is_held { self.interval } else { self.interval.min(EARLY_INTERVAL) }
    }

    /// A message of the connection `epoch` came.
    pub(super) fn message(&mut self, epoch: u64, now: Instant) {
        if epoch != self.epoch {
            (self.epoch, self.silence, self.shown) = (epoch, None, None);
        }
        if let Some((count, at)) = self.silence.take()
            && count >= WINDOW_MIN
            && now.saturating_duration_since(at) < HEELS
        {
            tracing::info!("the broker sends {count} messages and then waits; commits come with as many");
            self.shown = Some(count);
        }
        self.last_message = Some(now);
    }

    /// `count` messages were committed because their time was over.
    pub(super) fn waited(&mut self, count: usize, now: Instant) {
        let silent = self.last_message.map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        self.silence = (silent > self.interval / 4).then_some((count, now));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{HELD_MESSAGES_MAX, Pace};

    #[test]
    fn small_windows_mean_early_commits() {
        let pace = Pace::new(16, Duration::from_secs(5));
        assert_eq!((pace.messages(false), pace.interval(false)), (16, Duration::from_millis(100)));
        assert_eq!((pace.messages(true), pace.interval(true)), (HELD_MESSAGES_MAX, Duration::from_secs(5)));
        let quick = Pace::new(16, Duration::from_millis(20));
        assert_eq!(quick.interval(false), Duration::from_millis(20));
    }

    #[test]
    fn a_broker_that_waits_for_acknowledgements_shows_its_window() {
        let ms = Duration::from_millis;
        let mut pace = Pace::new(16, Duration::from_secs(5));
        let begin = Instant::now();
        // A steady flow shows nothing.
        pace.message(1, begin + ms(4_900));
        pace.waited(100, begin + ms(5_000));
        pace.message(1, begin + ms(5_010));
        assert_eq!(pace.messages(true), HELD_MESSAGES_MAX);
        // A burst, silence, and the next one when it pleases: nothing either.
        pace.waited(100, begin + ms(10_010));
        pace.message(1, begin + ms(11_000));
        assert_eq!(pace.messages(true), HELD_MESSAGES_MAX);
        // Silence, and the next one as soon as the last ones are acknowledged.
        pace.waited(100, begin + ms(16_000));
        pace.message(1, begin + ms(16_003));
        assert_eq!(pace.messages(true), 100);
        pace.message(2, begin + ms(16_004));
        assert_eq!(pace.messages(true), HELD_MESSAGES_MAX, "another connection may be another broker's");
    }
}
