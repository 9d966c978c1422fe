//! One process a store: an advisory lock on the file `lock`, which the system lets go when the
//! process ends, however it ends.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// A store that is ours as long as this value lives.
#[derive(Debug)]
pub struct StoreLock {
    _file: File,
}

/// Why a store is not ours.
#[derive(Debug)]
pub enum LockError {
    /// Another process has it.
    Taken(PathBuf),
    /// The system's answer.
    System(PathBuf, io::Error),
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(directory) => {
                write!(f, "the store {} is in use by another process", directory.display())
            }
            Self::System(directory, error) => {
                write!(f, "can't lock the store {}: {error}", directory.display())
            }
        }
    }
}

impl std::error::Error for LockError {}

/// The file, which nobody removes.
const NAME: &str = "lock";

impl StoreLock {
    /// Whether there is a lock to take, and none would have to be made.
    pub fn is_there(directory: &Path) -> bool {
        directory.join(NAME).is_file()
    }

    /// Takes the store in `directory`, which is made where it is missing.
    ///
    /// # Errors
    ///
    /// Where another process has it, or the system refuses.
    pub fn take(directory: &Path) -> Result<Self, LockError> {
        let system = |error| LockError::System(directory.to_owned(), error);
        fs::create_dir_all(directory).map_err(system)?;
        let path = directory.join(NAME);
        let file = File::options().create(true).truncate(false).write(true).open(path).map_err(system)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _file: file }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(LockError::Taken(directory.to_owned())),
            Err(error) => Err(system(error.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LockError, StoreLock};
    use crate::test_dir::TestDir;

    #[test]
    fn a_store_has_one_owner() {
        let dir = TestDir::new("lock");
        let lock = StoreLock::take(dir.path()).unwrap();
        assert!(matches!(StoreLock::take(dir.path()), Err(LockError::Taken(_))));
        drop(lock);
        assert!(StoreLock::take(dir.path()).is_ok());
    }
}
