//! The bounded way to the pipeline: a number of messages and a number of bytes.
//!
//! A message of quality of service 0 that finds no room is dropped and counted, since nothing would
//! bring it back. One of quality of service 1 waits, but not longer than the connection can bear;
//! then the connection is given up, and the broker sends it again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::acks::AckToken;

/// Bytes of a message that are counted besides topic and payload.
const OVERHEAD_BYTES: usize = 128;

/// A message on its way to the pipeline.
#[derive(Debug)]
pub struct Received {
    /// The topic; not always UTF-8.
    pub topic: Bytes,
    /// The payload.
    pub payload: Bytes,
    /// Whether it came from the broker's memory.
    pub retain: bool,
    /// What to give back once it is durable; `None` with quality of service 0.
    pub ack: Option<AckToken>,
    /// When it was read, nanoseconds.
    pub arrival_ns: i64,
    /// Its share of the bytes, free again when the message is dropped.
    share: Option<OwnedSemaphorePermit>,
}

impl Received {
    /// A message outside of any queue.
    pub fn new(topic: Bytes, payload: Bytes, retain: bool, ack: Option<AckToken>, arrival_ns: i64) -> Self {
        Self { topic, payload, retain, ack, arrival_ns, share: None }
    }
}

/// The end that the pipeline holds.
pub type Receiver = mpsc::Receiver<Received>;

/// The end that readers hold.
#[derive(Clone, Debug)]
pub struct Intake {
    queue: mpsc::Sender<Received>,
    bytes: Arc<Semaphore>,
    bytes_max: u32,
    dropped: Arc<AtomicU64>,
}

/// What became of a message that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    /// It is in the queue, or was dropped and counted.
    Done,
    /// There was no room for too long.
    Stalled,
    /// The pipeline has ended.
    Closed,
}

/// A way for `messages_max` messages and `bytes_max` bytes.
pub fn intake(messages_max: usize, bytes_max: u32) -> (Intake, Receiver) {
    let (queue, receiver) = mpsc::channel(messages_max);
    let bytes = Arc::new(Semaphore::new(bytes_max as usize));
    (Intake { queue, bytes, bytes_max, dropped: Arc::default() }, receiver)
}

impl Intake {
    /// Messages of quality of service 0 dropped for want of room.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Messages in the queue.
    pub fn len(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until there is room for at least one message, or the pipeline has ended.
    pub async fn room(&self) {
        // The place is given back at once; one message may still be ahead of us, no harm done.
        let _ = self.queue.reserve().await;
        let _ = self.bytes.acquire_many(self.bytes_max / 2).await;
    }

    fn weight(&self, message: &Received) -> u32 {
        let bytes = message.topic.len() + message.payload.len() + OVERHEAD_BYTES;
        // A message larger than the whole allowance takes all of it, and waits to be alone.
        u32::try_from(bytes).unwrap_or(u32::MAX).min(self.bytes_max)
    }

    pub(crate) async fn offer(&self, mut message: Received, patience: Duration) -> Offered {
        let weight = self.weight(&message);
        if message.ack.is_none() {
            let share = Arc::clone(&self.bytes).try_acquire_many_owned(weight);
            let sent = share.is_ok_and(|share| {
                message.share = Some(share);
                self.queue.try_send(message).is_ok()
            });
            if !sent {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
            return if self.queue.is_closed() { Offered::Closed } else { Offered::Done };
        }
        let waited = tokio::time::timeout(patience, async {
            let share = Arc::clone(&self.bytes).acquire_many_owned(weight).await.ok();
            message.share = share;
            self.queue.send(message).await.is_ok()
        });
        match waited.await {
            Ok(true) => Offered::Done,
            Ok(false) => Offered::Closed,
            Err(_) => Offered::Stalled,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::{Offered, Received, intake};
    use crate::mqtt::AckToken;

    fn message(bytes: usize, packet_id: Option<u16>) -> Received {
        let ack = packet_id.map(|packet_id| AckToken { epoch: 1, session: 1, packet_id });
        Received::new(Bytes::from_static(b"t"), Bytes::from(vec![0; bytes]), false, ack, 0)
    }

    #[tokio::test(start_paused = true)]
    async fn quality_0_is_dropped_and_counted_quality_1_waits() {
        let patience = Duration::from_secs(5);
        let (way, mut receiver) = intake(2, 10_000);
        assert_eq!(way.offer(message(10, None), patience).await, Offered::Done);
        assert_eq!(way.offer(message(10, None), patience).await, Offered::Done);
        assert_eq!(way.offer(message(10, None), patience).await, Offered::Done);
        assert_eq!((way.dropped(), way.len()), (1, 2));
        assert_eq!(way.offer(message(10, Some(1)), patience).await, Offered::Stalled);
        receiver.recv().await.unwrap();
        assert_eq!(way.offer(message(10, Some(1)), patience).await, Offered::Done);
        drop(receiver);
        assert_eq!(way.offer(message(10, Some(2)), patience).await, Offered::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_are_bounded_too() {
        let patience = Duration::from_secs(5);
        let (way, mut receiver) = intake(100, 10_000);
        assert_eq!(way.offer(message(9_000, Some(1)), patience).await, Offered::Done);
        assert_eq!(way.offer(message(9_000, Some(2)), patience).await, Offered::Stalled);
        assert_eq!(way.offer(message(9_000, None), patience).await, Offered::Done);
        assert_eq!(way.dropped(), 1);
        drop(receiver.recv().await);
        assert_eq!(
            way.offer(message(1_000_000, Some(3)), patience).await,
            Offered::Done,
            "alone, any size fits"
        );
    }
}
