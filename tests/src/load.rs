//! A steady load: numbered messages at a fixed rate with QoS 1, and the account of which of them the
//! broker has taken.
//!
//! It outlives the broker: it connects again and sends what was not acknowledged once more. A broker
//! that writes its sessions now and then forgets, when it is killed, what it acknowledged in between; [`Load::repeat_since`]
//! sends that again, as somebody would whose broker is known to be like that.

use std::collections::VecDeque;
use std::io::Write;
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::wait;
use crate::wire::{CONNACK, Frame, PUBACK, read_frame};

/// Messages under way to the broker.
const WINDOW: usize = 200;
/// The pause between two bursts.
const TICK: Duration = Duration::from_millis(10);

/// The topic and the payload of a message.
pub type Compose = Arc<dyn Fn(u64) -> (String, String) + Send + Sync>;

#[derive(Default)]
struct State {
    /// Messages begun: numbers from 0 on.
    begun: u64,
    /// When the broker acknowledged each.
    acknowledged: Vec<Option<Instant>>,
    /// To be sent once more, though they were acknowledged.
    again: VecDeque<u64>,
    /// Sent and not acknowledged, with their packet ids, in the order of sending.
    under_way: VecDeque<(u16, u64)>,
    next_packet_id: u16,
    is_connected: bool,
}

struct Shared {
    state: Mutex<State>,
    is_ending: AtomicBool,
    is_paused: AtomicBool,
    compose: Compose,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread of the load panics")
    }
}

/// A running load.
pub struct Load {
    shared: Arc<Shared>,
    running: Option<JoinHandle<()>>,
}

impl Load {
    /// Begins to publish `per_second` messages to the broker on `port`.
    pub fn start(port: u16, per_second: u32, compose: Compose) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            is_ending: AtomicBool::new(false),
            is_paused: AtomicBool::new(false),
            compose,
        });
        let of_thread = Arc::clone(&shared);
        let running = std::thread::spawn(move || {
            while !of_thread.is_ending.load(Ordering::SeqCst) {
                if let Some(stream) = connect(port) {
                    publish(&of_thread, stream, per_second);
                }
                std::thread::sleep(TICK);
            }
        });
        Self { shared, running: Some(running) }
    }

    /// Sends again what `choose` takes of what was acknowledged since `begin`.
    pub fn repeat_since(&self, begin: Instant, choose: impl Fn(u64) -> bool) {
        let mut state = self.shared.state();
        let is_since = |at: &Option<Instant>| at.is_some_and(|at| at >= begin);
        let numbered = (0..).zip(&state.acknowledged);
        let again: Vec<u64> = numbered
            .filter(|(number, at)| is_since(at) && choose(*number))
            .map(|(number, _)| number)
            .collect();
        state.again.extend(again);
    }

    /// Begins no more messages, and waits until the broker has taken every one.
    pub fn finish(&self, timeout: Duration) {
        self.shared.is_paused.store(true, Ordering::SeqCst);
        wait::for_true("the broker takes every message", timeout, || {
            let state = self.shared.state();
            state.again.is_empty() && state.under_way.is_empty()
        });
    }

    /// Waits until everything that a broker said before its end was heard.
    pub fn wait_disconnected(&self) {
        let is_over = || !self.shared.state().is_connected;
        wait::for_true("the publisher notices the end of the broker", Duration::from_secs(10), is_over);
    }

    /// Messages begun.
    pub fn begun(&self) -> u64 {
        self.shared.state().begun
    }

    /// When the broker first acknowledged each message.
    pub fn acknowledged(&self) -> Vec<Option<Instant>> {
        self.shared.state().acknowledged.clone()
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.shared.is_ending.store(true, Ordering::SeqCst);
        if let Some(running) = self.running.take() {
            let _ = running.join();
        }
    }
}

fn connect(port: u16) -> Option<TcpStream> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream.set_nodelay(true).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    stream.write_all(&Frame::connect("load").to_bytes()).ok()?;
    let answer = read_frame(&mut stream).ok()?;
    stream.set_read_timeout(None).ok()?;
    (answer.kind() == CONNACK && answer.body.get(1) == Some(&0)).then_some(stream)
}

/// Publishes over one connection until it breaks or the load is to end.
fn publish(shared: &Arc<Shared>, mut stream: TcpStream, per_second: u32) {
    let is_open = Arc::new(AtomicBool::new(true));
    shared.state().is_connected = true;
    let reading = {
        let (shared, is_open) = (Arc::clone(shared), Arc::clone(&is_open));
        let mut stream = stream.try_clone().expect("a socket can be shared");
        std::thread::spawn(move || {
            while let Ok(frame) = read_frame(&mut stream) {
                if frame.kind() == PUBACK {
                    note_ack(&shared, frame.packet_id().unwrap_or(0));
                }
            }
            is_open.store(false, Ordering::SeqCst);
        })
    };
    let mut bytes = Vec::new();
    for (packet_id, number) in &shared.state().under_way {
        let (topic, payload) = (shared.compose)(*number);
        bytes.extend(Frame::publishing(&topic, *packet_id, payload.as_bytes(), true).to_bytes());
    }
    let mut due = Instant::now();
    let period = Duration::from_secs(1) / per_second;
    while stream.write_all(&bytes).is_ok()
        && is_open.load(Ordering::SeqCst)
        && !shared.is_ending.load(Ordering::SeqCst)
    {
        bytes.clear();
        std::thread::sleep(TICK);
        let mut state = shared.state();
        while state.under_way.len() < WINDOW {
            let Some(number) = next(shared, &mut state, &mut due, period) else { break };
            state.next_packet_id = state.next_packet_id % u16::MAX + 1;
            let packet_id = state.next_packet_id;
            state.under_way.push_back((packet_id, number));
            let (topic, payload) = (shared.compose)(number);
            bytes.extend(Frame::publishing(&topic, packet_id, payload.as_bytes(), false).to_bytes());
        }
    }
    // Ends the reader, too.
    let _ = stream.shutdown(Shutdown::Both);
    let _ = reading.join();
    shared.state().is_connected = false;
}

/// The message to be sent now, if one is due.
fn next(shared: &Shared, state: &mut State, due: &mut Instant, period: Duration) -> Option<u64> {
    if let Some(number) = state.again.pop_front() {
        return Some(number);
    }
    if shared.is_paused.load(Ordering::SeqCst) || *due > Instant::now() {
        return None;
    }
    *due += period;
    let number = state.begun;
    state.begun += 1;
    state.acknowledged.push(None);
    Some(number)
}

fn note_ack(shared: &Shared, packet_id: u16) {
    let mut state = shared.state();
    let place = state.under_way.iter().position(|(known, _)| *known == packet_id);
    if let Some((_, number)) = place.and_then(|place| state.under_way.remove(place))
        && let Some(at) = usize::try_from(number).ok().and_then(|place| state.acknowledged.get_mut(place))
    {
        at.get_or_insert_with(Instant::now);
    }
}
