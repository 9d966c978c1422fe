//! The task that subscribes and acknowledges, on the sending half of one connection.
//!
//! It may wait for room in the library's queue, since it is not the task that empties it. It ends
//! when the connection does, or with a goodbye once the pipeline has said its last word.

use std::future::pending;
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::acks::AckQueue;
use super::client::Phase;
use super::link::{LinkSender, SendClosed};
use super::reader::Note;
use super::session_file::SessionFile;
use super::status::{ConnectionState, StatusCell};
use super::subscriptions::{Action, Subscriptions};

/// What the task works with.
pub(super) struct SenderTask<S> {
    pub(super) sender: S,
    pub(super) epoch: u64,
    pub(super) qos: u8,
    pub(super) acks: Arc<AckQueue>,
    pub(super) notes: mpsc::Receiver<Note>,
    pub(super) phase: watch::Receiver<Phase>,
    pub(super) session: Arc<Mutex<SessionFile>>,
    pub(super) status: Arc<StatusCell>,
    pub(super) subscriptions: Subscriptions,
}

/// Why the sender ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The connection is gone.
    Gone,
    /// We said goodbye.
    Goodbye,
    /// The session's state can't be written, and must not be wrong.
    Unwritable,
}

impl From<SendClosed> for Stop {
    fn from(_: SendClosed) -> Self {
        Self::Gone
    }
}

impl<S: LinkSender> SenderTask<S> {
    /// Runs until the connection is gone or was ended; gives the subscriptions back.
    pub(super) async fn run(mut self, session_present: bool) -> (Subscriptions, Stop) {
        let actions = self.subscriptions.connected(session_present);
        let mut retry_at = None;
        let mut turn = self.perform(actions, &mut retry_at).await;
        loop {
            match turn {
                Ok(()) => turn = self.turn(&mut retry_at).await,
                Err(stop) => return (self.subscriptions, stop),
            }
        }
    }

    async fn turn(&mut self, retry_at: &mut Option<Instant>) -> Result<(), Stop> {
        while let Some(packet_id) = self.acks.pop(self.epoch) {
            self.sender.ack(packet_id).await?;
        }
        if *self.phase.borrow() == Phase::Close {
            self.sender.disconnect().await?;
            return Err(Stop::Goodbye);
        }
        let retry = async {
            match *retry_at {
                Some(at) => sleep_until(at).await,
                None => pending().await,
            }
        };
        let actions = tokio::select! {
            () = self.acks.filled() => return Ok(()),
            changed = self.phase.changed() => return changed.map_err(|_| Stop::Gone),
            note = self.notes.recv() => match note {
                Some(Note::Sent(packet_id)) => {
                    self.subscriptions.sent(packet_id);
                    return Ok(());
                }
                Some(Note::Answered(packet_id, grants)) => self.subscriptions.answered(packet_id, &grants),
                Some(Note::UnsubscribeSent(packet_id)) => {
                    self.subscriptions.unsubscribe_sent(packet_id);
                    return Ok(());
                }
                Some(Note::UnsubscribeAnswered(packet_id)) => self.subscriptions.unsubscribe_answered(packet_id),
                // The reader has ended.
                None => return Err(Stop::Gone),
            },
            () = retry => {
                *retry_at = None;
                self.subscriptions.retry()
            }
        };
        self.perform(actions, retry_at).await
    }

    async fn perform(&mut self, actions: Vec<Action>, retry_at: &mut Option<Instant>) -> Result<(), Stop> {
        for action in actions {
            match action {
                Action::Persist => self.persist().await?,
                Action::Subscribe(filters) => self.sender.subscribe(&filters, self.qos).await?,
                Action::Unsubscribe(filters) => {
                    for filter in filters {
                        self.sender.unsubscribe(&filter).await?;
                    }
                }
                Action::RetryAfter(wait) => *retry_at = Some(Instant::now() + wait),
                Action::Report(sentence) => self.status.problem(sentence),
            }
        }
        let held = self.subscriptions.is_complete();
        if held && self.status.get().state != ConnectionState::Connected {
            tracing::info!("subscribed to {}", self.subscriptions.acknowledged_words());
        }
        self.status.change(|status| {
            status.state = if held { ConnectionState::Connected } else { ConnectionState::Subscribing };
            if held {
                status.problem = None;
            }
        });
        Ok(())
    }

    /// Writes the acknowledged filters down, off the event loop's threads.
    async fn persist(&self) -> Result<(), Stop> {
        let filters = self.subscriptions.acknowledged().clone();
        let session = Arc::clone(&self.session);
        let written = tokio::task::spawn_blocking(move || session.blocking_lock().set_filters(filters)).await;
        let error = match written {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        self.status.problem(format!("can't keep the state of the MQTT session: {error}"));
        Err(Stop::Unwritable)
    }
}
