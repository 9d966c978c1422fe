//! Small files replaced whole.
//!
//! After a power cut such a file holds either all of the old bytes or all of the new ones: the new
//! bytes are flushed under a temporary name, renamed, and the directory is flushed too.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// How the names of files end that are not finished.
const TEMPORARY: &str = "tmp";

/// Replaces the file at `path` by `bytes`. Its directory has to be there: one that is missing may be a medium that is
/// not mounted, and nothing is to be made in its place.
///
/// # Errors
///
/// Whatever the system said; the old file is then still there.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = path.with_extension(TEMPORARY);
    let written = write_new(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if let Err(error) = written {
        // What a full disk left of it is no use to anybody, and room is what it lacks.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    flush_directory(directory)
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Removes what replacements left in a directory that were cut short, or that failed where nothing could be removed
/// either. Nobody may be replacing a file there.
pub fn remove_unfinished(directory: &Path) {
    // What can't be removed now is no harm: the next start tries again.
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|ending| ending == TEMPORARY) {
            let _ = fs::remove_file(path);
        }
    }
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
    use super::{remove_unfinished, replace_file};
    use crate::test_dir::TestDir;

    #[test]
    fn replaces_whole_files_and_leaves_nothing_behind() {
        let dir = TestDir::new("atomic");
        let path = dir.path().join("state/x.json");
        assert!(replace_file(&path, b"one").is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "no directory is made");
        std::fs::create_dir(dir.path().join("state")).unwrap();
        replace_file(&path, b"one").unwrap();
        replace_file(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn what_was_cut_short_goes() {
        let dir = TestDir::new("atomic-cut");
        replace_file(&dir.path().join("x.json"), b"one").unwrap();
        std::fs::write(dir.path().join("x.tmp"), b"tw").unwrap();
        remove_unfinished(dir.path());
        remove_unfinished(&dir.path().join("missing"));
        let left: Vec<_> =
            std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["x.json"]);
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let dir = TestDir::new("atomic-fails");
        let path = dir.path().join("x.json");
        // A directory in its place: the rename fails.
        std::fs::create_dir(&path).unwrap();
        assert!(replace_file(&path, b"one").is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
