//! Asking for a commit: for those who wrote to the store themselves and answer for it at once.
//!
//! The pipeline commits within 50 ms of the first request and answers all that came until then, so that
//! many writers share one flush.

use tokio::sync::{mpsc, oneshot};

/// Requests that wait; further ones wait for room.
const REQUESTS_MAX: usize = 64;

/// A request: answered once everything appended before it is durable, dropped where that failed.
#[derive(Debug)]
pub(super) struct Request {
    /// The epoch of the store that was written to: one that was opened again since then may not have it.
    pub(super) epoch: u32,
    pub(super) answer: oneshot::Sender<()>,
}

/// Asks the pipeline for commits.
#[derive(Clone, Debug)]
pub struct CommitHandle(mpsc::Sender<Request>);

impl CommitHandle {
    pub(super) fn new() -> (Self, mpsc::Receiver<Request>) {
        let (requests, receiver) = mpsc::channel(REQUESTS_MAX);
        (Self(requests), receiver)
    }

    /// Blocks until everything that was appended before the call to the store in its `epoch` is durable.
    /// `false` where it is not known to be: the store failed in between, or the agent is ending.
    pub fn commit(&self, epoch: u32) -> bool {
        let (answer, answered) = oneshot::channel();
        self.0.blocking_send(Request { epoch, answer }).is_ok() && answered.blocking_recv().is_ok()
    }
}
