//! The thread: message to samples, samples to the store, one flush for many, then acknowledgements.
//!
//! A store that fails is opened again, with waits in between, for as long as it takes; meanwhile
//! nothing is acknowledged, the queue fills, and the broker keeps the rest. Ending is a phase like
//! the others: take what is in the queue, commit, acknowledge, return.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use siltstone_core::store::{SeriesId, StoreError};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::pending::{self, Pending, SeenPackets};
use super::status::{IngestStatus, Mode};
use crate::decode::{Decoder, Message, SeriesHandle};
use crate::engine::{Engine, StoreCatalog};
use crate::files::FileError;
use crate::mqtt::{AckQueue, Phase, Received, Receiver};

/// The first wait before a failed store is opened again; it doubles.
const REOPEN_FIRST: Duration = Duration::from_millis(500);
/// The longest such wait.
const REOPEN_LAST: Duration = Duration::from_secs(30);

/// Acknowledgements that may be under way besides those that wait: in the library and in sockets.
const UNACKNOWLEDGED_MARGIN: usize = 4096;

/// What the pipeline is made of.
pub struct PipelineOptions {
    /// The store.
    pub engine: Arc<Engine>,
    /// The decode stage.
    pub decoder: Decoder,
    /// Where acknowledgements go.
    pub acks: Arc<AckQueue>,
    /// Messages that force a commit.
    pub commit_messages: usize,
    /// Longest time a message waits for its commit.
    pub commit_interval: Duration,
    /// When to end.
    pub phase: watch::Receiver<Phase>,
}

/// The pipeline.
pub struct Pipeline {
    engine: Arc<Engine>,
    decoder: Arc<Mutex<Decoder>>,
    acks: Arc<AckQueue>,
    commit_messages: usize,
    commit_interval: Duration,
    phase: watch::Receiver<Phase>,
    status: Arc<IngestStatus>,
    /// The store's number of each series of the decoder, as far as it has one.
    ids: Vec<Option<SeriesId>>,
    pending: Vec<Pending>,
    seen: SeenPackets,
    /// When the first pending message must be committed.
    due: Option<Instant>,
}

/// What woke the thread.
enum Event {
    Message(Received),
    Due,
    Stop,
}

impl Pipeline {
    /// A pipeline that has not begun.
    pub fn new(options: PipelineOptions) -> Self {
        let decoder = Arc::new(Mutex::new(options.decoder));
        Self {
            engine: options.engine,
            status: Arc::new(IngestStatus::new(Arc::clone(&decoder))),
            decoder,
            acks: options.acks,
            commit_messages: options.commit_messages.max(1),
            commit_interval: options.commit_interval,
            phase: options.phase,
            ids: Vec::new(),
            pending: Vec::new(),
            seen: SeenPackets::new(),
            due: None,
        }
    }

    /// What the pipeline shows while it runs.
    pub fn status(&self) -> Arc<IngestStatus> {
        Arc::clone(&self.status)
    }

    /// Runs until the phase says to end, or all senders of `receiver` are gone. Blocks: it wants a
    /// thread of its own.
    pub fn run(mut self, mut receiver: Receiver, runtime: &Handle) {
        loop {
            match runtime.block_on(self.next_event(&mut receiver)) {
                Event::Message(message) => {
                    let deep = receiver.len() > receiver.max_capacity() / 2;
                    self.status.set_mode(if deep { Mode::CatchingUp } else { Mode::Live });
                    self.take(&message, runtime);
                    if self.pending.len() >= self.commit_messages {
                        self.commit(runtime);
                    }
                }
                Event::Due => self.commit(runtime),
                Event::Stop => break,
            }
        }
        self.status.set_mode(Mode::Stopping);
        while let Ok(message) = receiver.try_recv() {
            self.take(&message, runtime);
            if self.pending.len() >= self.commit_messages {
                self.commit(runtime);
            }
        }
        self.commit(runtime);
    }

    async fn next_event(&mut self, receiver: &mut Receiver) -> Event {
        let due = self.due;
        let wait = async {
            match due {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = self.phase.wait_for(|phase| *phase != Phase::Run) => Event::Stop,
            () = wait => Event::Due,
            message = receiver.recv() => message.map_or(Event::Stop, Event::Message),
        }
    }

    fn decoder(&self) -> MutexGuard<'_, Decoder> {
        self.decoder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decodes one message and appends what it gave.
    fn take(&mut self, message: &Received, runtime: &Handle) {
        let identity = pending::identity(message.ack, &message.topic, &message.payload);
        let can_be_repeated = message.ack.is_some_and(|token| self.seen.is_first(token));
        let mut samples = Vec::new();
        let store = self.engine.store();
        let is_stored =
            can_be_repeated && identity.as_ref().is_some_and(|identity| store.is_stored(identity));
        match std::str::from_utf8(&message.topic) {
            _ if is_stored => _ = self.status.repeated.fetch_add(1, Ordering::Relaxed),
            Ok(topic) => {
                let (payload, retain, arrival_ns) =
                    (&message.payload[..], message.retain, message.arrival_ns);
                let message = Message { topic, payload, retain, arrival_ns };
                self.decoder().decode(&message, &StoreCatalog(&store), &mut samples);
            }
            Err(_) => _ = self.status.bad_topics.fetch_add(1, Ordering::Relaxed),
        }
        drop(store);
        let pending = Pending { ack: message.ack, identity: identity.filter(|_| !is_stored), samples };
        let appended = self.append(&pending);
        self.pending.push(pending);
        self.due.get_or_insert_with(|| Instant::now() + self.commit_interval);
        if let Err(error) = appended {
            self.recover(&error, runtime);
        }
    }

    /// Appends the samples of one message. A sample that the store refuses is counted and left out.
    fn append(&mut self, pending: &Pending) -> Result<(), StoreError<FileError>> {
        if pending.samples.is_empty() && pending.identity.is_none() {
            return Ok(());
        }
        let engine = Arc::clone(&self.engine);
        let mut store = engine.store();
        let mut readings = Vec::with_capacity(pending.samples.len());
        for sample in &pending.samples {
            let id = match self.id_of(sample.series) {
                Some(id) => id,
                None => {
                    let decoder = self.decoder();
                    let Some(name) = decoder.name(sample.series) else { continue };
                    let unit = decoder.unit(sample.series).unwrap_or("");
                    let id = store.series(name, sample.value.kind(), unit)?;
                    drop(decoder);
                    self.set_id(sample.series, id);
                    id
                }
            };
            readings.push(pending::reading(id, sample));
        }
        match store.append(&readings, pending.identity) {
            Ok(_) => Ok(()),
            Err(error @ (StoreError::StateTooLong | StoreError::TimestampTooLarge)) => {
                tracing::warn!("readings are refused: {error}");
                self.status.refused.fetch_add(readings.len() as u64, Ordering::Relaxed);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn id_of(&self, series: SeriesHandle) -> Option<SeriesId> {
        self.ids.get(series.0 as usize).copied().flatten()
    }

    fn set_id(&mut self, series: SeriesHandle, id: SeriesId) {
        let place = series.0 as usize;
        if self.ids.len() <= place {
            self.ids.resize(place + 1, None);
        }
        if let Some(slot) = self.ids.get_mut(place) {
            *slot = Some(id);
        }
    }

    /// Makes everything pending durable, then acknowledges it.
    fn commit(&mut self, runtime: &Handle) {
        self.due = None;
        if self.pending.is_empty() {
            return;
        }
        let unacknowledged = self.acks.len() + self.pending.len();
        let committed = {
            let mut store = self.engine.store();
            // The library reads faster than it acknowledges: after a long absence thousands are stored
            // whose acknowledgements still wait, and all of them come again if we are killed now.
            store.note_unacknowledged(UNACKNOWLEDGED_MARGIN + unacknowledged);
            store.commit()
        };
        match committed {
            Ok(()) => self.acknowledge(),
            Err(error) => self.recover(&error, runtime),
        }
    }

    fn acknowledge(&mut self) {
        self.status.commits.fetch_add(1, Ordering::Relaxed);
        self.acks.push(self.pending.drain(..).filter_map(|pending| pending.ack));
        self.due = None;
    }

    /// Opens the store again until what is pending is in it and durable.
    ///
    /// While the agent is ending there is one attempt: what is not acknowledged comes again next time.
    fn recover(&mut self, error: &StoreError<FileError>, runtime: &Handle) {
        let mut problem = format!("the store fails: {error}");
        let mut wait = REOPEN_FIRST;
        loop {
            tracing::error!("{problem}; nothing is acknowledged until it is open again");
            self.status.set_mode(Mode::Slow);
            self.status.set_problem(Some(problem));
            let ending = *self.phase.borrow() != Phase::Run;
            let mut phase = self.phase.clone();
            runtime.block_on(async {
                let _ =
                    tokio::time::timeout(wait, phase.wait_for(|phase| *phase != Phase::Run && !ending)).await;
            });
            wait = (wait * 2).min(REOPEN_LAST);
            problem = match self.try_again() {
                Ok(()) => {
                    tracing::info!("the store is open again");
                    self.status.set_problem(None);
                    return self.acknowledge();
                }
                Err(problem) => problem,
            };
            if ending {
                tracing::error!("{problem}; what is not acknowledged will come again");
                self.pending.clear();
                return;
            }
        }
    }

    fn try_again(&mut self) -> Result<(), String> {
        self.engine.reopen().map_err(|error| error.to_string())?;
        self.ids.clear();
        let pending = std::mem::take(&mut self.pending);
        let mut result = Ok(());
        for message in &pending {
            let is_stored = message.identity.is_some_and(|identity| self.engine.store().is_stored(&identity));
            if result.is_ok() && !is_stored {
                result = self.append(message).map_err(|error| error.to_string());
            }
        }
        self.pending = pending;
        result?;
        self.engine.store().commit().map_err(|error| error.to_string())
    }
}

#[cfg(test)]
#[path = "pipeline_tests.rs"]
mod tests;
