//! What the session is doing, for people: one snapshot, read by `/api/health`.

use std::sync::Mutex;

use serde::Serialize;

use crate::config::ProtocolVersion;

/// Where the session stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionState {
    /// No connection; one is being made or waited for.
    #[default]
    Connecting,
    /// A connection stands and every filter is acknowledged.
    Connected,
    /// A connection stands, some filter is not acknowledged yet.
    Subscribing,
    /// The session is being ended by us.
    Stopped,
}

/// The snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MqttStatus {
    /// Where the session stands.
    pub state: ConnectionState,
    /// Host and port.
    pub broker: String,
    /// Our name.
    pub client_id: String,
    /// `5` or `3.1.1`, of the last connection.
    pub protocol: Option<&'static str>,
    /// Whether the broker still had our session at the last connection.
    pub session_present: bool,
    /// Connections that stood.
    pub connections: u64,
    /// How often the broker had forgotten our session, and with it what it held for us.
    pub sessions_lost: u64,
    /// Packets too large to be taken in.
    pub oversize_packets: u64,
    /// Messages of quality of service 0 dropped for want of room.
    pub dropped_qos0: u64,
    /// Acknowledgements dropped because their connection was over.
    pub stale_acks: u64,
    /// The last thing that went wrong, in one sentence; `None` while all is well.
    pub problem: Option<String>,
}

impl MqttStatus {
    /// The words for a version.
    pub(super) fn version_words(version: ProtocolVersion) -> &'static str {
        match version {
            ProtocolVersion::V4 => "3.1.1",
            ProtocolVersion::V5 => "5",
        }
    }
}

/// The place where it is kept.
#[derive(Debug, Default)]
pub struct StatusCell(Mutex<MqttStatus>);

impl StatusCell {
    /// A copy of the snapshot.
    pub fn get(&self) -> MqttStatus {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut MqttStatus)) {
        change(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }

    /// Notes that the broker has forgotten our session. It is no problem that lasts: a new one begins.
    pub(super) fn session_lost(&self) {
        self.change(|status| status.sessions_lost += 1);
        tracing::warn!(
            "the broker does not know our session any more: messages that it held for us while we were away are lost there; \
             docs/broker.md says how it is set up to keep them"
        );
    }

    /// Notes what went wrong and logs it, once as long as it stays the same.
    pub(super) fn problem(&self, sentence: String) {
        let news = {
            let mut status = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let news = status.problem.as_ref() != Some(&sentence);
            status.problem = Some(sentence.clone());
            news
        };
        if news {
            tracing::warn!("{sentence}");
        }
    }
}
