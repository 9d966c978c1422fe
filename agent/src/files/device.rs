//! The store's device on one file.
//!
//! Reads and writes name their place (`pread`, `pwrite`), so that one handle serves readers and the
//! writer. A flush is `fdatasync`, which on Linux makes the length durable with the data. Room for a
//! longer file is reserved by `fallocate` where the file system can, so that a full disk is met when
//! a segment grows and not in the middle of a flush.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};
use siltstone_core::block::BLOCK_LEN;
use siltstone_core::store::Device;

use super::error::FileError;

/// Bytes of a block, as file offsets count.
pub(crate) const BLOCK_BYTES: u64 = BLOCK_LEN as u64;

/// An open file of blocks.
#[derive(Debug)]
pub struct FileDevice {
    file: File,
    path: PathBuf,
    #[cfg(test)]
    faults: std::sync::Arc<super::Faults>,
}

impl FileDevice {
    pub(super) fn new(file: File, path: &Path) -> Self {
        // It lives longer under the name that it gets once it is whole: errors say that one.
        let is_part = path.extension().is_some_and(|extension| extension == "part");
        let path = if is_part { path.with_extension("") } else { path.to_owned() };
        Self {
            file,
            path,
            #[cfg(test)]
            faults: std::sync::Arc::default(),
        }
    }

    /// The same with the faults of its medium.
    #[cfg(test)]
    pub(super) fn with_faults(self, faults: &std::sync::Arc<super::Faults>) -> Self {
        Self { faults: std::sync::Arc::clone(faults), ..self }
    }

    fn fail<T>(&self, action: &'static str, result: io::Result<T>) -> Result<T, FileError> {
        result.map_err(|source| FileError::new(action, &self.path, source))
    }

    fn length_bytes(&self) -> Result<u64, FileError> {
        self.fail("measure", self.file.metadata().map(|metadata| metadata.len()))
    }
}

impl Device for FileDevice {
    type Error = FileError;

    /// A torn last block does not count: it was never flushed.
    fn block_count(&self) -> Result<u32, FileError> {
        let blocks = self.length_bytes()? / BLOCK_BYTES;
        let too_long = || io::Error::other("it has more than 2^32 blocks");
        u32::try_from(blocks).map_err(|_| FileError::new("measure", &self.path, too_long()))
    }

    fn read(&self, first: u32, out: &mut [u8]) -> Result<(), FileError> {
        self.fail("read", self.file.read_exact_at(out, u64::from(first) * BLOCK_BYTES))
    }

    fn write(&mut self, first: u32, blocks: &[u8]) -> Result<(), FileError> {
        #[cfg(test)]
        self.fail("write", self.faults.write())?;
        self.fail("write", self.file.write_all_at(blocks, u64::from(first) * BLOCK_BYTES))
    }

    fn flush(&mut self) -> Result<(), FileError> {
        #[cfg(test)]
        self.fail("make durable", self.faults.flush())?;
        self.fail("make durable", self.file.sync_data())
    }

    fn set_length(&mut self, block_count: u32) -> Result<(), FileError> {
        let (old, new) = (self.length_bytes()?, u64::from(block_count) * BLOCK_BYTES);
        if new > old {
            match fallocate(&self.file, FallocateFlags::empty(), old, new - old) {
                Ok(()) => return Ok(()),
                // Not every file system can reserve; the length alone will do there.
                Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS | rustix::io::Errno::INVAL) => {}
                Err(error) => return Err(FileError::new("reserve room for", &self.path, error)),
            }
        }
        self.fail("set the length of", self.file.set_len(new))
    }
}
