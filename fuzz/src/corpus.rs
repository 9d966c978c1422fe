//! The inputs kept in files: `fuzz/corpus/TARGET/NAME`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of a target.
pub fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// All inputs of a target with their names, in the order of names.
///
/// # Errors
/// The file system's.
pub fn inputs(target: &str) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder(target))? {
        let entry = entry?;
        found.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
    }
    found.sort();
    Ok(found)
}

/// Keeps an input.
///
/// # Errors
/// The file system's.
pub fn keep(target: &str, name: &str, input: &[u8]) -> io::Result<PathBuf> {
    let folder = folder(target);
    fs::create_dir_all(&folder)?;
    let path = folder.join(name);
    fs::write(&path, input)?;
    Ok(path)
}
