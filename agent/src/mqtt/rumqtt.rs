//! The library behind the trait: rumqttc, whose two protocol versions are two sets of types.
//!
//! Facts it is written around: `poll` is the engine, nothing moves without it; after an error it
//! would reconnect by itself, which is prevented by dropping the event loop; its 5-second limit
//! covers the whole connect; on MQTT 5 its table of outgoing messages has 65,535 places unless told
//! otherwise, and we publish nothing.

use bytes::Bytes;
use rumqttc::v5::mqttbytes::v5 as p5;
use rumqttc::{mqttbytes as b4, v5};

use super::link::{
    ConnectFault, ConnectOptions, Connected, Connector, Grant, Incoming, LinkReader, LinkSender, Lost,
    Publish, SendClosed,
};
use crate::config::ProtocolVersion;

/// Requests that wait for the event loop; acknowledgements beyond wait in our own queue.
const REQUESTS_MAX: usize = 256;
/// Messages of ours in flight: we publish none.
const OUTGOING_MAX: u16 = 8;
/// Largest packet we send: a SUBSCRIBE with many filters.
const OUTGOING_BYTES_MAX: usize = 1 << 20;

/// Connects through rumqttc.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rumqtt;

/// The event loop of either version.
pub enum Reader {
    /// MQTT 3.1.1.
    V4(Box<rumqttc::EventLoop>),
    /// MQTT 5.
    V5(Box<v5::EventLoop>),
}

/// The request channel of either version.
#[derive(Clone, Debug)]
pub enum Sender {
    /// MQTT 3.1.1.
    V4(rumqttc::AsyncClient),
    /// MQTT 5.
    V5(v5::AsyncClient),
}

impl Connector for Rumqtt {
    type Reader = Reader;
    type Sender = Sender;

    async fn connect(&mut self, options: &ConnectOptions) -> Result<Connected<Reader, Sender>, ConnectFault> {
        match options.version {
            ProtocolVersion::V4 => connect_v4(options).await,
            ProtocolVersion::V5 => connect_v5(options).await,
        }
    }
}

async fn connect_v4(options: &ConnectOptions) -> Result<Connected<Reader, Sender>, ConnectFault> {
    let mut mqtt = rumqttc::MqttOptions::new(&options.client_id, &options.broker.host, options.broker.port);
    mqtt.set_keep_alive(options.keep_alive);
    mqtt.set_clean_session(false);
    mqtt.set_manual_acks(true);
    mqtt.set_inflight(OUTGOING_MAX);
    mqtt.set_max_packet_size(options.max_packet_bytes as usize, OUTGOING_BYTES_MAX);
    if let Some((name, password)) = &options.credentials {
        mqtt.set_credentials(name, &password.0);
    }
    let (client, mut event_loop) = rumqttc::AsyncClient::new(mqtt, REQUESTS_MAX);
    match event_loop.poll().await {
        Ok(rumqttc::Event::Incoming(rumqttc::Packet::ConnAck(answer))) => Ok(Connected {
            session_present: answer.session_present,
            reader: Reader::V4(Box::new(event_loop)),
            sender: Sender::V4(client),
        }),
        Ok(event) => {
            Err(ConnectFault::NoAnswer(format!("the broker's first packet is no answer: {event:?}")))
        }
        Err(error) => Err(connect_fault_v4(&error)),
    }
}

fn connect_fault_v4(error: &rumqttc::ConnectionError) -> ConnectFault {
    use rumqttc::ConnectReturnCode as Code;
    match error {
        rumqttc::ConnectionError::Io(error) => ConnectFault::Unreachable(error.to_string()),
        rumqttc::ConnectionError::ConnectionRefused(code) => match code {
            Code::RefusedProtocolVersion => ConnectFault::Version,
            Code::BadClientId => ConnectFault::Denied("it refuses our client id".to_owned()),
            Code::BadUserNamePassword | Code::NotAuthorized => {
                ConnectFault::Denied("it refuses our user name or password".to_owned())
            }
            other => ConnectFault::Refused(format!("{other:?}")),
        },
        other => ConnectFault::NoAnswer(other.to_string()),
    }
}

async fn connect_v5(options: &ConnectOptions) -> Result<Connected<Reader, Sender>, ConnectFault> {
    let mut mqtt = v5::MqttOptions::new(&options.client_id, &options.broker.host, options.broker.port);
    mqtt.set_keep_alive(options.keep_alive);
    mqtt.set_clean_start(false);
    mqtt.set_manual_acks(true);
    mqtt.set_outgoing_inflight_upper_limit(OUTGOING_MAX);
    // Without an expiry the broker forgets the session when the connection ends.
    mqtt.set_session_expiry_interval(Some(
        u32::try_from(options.session_expiry.as_secs()).unwrap_or(u32::MAX),
    ));
    mqtt.set_receive_maximum(Some(u16::MAX));
    mqtt.set_max_packet_size(Some(options.max_packet_bytes));
    if let Some((name, password)) = &options.credentials {
        mqtt.set_credentials(name, &password.0);
    }
    let (client, mut event_loop) = v5::AsyncClient::new(mqtt, REQUESTS_MAX);
    match event_loop.poll().await {
        Ok(v5::Event::Incoming(p5::Packet::ConnAck(answer))) => Ok(Connected {
            session_present: answer.session_present,
            reader: Reader::V5(Box::new(event_loop)),
            sender: Sender::V5(client),
        }),
        Ok(event) => {
            Err(ConnectFault::NoAnswer(format!("the broker's first packet is no answer: {event:?}")))
        }
        Err(error) => Err(connect_fault_v5(&error)),
    }
}

fn connect_fault_v5(error: &v5::ConnectionError) -> ConnectFault {
    use p5::ConnectReturnCode as Code;
    match error {
        v5::ConnectionError::Io(error) => ConnectFault::Unreachable(error.to_string()),
        v5::ConnectionError::Timeout(_) => ConnectFault::NoAnswer("no answer within 5 s".to_owned()),
        v5::ConnectionError::ConnectionRefused(code) => match code {
            Code::RefusedProtocolVersion | Code::UnsupportedProtocolVersion => ConnectFault::Version,
            Code::BadClientId | Code::ClientIdentifierNotValid => {
                ConnectFault::Denied("it refuses our client id".to_owned())
            }
            Code::BadUserNamePassword
            | Code::NotAuthorized
            | Code::BadAuthenticationMethod
            | Code::Banned => ConnectFault::Denied("it refuses our user name or password".to_owned()),
            // An older broker may answer what it can't read with one of these.
            Code::MalformedPacket | Code::ProtocolError => ConnectFault::NoAnswer(format!("{code:?}")),
            other => ConnectFault::Refused(format!("{other:?}")),
        },
        other => ConnectFault::NoAnswer(other.to_string()),
    }
}

impl LinkReader for Reader {
    async fn next(&mut self) -> Result<Incoming, Lost> {
        match self {
            Self::V4(event_loop) => match event_loop.poll().await {
                Ok(event) => Ok(incoming_v4(event)),
                Err(error) => Err(lost_v4(&error)),
            },
            Self::V5(event_loop) => match event_loop.poll().await {
                Ok(event) => Ok(incoming_v5(event)),
                Err(error) => Err(lost_v5(&error)),
            },
        }
    }
}

fn incoming_v4(event: rumqttc::Event) -> Incoming {
    use rumqttc::{Event, Outgoing, Packet, SubscribeReasonCode};
    match event {
        Event::Incoming(Packet::Publish(publish)) => Incoming::Publish(Publish {
            topic: Bytes::from(publish.topic),
            payload: publish.payload,
            retain: publish.retain,
            packet_id: (publish.qos != b4::QoS::AtMostOnce).then_some(publish.pkid),
        }),
        Event::Incoming(Packet::SubAck(answer)) => Incoming::SubscribeAnswer {
            packet_id: answer.pkid,
            grants: answer
                .return_codes
                .iter()
                .map(|code| match code {
                    SubscribeReasonCode::Success(qos) => Grant::Qos(*qos as u8),
                    SubscribeReasonCode::Failure => Grant::Refused("code 0x80".to_owned()),
                })
                .collect(),
        },
        Event::Incoming(Packet::UnsubAck(answer)) => Incoming::UnsubscribeAnswer(answer.pkid),
        Event::Outgoing(Outgoing::Subscribe(packet_id)) => Incoming::SubscribeSent(packet_id),
        Event::Outgoing(Outgoing::Unsubscribe(packet_id)) => Incoming::UnsubscribeSent(packet_id),
        Event::Outgoing(Outgoing::Disconnect) => Incoming::DisconnectSent,
        _ => Incoming::Other,
    }
}

fn incoming_v5(event: v5::Event) -> Incoming {
    use rumqttc::Outgoing;
    use v5::Event;
    match event {
        Event::Incoming(p5::Packet::Publish(publish)) => Incoming::Publish(Publish {
            topic: publish.topic,
            payload: publish.payload,
            retain: publish.retain,
            packet_id: (publish.qos != v5::mqttbytes::QoS::AtMostOnce).then_some(publish.pkid),
        }),
        Event::Incoming(p5::Packet::SubAck(answer)) => Incoming::SubscribeAnswer {
            packet_id: answer.pkid,
            grants: answer
                .return_codes
                .iter()
                .map(|code| match code {
                    p5::SubscribeReasonCode::Success(qos) => Grant::Qos(*qos as u8),
                    refused => Grant::Refused(format!("{refused:?}")),
                })
                .collect(),
        },
        Event::Incoming(p5::Packet::UnsubAck(answer)) => Incoming::UnsubscribeAnswer(answer.pkid),
        Event::Outgoing(Outgoing::Subscribe(packet_id)) => Incoming::SubscribeSent(packet_id),
        Event::Outgoing(Outgoing::Unsubscribe(packet_id)) => Incoming::UnsubscribeSent(packet_id),
        Event::Outgoing(Outgoing::Disconnect) => Incoming::DisconnectSent,
        _ => Incoming::Other,
    }
}

fn lost_v4(error: &rumqttc::ConnectionError) -> Lost {
    if let rumqttc::ConnectionError::MqttState(rumqttc::StateError::Deserialization(fault)) = error {
        match fault {
            b4::Error::PayloadSizeLimitExceeded(bytes) => return Lost::PacketTooBig(*bytes),
            b4::Error::TopicNotUtf8 => return Lost::BadTopic,
            _ => {}
        }
    }
    Lost::Closed(error.to_string())
}

fn lost_v5(error: &v5::ConnectionError) -> Lost {
    match error {
        v5::ConnectionError::MqttState(v5::StateError::Deserialization(
            v5::mqttbytes::Error::PayloadSizeLimitExceeded { pkt_size, .. },
        )) => Lost::PacketTooBig(*pkt_size),
        v5::ConnectionError::MqttState(v5::StateError::ServerDisconnect { reason_code, .. })
            if *reason_code == p5::DisconnectReasonCode::SessionTakenOver =>
        {
            Lost::TakenOver
        }
        other => Lost::Closed(other.to_string()),
    }
}

impl LinkSender for Sender {
    async fn ack(&self, packet_id: u16) -> Result<(), SendClosed> {
        match self {
            Self::V4(client) => {
                let mut publish = rumqttc::Publish::new("", b4::QoS::AtLeastOnce, Vec::new());
                publish.pkid = packet_id;
                client.ack(&publish).await.map_err(|_| SendClosed)
            }
            Self::V5(client) => {
                let publish = p5::Publish {
                    qos: v5::mqttbytes::QoS::AtLeastOnce,
                    pkid: packet_id,
                    ..p5::Publish::default()
                };
                client.ack(&publish).await.map_err(|_| SendClosed)
            }
        }
    }

    async fn subscribe(&self, filters: &[String], qos: u8) -> Result<(), SendClosed> {
        match self {
            Self::V4(client) => {
                let qos = if qos == 0 { b4::QoS::AtMostOnce } else { b4::QoS::AtLeastOnce };
                let filters = filters.iter().map(|path| rumqttc::SubscribeFilter { path: path.clone(), qos });
                client.subscribe_many(filters).await.map_err(|_| SendClosed)
            }
            Self::V5(client) => {
                use v5::mqttbytes::QoS;
                let qos = if qos == 0 { QoS::AtMostOnce } else { QoS::AtLeastOnce };
                let filters = filters.iter().map(|path| p5::Filter::new(path.clone(), qos));
                client.subscribe_many(filters).await.map_err(|_| SendClosed)
            }
        }
    }

    async fn unsubscribe(&self, filter: &str) -> Result<(), SendClosed> {
        match self {
            Self::V4(client) => client.unsubscribe(filter).await.map_err(|_| SendClosed),
            Self::V5(client) => client.unsubscribe(filter).await.map_err(|_| SendClosed),
        }
    }

    async fn disconnect(&self) -> Result<(), SendClosed> {
        match self {
            Self::V4(client) => client.disconnect().await.map_err(|_| SendClosed),
            Self::V5(client) => client.disconnect().await.map_err(|_| SendClosed),
        }
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::V4(_) => "Reader::V4",
            Self::V5(_) => "Reader::V5",
        })
    }
}
