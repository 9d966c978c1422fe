//! Acknowledgements on their way back, by epoch.
//!
//! The pipeline gives tokens after their messages were flushed; the sender task takes packet ids.
//! Giving never waits, so the pipeline can't be held up by a connection. A token of an older
//! connection is dropped: its packet id may by now belong to another message, and acknowledging
//! that would lose it. The queue is bounded, since one connection has at most 65,535 packet ids.

//!
//! What was sent may be lost with its connection: only after a while on a connection that lives, during which the broker
//! answered our pings, has it certainly arrived. How many messages can still come again is counted here, because
//! so many must be known again.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// Packet ids that can be unacknowledged on one connection.
const QUEUE_MAX: usize = 65_535;

/// How long an acknowledgement is on its way at most, where nobody says.
const CONFIRMED_AFTER: Duration = Duration::from_secs(30);

/// What must be given back for a message once it is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckToken {
    /// The connection it came by.
    pub epoch: u64,
    /// The session that connection served: what packet ids and repeated messages belong to.
    pub session: u64,
    /// Its packet id there.
    pub packet_id: u16,
}

#[derive(Debug, Default)]
struct Queue {
    epoch: u64,
    packet_ids: VecDeque<u16>,
    /// Taken to be sent: in this half of the time that it takes until they have certainly arrived, and in the two before.
    sent: [usize; 3],
    half_began: Option<Instant>,
    /// Stored messages of earlier connections whose acknowledgements may be lost: they come again first.
    lost: usize,
}

impl Queue {
    /// An acknowledgement is taken to be sent.
    fn note_sent(&mut self, half: Duration) {
        let now = Instant::now();
        let began = *self.half_began.get_or_insert(now);
        if now.saturating_duration_since(began) >= half {
            self.sent.rotate_right(1);
            self.sent[0] = 0;
            self.half_began = Some(now);
        }
        self.sent[0] += 1;
        self.lost = self.lost.saturating_sub(1);
    }

    fn outstanding(&self) -> usize {
        (self.lost + self.packet_ids.len() + self.sent.iter().sum::<usize>()).min(QUEUE_MAX)
    }
}

/// The way back to the broker.
#[derive(Debug, Default)]
pub struct AckQueue {
    queue: Mutex<Queue>,
    stale: AtomicU64,
    is_held: AtomicBool,
    /// Half of the time that acknowledgements are on their way at most, milliseconds; 0 where nobody said.
    half_ms: AtomicU64,
    filled: Notify,
}

impl AckQueue {
    /// An empty queue, before the first connection.
    pub fn new() -> Self {
        Self::default()
    }

    fn locked<T>(&self, work: impl FnOnce(&mut Queue) -> T) -> T {
        // The lock is held for a few moves only; a panic inside can't leave it half done.
        let mut queue = self.queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        work(&mut queue)
    }

    /// Begins a new connection: from here on only tokens of `epoch` count.
    pub fn begin(&self, epoch: u64) {
        self.locked(|queue| {
            self.stale.fetch_add(queue.packet_ids.len() as u64, Ordering::Relaxed);
            *queue = Queue { epoch, lost: queue.outstanding(), ..Queue::default() };
        });
    }

    /// What was sent longer ago than twice the time between pings has arrived, where the connection still lives.
    pub fn confirm_by(&self, keep_alive: Duration) {
        let half_ms = u64::try_from(keep_alive.as_millis()).unwrap_or(u64::MAX);
        self.half_ms.store(half_ms, Ordering::Relaxed);
    }

    fn half(&self) -> Duration {
        match self.half_ms.load(Ordering::Relaxed) {
            0 => CONFIRMED_AFTER / 2,
            half_ms => Duration::from_millis(half_ms),
        }
    }

    /// Stored messages that the broker may send again: their acknowledgements wait, are on their way, or may be lost.
    pub fn outstanding(&self) -> usize {
        self.locked(|queue| queue.outstanding())
    }

    /// Whether the broker goes on sending while thousands are not acknowledged.
    pub fn hold(&self, is_held: bool) {
        self.is_held.store(is_held, Ordering::Relaxed);
    }

    /// Whether acknowledgements may be held back for seconds.
    pub fn is_held(&self) -> bool {
        self.is_held.load(Ordering::Relaxed)
    }

    /// Gives back tokens, in the order in which their messages came.
    pub fn push(&self, tokens: impl IntoIterator<Item = AckToken>) {
        self.locked(|queue| {
            for token in tokens {
                if token.epoch == queue.epoch && queue.packet_ids.len() < QUEUE_MAX {
                    queue.packet_ids.push_back(token.packet_id);
                } else {
                    queue.lost = (queue.lost + 1).min(QUEUE_MAX);
                    self.stale.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        self.filled.notify_one();
    }

    /// The next packet id to acknowledge on the connection `epoch`.
    pub fn pop(&self, epoch: u64) -> Option<u16> {
        let half = self.half();
        self.locked(|queue| {
            let packet_id = if queue.epoch == epoch { queue.packet_ids.pop_front()? } else { return None };
            queue.note_sent(half);
            Some(packet_id)
        })
    }

    /// Waits until something was pushed since the last wait.
    pub async fn filled(&self) {
        self.filled.notified().await;
    }

    /// Tokens dropped because their connection was over.
    pub fn stale(&self) -> u64 {
        self.stale.load(Ordering::Relaxed)
    }

    /// Tokens that wait.
    pub fn len(&self) -> usize {
        self.locked(|queue| queue.packet_ids.len())
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{AckQueue, AckToken};

    #[test]
    fn tokens_of_an_older_connection_are_dropped() {
        let acks = AckQueue::new();
        acks.begin(1);
        acks.push([
            AckToken { epoch: 1, session: 1, packet_id: 1 },
            AckToken { epoch: 1, session: 1, packet_id: 2 },
        ]);
        assert_eq!(acks.pop(1), Some(1));
        acks.begin(2);
        // The committer of the first connection comes late: packet id 1 is another message by now.
        acks.push([AckToken { epoch: 1, session: 1, packet_id: 1 }]);
        assert_eq!(acks.pop(2), None);
        assert_eq!(acks.pop(1), None);
        acks.push([AckToken { epoch: 2, session: 1, packet_id: 1 }]);
        assert_eq!(acks.pop(1), None, "the old sender gets nothing of the new connection");
        assert_eq!(acks.pop(2), Some(1));
        assert_eq!(acks.stale(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn what_may_come_again_is_counted() {
        let acks = AckQueue::new();
        acks.confirm_by(Duration::from_secs(5));
        let token = |epoch, packet_id| AckToken { epoch, session: 1, packet_id };
        acks.begin(1);
        acks.push((1..=100).map(|id| token(1, id)));
        for _ in 0..40 {
            acks.pop(1);
        }
        assert_eq!(acks.outstanding(), 100, "what was sent may be lost");
        acks.begin(2);
        acks.push((101..=110).map(|id| token(1, id)));
        assert_eq!(
            acks.outstanding(),
            110,
            "what came by the old connection and was stored late comes again, too"
        );
        acks.push((1..=110).map(|id| token(2, id)));
        while acks.pop(2).is_some() {}
        assert_eq!(acks.outstanding(), 110);
        for id in 0..3 {
            tokio::time::advance(Duration::from_secs(6)).await;
            acks.push([token(2, 200 + id)]);
            acks.pop(2);
        }
        assert_eq!(acks.outstanding(), 3, "the connection lives: what was sent long ago has arrived");
    }

    #[test]
    fn order_is_kept_and_memory_bounded() {
        let acks = AckQueue::new();
        acks.begin(7);
        acks.push((0..70_000_u32).map(|n| AckToken {
            epoch: 7,
            session: 1,
            packet_id: (n % 65_535) as u16 + 1,
        }));
        assert_eq!(acks.len(), 65_535);
        assert_eq!((acks.pop(7), acks.pop(7)), (Some(1), Some(2)));
    }
}
