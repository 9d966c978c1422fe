//! The narrow trait of a client library, in our own words.
//!
//! Everything the session needs of MQTT: connect, the next packet, acknowledge, subscribe. One
//! value of [`Connected`] is one connection; when it is lost a new one is made from nothing, so that
//! no request and no packet id of the old one can slip into the new one.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;

use crate::config::{BrokerAddress, ProtocolVersion, Secret};

/// What a connection needs to know.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Where.
    pub broker: BrokerAddress,
    /// Our name.
    pub client_id: String,
    /// Name and password.
    pub credentials: Option<(String, Secret)>,
    /// Which version to speak.
    pub version: ProtocolVersion,
    /// Time between pings.
    pub keep_alive: Duration,
    /// How long the broker shall keep the session (MQTT 5).
    pub session_expiry: Duration,
    /// Largest packet taken in; announced with MQTT 5.
    pub max_packet_bytes: u32,
}

/// A library that can connect.
pub trait Connector: Send + 'static {
    /// The half that reads.
    type Reader: LinkReader;
    /// The half that sends.
    type Sender: LinkSender;

    /// Connects and waits for the broker's answer. Must not be cancelled half-way by the caller.
    fn connect(
        &mut self,
        options: &ConnectOptions,
    ) -> impl Future<Output = Result<Connected<Self::Reader, Self::Sender>, ConnectFault>> + Send;
}

/// A connection that the broker has accepted.
#[derive(Debug)]
pub struct Connected<R, S> {
    /// Reads; must be polled without pause, since nothing is sent otherwise either.
    pub reader: R,
    /// Sends.
    pub sender: S,
    /// Whether the broker still had our session.
    pub session_present: bool,
}

/// The reading half.
pub trait LinkReader: Send + 'static {
    /// The next thing that happened.
    fn next(&mut self) -> impl Future<Output = Result<Incoming, Lost>> + Send;
}

/// The sending half. Each call waits for room in a bounded queue.
pub trait LinkSender: Send + Sync + 'static {
    /// Acknowledges a message of quality of service 1.
    fn ack(&self, packet_id: u16) -> impl Future<Output = Result<(), SendClosed>> + Send;
    /// Asks for filters.
    fn subscribe(&self, filters: &[String], qos: u8) -> impl Future<Output = Result<(), SendClosed>> + Send;
    /// Gives up one filter.
    fn unsubscribe(&self, filter: &str) -> impl Future<Output = Result<(), SendClosed>> + Send;
    /// Says goodbye; the broker keeps the session.
    fn disconnect(&self) -> impl Future<Output = Result<(), SendClosed>> + Send;
}

/// The connection is gone; what was to be sent will never be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendClosed;

/// What happened on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A message.
    Publish(Publish),
    /// Our SUBSCRIBE went out under this packet id.
    SubscribeSent(u16),
    /// The broker's answer to it, one grant a filter.
    SubscribeAnswer {
        /// The packet id of the SUBSCRIBE.
        packet_id: u16,
        /// In the order of the filters.
        grants: Vec<Grant>,
    },
    /// Our UNSUBSCRIBE of one filter went out under this packet id.
    UnsubscribeSent(u16),
    /// The broker's answer to it.
    UnsubscribeAnswer(u16),
    /// Our goodbye went out.
    DisconnectSent,
    /// Anything that needs no answer: pings, acknowledgements sent.
    Other,
}

/// The broker's word on one filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Granted with this quality of service.
    Qos(u8),
    /// Refused, with its reason.
    Refused(String),
}

/// A message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publish {
    /// The topic; the protocol demands UTF-8, not every broker does.
    pub topic: Bytes,
    /// The payload.
    pub payload: Bytes,
    /// Whether it came from the broker's memory.
    pub retain: bool,
    /// The packet id to acknowledge; `None` with quality of service 0.
    pub packet_id: Option<u16>,
}

/// Why a connection did not come about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectFault {
    /// Nobody there, no such name, no route.
    Unreachable(String),
    /// The transport stood, but no answer to CONNECT that could be read came: a closed connection,
    /// silence, or an answer in another version's form.
    NoAnswer(String),
    /// The broker says that it doesn't speak this version.
    Version,
    /// The broker refuses name, password or client id.
    Denied(String),
    /// The broker refuses for another reason: busy, shutting down, banned.
    Refused(String),
}

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// A packet larger than the limit, of this many bytes behind its fixed header.
    PacketTooBig(usize),
    /// Somebody else connected with our client id.
    TakenOver,
    /// A topic that is not UTF-8, which the library can't get past.
    BadTopic,
    /// Closed, timed out, broken.
    Closed(String),
}
