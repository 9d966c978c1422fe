//! A tap on the line between agent and broker: it forwards MQTT frame by frame and keeps an account
//! of what was delivered to the agent and what the agent acknowledged.
//!
//! What the agent acknowledged is what its socket gave, whether or not the broker got it: a promise
//! counts when it is made. The tap can also misbehave on purpose: stop forwarding while both sockets
//! stay open, as a line does that broke without a word, or acknowledge to the broker before the agent
//! has done anything, as an agent would that acknowledges before it writes.

use std::collections::HashMap;
use std::io::Write;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::wire::{CONNECT, Frame, PUBACK, PUBLISH, read_frame};

/// How long the tap looks for a broker that is being restarted.
const BROKER_PATIENCE: Duration = Duration::from_secs(10);
/// How long a line that was made to break stays open at most.
const HALF_OPEN_MAX: Duration = Duration::from_secs(60);

/// Says which of the test's messages a topic and a payload are; `None` for any other.
pub type Recognise = fn(topic: &[u8], payload: &[u8]) -> Option<u64>;

/// What happened to one message on the line.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// How often it was sent to the agent.
    pub deliveries: u32,
    /// The packet ids under which it was: the broker had it once for each.
    pub packet_ids: Vec<u16>,
    /// Whether the agent acknowledged it.
    pub is_acknowledged: bool,
}

/// The account.
#[derive(Debug, Default)]
pub struct Record {
    /// By message.
    pub messages: HashMap<u64, Seen>,
    /// Acknowledgements of packet ids that had not been delivered on their connection.
    pub strange_acks: u64,
    /// Connections that were made.
    pub connections: u64,
}

/// One connection, as others may take hold of it.
struct Line {
    is_frozen: Arc<AtomicBool>,
    agent: TcpStream,
    broker: TcpStream,
}

struct Shared {
    broker_port: u16,
    acknowledges_early: bool,
    recognise: Recognise,
    record: Mutex<Record>,
    lines: Mutex<Vec<Line>>,
    is_stopping: AtomicBool,
}

impl Shared {
    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().expect("no thread of the tap panics")
    }
}

/// A listening tap; it ends with this value.
pub struct Tap {
    /// Where the agent is to connect, on 127.0.0.1.
    pub port: u16,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Tap {
    /// A tap before the broker on `broker_port`.
    pub fn start(broker_port: u16, recognise: Recognise) -> Self {
        Self::with(broker_port, recognise, false)
    }

    /// One that acknowledges before the agent does.
    pub fn start_early(broker_port: u16, recognise: Recognise) -> Self {
        Self::with(broker_port, recognise, true)
    }

    fn with(broker_port: u16, recognise: Recognise, acknowledges_early: bool) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has free ports");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let shared = Arc::new(Shared {
            broker_port,
            acknowledges_early,
            recognise,
            record: Mutex::default(),
            lines: Mutex::default(),
            is_stopping: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        let accepting = Some(std::thread::spawn(move || accept(&listener, &of_thread)));
        Self { port, shared, accepting }
    }

    /// Its address as the agent's configuration wants it.
    pub fn url(&self) -> String {
        format!("mqtt://127.0.0.1:{}", self.port)
    }

    /// The account so far.
    pub fn record(&self) -> MutexGuard<'_, Record> {
        self.shared.record()
    }

    /// Breaks every line without a word: nothing is forwarded any more, and no socket is closed.
    pub fn break_silently(&self) {
        for line in self.shared.lines.lock().expect("no thread of the tap panics").iter() {
            line.is_frozen.store(true, Ordering::SeqCst);
        }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.shared.is_stopping.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts; where that fails it is gone already.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads = Vec::new();
    for agent in listener.incoming() {
        if shared.is_stopping.load(Ordering::SeqCst) {
            break;
        }
        let Ok(agent) = agent else { continue };
        let shared = Arc::clone(shared);
        threads.push(std::thread::spawn(move || serve(agent, &shared)));
    }
    for line in shared.lines.lock().expect("no thread of the tap panics").drain(..) {
        // A socket that is closed already is as closed as it can be.
        let _ = (line.agent.shutdown(Shutdown::Both), line.broker.shutdown(Shutdown::Both));
    }
    threads.into_iter().for_each(|thread| _ = thread.join());
}

/// A connection to the broker, which may be between two of its lives: an agent that found the tap's
/// socket open and then closed would take the broker for one that can't speak its version.
fn reach_broker(shared: &Shared) -> Option<TcpStream> {
    let begin = Instant::now();
    while begin.elapsed() < BROKER_PATIENCE && !shared.is_stopping.load(Ordering::SeqCst) {
        if let Ok(broker) = TcpStream::connect((Ipv4Addr::LOCALHOST, shared.broker_port)) {
            return Some(broker);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

/// One connection from its beginning to its end.
fn serve(agent: TcpStream, shared: &Arc<Shared>) {
    let Some(broker) = reach_broker(shared) else { return };
    let is_frozen = Arc::new(AtomicBool::new(false));
    let copy = |stream: &TcpStream| stream.try_clone().expect("a socket can be shared");
    // Small frames must not wait for company.
    let _ = (agent.set_nodelay(true), broker.set_nodelay(true));
    {
        let mut lines = shared.lines.lock().expect("no thread of the tap panics");
        lines.retain(|line| line.agent.peer_addr().is_ok() && line.broker.peer_addr().is_ok());
        lines.push(Line { is_frozen: Arc::clone(&is_frozen), agent: copy(&agent), broker: copy(&broker) });
    }
    shared.record().connections += 1;
    let one = Arc::new(Connection {
        shared: Arc::clone(shared),
        is_frozen,
        level: Mutex::new(4),
        delivered: Mutex::default(),
        to_broker: Mutex::new(copy(&broker)),
    });
    let other = Arc::clone(&one);
    let (agent_in, agent_out) = (copy(&agent), copy(&agent));
    let upward = std::thread::spawn(move || other.forward_to_broker(agent_in));
    one.forward_to_agent(copy(&broker), agent_out);
    // One direction has ended, and the other ends with it.
    let _ = (agent.shutdown(Shutdown::Both), broker.shutdown(Shutdown::Both));
    let _ = upward.join();
}

struct Connection {
    shared: Arc<Shared>,
    is_frozen: Arc<AtomicBool>,
    level: Mutex<u8>,
    /// The message that each packet id stands for on this connection.
    delivered: Mutex<HashMap<u16, u64>>,
    to_broker: Mutex<TcpStream>,
}

impl Connection {
    /// Waits as long as a line that was broken silently stays open.
    fn hold_while_frozen(&self) {
        let begin = Instant::now();
        while self.is_frozen.load(Ordering::SeqCst)
            && begin.elapsed() < HALF_OPEN_MAX
            && !self.shared.is_stopping.load(Ordering::SeqCst)
        {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn is_frozen(&self) -> bool {
        self.is_frozen.load(Ordering::SeqCst)
    }

    fn send_to_broker(&self, frame: &Frame) -> bool {
        self.to_broker.lock().expect("no thread of the tap panics").write_all(&frame.to_bytes()).is_ok()
    }

    fn forward_to_broker(&self, mut agent: TcpStream) {
        while let Ok(frame) = read_frame(&mut agent) {
            match frame.kind() {
                CONNECT => {
                    *self.level.lock().expect("no thread of the tap panics") = frame.level().unwrap_or(4)
                }
                PUBACK => {
                    self.note_ack(frame.packet_id().unwrap_or(0));
                    if self.shared.acknowledges_early {
                        continue;
                    }
                }
                _ => {}
            }
            // What was read from the agent's socket the agent has said, also on a broken line.
            if self.is_frozen() {
                continue;
            }
            if !self.send_to_broker(&frame) {
                break;
            }
        }
        self.hold_while_frozen();
        let broker = self.to_broker.lock().expect("no thread of the tap panics");
        let _ = broker.shutdown(Shutdown::Both);
    }

    fn forward_to_agent(&self, mut broker: TcpStream, mut agent: TcpStream) {
        while let Ok(frame) = read_frame(&mut broker) {
            if self.is_frozen() {
                break;
            }
            if frame.kind() == PUBLISH {
                self.note_delivery(&frame);
            }
            if agent.write_all(&frame.to_bytes()).is_err() {
                break;
            }
        }
        self.hold_while_frozen();
    }

    fn note_delivery(&self, frame: &Frame) {
        let level = *self.level.lock().expect("no thread of the tap panics");
        let Some(publish) = frame.publish(level) else { return };
        let Some(packet_id) = publish.packet_id else { return };
        if let Some(message) = (self.shared.recognise)(publish.topic, publish.payload) {
            self.delivered.lock().expect("no thread of the tap panics").insert(packet_id, message);
            let mut record = self.shared.record();
            let seen = record.messages.entry(message).or_default();
            seen.deliveries += 1;
            if !seen.packet_ids.contains(&packet_id) {
                seen.packet_ids.push(packet_id);
            }
        }
        if self.shared.acknowledges_early {
            self.note_ack(packet_id);
            self.send_to_broker(&Frame::acknowledging(packet_id));
        }
    }

    fn note_ack(&self, packet_id: u16) {
        let message = self.delivered.lock().expect("no thread of the tap panics").get(&packet_id).copied();
        let mut record = self.shared.record();
        match message {
            Some(message) => record.messages.entry(message).or_default().is_acknowledged = true,
            None => record.strange_acks += 1,
        }
    }
}
