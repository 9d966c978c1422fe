//! What comes in: one message as the broker delivered it.

/// A message, borrowed from the packet that held it.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The topic, UTF-8 by the protocol.
    pub topic: &'a str,
    /// The payload, any bytes.
    pub payload: &'a [u8],
    /// Whether the broker sent it from its memory and not live.
    pub retain: bool,
    /// When the packet was read, nanoseconds since the epoch.
    pub arrival_ns: i64,
}
