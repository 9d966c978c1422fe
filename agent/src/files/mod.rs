//! Files: the rim where bytes meet the disk.
//!
//! The store knows blocks and names; here they become files and directories of the system, with the
//! flushes that make them durable. Nothing here knows what the blocks hold.
//!
//! | file | idea |
//! | --- | --- |
//! | `medium` | the store's medium on a directory |
//! | `device` | the store's device on one file |
//! | `error` | what the system said, and about which file |
//! | `lock` | one process a store |
//! | `space` | how much room the segments may take, and how large one of them is |
//! | `atomic` | small files replaced whole: temporary file, flush, rename, flush of the directory |

mod atomic;
mod device;
mod error;
#[cfg(test)]
mod faults;
mod lock;
mod medium;
pub(crate) mod space;

pub use atomic::{flush_directory, remove_unfinished, replace_file};
pub(crate) use device::BLOCK_BYTES;
pub use device::FileDevice;
pub use error::{FileError, may_pass};
#[cfg(test)]
pub(crate) use faults::Faults;
pub use lock::{LockError, StoreLock};
pub use medium::FileMedium;
