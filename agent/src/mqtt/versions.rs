//! Which protocol version to try next.
//!
//! MQTT 5 first (or what the configuration says), the other one when the broker says it does not
//! speak it, and also when CONNECT is answered by a closed connection, by silence or by an answer
//! that can't be read: brokers of old do all of these. A broker that spoke the preferred version before is
//! more likely overloaded than another one, so silence has to last: a session of 3.1.1 is flushed far more often. A plain refusal is believed for the life of
//! the process; a closed connection is not, it may have been a restart, so the next round begins
//! with the preferred version again.

use super::link::ConnectFault;
use crate::config::ProtocolVersion;

/// So many attempts without an answer in a row make a version doubtful that stood before.
const SILENCES_MAX: u32 = 8;

/// The state of the choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Versions {
    preferred: ProtocolVersion,
    next: ProtocolVersion,
    /// Whether the version that was preferred at first has been refused in so many words.
    refused: bool,
    /// Whether a connection with the preferred version stood, and how many attempts had no answer since.
    stood: bool,
    silences: u32,
}

fn other(version: ProtocolVersion) -> ProtocolVersion {
    match version {
        ProtocolVersion::V4 => ProtocolVersion::V5,
        ProtocolVersion::V5 => ProtocolVersion::V4,
    }
}

impl Versions {
    pub(super) fn new(preferred: ProtocolVersion) -> Self {
        Self { preferred, next: preferred, refused: false, stood: false, silences: 0 }
    }

    /// The version of the next attempt.
    pub(super) fn next(&self) -> ProtocolVersion {
        self.next
    }

    /// An attempt failed. Says whether to try the other version at once.
    pub(super) fn failed(&mut self, fault: &ConnectFault) -> bool {
        let first = self.next == self.preferred;
        if matches!(fault, ConnectFault::NoAnswer(_)) {
            self.silences = self.silences.saturating_add(1);
        }
        let is_doubtful = !self.stood || self.silences >= SILENCES_MAX;
        match fault {
            ConnectFault::Version if first && !self.refused => {
                self.refused = true;
                self.preferred = other(self.preferred);
                self.next = self.preferred;
                true
            }
            ConnectFault::NoAnswer(_) if first && !self.refused && is_doubtful => {
                self.next = other(self.preferred);
                true
            }
            _ => {
                self.next = self.preferred;
                false
            }
        }
    }

    /// A connection that stood has ended.
    pub(super) fn ended(&mut self) {
        self.stood |= self.next == self.preferred;
        self.silences = 0;
        self.next = self.preferred;
    }
}

#[cfg(test)]
mod tests {
    use super::{SILENCES_MAX, Versions};
    use crate::config::ProtocolVersion::{V4, V5};
    use crate::mqtt::ConnectFault;

    fn closed() -> ConnectFault {
        ConnectFault::NoAnswer("closed".to_owned())
    }

    #[test]
    fn a_closed_connection_means_the_other_version_for_one_round() {
        let mut versions = Versions::new(V5);
        assert!(versions.failed(&closed()));
        assert_eq!(versions.next(), V4);
        versions.ended();
        assert_eq!(versions.next(), V5, "the first attempt may have met a restart");
        assert!(versions.failed(&closed()));
        assert!(!versions.failed(&closed()), "both failed: wait");
        assert_eq!(versions.next(), V5);
    }

    #[test]
    fn a_version_that_stood_is_not_given_up_for_a_short_silence() {
        let mut versions = Versions::new(V5);
        versions.ended();
        for _ in 1..SILENCES_MAX {
            assert!(!versions.failed(&closed()));
            assert_eq!(versions.next(), V5);
        }
        assert!(versions.failed(&closed()), "it may be another broker by now");
        assert_eq!(versions.next(), V4);
        versions.ended();
        assert!(!versions.failed(&closed()), "an answer, in whatever version, ends the silence");
        assert!(versions.failed(&ConnectFault::Version), "a refusal is believed");
    }

    #[test]
    fn a_refused_version_is_not_tried_again_first() {
        let mut versions = Versions::new(V5);
        assert!(versions.failed(&ConnectFault::Version));
        assert_eq!(versions.next(), V4);
        versions.ended();
        assert_eq!(versions.next(), V4);
        assert!(!versions.failed(&ConnectFault::Version), "both refused: wait");
    }

    #[test]
    fn nobody_there_and_denied_say_nothing_about_versions() {
        let mut versions = Versions::new(V5);
        for fault in [ConnectFault::Unreachable(String::new()), ConnectFault::Denied(String::new())] {
            assert!(!versions.failed(&fault));
            assert_eq!(versions.next(), V5);
        }
    }
}
