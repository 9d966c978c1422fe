//! A scripted broker on loopback: each test plays the other end, packet by packet.
//!
//! It knows just enough of both protocol versions to write CONNACK, SUBACK, UNSUBACK and PUBLISH and
//! to take packets apart; what it sends may be as wrong as a test wants.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// No test waits longer for the other end.
const PATIENCE: Duration = Duration::from_secs(20);

/// The listening side.
pub(super) struct TestBroker {
    listener: TcpListener,
}

/// One accepted connection.
pub(super) struct Peer {
    stream: TcpStream,
    pub(super) level: u8,
}

/// One packet that the client sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) kind: u8,
    pub(super) body: Vec<u8>,
}

impl Packet {
    /// The packet id of a SUBSCRIBE, UNSUBSCRIBE or PUBACK.
    pub(super) fn id(&self) -> u16 {
        u16::from_be_bytes([self.body[0], self.body[1]])
    }
}

pub(super) const CONNECT: u8 = 1;
pub(super) const PUBACK: u8 = 4;
pub(super) const SUBSCRIBE: u8 = 8;
pub(super) const UNSUBSCRIBE: u8 = 10;
pub(super) const DISCONNECT: u8 = 14;

impl TestBroker {
    pub(super) async fn start() -> (Self, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        (Self { listener }, port)
    }

    /// The next connection and its CONNECT.
    pub(super) async fn accept(&self) -> (Peer, Packet) {
        let (stream, _) =
            timeout(PATIENCE, self.listener.accept()).await.expect("a connection comes").unwrap();
        let mut peer = Peer { stream, level: 0 };
        let connect = peer.expect(CONNECT).await;
        peer.level = connect.body[6];
        (peer, connect)
    }

    /// Whether no connection comes for `wait`.
    pub(super) async fn is_left_alone(&self, wait: Duration) -> bool {
        timeout(wait, self.listener.accept()).await.is_err()
    }
}

impl Peer {
    async fn read_packet(&mut self) -> Option<Packet> {
        let first = self.stream.read_u8().await.ok()?;
        let (mut length, mut shift) = (0_usize, 0);
        loop {
            let byte = self.stream.read_u8().await.ok()?;
            length |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.ok()?;
        Some(Packet { kind: first >> 4, body })
    }

    /// The next packet that is no ping, if one comes before the connection ends.
    pub(super) async fn packet(&mut self) -> Option<Packet> {
        loop {
            let packet = timeout(PATIENCE, self.read_packet()).await.expect("a packet comes")?;
            if packet.kind == 12 {
                self.stream.write_all(&[0xd0, 0]).await.unwrap();
                continue;
            }
            return Some(packet);
        }
    }

    pub(super) async fn expect(&mut self, kind: u8) -> Packet {
        let packet = self.packet().await.expect("the connection stands");
        assert_eq!(packet.kind, kind, "{packet:?}");
        packet
    }

    /// Whether nothing comes for `wait`.
    pub(super) async fn is_silent(&mut self, wait: Duration) -> bool {
        timeout(wait, self.read_packet()).await.is_err()
    }

    /// Bytes as they are.
    pub(super) async fn write_raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    pub(super) async fn write(&mut self, first: u8, body: &[u8]) {
        let mut bytes = vec![first];
        let mut rest = body.len();
        loop {
            let low = (rest & 0x7f) as u8;
            rest >>= 7;
            bytes.push(if rest > 0 { low | 0x80 } else { low });
            if rest == 0 {
                break;
            }
        }
        bytes.extend_from_slice(body);
        // A client may hang up in the middle of a packet that is too large for it.
        let _ = self.stream.write_all(&bytes).await;
    }

    pub(super) async fn connack(&mut self, session_present: bool, code: u8) {
        let mut body = vec![u8::from(session_present), code];
        if self.level == 5 {
            body.push(0);
        }
        self.write(0x20, &body).await;
    }

    /// Answers a SUBSCRIBE with `codes`.
    pub(super) async fn suback(&mut self, subscribe: &Packet, codes: &[u8]) {
        let mut body = subscribe.id().to_be_bytes().to_vec();
        if self.level == 5 {
            body.push(0);
        }
        body.extend_from_slice(codes);
        self.write(0x90, &body).await;
    }

    pub(super) async fn unsuback(&mut self, unsubscribe: &Packet) {
        let mut body = unsubscribe.id().to_be_bytes().to_vec();
        if self.level == 5 {
            body.extend_from_slice(&[0, 0]);
        }
        self.write(0xb0, &body).await;
    }

    /// A message of quality of service 1.
    pub(super) async fn publish(&mut self, topic: &[u8], payload: &[u8], packet_id: u16) {
        let mut body = u16::try_from(topic.len()).unwrap().to_be_bytes().to_vec();
        body.extend_from_slice(topic);
        body.extend_from_slice(&packet_id.to_be_bytes());
        if self.level == 5 {
            body.push(0);
        }
        body.extend_from_slice(payload);
        self.write(0x32, &body).await;
    }

    /// Accepts the session and acknowledges all of its filters.
    pub(super) async fn welcome(&mut self, session_present: bool) -> Packet {
        self.connack(session_present, 0).await;
        let subscribe = self.expect(SUBSCRIBE).await;
        self.suback(&subscribe, &[1]).await;
        subscribe
    }
}
