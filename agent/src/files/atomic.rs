//! Small files replaced whole.
//!
//! After a power cut such a file holds either all of the old bytes or all of the new ones: the new
//! bytes are flushed under a temporary name, renamed, and the directory is flushed too.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Replaces the file at `path` by `bytes`, making its directory where it is missing.
///
/// # Errors
///
/// Whatever the system said; the old file is then still there.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let temporary = path.with_extension("tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    flush_directory(directory)
}

/// Makes the names in a directory durable.
///
/// # Errors
///
/// Whatever the system said.
pub fn flush_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::replace_file;
    use crate::test_dir::TestDir;

    #[test]
    fn replaces_whole_files_and_leaves_nothing_behind() {
        let dir = TestDir::new("atomic");
        let path = dir.path().join("state/x.json");
        replace_file(&path, b"one").unwrap();
        replace_file(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
