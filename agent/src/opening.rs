//! Opening what the agent keeps on the disk, and waiting where the disk doesn't allow that for now.
//!
//! A disk that is full, read-only or failing is no reason to end: meanwhile the files are answered from, and health says
//! what is wrong. Whatever only a person can mend (a store in use, a directory that may not be written) ends the agent at once.

use std::sync::Arc;
use std::time::Duration;

use siltstone_core::block::DeviceId;
use siltstone_core::store::Recovery;

use crate::config::Config;
use crate::engine::{AgentService, Engine, EngineError, look};
use crate::files::may_pass;
use crate::files::space::{self, RoomError};
use crate::mqtt::SessionFile;

/// The first wait before the next try; it doubles.
const WAIT_FIRST: Duration = Duration::from_millis(500);
/// The longest such wait.
const WAIT_LAST: Duration = Duration::from_secs(30);

/// What was opened.
pub(crate) struct Opened {
    /// The store.
    pub(crate) engine: Engine,
    /// What was found in it.
    pub(crate) recovery: Recovery,
    /// The session with the broker.
    pub(crate) session: SessionFile,
}

/// The device id of the store that a try found, so that no later one makes a new store in its place.
type Known = Option<DeviceId>;

/// Why it was not.
pub(crate) enum OpenFault {
    /// It may be otherwise later.
    Passing(String, Known),
    /// Somebody has to change something.
    Lasting(String),
}

impl OpenFault {
    fn new(may_pass: bool, sentence: String, known: Known) -> Self {
        if may_pass { Self::Passing(sentence, known) } else { Self::Lasting(sentence) }
    }
}

impl Opened {
    /// Opens everything, or says what may pass.
    ///
    /// # Errors
    ///
    /// One sentence, where waiting is no use.
    pub(crate) fn first(config: &Config) -> Result<Result<Self, OpenFault>, String> {
        match Self::now(config, None) {
            Err(OpenFault::Lasting(sentence)) => Err(sentence),
            other => Ok(other),
        }
    }

    /// Opens everything; the store that is `known` to be there, or whatever there is.
    fn now(config: &Config, mut known: Known) -> Result<Self, OpenFault> {
        let mut data = config.data.clone();
        let fault_of = |error: EngineError, known| OpenFault::new(error.may_pass(), error.to_string(), known);
        // Before anything is written there.
        let found = look(&data.dir).map_err(|error| fault_of(error, known))?;
        if found.is_none() && known.is_some() {
            return Err(fault_of(EngineError::gone(&data.dir), known));
        }
        known = found;
        let fault = |error| fault_of(error, known);
        match space::room(&data) {
            Ok(room) => {
                data.max_bytes = Some(room.max_bytes);
                data.segment_max_bytes = Some(room.segment_max_bytes);
            }
            Err(RoomError::TooSmall(sentence)) => return Err(OpenFault::Lasting(sentence)),
            Err(RoomError::TooFull(sentence)) => return Err(OpenFault::Passing(sentence, known)),
            Err(RoomError::Files(error)) if may_pass(&error.source) => {
                return Err(OpenFault::Passing(error.to_string(), known));
            }
            // Where it matters, opening the store says more.
            Err(error) => tracing::warn!("{error}; the store may fill its volume"),
        }
        let (engine, recovery) = Engine::open(&data).map_err(fault)?;
        let (state, broker) = (data.dir.join("state"), &config.mqtt.broker);
        let broker = format!("{}:{}", broker.host, broker.port);
        let session =
            SessionFile::open(&state, config.mqtt.client_id.as_deref(), &broker).map_err(|error| {
                let sentence = format!("{}: can't keep the MQTT session: {error}", state.display());
                OpenFault::new(may_pass(&error), sentence, known)
            })?;
        Ok(Self { engine, recovery, session })
    }

    /// Tries again until it is done; `service` says why it is not yet.
    ///
    /// # Errors
    ///
    /// One sentence, where waiting is no use.
    pub(crate) async fn after(
        mut fault: OpenFault,
        config: &Config,
        service: &AgentService,
    ) -> Result<Self, String> {
        let (config, mut wait) = (Arc::new(config.clone()), WAIT_FIRST);
        loop {
            let (sentence, known) = match fault {
                OpenFault::Passing(sentence, known) => (sentence, known),
                OpenFault::Lasting(sentence) => return Err(sentence),
            };
            tracing::error!("{sentence}; nothing is taken in until the store is open");
            service.wait_for(&sentence);
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(WAIT_LAST);
            let config = Arc::clone(&config);
            fault = match tokio::task::spawn_blocking(move || Self::now(&config, known)).await {
                Ok(Ok(opened)) => return Ok(opened),
                Ok(Err(fault)) => fault,
                Err(error) => OpenFault::Lasting(error.to_string()),
            };
        }
    }
}
