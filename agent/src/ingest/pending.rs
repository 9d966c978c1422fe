//! Messages between their append and their commit.
//!
//! Everything that a second append would need is kept here: the samples, not the payload, so that
//! they have the same times again.

use bytes::Bytes;
use siltstone_core::point::{Point, Timestamp};
use siltstone_core::store::{HASH_LEN, Identity, Reading, SeriesId};

use crate::decode::Sample;
use crate::mqtt::AckToken;

/// A message that waits for its commit.
#[derive(Debug)]
pub(super) struct Pending {
    /// What is given back once it is durable.
    pub(super) ack: Option<AckToken>,
    /// What makes it recognisable when it comes again.
    pub(super) identity: Option<Identity>,
    /// Bytes that it had as a message.
    pub(super) bytes: usize,
    /// Its samples; none where it gave none or is stored already.
    pub(super) samples: Vec<Sample>,
}

/// The identity of a message that can come again.
pub(super) fn identity(ack: Option<AckToken>, topic: &Bytes, payload: &Bytes) -> Option<Identity> {
    ack.map(|token| Identity { session: token.session, packet: token.packet_id, hash: hash(topic, payload) })
}

/// The packet ids that one connection has brought.
///
/// A message is sent again only after a reconnect, and before anything new with its packet id. So an id
/// that this connection has brought before is a new message, however much it resembles an old one;
/// brokers that take the lowest free id, and sensors that say the same all day, make that common.
#[derive(Debug)]
pub(super) struct SeenPackets {
    epoch: u64,
    bits: Vec<u64>,
}

impl SeenPackets {
    pub(super) fn new() -> Self {
        Self { epoch: 0, bits: vec![0; 1024] }
    }

    /// Whether the connection brings this packet id for the first time.
    pub(super) fn is_first(&mut self, token: AckToken) -> bool {
        if token.epoch != self.epoch {
            self.epoch = token.epoch;
            self.bits.fill(0);
        }
        let (word, bit) = (usize::from(token.packet_id / 64), 1_u64 << (token.packet_id % 64));
        let Some(word) = self.bits.get_mut(word) else { return false };
        let is_first = *word & bit == 0;
        *word |= bit;
        is_first
    }
}

/// FNV-1a, 64 bits folded to 40: it is written down, so it must be the same for ever, and no one gains by a
/// collision, since packet id and session must be the same as well.
fn hash(topic: &[u8], payload: &[u8]) -> [u8; HASH_LEN] {
    // The zero byte can't stand in a topic, so that no two messages run together.
    let long = topic.iter().chain(&[0]).chain(payload).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let [a, b, c, d, e, f, g, h] = long.to_le_bytes();
    [a ^ f, b ^ g, c ^ h, d, e]
}

/// A sample as the store takes it.
pub(super) fn reading(series: SeriesId, sample: &Sample) -> Reading<'_> {
    Reading {
        series,
        point: Point { timestamp: Timestamp(sample.timestamp_ns), value: sample.value.value() },
    }
}

#[cfg(test)]
mod tests {
    use super::{SeenPackets, hash};
    use crate::mqtt::AckToken;

    #[test]
    fn packet_ids_are_new_to_each_connection_once() {
        let mut seen = SeenPackets::new();
        let token = |epoch, packet_id| AckToken { epoch, session: 1, packet_id };
        for packet_id in [1, 64, u16::MAX] {
            assert!(seen.is_first(token(1, packet_id)));
            assert!(!seen.is_first(token(1, packet_id)));
        }
        assert!(seen.is_first(token(2, 64)));
    }

    #[test]
    fn hashes_are_those_of_fnv_1a() {
        // 0xaf63bd4c8601b7df, its upper bytes folded in.
        assert_eq!(hash(b"", b""), [0xdf ^ 0xbd, 0xb7 ^ 0x63, 0x01 ^ 0xaf, 0x86, 0x4c]);
        assert_ne!(hash(b"a", b"bc"), hash(b"ab", b"c"));
    }
}
