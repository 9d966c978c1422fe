//! Faults of a medium, for tests: flushes that take long, writes that fail.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What is wrong with a medium at the moment; shared by all its devices.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    flush_ms: AtomicU64,
    fails_writes: AtomicBool,
    fails_flushes: AtomicBool,
}

impl Faults {
    /// Every flush takes this long.
    pub(crate) fn slow_down(&self, flush: Duration) {
        self.flush_ms.store(flush.as_millis() as u64, Ordering::SeqCst);
    }

    /// Every write fails as on a full disk, or not.
    pub(crate) fn fail_writes(&self, fails: bool) {
        self.fails_writes.store(fails, Ordering::SeqCst);
    }

    /// Every flush fails with an error of the device, or not.
    pub(crate) fn fail_flushes(&self, fails: bool) {
        self.fails_flushes.store(fails, Ordering::SeqCst);
    }

    pub(super) fn write(&self) -> io::Result<()> {
        if self.fails_writes.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    pub(super) fn flush(&self) -> io::Result<()> {
        std::thread::sleep(Duration::from_millis(self.flush_ms.load(Ordering::SeqCst)));
        if self.fails_flushes.load(Ordering::SeqCst) {
            return Err(io::Error::other("an error of the device"));
        }
        Ok(())
    }
}
