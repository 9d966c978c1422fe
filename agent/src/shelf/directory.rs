//! The block files below a directory.

use std::path::{Path, PathBuf};

/// Deeper than any store; a link in a circle ends here.
const DEPTH_MAX: usize = 8;

/// Every block file below `directory`, in the order of paths; none where there is no such directory.
///
/// # Errors
///
/// One sentence on what can't be listed.
pub fn block_files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    if directory.is_dir() {
        collect(directory, 0, &mut files)?;
    }
    files.sort();
    Ok(files)
}

fn collect(directory: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), String> {
    if depth > DEPTH_MAX {
        return Ok(());
    }
    let fail = |error: std::io::Error| format!("{}: can't list it: {error}", directory.display());
    for entry in std::fs::read_dir(directory).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_dir() {
            collect(&path, depth + 1, files)?;
        } else if path.extension().is_some_and(|ending| ending == "silt") {
            files.push(path);
        }
    }
    Ok(())
}
