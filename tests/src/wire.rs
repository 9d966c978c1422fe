//! MQTT frames, as far as a tap and a publisher need them: lengths, PUBLISH, PUBACK, CONNECT.
//!
//! Both protocol versions; a frame is a first byte and a body, and everything else in it is carried
//! along unread.

use std::io::{self, Read};

/// CONNECT.
pub const CONNECT: u8 = 1;
/// CONNACK.
pub const CONNACK: u8 = 2;
/// PUBLISH.
pub const PUBLISH: u8 = 3;
/// PUBACK.
pub const PUBACK: u8 = 4;

/// The largest frame that is taken, bytes.
const BODY_BYTES_MAX: usize = 16 << 20;

/// One control packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Kind and flags.
    pub first: u8,
    /// Everything behind the length.
    pub body: Vec<u8>,
}

/// What a PUBLISH says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publish<'a> {
    /// The topic.
    pub topic: &'a [u8],
    /// The packet id; `None` with quality of service 0.
    pub packet_id: Option<u16>,
    /// The payload.
    pub payload: &'a [u8],
}

impl Frame {
    /// The kind of packet.
    pub fn kind(&self) -> u8 {
        self.first >> 4
    }

    /// The packet id of a PUBACK.
    pub fn packet_id(&self) -> Option<u16> {
        self.body.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
    }

    /// The protocol level of a CONNECT: 4 or 5.
    pub fn level(&self) -> Option<u8> {
        let name_len = usize::from(self.packet_id()?);
        self.body.get(2 + name_len).copied()
    }

    /// A PUBLISH taken apart; `level` is the protocol's.
    pub fn publish(&self, level: u8) -> Option<Publish<'_>> {
        let mut rest = &self.body[..];
        let topic_len = usize::from(u16::from_be_bytes(*rest.first_chunk()?));
        let topic = rest.get(2..2 + topic_len)?;
        rest = &rest[2 + topic_len..];
        let mut packet_id = None;
        if self.first & 0b110 != 0 {
            packet_id = Some(u16::from_be_bytes(*rest.first_chunk()?));
            rest = &rest[2..];
        }
        if level == 5 {
            let (properties_len, length_len) = length(rest)?;
            rest = rest.get(length_len + properties_len..)?;
        }
        Some(Publish { topic, packet_id, payload: rest })
    }

    /// The frame as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.first];
        let mut rest = self.body.len();
        loop {
            let low = (rest & 0x7f) as u8;
            rest >>= 7;
            bytes.push(if rest > 0 { low | 0x80 } else { low });
            if rest == 0 {
                break;
            }
        }
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// A CONNECT of MQTT 3.1.1 with a session that ends with the connection.
    pub fn connect(client_id: &str) -> Self {
        let mut body = vec![0, 4, b'M', b'Q', b'T', b'T', 4, 0b10, 0, 60];
        put_text(&mut body, client_id.as_bytes());
        Self { first: CONNECT << 4, body }
    }

    /// A PUBLISH of MQTT 3.1.1 with quality of service 1.
    pub fn publishing(topic: &str, packet_id: u16, payload: &[u8], is_repeat: bool) -> Self {
        let mut body = Vec::new();
        put_text(&mut body, topic.as_bytes());
        body.extend_from_slice(&packet_id.to_be_bytes());
        body.extend_from_slice(payload);
        Self { first: PUBLISH << 4 | 0b10 | u8::from(is_repeat) << 3, body }
    }

    /// A PUBACK of either version.
    pub fn acknowledging(packet_id: u16) -> Self {
        Self { first: PUBACK << 4, body: packet_id.to_be_bytes().to_vec() }
    }
}

fn put_text(body: &mut Vec<u8>, text: &[u8]) {
    body.extend_from_slice(&(text.len() as u16).to_be_bytes());
    body.extend_from_slice(text);
}

/// A variable-length number and how many bytes it takes.
fn length(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0;
    for (at, byte) in bytes.iter().take(4).enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
    }
    None
}

/// The next frame; an error also where the stream ends.
///
/// # Errors
/// What the stream says, or that this is no MQTT.
pub fn read_frame(stream: &mut impl Read) -> io::Result<Frame> {
    let mut first = [0];
    stream.read_exact(&mut first)?;
    let mut digits = Vec::new();
    let body_len = loop {
        let mut digit = [0];
        stream.read_exact(&mut digit)?;
        digits.push(digit[0]);
        if let Some((value, _)) = length(&digits) {
            break value;
        }
        if digits.len() == 4 {
            return Err(io::Error::other("a length of more than four bytes"));
        }
    };
    if body_len > BODY_BYTES_MAX {
        return Err(io::Error::other("a frame larger than any of ours"));
    }
    let mut body = vec![0; body_len];
    stream.read_exact(&mut body)?;
    Ok(Frame { first: first[0], body })
}

#[cfg(test)]
mod tests {
    use super::{Frame, PUBACK, Publish, read_frame};

    #[test]
    fn frames_come_back_and_publishes_are_taken_apart() {
        let payload = vec![b'x'; 300];
        let frame = Frame::publishing("a/b", 258, &payload, false);
        let bytes = frame.to_bytes();
        assert_eq!(read_frame(&mut &bytes[..]).unwrap(), frame);
        assert!(read_frame(&mut &bytes[..bytes.len() - 1]).is_err());
        let expected = Publish { topic: b"a/b", packet_id: Some(258), payload: &payload };
        assert_eq!(frame.publish(4), Some(expected));
        // MQTT 5 has properties behind the packet id.
        let mut body = b"\0\x03a/b\x01\x02\x02\x01\x00".to_vec();
        body.extend_from_slice(&payload);
        assert_eq!(Frame { first: 0x32, body }.publish(5), Some(expected));
        assert_eq!(Frame::connect("me").level(), Some(4));
        let ack = Frame::acknowledging(7);
        assert_eq!((ack.kind(), ack.packet_id()), (PUBACK, Some(7)));
    }
}
