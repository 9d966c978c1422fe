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
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::commits::{CommitHandle, Request};
use super::pace::{HELD_BYTES_MAX, Pace, URGENT_INTERVAL};
use super::pending::{self, Pending, SeenPackets};
use super::status::{IngestStatus, Mode};
use crate::decode::{Decoder, Message, SeriesHandle};
use crate::engine::{Engine, StoreCatalog, UNACKNOWLEDGED_MAX, report};
use crate::files::FileError;
use crate::mqtt::{AckQueue, Phase, Received, Receiver};
use crate::trusted_clock::TrustedClock;

/// The first wait before a failed store is opened again; it doubles.
const REOPEN_FIRST: Duration = Duration::from_millis(500);
/// The longest such wait.
const REOPEN_LAST: Duration = Duration::from_secs(30);

/// From one look whether there is something to do that can wait to the next.
const WORK_INTERVAL: Duration = Duration::from_secs(1);
/// Between two steps of it.
const WORK_PAUSE: Duration = Duration::from_millis(5);
/// Messages come before it, but for this long only.
const WORK_PATIENCE: Duration = Duration::from_millis(200);

/// The log says that series are refused, and which topics make them, at most this often.
const WARN_INTERVAL: Duration = Duration::from_secs(600);

/// What the pipeline is made of.
pub struct PipelineOptions {
    /// The store.
    pub engine: Arc<Engine>,
    /// The decode stage.
    pub decoder: Decoder,
    /// Where acknowledgements go.
    pub acks: Arc<AckQueue>,
    /// Messages that force a commit where the broker's window is small.
    pub commit_messages: usize,
    /// Longest time a message waits for its commit.
    pub commit_interval: Duration,
    /// What the time is.
    pub clock: Arc<TrustedClock>,
    /// When to end.
    pub phase: watch::Receiver<Phase>,
}

/// The pipeline.
pub struct Pipeline {
    engine: Arc<Engine>,
    decoder: Arc<Mutex<Decoder>>,
    acks: Arc<AckQueue>,
    pace: Pace,
    requests: mpsc::Receiver<Request>,
    handle: CommitHandle,
    clock: Arc<TrustedClock>,
    /// When there may be something to do that can wait.
    work_at: Instant,
    phase: watch::Receiver<Phase>,
    status: Arc<IngestStatus>,
    /// The store's number of each series of the decoder, as far as it has one.
    ids: Vec<Option<SeriesId>>,
    pending: Vec<Pending>,
    pending_bytes: usize,
    /// Who waits for the next commit.
    waiters: Vec<Request>,
    seen: SeenPackets,
    /// When the log last said that series are refused.
    warned_at: Option<Instant>,
    /// When the first pending message must be committed.
    due: Option<Instant>,
    /// Whether the store failed while the agent is ending.
    is_given_up: bool,
    /// Unacknowledged messages that the store is ready for, over a restart, too.
    window: usize,
}

/// What woke the thread.
enum Event {
    Message(Received),
    Request(Request),
    Due,
    Work,
    Stop,
}

impl Pipeline {
    /// A pipeline that has not begun.
    pub fn new(options: PipelineOptions) -> Self {
        let decoder = Arc::new(Mutex::new(options.decoder));
        let (handle, requests) = CommitHandle::new();
        Self {
            engine: options.engine,
            status: Arc::new(IngestStatus::new(Arc::clone(&decoder))),
            decoder,
            acks: options.acks,
            pace: Pace::new(options.commit_messages, options.commit_interval),
            requests,
            handle,
            clock: options.clock,
            work_at: Instant::now() + WORK_INTERVAL,
            phase: options.phase,
            ids: Vec::new(),
            pending: Vec::new(),
            pending_bytes: 0,
            waiters: Vec::new(),
            seen: SeenPackets::new(),
            warned_at: None,
            due: None,
            is_given_up: false,
            window: UNACKNOWLEDGED_MAX,
        }
    }

    /// What the pipeline shows while it runs.
    pub fn status(&self) -> Arc<IngestStatus> {
        Arc::clone(&self.status)
    }

    /// What asks this pipeline for commits.
    pub fn commits(&self) -> CommitHandle {
        self.handle.clone()
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
                    self.commit_if_full(runtime);
                }
                Event::Request(request) => {
                    self.waiters.push(request);
                    let soon = Instant::now() + URGENT_INTERVAL;
                    self.due = Some(self.due.map_or(soon, |due| due.min(soon)));
                }
                Event::Due => {
                    self.pace.waited(self.pending.len(), Instant::now());
                    self.commit(runtime);
                }
                Event::Work => self.work(runtime),
                Event::Stop => break,
            }
            self.show();
        }
        self.status.set_mode(Mode::Stopping);
        // What a failing store does not take any more comes again after the next start.
        while !self.is_given_up
            && let Ok(message) = receiver.try_recv()
        {
            self.take(&message, runtime);
            self.commit_if_full(runtime);
        }
        if !self.is_given_up {
            self.commit(runtime);
        }
        self.show();
    }

    fn show(&self) {
        self.status.set_waiting(self.pending.len() + self.acks.len(), self.acks.is_held(), self.due);
    }

    fn commit_if_full(&mut self, runtime: &Handle) {
        let messages_max = self.pace.messages(self.acks.is_held());
        if self.pending.len() >= messages_max || self.pending_bytes >= HELD_BYTES_MAX {
            self.commit(runtime);
        }
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
            Some(request) = self.requests.recv() => Event::Request(request),
            // One that waits long enough comes before messages: else a busy broker would keep it off for ever.
            () = sleep_until(self.work_at + WORK_PATIENCE) => Event::Work,
            message = receiver.recv() => message.map_or(Event::Stop, Event::Message),
            () = sleep_until(self.work_at) => Event::Work,
        }
    }

    /// Does a step of what can wait.
    fn work(&mut self, runtime: &Handle) {
        let worked = self.engine.work(self.clock.now(), self.clock.is_synchronised());
        let is_more = worked.as_ref().is_ok_and(|is_more| *is_more);
        self.work_at = Instant::now() + if is_more { WORK_PAUSE } else { WORK_INTERVAL };
        if let Err(error) = worked {
            self.recover(&error, runtime);
        }
    }

    fn decoder(&self) -> MutexGuard<'_, Decoder> {
        self.decoder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decodes one message and appends what it gave.
    fn take(&mut self, message: &Received, runtime: &Handle) {
        let identity = pending::identity(message.ack, &message.topic, &message.payload);
        let can_be_repeated = message.ack.is_some_and(|token| self.seen.is_first(token));
        let (mut samples, mut is_refused) = (Vec::new(), false);
        let store = self.engine.store();
        let is_stored =
            can_be_repeated && identity.as_ref().is_some_and(|identity| store.is_stored(identity));
        match std::str::from_utf8(&message.topic) {
            _ if is_stored => _ = self.status.repeated.fetch_add(1, Ordering::Relaxed),
            Ok(topic) => {
                let (payload, retain, arrival_ns) =
                    (&message.payload[..], message.retain, message.arrival_ns);
                let message = Message { topic, payload, retain, arrival_ns };
                let mut decoder = self.decoder();
                let before = (decoder.counters().stamped, decoder.counters().beyond_caps());
                decoder.decode(&message, &StoreCatalog(&store), &mut samples);
                let stamped = decoder.counters().stamped - before.0;
                is_refused = decoder.counters().beyond_caps() > before.1;
                drop(decoder);
                self.clock.note_arrivals(stamped, arrival_ns);
            }
            Err(_) => _ = self.status.bad_topics.fetch_add(1, Ordering::Relaxed),
        }
        drop(store);
        if is_refused {
            self.warn_of_refusal();
        }
        let bytes = message.topic.len() + message.payload.len();
        let mut pending =
            Pending { ack: message.ack, identity: identity.filter(|_| !is_stored), bytes, samples };
        let now = Instant::now();
        if let Some(ack) = message.ack {
            self.pace.message(ack.epoch, now);
        }
        let appended = self.append(&mut pending);
        self.pending_bytes += pending.bytes;
        self.pending.push(pending);
        self.due.get_or_insert(now + self.pace.interval(self.acks.is_held()));
        if let Err(error) = appended {
            self.recover(&error, runtime);
        }
    }

    /// Says in the log, now and then, that series are refused and which topics make them.
    fn warn_of_refusal(&mut self) {
        if self.warned_at.is_none_or(|at| at.elapsed() >= WARN_INTERVAL) {
            self.warned_at = Some(Instant::now());
            tracing::warn!("{}", self.decoder().refusal().unwrap_or_default());
        }
    }

    /// Appends the samples of one message. One that can't be stored as it is is refused whole: its readings are counted,
    /// and it is acknowledged like any other, because it would be the same if it came again.
    fn append(&mut self, pending: &mut Pending) -> Result<(), StoreError<FileError>> {
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
                    let id = store.series(name, sample.value.kind(), unit);
                    drop(decoder);
                    let id = match id {
                        Ok(id) => id,
                        Err(error) => {
                            drop(store);
                            return self.unless_refused(pending, error);
                        }
                    };
                    self.set_id(sample.series, id);
                    id
                }
            };
            readings.push(pending::reading(id, sample));
        }
        let appended = store.append(&readings, pending.identity);
        drop(store);
        appended.map(|_| ()).or_else(|error| self.unless_refused(pending, error))
    }

    /// Refuses a message of which the store says, before it takes anything, that it can't be stored.
    fn unless_refused(
        &self,
        pending: &mut Pending,
        error: StoreError<FileError>,
    ) -> Result<(), StoreError<FileError>> {
        if !is_refusal(&error) {
            return Err(error);
        }
        self.refuse(pending, &error);
        Ok(())
    }

    /// Refuses a message: no later append takes it.
    fn refuse(&self, pending: &mut Pending, error: &StoreError<FileError>) {
        let readings = pending.samples.len();
        tracing::warn!("a message with {readings} readings is refused: {error}");
        self.status.refused.fetch_add(readings as u64, Ordering::Relaxed);
        pending.samples.clear();
        pending.identity = None;
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
        if self.pending.is_empty() && self.waiters.is_empty() {
            return;
        }
        let unacknowledged = self.unacknowledged();
        let is_wider = unacknowledged > self.window;
        if is_wider {
            self.window = 2 * unacknowledged;
        }
        let committed = {
            let mut store = self.engine.store();
            // The library reads faster than it acknowledges: after a long absence thousands are stored
            // whose acknowledgements still wait, and all of them come again if we are killed now.
            store.note_unacknowledged(self.window);
            // How many are to be known at the next start stands in the last checkpoint.
            if is_wider { store.checkpoint() } else { store.commit() }
        };
        match committed {
            Ok(()) => self.acknowledge(),
            Err(error) => self.recover(&error, runtime),
        }
    }

    /// Messages that are stored, or about to be, and may come again.
    fn unacknowledged(&self) -> usize {
        self.acks.outstanding() + self.pending.len()
    }

    fn acknowledge(&mut self) {
        self.status.commits.fetch_add(1, Ordering::Relaxed);
        self.acks.push(self.pending.drain(..).filter_map(|pending| pending.ack));
        self.pending_bytes = 0;
        let epoch = self.engine.store().epoch();
        for waiter in self.waiters.drain(..).filter(|waiter| waiter.epoch == epoch) {
            // Who has gone away in between needs no answer.
            let _ = waiter.answer.send(());
        }
        self.due = None;
    }

    /// Opens the store again until what is pending is in it and durable.
    ///
    /// While the agent is ending there is one attempt: what is not acknowledged comes again next time.
    fn recover(&mut self, error: &StoreError<FileError>, runtime: &Handle) {
        let mut problem = format!("the store fails: {}", self.engine.reason(error));
        // What they wrote themselves is not ours to write again: they are told that it is not durable.
        self.waiters.clear();
        let mut wait = REOPEN_FIRST;
        loop {
            tracing::error!("{problem}; nothing is acknowledged until it is open again");
            self.status.set_mode(Mode::Slow);
            self.status.set_problem(Some(problem));
            let ending = *self.phase.borrow() != Phase::Run;
            runtime.block_on(self.pause(wait, ending));
            wait = (wait * 2).min(REOPEN_LAST);
            problem = match self.try_again() {
                Ok(()) => {
                    tracing::info!("the store is open again");
                    self.status.set_problem(None);
                    self.status.set_mode(Mode::Live);
                    return self.acknowledge();
                }
                Err(problem) => problem,
            };
            if ending {
                tracing::error!("{problem}; what is not acknowledged will come again");
                self.is_given_up = true;
                self.pending.clear();
                self.pending_bytes = 0;
                return;
            }
        }
    }

    /// Waits before the store is opened again; less where the agent is to end.
    async fn pause(&mut self, wait: Duration, is_ending: bool) {
        let pause = sleep_until(Instant::now() + wait);
        tokio::pin!(pause);
        loop {
            tokio::select! {
                () = &mut pause => return,
                _ = self.phase.wait_for(|phase| *phase != Phase::Run), if !is_ending => return,
                // Nothing is durable for now, and nobody is to wait until it is.
                Some(request) = self.requests.recv() => drop(request),
            }
        }
    }

    fn try_again(&mut self) -> Result<(), String> {
        let reopened = self.engine.reopen(self.window.max(self.unacknowledged()));
        report(&reopened.map_err(|error| error.to_string())?, self.engine.root());
        self.ids.clear();
        let mut pending = std::mem::take(&mut self.pending);
        let mut result = Ok(());
        for message in &mut pending {
            let is_stored = message.identity.is_some_and(|identity| self.engine.store().is_stored(&identity));
            if result.is_ok() && !is_stored {
                result = self.append(message).map_err(|error| {
                    if is_own_fault(&error) {
                        // A store that is fresh fails of this message: else it would be opened again for ever. What of
                        // it went into the journal before stays.
                        self.refuse(message, &error);
                    }
                    error.to_string()
                });
            }
        }
        self.pending = pending;
        result?;
        self.engine.store().commit().map_err(|error| error.to_string())
    }
}

/// Whether the store said so before it took anything of the message: it goes on.
fn is_refusal(error: &StoreError<FileError>) -> bool {
    use StoreError::{StateTooLong, TimestampTooLarge, TooManySeries, UnitTooLong};
    matches!(error, StateTooLong | TimestampTooLarge | UnitTooLong | TooManySeries)
}

/// Whether no medium failed: opening the store again will not help.
fn is_own_fault(error: &StoreError<FileError>) -> bool {
    !matches!(error, StoreError::Medium(_) | StoreError::Failed)
}

#[cfg(test)]
#[path = "pipeline_tests.rs"]
mod tests;
