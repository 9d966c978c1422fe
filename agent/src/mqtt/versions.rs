//! Which protocol version to try next.
//!
//! MQTT 5 first (or what the configuration says), the other one when the broker says it does not
//! speak it, and also when CONNECT is answered by a closed connection, by silence or by an answer
//! that can't be read: brokers of old do all of these. A plain refusal is believed for the life of
//! the process; a closed connection is not, it may have been a restart, so the next round begins
//! with the preferred version again.

use super::link::ConnectFault;
use crate::config::ProtocolVersion;

/// The state of the choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Versions {
    preferred: ProtocolVersion,
    next: ProtocolVersion,
    /// Whether the version that was preferred at first has been refused in so many words.
    refused: bool,
}

fn other(version: ProtocolVersion) -> ProtocolVersion {
    match version {
        ProtocolVersion::V4 => ProtocolVersion::V5,
        ProtocolVersion::V5 => ProtocolVersion::V4,
    }
}

impl Versions {
    pub(super) fn new(preferred: ProtocolVersion) -> Self {
        Self { preferred, next: preferred, refused: false }
    }

    /// The version of the next attempt.
    pub(super) fn next(&self) -> ProtocolVersion {
        self.next
    }

    /// An attempt failed. Says whether to try the other version at once.
    pub(super) fn failed(&mut self, fault: &ConnectFault) -> bool {
        let first = self.next == self.preferred;
        match fault {
            ConnectFault::Version if first && !self.refused => {
                self.refused = true;
                self.preferred = other(self.preferred);
                self.next = self.preferred;
                true
            }
            ConnectFault::NoAnswer(_) if first && !self.refused => {
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
        self.next = self.preferred;
    }
}

#[cfg(test)]
mod tests {
    use super::Versions;
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
        assert_eq!(versions.next(), V5);
        assert!(versions.failed(&closed()));
        assert!(!versions.failed(&closed()), "both failed: wait");
        assert_eq!(versions.next(), V5);
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
