//! The task that polls: it owns the reading half of one connection and does nothing else.
//!
//! Never inside a `select!`, because a poll that is dropped half-way may lose what it held. It
//! forwards messages to the intake and tells the sender task what concerns it, waiting for neither
//! longer than half the keep-alive.

use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::acks::AckToken;
use super::client::Phase;
use super::intake::{Intake, Offered, Received};
use super::link::{Grant, Incoming, LinkReader, Lost};

/// What the reader tells the sender.
#[derive(Debug)]
pub(super) enum Note {
    /// Our SUBSCRIBE went out.
    Sent(u16),
    /// A SUBACK came.
    Answered(u16, Vec<Grant>),
    /// Our UNSUBSCRIBE went out.
    UnsubscribeSent(u16),
    /// An UNSUBACK came.
    UnsubscribeAnswered(u16),
}

/// Why the reader ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The connection is gone.
    Lost(Lost),
    /// The pipeline took nothing for too long.
    Stalled,
    /// The pipeline has ended.
    Closed,
    /// Our goodbye went out.
    Goodbye,
}

/// What the task works with.
pub(super) struct ReaderTask<R> {
    pub(super) reader: R,
    pub(super) epoch: u64,
    pub(super) session: u64,
    pub(super) intake: Intake,
    pub(super) notes: mpsc::Sender<Note>,
    pub(super) phase: watch::Receiver<Phase>,
    pub(super) patience: Duration,
    pub(super) clock: fn() -> i64,
}

impl<R: LinkReader> ReaderTask<R> {
    /// Tells the sender, without waiting: a note that finds no room is made good by its retry.
    fn note(&self, note: Note) {
        let _ = self.notes.try_send(note);
    }

    pub(super) async fn run(mut self) -> End {
        loop {
            let incoming = match self.reader.next().await {
                Ok(incoming) => incoming,
                Err(lost) => return End::Lost(lost),
            };
            match incoming {
                // While stopping, what still comes stays unacknowledged and comes again next time.
                Incoming::Publish(_) if *self.phase.borrow() != Phase::Run => {}
                Incoming::Publish(publish) => {
                    let ack = publish.packet_id.map(|packet_id| AckToken {
                        epoch: self.epoch,
                        session: self.session,
                        packet_id,
                    });
                    let arrival_ns = (self.clock)();
                    let message =
                        Received::new(publish.topic, publish.payload, publish.retain, ack, arrival_ns);
                    match self.intake.offer(message, self.patience).await {
                        Offered::Done => {}
                        Offered::Stalled => return End::Stalled,
                        Offered::Closed => return End::Closed,
                    }
                }
                Incoming::SubscribeSent(packet_id) => self.note(Note::Sent(packet_id)),
                Incoming::SubscribeAnswer { packet_id, grants } => {
                    self.note(Note::Answered(packet_id, grants))
                }
                Incoming::UnsubscribeSent(packet_id) => self.note(Note::UnsubscribeSent(packet_id)),
                Incoming::UnsubscribeAnswer(packet_id) => self.note(Note::UnsubscribeAnswered(packet_id)),
                Incoming::DisconnectSent => return End::Goodbye,
                Incoming::Other => {}
            }
        }
    }
}
