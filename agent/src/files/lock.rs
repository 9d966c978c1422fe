//! One process a store: an advisory lock on the file `lock`, which the system lets go when the
//! process ends, however it ends.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// A store that is ours as long as this value lives.
#[derive(Debug)]
pub struct StoreLock {
    directory: PathBuf,
    file: File,
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
        let directory = directory.to_owned();
        lock(&file, &directory)?;
        Ok(Self { directory, file })
    }

    /// Takes what stands in the directory now, where that is not the file that was locked: a medium that was taken out
    /// and came back is another one to the system. Nothing is made.
    ///
    /// # Errors
    ///
    /// As [`Self::take`]; this lock stays then.
    pub fn follow(&mut self) -> Result<(), LockError> {
        let system = |error| LockError::System(self.directory.clone(), error);
        let file = match File::options().write(true).open(self.directory.join(NAME)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(system(error)),
        };
        let of = |file: &File| file.metadata().map(|about| (about.dev(), about.ino())).map_err(system);
        if of(&file)? != of(&self.file)? {
            lock(&file, &self.directory)?;
            self.file = file;
        }
        Ok(())
    }
}

fn lock(file: &File, directory: &Path) -> Result<(), LockError> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(LockError::Taken(directory.to_owned())),
        Err(error) => Err(LockError::System(directory.to_owned(), error.into())),
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

    #[test]
    fn a_lock_follows_its_directory() {
        let dir = TestDir::new("lock-follows");
        let (here, away) = (dir.path().join("store"), dir.path().join("away"));
        let mut lock = StoreLock::take(&here).unwrap();
        lock.follow().unwrap();
        std::fs::rename(&here, &away).unwrap();
        lock.follow().unwrap();
        assert!(!here.exists(), "nothing is made");
        let other = StoreLock::take(&here).unwrap();
        assert!(matches!(lock.follow(), Err(LockError::Taken(_))));
        drop(other);
        lock.follow().unwrap();
        assert!(StoreLock::take(&here).is_err() && StoreLock::take(&away).is_ok());
    }
}
