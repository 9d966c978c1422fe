//! The session: connect, run reader and sender, back off, again, until it is told to stop.
//!
//! Each connection gets a new epoch and a new connection of the library; nothing of the old one is
//! left that could answer for the new one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::Instant;

use super::acks::AckQueue;
use super::backoff::{Backoff, jitter};
use super::intake::Intake;
use super::link::{ConnectFault, ConnectOptions, Connected, Connector, Lost};
use super::reader::{End, ReaderTask};
use super::sender::{SenderTask, Stop};
use super::session_file::SessionFile;
use super::status::{ConnectionState, MqttStatus, StatusCell};
use super::subscriptions::Subscriptions;
use super::versions::Versions;
use crate::config::{MqttConfig, ProtocolVersion};

/// No packet larger than this is ever taken in, whatever the broker sends.
const PACKET_BYTES_CAP: u32 = 16 << 20;
/// Notes from reader to sender; there is one SUBSCRIBE at a time.
const NOTES_MAX: usize = 64;
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// How far the agent has got with ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not at all.
    Run,
    /// Messages are taken in no more; acknowledgements still go out.
    Drain,
    /// The last acknowledgement has been given: say goodbye.
    Close,
}

/// What the session is made of.
#[derive(Debug)]
pub struct ClientOptions {
    /// The broker and how to talk to it.
    pub config: MqttConfig,
    /// Client id and acknowledged filters.
    pub session: SessionFile,
    /// Where messages go.
    pub intake: Intake,
    /// Where acknowledgements come from.
    pub acks: Arc<AckQueue>,
    /// Where people look.
    pub status: Arc<StatusCell>,
    /// When to end.
    pub phase: watch::Receiver<Phase>,
    /// The clock that stamps arrivals.
    pub clock: fn() -> i64,
}

/// The session.
#[derive(Debug)]
pub struct Client<C> {
    connector: C,
    connect: ConnectOptions,
    qos: u8,
    session: Arc<Mutex<SessionFile>>,
    subscriptions: Subscriptions,
    intake: Intake,
    acks: Arc<AckQueue>,
    status: Arc<StatusCell>,
    phase: watch::Receiver<Phase>,
    clock: fn() -> i64,
    versions: Versions,
    backoff: Backoff,
    epoch: u64,
}

/// What to do after a connection or an attempt.
enum Next {
    AtOnce,
    Wait(Duration),
    End,
}

impl<C: Connector> Client<C> {
    /// A session that has not begun.
    pub fn new(connector: C, options: ClientOptions) -> Self {
        let ClientOptions { config, session, intake, acks, status, phase, clock } = options;
        let state = session.state().clone();
        acks.confirm_by(config.keep_alive);
        status.change(|status| {
            status.broker = format!("{}:{}", config.broker.host, config.broker.port);
            status.client_id.clone_from(&state.client_id);
        });
        let credentials = config
            .username
            .map(|name| (name, config.password.unwrap_or(crate::config::Secret(String::new()))));
        Self {
            connector,
            qos: config.qos,
            subscriptions: Subscriptions::new(config.subscribe, state.filters),
            connect: ConnectOptions {
                broker: config.broker,
                client_id: state.client_id,
                credentials,
                version: config.protocol,
                keep_alive: config.keep_alive,
                session_expiry: config.session_expiry,
                max_packet_bytes: config.max_packet_bytes,
            },
            session: Arc::new(Mutex::new(session)),
            intake,
            acks,
            status,
            phase,
            clock,
            versions: Versions::new(config.protocol),
            backoff: Backoff::new(),
            epoch: 0,
        }
    }

    /// Runs until the phase says to end.
    pub async fn run(mut self) {
        while *self.phase.borrow() == Phase::Run {
            self.connect.version = self.versions.next();
            let next = match self.connector.connect(&self.connect).await {
                Ok(connected) => self.serve(connected).await,
                Err(fault) => self.attempt_failed(&fault),
            };
            match next {
                Next::AtOnce => {}
                Next::Wait(wait) => {
                    // Ends early when the phase changes.
                    if let Ok(Err(_)) = tokio::time::timeout(wait, self.phase.changed()).await {
                        break;
                    }
                }
                Next::End => break,
            }
        }
        self.status.change(|status| status.state = ConnectionState::Stopped);
    }

    fn attempt_failed(&mut self, fault: &ConnectFault) -> Next {
        self.status.change(|status| status.state = ConnectionState::Connecting);
        let version = MqttStatus::version_words(self.connect.version);
        if self.versions.failed(fault) {
            tracing::info!("the broker does not answer MQTT {version}; trying the other version");
            return Next::AtOnce;
        }
        let broker = format!("{}:{}", self.connect.broker.host, self.connect.broker.port);
        let (sentence, slow) = match fault {
            ConnectFault::Unreachable(reason) => {
                (format!("can't reach the broker at {broker}: {reason}"), false)
            }
            ConnectFault::NoAnswer(reason) => {
                (format!("the broker at {broker} gives no answer: {reason}"), false)
            }
            ConnectFault::Version => {
                (format!("the broker at {broker} speaks neither MQTT 5 nor 3.1.1"), true)
            }
            ConnectFault::Denied(reason) => (
                format!(
                    "the broker at {broker} lets us not in: {reason}; see mqtt.username and mqtt.password"
                ),
                true,
            ),
            ConnectFault::Refused(reason) => {
                (format!("the broker at {broker} refuses us for now: {reason}"), false)
            }
        };
        self.status.problem(sentence);
        Next::Wait(if slow { self.backoff.slow(jitter()) } else { self.backoff.next(jitter()) })
    }

    /// One connection, from its CONNACK to its end.
    async fn serve(&mut self, connected: Connected<C::Reader, C::Sender>) -> Next {
        let Some(session) = self.session_number(connected.session_present).await else {
            return Next::Wait(self.backoff.next(jitter()));
        };
        self.epoch += 1;
        self.acks.begin(self.epoch);
        // Only MQTT 5 lets us announce how many may be unacknowledged.
        self.acks.hold(self.connect.version == ProtocolVersion::V5);
        let began = Instant::now();
        let version = MqttStatus::version_words(self.connect.version);
        tracing::info!(
            protocol = version,
            session_present = connected.session_present,
            "connected to the broker"
        );
        self.status.change(|status| {
            status.connections += 1;
            status.protocol = Some(version);
            status.session_present = connected.session_present;
        });
        let (notes_in, notes) = mpsc::channel(NOTES_MAX);
        let reader = ReaderTask {
            reader: connected.reader,
            epoch: self.epoch,
            session,
            intake: self.intake.clone(),
            notes: notes_in,
            phase: self.phase.clone(),
            patience: self.connect.keep_alive / 2,
            clock: self.clock,
        };
        let sender = SenderTask {
            sender: connected.sender,
            epoch: self.epoch,
            qos: self.qos,
            acks: Arc::clone(&self.acks),
            notes,
            phase: self.phase.clone(),
            session: Arc::clone(&self.session),
            status: Arc::clone(&self.status),
            subscriptions: self.subscriptions.clone(),
        };
        let mut reading = tokio::spawn(reader.run());
        let mut sending = tokio::spawn(sender.run(connected.session_present));
        let gone = |error: tokio::task::JoinError| End::Lost(Lost::Closed(error.to_string()));
        let (end, sent) = tokio::select! {
            end = &mut reading => {
                // The reader is gone, and with it the channels that the sender waits on.
                (end.unwrap_or_else(gone), sending.await)
            }
            sent = &mut sending => {
                let end = tokio::time::timeout(GOODBYE, &mut reading).await;
                reading.abort();
                let stop = sent.as_ref().map_or(Stop::Gone, |(_, stop)| *stop);
                let end = match (end, stop) {
                    (Ok(end), _) => end.unwrap_or_else(gone),
                    (Err(_), Stop::Goodbye) => End::Goodbye,
                    (Err(_), _) => End::Lost(Lost::Closed("it was given up".to_owned())),
                };
                (end, sent)
            }
        };
        self.subscriptions = match sent {
            Ok((subscriptions, _)) => subscriptions,
            Err(_) => self.subscriptions.restarted(self.session.lock().await.state().filters.clone()),
        };
        self.versions.ended();
        self.backoff.connection_lived(began.elapsed());
        self.after(end).await
    }

    /// The number of the session; `None` where a new one can't be written down.
    async fn session_number(&self, present: bool) -> Option<u64> {
        if present {
            return Some(self.session.lock().await.state().session);
        }
        let session = Arc::clone(&self.session);
        if session.lock().await.is_subscribed() {
            self.status.session_lost();
        }
        let begun = tokio::task::spawn_blocking(move || session.blocking_lock().begin_session()).await;
        let error = match begun {
            Ok(Ok(number)) => return Some(number),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        self.status.problem(format!("can't keep the state of the MQTT session: {error}"));
        None
    }

    async fn after(&mut self, end: End) -> Next {
        self.status.change(|status| {
            status.state = ConnectionState::Connecting;
            status.stale_acks = self.acks.stale();
            status.dropped_qos0 = self.intake.dropped();
        });
        match end {
            End::Goodbye | End::Closed => Next::End,
            End::Stalled => {
                self.status.problem(
                    "the disk takes no more messages for now; the connection is given up until it does"
                        .to_owned(),
                );
                let mut phase = self.phase.clone();
                tokio::select! {
                    () = self.intake.room() => {}
                    _ = phase.changed() => {}
                }
                Next::AtOnce
            }
            End::Lost(Lost::PacketTooBig(bytes)) => self.packet_too_big(bytes),
            End::Lost(Lost::TakenOver) => {
                self.status.problem(format!(
                    "another client uses our client id `{}` at this broker; give one of them another",
                    self.connect.client_id
                ));
                Next::Wait(self.backoff.next(jitter()))
            }
            End::Lost(Lost::BadTopic) => {
                self.status
                    .problem("the broker sent a topic that is not UTF-8, which MQTT forbids".to_owned());
                Next::Wait(self.backoff.next(jitter()))
            }
            End::Lost(Lost::Closed(reason)) => {
                self.status.problem(format!("the connection to the broker is lost: {reason}"));
                Next::Wait(self.backoff.next(jitter()))
            }
        }
    }

    /// A packet over the limit ended the connection, and would end the next one just the same.
    fn packet_too_big(&mut self, bytes: usize) -> Next {
        self.status.change(|status| status.oversize_packets += 1);
        match u32::try_from(bytes) {
            Ok(bytes) if bytes <= PACKET_BYTES_CAP => {
                let limit =
                    bytes.checked_next_power_of_two().unwrap_or(PACKET_BYTES_CAP).min(PACKET_BYTES_CAP);
                self.connect.max_packet_bytes = limit.max(self.connect.max_packet_bytes);
                self.status.problem(format!(
                    "the broker sent a packet of {bytes} bytes; from now on it is taken in"
                ));
                Next::AtOnce
            }
            _ => {
                self.status.problem(format!(
                    "the broker sent a packet of {bytes} bytes, more than the 16 MiB that are ever taken in, and will \
                     send it again; its topic is unknown, narrower filters in mqtt.subscribe keep it away"
                ));
                Next::Wait(self.backoff.next(jitter()))
            }
        }
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
