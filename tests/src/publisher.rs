//! A QoS 1 publisher: a message counts as published when the broker has acknowledged it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use rumqttc::{Client, Event, MqttOptions, Packet, QoS};

use crate::wait;

/// How many messages may be under way to the broker.
const WINDOW: u16 = 500;

/// A connected publisher.
pub struct Publisher {
    client: Client,
    sent: usize,
    acknowledged: Arc<AtomicUsize>,
    stopping: Arc<AtomicBool>,
    events: Option<JoinHandle<()>>,
}

impl Publisher {
    /// Connects to the broker on `port` of loopback; panics when that takes longer than 10 s.
    pub fn connect(port: u16, client_id: &str) -> Self {
        let mut options = MqttOptions::new(client_id, "127.0.0.1", port);
        options.set_inflight(WINDOW).set_keep_alive(Duration::from_secs(30));
        options.set_max_packet_size(1 << 24, 1 << 24);
        let (client, mut connection) = Client::new(options, usize::from(WINDOW));
        let (acknowledged, stopping) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (connected, is_connected) = mpsc::sync_channel(1);
        let (count, stop) = (Arc::clone(&acknowledged), Arc::clone(&stopping));
        let events = std::thread::spawn(move || {
            for event in connection.iter() {
                match event {
                    Ok(Event::Incoming(Packet::ConnAck(_))) => _ = connected.try_send(()),
                    Ok(Event::Incoming(Packet::PubAck(_))) => _ = count.fetch_add(1, Ordering::SeqCst),
                    Ok(_) => {}
                    Err(_) if stop.load(Ordering::SeqCst) => return,
                    Err(_) => std::thread::sleep(Duration::from_millis(100)),
                }
            }
        });
        is_connected.recv_timeout(Duration::from_secs(10)).expect("the broker takes the publisher");
        Self { client, sent: 0, acknowledged, stopping, events: Some(events) }
    }

    /// Publishes one message at QoS 1.
    pub fn publish(&mut self, topic: &str, payload: impl Into<Vec<u8>>) {
        self.client.publish(topic, QoS::AtLeastOnce, false, payload).expect("the publisher is connected");
        self.sent += 1;
    }

    /// Publishes one message at QoS 1 that the broker keeps for later subscribers.
    pub fn publish_retained(&mut self, topic: &str, payload: impl Into<Vec<u8>>) {
        self.client.publish(topic, QoS::AtLeastOnce, true, payload).expect("the publisher is connected");
        self.sent += 1;
    }

    /// How many messages the broker has taken.
    pub fn acknowledged(&self) -> usize {
        self.acknowledged.load(Ordering::SeqCst)
    }

    /// Waits until the broker has taken every message.
    pub fn flush(&self) {
        let what = format!("the broker acknowledges all {} messages", self.sent);
        wait::for_true(&what, Duration::from_secs(60), || self.acknowledged() >= self.sent);
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Fails only when the connection is gone already.
        let _ = self.client.disconnect();
        if let Some(events) = self.events.take() {
            let _ = events.join();
        }
    }
}
