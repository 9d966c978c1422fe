//! Complete files: everything that is open in a store is sealed.

use super::arguments::SealOptions;
use super::dispatch::{Failure, note, print};
use super::input::is_store;
use crate::config::DataConfig;
use crate::engine::Engine;

pub(super) fn run(options: &SealOptions) -> Result<(), Failure> {
    if !is_store(&options.dir) {
        return Err(Failure(format!("{}: there is no store in it", options.dir.display())));
    }
    let config = DataConfig { dir: options.dir.clone(), ..DataConfig::default() };
    let (engine, recovery) = Engine::open(&config)?;
    for (file, fault) in &recovery.set_aside {
        note(&format!("{file} was moved to quarantine: {fault}"));
    }
    let mut store = engine.store();
    store.seal().map_err(|error| Failure(format!("sealing failed: {error}")))?;
    let mut paths: Vec<_> =
        store.segments().iter().map(|file| engine.root().join(&file.path).display().to_string()).collect();
    paths.sort();
    print(&paths.iter().map(|path| format!("{path}\n")).collect::<String>())
}
