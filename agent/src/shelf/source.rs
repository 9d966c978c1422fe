//! Where blocks come from: anything that can read whole blocks by number.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use siltstone_core::block::BLOCK_LEN;

/// Reads blocks of one file.
pub trait BlockSource: Send + Sync {
    /// How people know the file.
    fn label(&self) -> &str;

    /// Whole blocks.
    fn block_count(&self) -> u32;

    /// Bytes behind the last whole block: a file that was cut.
    fn odd_bytes(&self) -> u32;

    /// The blocks `first..first + count`, or as many of them as could be read.
    ///
    /// # Errors
    ///
    /// The reason in words.
    fn read(&self, first: u32, count: u32) -> Result<Vec<u8>, String>;
}

/// Bytes of `count` blocks.
pub(super) fn bytes_of(count: u32) -> usize {
    count as usize * BLOCK_LEN
}

/// Blocks of a file of the system.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    label: String,
    block_count: u32,
    odd_bytes: u32,
}

impl FileSource {
    /// Opens the file at `path`.
    ///
    /// # Errors
    ///
    /// One sentence with the path.
    pub fn open(path: &Path) -> Result<Self, String> {
        let label = path.display().to_string();
        let fail = |error: io::Error| format!("{label}: can't read it: {error}");
        let file = File::open(path).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        if !metadata.is_file() {
            return Err(format!("{label}: it is no file"));
        }
        let (blocks, odd) = (metadata.len() / BLOCK_LEN as u64, metadata.len() % BLOCK_LEN as u64);
        let block_count = u32::try_from(blocks).map_err(|_| format!("{label}: it is longer than 16 TiB"))?;
        Ok(Self { file, label, block_count, odd_bytes: u32::try_from(odd).unwrap_or(0) })
    }

    /// The same file, of which only the first `block_count` blocks count.
    #[must_use]
    pub fn limited(mut self, block_count: u32) -> Self {
        self.block_count = block_count;
        self.odd_bytes = 0;
        self
    }
}

impl BlockSource for FileSource {
    fn label(&self) -> &str {
        &self.label
    }

    fn block_count(&self) -> u32 {
        self.block_count
    }

    fn odd_bytes(&self) -> u32 {
        self.odd_bytes
    }

    fn read(&self, first: u32, count: u32) -> Result<Vec<u8>, String> {
        // Never more memory than the file has blocks.
        let count = count.min(self.block_count.saturating_sub(first));
        let mut bytes = vec![0; bytes_of(count)];
        match self.file.read_exact_at(&mut bytes, u64::from(first) * BLOCK_LEN as u64) {
            Ok(()) => Ok(bytes),
            Err(error) => Err(format!("{}: block {first}: {error}", self.label)),
        }
    }
}
