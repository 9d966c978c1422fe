//! What is to be read: a store, files, addresses; as one shelf.
//!
//! A store that nobody uses is opened, so that what is only in its journal is seen as well. Of one
//! that is in use, or can't be written to, the files are read as they are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arguments::InputOptions;
use super::dispatch::{Failure, note};
use crate::config::DataConfig;
use crate::engine::{Engine, EngineError, look};
use crate::shelf::{self, BlockSource, FileSource, Member, ParsedSelector, Shelf, UrlSource};

/// A shelf, and the store it belongs to, which must stay open as long.
pub(super) struct Input {
    pub(super) shelf: Shelf,
    _engine: Option<Engine>,
}

/// Opens what the options name; `select` decides what is looked at in a store's memory.
pub(super) fn open(options: &InputOptions, select: &ParsedSelector) -> Result<Input, Failure> {
    if let Some(directory) = &options.data {
        return open_store(directory, select);
    }
    let mut shelf = Shelf::new();
    for path in &options.files {
        let source = FileSource::open(path).map_err(Failure)?;
        shelf.add(Member::open(Arc::new(source))?);
    }
    for url in &options.urls {
        let source: Arc<dyn BlockSource> = Arc::new(UrlSource::open(url).map_err(Failure)?);
        shelf.add(Member::open(source)?);
    }
    Ok(Input { shelf, _engine: None })
}

fn open_store(directory: &Path, select: &ParsedSelector) -> Result<Input, Failure> {
    if !directory.is_dir() {
        return Err(Failure(format!("{}: there is no such directory", directory.display())));
    }
    if is_store(directory) {
        let config = DataConfig { dir: directory.to_owned(), ..DataConfig::default() };
        match Engine::open(&config) {
            Ok((engine, _)) => {
                let shelf = engine.shelf(select)?;
                return Ok(Input { shelf, _engine: Some(engine) });
            }
            Err(EngineError::Lock(error)) => {
                note(&format!(
                    "{error}; its files are read, readings that are in none of them yet are not seen"
                ));
            }
            Err(error) => note(&format!("{error}; its files are read as they are")),
        }
    }
    let mut shelf = Shelf::new();
    for path in block_files(directory)? {
        match FileSource::open(&path).map_err(Failure).and_then(|source| Ok(Member::open(Arc::new(source))?))
        {
            Ok(member) => shelf.add(member),
            Err(Failure(sentence)) => shelf.warn(sentence),
        }
    }
    Ok(Input { shelf, _engine: None })
}

/// Whether a directory holds a store.
pub(super) fn is_store(directory: &Path) -> bool {
    directory.join("store.id").is_file() || directory.join("journal").is_dir()
}

/// Says so where `path` is a store that a newer program wrote into. Whatever else is wrong with it is for others to say.
pub(super) fn refuse_newer(path: &Path) -> Result<(), Failure> {
    match look(path) {
        Err(error @ EngineError::Refused(..)) if is_store(path) => Err(error.into()),
        _ => Ok(()),
    }
}

/// The file itself, or every block file below the directory, in the order of paths.
pub(super) fn block_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.exists() {
        return Err(Failure(format!("{}: there is no such file or directory", path.display())));
    }
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let files = shelf::block_files(path).map_err(Failure)?;
    if files.is_empty() {
        return Err(Failure(format!("{}: there is no block file (*.silt) in it", path.display())));
    }
    Ok(files)
}
