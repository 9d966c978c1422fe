//! The traps of connection and session, each against a broker that sets it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::super::test_broker::{DISCONNECT, PUBACK, SUBSCRIBE, TestBroker, UNSUBSCRIBE};
use super::{Client, ClientOptions, Phase};
use crate::config::{BrokerAddress, MqttConfig, ProtocolVersion};
use crate::mqtt::{
    AckQueue, AckToken, MqttStatus, Received, Receiver, Rumqtt, SessionFile, StatusCell, intake,
};
use crate::test_dir::TestDir;

/// A moment in which nothing may happen.
const MOMENT: Duration = Duration::from_millis(300);

struct Session {
    dir: TestDir,
    receiver: Receiver,
    acks: Arc<AckQueue>,
    status: Arc<StatusCell>,
    phase: watch::Sender<Phase>,
    client: JoinHandle<()>,
}

impl Session {
    fn start(port: u16, change: impl FnOnce(&mut MqttConfig)) -> Self {
        Self::start_in(TestDir::new("mqtt"), port, change)
    }

    fn start_in(dir: TestDir, port: u16, change: impl FnOnce(&mut MqttConfig)) -> Self {
        let mut config = MqttConfig {
            broker: BrokerAddress { host: "127.0.0.1".to_owned(), port },
            subscribe: vec!["sensors/#".to_owned()],
            ..MqttConfig::default()
        };
        change(&mut config);
        let session = SessionFile::open(dir.path(), None, &format!("127.0.0.1:{port}")).unwrap();
        let (intake, receiver) = intake(4096, 32 << 20);
        let acks = Arc::new(AckQueue::new());
        let status = Arc::new(StatusCell::default());
        let (phase, phase_seen) = watch::channel(Phase::Run);
        let options = ClientOptions {
            config,
            session,
            intake,
            acks: Arc::clone(&acks),
            status: Arc::clone(&status),
            phase: phase_seen,
            clock: || 42,
        };
        let client = tokio::spawn(Client::new(Rumqtt, options).run());
        Self { dir, receiver, acks, status, phase, client }
    }

    async fn message(&mut self) -> Received {
        timeout(Duration::from_secs(20), self.receiver.recv())
            .await
            .expect("a message comes")
            .expect("the way stands")
    }

    /// Waits until the status is as wanted.
    async fn until(&self, wanted: impl Fn(&MqttStatus) -> bool) -> MqttStatus {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let status = self.status.get();
            if wanted(&status) {
                return status;
            }
            assert!(Instant::now() < until, "the status stays {status:?}");
            sleep(Duration::from_millis(10)).await;
        }
    }

    fn filters(&self) -> Vec<String> {
        let session = SessionFile::open(self.dir.path(), None, &self.status.get().broker).unwrap();
        session.state().filters.iter().cloned().collect()
    }

    async fn until_filters(&self, wanted: &[&str]) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.filters() != wanted {
            assert!(Instant::now() < until, "the filters stay {:?}", self.filters());
            sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
async fn mqtt_5_asks_for_a_session_that_outlives_the_connection() {
    let (broker, port) = TestBroker::start().await;
    let mut session = Session::start(port, |config| config.max_packet_bytes = 1 << 20);
    let (mut peer, connect) = broker.accept().await;
    assert_eq!(peer.level, 5);
    assert_eq!(connect.body[7] & 2, 0, "no clean start");
    let properties = &connect.body[11..];
    for (wanted, what) in [
        (&[0x11, 0, 0x09, 0x3a, 0x80][..], "session expiry of 7 days"),
        (&[0x21, 0xff, 0xff], "receive maximum of 65,535"),
        (&[0x27, 0, 0x10, 0, 0], "maximum packet size of 1 MiB"),
    ] {
        assert!(properties.windows(wanted.len()).any(|window| window == wanted), "{what}: {properties:02x?}");
    }
    peer.welcome(false).await;
    peer.publish("sensors/größe".as_bytes(), b"1", 9).await;
    let message = session.message().await;
    assert_eq!((&message.topic[..], &message.payload[..]), ("sensors/größe".as_bytes(), &b"1"[..]));
    assert_eq!(
        (message.ack, message.arrival_ns),
        (Some(AckToken { epoch: 1, session: 1, packet_id: 9 }), 42)
    );
    assert!(peer.is_silent(MOMENT).await, "nothing is acknowledged before we say so");
    session.acks.push(message.ack);
    assert_eq!(peer.expect(PUBACK).await.id(), 9);
}

#[tokio::test]
async fn a_closed_connection_after_connect_5_means_3_1_1() {
    let (broker, port) = TestBroker::start().await;
    let mut session = Session::start(port, |_| {});
    let (peer, _) = broker.accept().await;
    assert_eq!(peer.level, 5);
    drop(peer);
    let (mut peer, connect) = broker.accept().await;
    assert_eq!((peer.level, connect.body[7] & 2), (4, 0), "a persistent session of 3.1.1");
    peer.welcome(false).await;
    peer.publish(b"sensors/a", b"7", 1).await;
    assert_eq!(session.message().await.payload, "7");
    assert_eq!(session.status.get().protocol, Some("3.1.1"));
    // The next round begins with 5 again: the closed connection may have been a restart.
    drop(peer);
    let (mut peer, _) = broker.accept().await;
    assert_eq!(peer.level, 5);
    peer.connack(true, 0x84).await;
    let (peer, _) = broker.accept().await;
    assert_eq!(peer.level, 4);
    drop(peer);
    let (peer, _) = broker.accept().await;
    assert_eq!(peer.level, 4, "a version refused in so many words is not tried again first");
}

#[tokio::test]
async fn an_answer_in_the_old_form_means_3_1_1() {
    let (broker, port) = TestBroker::start().await;
    let session = Session::start(port, |_| {});
    let (mut peer, _) = broker.accept().await;
    // What a broker of 3.1.1 answers to a level that it doesn't know, before it hangs up.
    peer.write(0x20, &[0, 1]).await;
    drop(peer);
    let (mut peer, _) = broker.accept().await;
    assert_eq!(peer.level, 4);
    peer.welcome(false).await;
    session.until(|status| status.protocol == Some("3.1.1")).await;
}

#[tokio::test]
async fn a_refused_filter_is_reported_and_not_believed() {
    let (broker, port) = TestBroker::start().await;
    let session =
        Session::start(port, |config| config.subscribe = vec!["a/#".to_owned(), "secret/#".to_owned()]);
    let (mut peer, _) = broker.accept().await;
    peer.connack(false, 0).await;
    let subscribe = peer.expect(SUBSCRIBE).await;
    peer.suback(&subscribe, &[1, 0x87]).await;
    let status = session.until(|status| status.problem.is_some()).await;
    assert_eq!(status.problem.unwrap(), "the broker refuses the filter `secret/#`: NotAuthorized");
    session.until_filters(&["a/#"]).await;
    // Five seconds later it is asked for again, alone.
    let again = peer.expect(SUBSCRIBE).await;
    assert!(
        again.body.ends_with(b"secret/#\x01") && !again.body.windows(3).any(|window| window == b"a/#\x01")
    );
}

#[tokio::test]
async fn a_lost_session_is_subscribed_again_and_a_present_one_is_not() {
    let (broker, port) = TestBroker::start().await;
    let mut session = Session::start(port, |config| config.protocol = ProtocolVersion::V4);
    let (mut peer, _) = broker.accept().await;
    peer.welcome(false).await;
    session.until_filters(&["sensors/#"]).await;
    drop(peer);
    let (mut peer, _) = broker.accept().await;
    peer.connack(true, 0).await;
    assert!(peer.is_silent(MOMENT).await, "a repeated SUBSCRIBE would replay every retained message");
    assert_eq!(session.status.get().sessions_lost, 0, "neither the first session nor one that is kept");
    drop(peer);
    let (mut peer, _) = broker.accept().await;
    peer.connack(false, 0).await;
    let subscribe = peer.expect(SUBSCRIBE).await;
    assert!(session.filters().is_empty(), "the loss is written down before the SUBSCRIBE");
    assert_eq!(
        session.status.get().sessions_lost,
        1,
        "what the broker held for us is gone: somebody must see it"
    );
    peer.suback(&subscribe, &[1]).await;
    peer.publish(b"sensors/b", b"1", 1).await;
    assert_eq!(session.message().await.topic, "sensors/b");
    session.until_filters(&["sensors/#"]).await;
}

#[tokio::test]
async fn filters_that_left_the_configuration_leave_the_session() {
    let (broker, port) = TestBroker::start().await;
    let dir = TestDir::new("mqtt");
    let mut file = SessionFile::open(dir.path(), None, &format!("127.0.0.1:{port}")).unwrap();
    file.set_filters(["old/#".to_owned(), "sensors/#".to_owned()].into()).unwrap();
    let session = Session::start_in(dir, port, |_| {});
    let (mut peer, _) = broker.accept().await;
    peer.connack(true, 0).await;
    let unsubscribe = peer.expect(UNSUBSCRIBE).await;
    assert!(unsubscribe.body.ends_with(b"old/#"));
    assert_eq!(session.filters(), ["old/#", "sensors/#"], "held until the UNSUBACK");
    peer.unsuback(&unsubscribe).await;
    session.until_filters(&["sensors/#"]).await;
    assert!(peer.is_silent(MOMENT).await);
}

#[tokio::test]
async fn an_acknowledgement_of_an_older_connection_is_dropped() {
    let (broker, port) = TestBroker::start().await;
    let mut session = Session::start(port, |_| {});
    let (mut peer, _) = broker.accept().await;
    peer.welcome(false).await;
    peer.publish(b"sensors/a", b"old", 1).await;
    let old = session.message().await;
    drop(peer);
    let (mut peer, _) = broker.accept().await;
    peer.welcome(false).await;
    peer.publish(b"sensors/a", b"new", 1).await;
    let new = session.message().await;
    assert_eq!((old.ack.unwrap().packet_id, new.ack.unwrap().packet_id), (1, 1));
    session.acks.push(old.ack);
    assert!(peer.is_silent(MOMENT).await, "it would acknowledge a message that is not stored");
    session.acks.push(new.ack);
    assert_eq!(peer.expect(PUBACK).await.id(), 1);
    assert_eq!(session.acks.stale(), 1);
}

#[tokio::test]
async fn an_oversize_packet_costs_one_reconnect() {
    let (broker, port) = TestBroker::start().await;
    let mut session = Session::start(port, |config| {
        config.protocol = ProtocolVersion::V4;
        config.max_packet_bytes = 10 << 10;
    });
    let (mut peer, _) = broker.accept().await;
    peer.welcome(false).await;
    session.until_filters(&["sensors/#"]).await;
    let big = vec![b'x'; 20_000];
    peer.publish(b"sensors/cam", &big, 1).await;
    let (mut peer, _) = broker.accept().await;
    peer.connack(true, 0).await;
    peer.publish(b"sensors/cam", &big, 1).await;
    peer.publish(b"sensors/ok", b"1", 2).await;
    assert_eq!(session.message().await.payload.len(), 20_000);
    assert_eq!(session.message().await.topic, "sensors/ok");
    let status = session.status.get();
    assert_eq!((status.connections, status.oversize_packets), (2, 1));
}

#[tokio::test]
async fn an_absurd_length_is_reported_and_reserves_nothing() {
    let (broker, port) = TestBroker::start().await;
    let session = Session::start(port, |config| config.protocol = ProtocolVersion::V4);
    let (mut peer, _) = broker.accept().await;
    peer.welcome(false).await;
    session.until_filters(&["sensors/#"]).await;
    // A PUBLISH header that announces 256 MiB - 1.
    peer.write_raw(&[0x32, 0xff, 0xff, 0xff, 0x7f]).await;
    let status = session.until(|status| status.problem.is_some()).await;
    let problem = status.problem.unwrap();
    assert!(problem.contains("268435455 bytes, more than the 16 MiB"), "{problem}");
}

#[tokio::test]
async fn a_refused_password_is_one_sentence_and_a_long_wait() {
    for (protocol, code) in [(ProtocolVersion::V5, 0x86), (ProtocolVersion::V4, 5)] {
        let (broker, port) = TestBroker::start().await;
        let session = Session::start(port, |config| config.protocol = protocol);
        let (mut peer, _) = broker.accept().await;
        peer.connack(false, code).await;
        let status = session.until(|status| status.problem.is_some()).await;
        assert_eq!(
            status.problem.unwrap(),
            format!(
                "the broker at 127.0.0.1:{port} lets us not in: it refuses our user name or password; see \
                 mqtt.username and mqtt.password"
            )
        );
        assert!(broker.is_left_alone(Duration::from_secs(2)).await);
    }
}

#[tokio::test]
async fn nobody_there_is_tried_again() {
    let (broker, port) = TestBroker::start().await;
    drop(broker);
    let session = Session::start(port, |_| {});
    let status = session.until(|status| status.problem.is_some()).await;
    assert!(status.problem.unwrap().starts_with(&format!("can't reach the broker at 127.0.0.1:{port}: ")));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    timeout(Duration::from_secs(20), listener.accept()).await.expect("it comes back").unwrap();
}

#[tokio::test]
async fn stopping_takes_nothing_in_acknowledges_what_is_left_and_says_goodbye() {
    let (broker, port) = TestBroker::start().await;
    let mut session = Session::start(port, |_| {});
    let (mut peer, _) = broker.accept().await;
    peer.welcome(false).await;
    peer.publish(b"sensors/a", b"1", 1).await;
    let message = session.message().await;
    session.phase.send(Phase::Drain).unwrap();
    peer.publish(b"sensors/a", b"2", 2).await;
    assert!(timeout(MOMENT, session.receiver.recv()).await.is_err(), "it stays with the broker");
    session.acks.push(message.ack);
    session.phase.send(Phase::Close).unwrap();
    assert_eq!(peer.expect(PUBACK).await.id(), 1);
    peer.expect(DISCONNECT).await;
    timeout(Duration::from_secs(5), session.client).await.expect("the session ends").unwrap();
}

#[tokio::test]
async fn thousands_of_held_acknowledgements_go_out_in_order() {
    let (broker, port) = TestBroker::start().await;
    let mut session = Session::start(port, |_| {});
    let (mut peer, _) = broker.accept().await;
    peer.welcome(false).await;
    let mut tokens = Vec::new();
    for packet_id in 1..=3000 {
        peer.publish(b"sensors/a", b"1", packet_id).await;
        if packet_id % 500 == 0 {
            for _ in 0..500 {
                tokens.push(session.message().await.ack.unwrap());
            }
        }
    }
    session.acks.push(tokens);
    for packet_id in 1..=3000 {
        assert_eq!(peer.expect(PUBACK).await.id(), packet_id);
    }
}

#[tokio::test]
async fn a_topic_that_is_no_text_is_handed_on_with_mqtt_5() {
    let (broker, port) = TestBroker::start().await;
    let mut session = Session::start(port, |_| {});
    let (mut peer, _) = broker.accept().await;
    peer.welcome(false).await;
    peer.publish(b"sensors/\xff", b"1", 1).await;
    assert_eq!(session.message().await.topic, &b"sensors/\xff"[..]);
}
