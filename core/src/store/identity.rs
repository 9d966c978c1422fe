//! Identities of messages, and the window of those that are known to be stored.
//!
//! A broker that never saw our acknowledgement sends a message again. Its identity, which is in the
//! journal behind the message's points, says that it is stored already. Only the last few can come
//! again: twice the largest number that ever waited for one flush is kept.

use alloc::collections::{BTreeMap, VecDeque};

use super::limits::IDENTITIES_MAX;

/// Bytes of a message's hash: it tells messages apart whose session and packet id are the same already.
pub const HASH_LEN: usize = 5;

/// What makes a message recognisable when it is delivered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The session between client and broker, a number that its owner keeps.
    pub session: u64,
    /// The packet id, unique among what a session has in flight.
    pub packet: u16,
    /// A hash of topic and payload.
    pub hash: [u8; HASH_LEN],
}

/// The last identities, oldest first.
#[derive(Debug, Default)]
pub(super) struct Window {
    known: VecDeque<Identity>,
    times: BTreeMap<Identity, u32>,
    waiting: usize,
    waiting_max: usize,
}

impl Window {
    /// A message was stored; it waits for the flush that lets it be acknowledged.
    pub(super) fn note(&mut self, identity: Identity) {
        self.waiting += 1;
        self.waiting_max = self.waiting_max.max(self.waiting);
        self.keep(identity);
    }

    /// A message that an earlier run stored.
    pub(super) fn keep(&mut self, identity: Identity) {
        self.known.push_back(identity);
        *self.times.entry(identity).or_default() += 1;
        let keep = (2 * self.waiting_max).clamp(1, IDENTITIES_MAX);
        while self.known.len() > keep.max(self.waiting) {
            let Some(oldest) = self.known.pop_front() else { break };
            if let Some(times) = self.times.get_mut(&oldest) {
                *times -= 1;
                if *times == 0 {
                    self.times.remove(&oldest);
                }
            }
        }
    }

    /// Everything noted is flushed.
    pub(super) fn flushed(&mut self) {
        self.waiting = 0;
    }

    /// Whether a message is stored.
    pub(super) fn holds(&self, identity: &Identity) -> bool {
        self.times.contains_key(identity)
    }

    /// The largest number that ever waited for one flush.
    pub(super) fn waiting_max(&self) -> usize {
        self.waiting_max
    }

    /// At least this many can come again, as an earlier run found, the settings say, or the owner sees.
    pub(super) fn widen(&mut self, waiting_max: usize) {
        self.waiting_max = self.waiting_max.max(waiting_max.min(IDENTITIES_MAX / 2));
    }

    /// What is known, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Identity> {
        self.known.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::{Identity, Window};

    fn identity(packet: u16) -> Identity {
        Identity { session: 1, packet, hash: [packet as u8; 5] }
    }

    #[test]
    fn twice_the_largest_group_is_kept() {
        let mut window = Window::default();
        for packet in 0..10 {
            window.note(identity(packet));
            if packet % 2 == 1 {
                window.flushed();
            }
        }
        let known: Vec<u16> = window.iter().map(|i| i.packet).collect();
        assert_eq!((known, window.waiting_max()), (vec![6, 7, 8, 9], 2));
        assert!(window.holds(&identity(6)) && !window.holds(&identity(5)));
        window.widen(5);
        window.keep(identity(20));
        assert_eq!(window.iter().count(), 5);
    }

    #[test]
    fn one_that_waits_is_never_forgotten() {
        let mut window = Window::default();
        (0..100).for_each(|packet| window.note(identity(packet)));
        assert!((0..100).all(|packet| window.holds(&identity(packet))));
    }

    #[test]
    fn the_same_identity_twice_is_known_until_both_are_gone() {
        let mut window = Window::default();
        for packet in [1, 1, 2, 3] {
            window.note(identity(packet));
            window.flushed();
        }
        assert!(!window.holds(&identity(1)) && window.holds(&identity(2)));
    }
}
