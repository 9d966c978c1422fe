//! What the store stands on: devices of 4,096-byte blocks, and a medium of named devices.
//!
//! The two traits are the whole of the outside world as the store sees it: the agent implements them
//! over files, the tests over a simulated medium (`sim`). What a medium must promise and what
//! a power cut may leave is stated here and nowhere else; everything the store does about it is
//! derived from this text.
//!
//! # What the medium promises
//! 1. After [`Device::flush`] returned `Ok`, the length of the device and every block written before
//!    the call read back as written, also after a power cut.
//! 2. After [`Medium::sync_directory`] returned `Ok`, every `create`, `rename`, `remove` and
//!    `create_directory` in that directory before the call holds, also after a power cut. A rename
//!    between two directories holds once both are synced.
//! 3. A rename happens or doesn't; a name is never half of one.
//! 4. Blocks that `set_length` adds read as zeros.
//!
//! # What a power cut may leave
//! - Of the blocks written since the last flush of their device, any subset: order means nothing.
//! - Of such a block, any mix of old, new, zero and random bytes. Nothing relies on 4 KiB, or on
//!   512 B, being atomic.
//! - A length that was not flushed: the old or the new one.
//! - Of the directory operations that were not synced, any subset.
//!
//! # What is not assumed
//! That a failed flush may be repeated: pages may be gone, and the next flush may say `Ok` all the
//! same. After any error of a device that is written to, the store stops taking points; it is to be
//! opened again, which reads back what there is.

use alloc::string::String;
use alloc::vec::Vec;

/// A device of blocks: a preallocated or growing file, or a piece of flash.
pub trait Device {
    /// Why an operation failed.
    type Error: core::error::Error;

    /// Length in blocks.
    ///
    /// # Errors
    /// What the device says.
    fn block_count(&self) -> Result<u32, Self::Error>;

    /// Reads `out.len() / 4096` blocks from block `first` on; `out` is a multiple of 4096 long.
    ///
    /// # Errors
    /// What the device says; also where the range runs past the end.
    fn read(&self, first: u32, out: &mut [u8]) -> Result<(), Self::Error>;

    /// Writes the blocks from block `first` on, extending the device where it ends before.
    ///
    /// # Errors
    /// What the device says.
    fn write(&mut self, first: u32, blocks: &[u8]) -> Result<(), Self::Error>;

    /// Makes the length and everything written so far durable.
    ///
    /// # Errors
    /// What the device says; see the file's text for what such an error means.
    fn flush(&mut self) -> Result<(), Self::Error>;

    /// Cuts or extends the device; new blocks read as zeros.
    ///
    /// # Errors
    /// What the device says.
    fn set_length(&mut self, block_count: u32) -> Result<(), Self::Error>;
}

/// What a directory holds under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A device.
    File,
    /// A directory.
    Directory,
}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The last part of the path.
    pub name: String,
    /// What it names.
    pub kind: EntryKind,
}

/// Named devices in directories. Paths are relative to the store's own directory, their parts
/// joined by `/`; `""` is that directory itself.
pub trait Medium {
    /// Why an operation failed.
    type Error: core::error::Error;
    /// An open device.
    type Device: Device<Error = Self::Error>;

    /// Makes a directory whose parent exists; one that is there already is no error.
    ///
    /// # Errors
    /// What the medium says.
    fn create_directory(&mut self, path: &str) -> Result<(), Self::Error>;

    /// What a directory holds, in no particular order; nothing where there is no such directory.
    ///
    /// # Errors
    /// What the medium says.
    fn list(&self, directory: &str) -> Result<Vec<Entry>, Self::Error>;

    /// Makes an empty device; one of that name is emptied.
    ///
    /// # Errors
    /// What the medium says.
    fn create(&mut self, path: &str) -> Result<Self::Device, Self::Error>;

    /// Opens a device for reading and writing; `None` where there is none of that name.
    ///
    /// # Errors
    /// What the medium says.
    fn open(&self, path: &str) -> Result<Option<Self::Device>, Self::Error>;

    /// Gives a device another name, in place of what had it; open handles stay good.
    ///
    /// # Errors
    /// What the medium says.
    fn rename(&mut self, from: &str, to: &str) -> Result<(), Self::Error>;

    /// Takes a name away; one that is not there is no error.
    ///
    /// # Errors
    /// What the medium says.
    fn remove(&mut self, path: &str) -> Result<(), Self::Error>;

    /// Makes the names of a directory durable.
    ///
    /// # Errors
    /// What the medium says.
    fn sync_directory(&mut self, directory: &str) -> Result<(), Self::Error>;
}
