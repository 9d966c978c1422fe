//! Opening what the agent keeps on the disk, and waiting where the disk doesn't allow that for now.
//!
//! A disk that is full, read-only or failing is no reason to end: meanwhile the files are answered from, and health says
//! what is wrong. Whatever only a person can mend (a store in use, a directory that may not be written) ends the agent at once.

use std::sync::Arc;
use std::time::Duration;

use siltstone_core::store::Recovery;

use crate::config::Config;
use crate::engine::{AgentService, Engine, EngineError, look};
use crate::files::{may_pass, space};
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

/// Why it was not.
pub(crate) enum OpenFault {
    /// It may be otherwise later.
    Passing(String),
    /// Somebody has to change something.
    Lasting(String),
}

impl OpenFault {
    fn new(may_pass: bool, sentence: String) -> Self {
        if may_pass { Self::Passing(sentence) } else { Self::Lasting(sentence) }
    }
}

impl Opened {
    /// Opens everything, or says what may pass.
    ///
    /// # Errors
    ///
    /// One sentence, where waiting is no use.
    pub(crate) fn first(config: &Config) -> Result<Result<Self, OpenFault>, String> {
        match Self::now(config) {
            Err(OpenFault::Lasting(sentence)) => Err(sentence),
            other => Ok(other),
        }
    }

    /// Opens everything.
    fn now(config: &Config) -> Result<Self, OpenFault> {
        let mut data = config.data.clone();
        let fault = |error: EngineError| OpenFault::new(error.may_pass(), error.to_string());
        // Before anything is written there.
        look(&data.dir).map_err(fault)?;
        match space::limit(&data) {
            Ok(bytes) => data.max_bytes = Some(bytes),
            Err(error) if may_pass(&error.source) => return Err(OpenFault::Passing(error.to_string())),
            // Where it matters, opening the store says more.
            Err(error) => tracing::warn!("{error}; the store may fill its volume"),
        }
        let (engine, recovery) = Engine::open(&data).map_err(fault)?;
        let (state, broker) = (data.dir.join("state"), &config.mqtt.broker);
        let broker = format!("{}:{}", broker.host, broker.port);
        let session =
            SessionFile::open(&state, config.mqtt.client_id.as_deref(), &broker).map_err(|error| {
                let sentence = format!("{}: can't keep the MQTT session: {error}", state.display());
                OpenFault::new(may_pass(&error), sentence)
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
            let sentence = match fault {
                OpenFault::Passing(sentence) => sentence,
                OpenFault::Lasting(sentence) => return Err(sentence),
            };
            tracing::error!("{sentence}; nothing is taken in until the store is open");
            service.wait_for(&sentence);
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(WAIT_LAST);
            let config = Arc::clone(&config);
            fault = match tokio::task::spawn_blocking(move || Self::now(&config)).await {
                Ok(Ok(opened)) => return Ok(opened),
                Ok(Err(fault)) => fault,
                Err(error) => OpenFault::Lasting(error.to_string()),
            };
        }
    }
}
