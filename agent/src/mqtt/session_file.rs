//! Client id and acknowledged filters, kept beside the data in `state/mqtt.json`.
//!
//! The client id is the session's identity: made once, durable before the first CONNECT, kept for
//! ever. The filters are those of which a SUBACK was seen, at that broker. A damaged file costs the
//! session only if its client id can't be read; it is then set aside under another name.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::replace_file;

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionState {
    /// Our name in the session.
    pub client_id: String,
    /// The broker that the filters belong to, as `host:port`.
    #[serde(default)]
    pub broker: String,
    /// Filters with a SUBACK.
    #[serde(default)]
    pub filters: BTreeSet<String>,
    /// How many sessions there have been: packet ids mean something within one of them only.
    #[serde(default)]
    pub session: u64,
}

/// The file and what it holds.
#[derive(Clone, Debug)]
pub struct SessionFile {
    path: PathBuf,
    state: SessionState,
}

impl SessionFile {
    /// Opens `directory/mqtt.json`, making it with `configured` or a random client id.
    ///
    /// # Errors
    ///
    /// The file system's or the random source's; a damaged file is none.
    pub fn open(directory: &Path, configured: Option<&str>, broker: &str) -> io::Result<Self> {
        let path = directory.join("mqtt.json");
        let stored = match std::fs::read(&path) {
            Ok(bytes) => match serde_json::from_slice::<SessionState>(&bytes) {
                Ok(state) if !state.client_id.is_empty() => Some(state),
                _ => {
                    let aside = path.with_extension("damaged");
                    tracing::warn!(file = %path.display(), "can't be read; it is kept as {}", aside.display());
                    std::fs::rename(&path, aside)?;
                    None
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let fresh = SessionState { broker: broker.to_owned(), ..SessionState::default() };
        let mut state = stored.clone().unwrap_or(fresh);
        if let Some(configured) = configured
            && state.client_id != configured
        {
            // Another name is another session, which holds nothing of ours yet.
            configured.clone_into(&mut state.client_id);
            state.filters.clear();
            state.session += 1;
        }
        if state.client_id.is_empty() {
            state.client_id = random_client_id()?;
        }
        if state.broker != broker {
            broker.clone_into(&mut state.broker);
            state.filters.clear();
            state.session += 1;
        }
        let file = Self { path, state };
        if stored.as_ref() != Some(&file.state) {
            file.write()?;
        }
        Ok(file)
    }

    /// What the file holds.
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// Replaces the filters, durably.
    ///
    /// # Errors
    ///
    /// The file system's.
    pub fn set_filters(&mut self, filters: BTreeSet<String>) -> io::Result<()> {
        self.state.filters = filters;
        self.write()
    }

    /// Whether the broker said of some filter that it takes it, in the session that we know of.
    pub fn is_subscribed(&self) -> bool {
        !self.state.filters.is_empty()
    }

    /// The broker has no session of ours: a new one begins, with no filters. Durable before anything
    /// is sent in it; if we died after the SUBSCRIBE, the session found then would be this one.
    ///
    /// # Errors
    ///
    /// The file system's; the new session must not be used then.
    pub fn begin_session(&mut self) -> io::Result<u64> {
        self.state.session += 1;
        self.state.filters.clear();
        self.write()?;
        Ok(self.state.session)
    }

    fn write(&self) -> io::Result<()> {
        let mut bytes = serde_json::to_vec_pretty(&self.state)?;
        bytes.push(b'\n');
        replace_file(&self.path, &bytes)
    }
}

/// 22 characters: brokers of MQTT 3.1.1 need not take more than 23.
fn random_client_id() -> io::Result<String> {
    let mut bytes = [0; 6];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("siltstone-{hex}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::SessionFile;
    use crate::test_dir::TestDir;

    #[test]
    fn the_client_id_is_made_once_and_filters_belong_to_their_session() {
        let dir = TestDir::new("session");
        let mut file = SessionFile::open(dir.path(), None, "a:1").unwrap();
        let id = file.state().client_id.clone();
        assert_eq!(id.len(), 22);
        let filters = BTreeSet::from(["#".to_owned()]);
        file.set_filters(filters.clone()).unwrap();
        assert_eq!(file.begin_session().unwrap(), 1);
        assert!(SessionFile::open(dir.path(), None, "a:1").unwrap().state().filters.is_empty());
        file.set_filters(filters.clone()).unwrap();
        let again = SessionFile::open(dir.path(), None, "a:1").unwrap();
        assert_eq!(again.state().session, 1);
        assert_eq!((&again.state().client_id, &again.state().filters), (&id, &filters));
        let moved = SessionFile::open(dir.path(), None, "b:1").unwrap();
        assert_eq!((moved.state().client_id.as_str(), moved.state().filters.len()), (id.as_str(), 0));
        let renamed = SessionFile::open(dir.path(), Some("gateway"), "b:1").unwrap();
        assert_eq!(renamed.state().client_id, "gateway");
    }

    #[test]
    fn a_damaged_file_is_set_aside() {
        let dir = TestDir::new("session-damaged");
        for damage in [&b"{"[..], b"", b"\xff\xff", b"{\"client_id\":\"\"}"] {
            std::fs::write(dir.path().join("mqtt.json"), damage).unwrap();
            let file = SessionFile::open(dir.path(), None, "a:1").unwrap();
            assert!(!file.state().client_id.is_empty());
            assert_eq!(std::fs::read(dir.path().join("mqtt.damaged")).unwrap(), damage);
        }
    }
}
