//! The store's medium on a directory.
//!
//! Names are relative, their parts joined by `/`; a name that could leave the directory is refused,
//! whoever asks. Directories are made durable by flushing them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};

use siltstone_core::store::{Entry, EntryKind, Medium};

use super::atomic::flush_directory;
use super::device::FileDevice;
use super::error::FileError;

/// A directory of the system.
#[derive(Clone, Debug)]
pub struct FileMedium {
    root: PathBuf,
    /// Devices are opened for reading only.
    is_read_only: bool,
    #[cfg(test)]
    faults: std::sync::Arc<super::Faults>,
}

impl FileMedium {
    /// The medium on `root`, which is made where it is missing.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    pub fn open(root: &Path) -> Result<Self, FileError> {
        fs::create_dir_all(root).map_err(|source| FileError::new("make", root, source))?;
        Ok(Self {
            root: root.to_owned(),
            is_read_only: false,
            #[cfg(test)]
            faults: std::sync::Arc::default(),
        })
    }

    /// The medium on `root`, whatever is there, to look at: nothing is made, and devices are opened for reading only.
    pub fn looking(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            is_read_only: true,
            #[cfg(test)]
            faults: std::sync::Arc::default(),
        }
    }

    /// What is wrong with it.
    #[cfg(test)]
    pub(crate) fn faults(&self) -> &super::Faults {
        &self.faults
    }

    fn device(&self, file: File, path: &Path) -> FileDevice {
        let device = FileDevice::new(file, path);
        #[cfg(test)]
        let device = device.with_faults(&self.faults);
        device
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The place of a name.
    ///
    /// # Errors
    ///
    /// For a name that could lead out of the directory.
    pub fn path(&self, name: &str) -> Result<PathBuf, FileError> {
        let relative = Path::new(name);
        if relative.components().all(|part| matches!(part, Component::Normal(_))) {
            return Ok(self.root.join(relative));
        }
        Err(FileError::new("use the name", relative, io::Error::from(io::ErrorKind::InvalidInput)))
    }

    fn open_with(&self, name: &str, options: &OpenOptions) -> Result<Option<FileDevice>, FileError> {
        let path = self.path(name)?;
        match options.open(&path) {
            Ok(file) => Ok(Some(self.device(file, &path))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(FileError::new("open", &path, source)),
        }
    }
}

impl Medium for FileMedium {
    type Error = FileError;
    type Device = FileDevice;

    fn create_directory(&mut self, path: &str) -> Result<(), FileError> {
        let path = self.path(path)?;
        match fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(FileError::new("make", &path, error))
            }
            _ => Ok(()),
        }
    }

    fn list(&self, directory: &str) -> Result<Vec<Entry>, FileError> {
        let path = self.path(directory)?;
        let fail = |source| FileError::new("list", &path, source);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fail(error)),
        };
        let mut list = Vec::new();
        for entry in entries {
            let entry = entry.map_err(fail)?;
            // A name that is not UTF-8 is none of ours.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let kind = if entry.file_type().map_err(fail)?.is_dir() {
                EntryKind::Directory
            } else {
                EntryKind::File
            };
            list.push(Entry { name, kind });
        }
        Ok(list)
    }

    fn create(&mut self, path: &str) -> Result<FileDevice, FileError> {
        let path = self.path(path)?;
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        file.map(|file| self.device(file, &path)).map_err(|source| FileError::new("make", &path, source))
    }

    fn open(&self, path: &str) -> Result<Option<FileDevice>, FileError> {
        self.open_with(path, File::options().read(true).write(!self.is_read_only))
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), FileError> {
        let (from, to) = (self.path(from)?, self.path(to)?);
        fs::rename(&from, &to).map_err(|source| FileError::new("rename", &from, source))
    }

    fn remove(&mut self, path: &str) -> Result<(), FileError> {
        let path = self.path(path)?;
        match fs::remove_file(&path) {
            // Somebody was faster; what counts is that the name is gone.
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(|source| FileError::new("remove", &path, source)),
        }
    }

    fn sync_directory(&mut self, directory: &str) -> Result<(), FileError> {
        let path = self.path(directory)?;
        flush_directory(&path).map_err(|source| FileError::new("make durable", &path, source))
    }
}

#[cfg(test)]
mod tests {
    use siltstone_core::block::BLOCK_LEN;
    use siltstone_core::store::{Device, EntryKind, Medium};

    use super::FileMedium;
    use crate::test_dir::TestDir;

    #[test]
    fn keeps_the_traits_word() {
        let dir = TestDir::new("medium");
        let mut medium = FileMedium::open(&dir.path().join("store")).unwrap();
        assert!(medium.list("journal").unwrap().is_empty(), "a directory that is not there holds nothing");
        medium.create_directory("journal").unwrap();
        medium.create_directory("journal").unwrap();
        assert!(medium.open("journal/a").unwrap().is_none());
        let mut device = medium.create("journal/a").unwrap();
        device.set_length(3).unwrap();
        assert_eq!(device.block_count().unwrap(), 3);
        let mut block = vec![7; BLOCK_LEN];
        device.read(2, &mut block).unwrap();
        assert!(block.iter().all(|byte| *byte == 0), "new blocks read as zeros");
        device.write(4, &vec![9; BLOCK_LEN]).unwrap();
        device.flush().unwrap();
        assert_eq!(device.block_count().unwrap(), 5);
        assert!(device.read(5, &mut block).is_err(), "behind the end");
        medium.rename("journal/a", "journal/b").unwrap();
        medium.sync_directory("journal").unwrap();
        medium.sync_directory("").unwrap();
        device.read(4, &mut block).unwrap();
        assert_eq!(block, vec![9; BLOCK_LEN], "an open handle stays good");
        let list = medium.list("journal").unwrap();
        assert_eq!((list.len(), list[0].name.as_str(), list[0].kind), (1, "b", EntryKind::File));
        assert_eq!(medium.list("").unwrap()[0].kind, EntryKind::Directory);
        device.set_length(1).unwrap();
        assert_eq!(device.block_count().unwrap(), 1);
        assert_eq!(medium.create("journal/b").unwrap().block_count().unwrap(), 0, "emptied");
        medium.remove("journal/b").unwrap();
        medium.remove("journal/b").unwrap();
        assert!(medium.open("journal/b").unwrap().is_none(), "gone, whoever took it away");
    }

    #[test]
    fn names_stay_inside() {
        let dir = TestDir::new("inside");
        let mut medium = FileMedium::open(dir.path()).unwrap();
        for name in ["../x", "a/../../x", "/etc/passwd", "./x"] {
            assert!(medium.create(name).is_err(), "{name}");
            assert!(medium.open(name).is_err(), "{name}");
        }
    }
}
