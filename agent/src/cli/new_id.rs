//! A store with a device id of its own, for a card that was cloned.
//!
//! What is in the journal goes into sealed segments first, because journal blocks are valid under the old id only.
//! Segments keep the id they were written under: what was recorded before the cloning is the same history on both
//! cards. The MQTT client id is forgotten too, since two clients with one id throw each other out.

use super::arguments::NewIdOptions;
use super::dispatch::{Failure, note};
use super::input::is_store;
use crate::config::DataConfig;
use crate::engine::Engine;
use crate::files::flush_directory;

pub(super) fn run(options: &NewIdOptions) -> Result<(), Failure> {
    let dir = &options.dir;
    if !is_store(dir) {
        return Err(Failure(format!("{}: there is no store in it", dir.display())));
    }
    let config = DataConfig { dir: dir.clone(), ..DataConfig::default() };
    let (engine, _) = Engine::open(&config)?;
    let failed = |error: &dyn std::fmt::Display| Failure(format!("{}: {error}", dir.display()));
    {
        let mut store = engine.store();
        store.seal().map_err(|error| failed(&error))?;
        store.checkpoint().map_err(|error| failed(&error))?;
    }
    // Before the id: a crash in between leaves a store with its old id and a new session, and this can be done again.
    let state = dir.join("state");
    let session = state.join("mqtt.json");
    if session.is_file() {
        std::fs::rename(&session, state.join("mqtt.json.cloned"))?;
        flush_directory(&state)?;
    }
    let id = engine.rename_device()?;
    drop(engine);
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    note(&format!("{}: its device id is {hex} from now on; older segments keep theirs", dir.display()));
    Ok(())
}

#[cfg(test)]
#[path = "new_id_tests.rs"]
mod tests;
