//! A medium that fails under the real agent: `failing.c`, built with `cc` and loaded before libc, fails the calls that
//! it is told to, on files of one directory only.
//!
//! What the agent asks of the kernel without libc (reserving room, the lock) does not fail here; full disks are played
//! with a real one in `volume`.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::scratch::Scratch;

/// A kind of call; the numbers are those of `failing.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Reading.
    Read = 0,
    /// Writing.
    Write = 1,
    /// Making durable, of files and of directories.
    Flush = 2,
    /// Opening, making, renaming, removing, and setting a length.
    Name = 3,
}

/// An error of the device.
pub const EIO: u64 = 5;
/// A disk that is full.
pub const ENOSPC: u64 = 28;
/// A file system that became read-only.
pub const EROFS: u64 = 30;

/// Words of one kind of call in the control file: count, first, last, error.
const CALL_WORDS: u64 = 4;
const FAILED_WORD: u64 = 16;
const LOSES_PAGES_WORD: u64 = 17;
const WORDS: u64 = 18;

/// The medium's faults.
pub struct Failing {
    control: File,
    control_path: PathBuf,
    library: PathBuf,
}

impl Failing {
    /// No faults yet; `None`, with the reason on standard error, where the library can't be built.
    pub fn or_say(scratch: &Scratch) -> Option<Self> {
        let library = scratch.join("failing.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/failing.c");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source);
        match cc.output() {
            Ok(output) if output.status.success() => {}
            Ok(output) => panic!("failing.c: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => {
                eprintln!("\n!!! NOT TESTED, for want of a C compiler named cc: {error}\n");
                return None;
            }
        }
        let control_path = scratch.join("failing.control");
        let control = File::options().create(true).truncate(true).read(true).write(true).open(&control_path);
        let control = control.expect("a file can be made");
        control.set_len(WORDS * 8).expect("a file can be made longer");
        Some(Self { control, control_path, library })
    }

    /// The environment of the process whose files in `directory` are to fail.
    pub fn environment(&self, directory: &Path) -> Vec<(String, OsString)> {
        let of = |name: &str, path: &Path| (name.to_owned(), path.as_os_str().to_owned());
        vec![
            of("LD_PRELOAD", &self.library),
            of("SILTSTONE_FAIL_CONTROL", &self.control_path),
            of("SILTSTONE_FAIL_UNDER", directory),
        ]
    }

    /// Calls of this kind fail, from the `first` (1 is the first ever) to the `last`.
    pub fn fail(&self, call: Call, first: u64, last: u64, error: u64) {
        let word = call as u64 * CALL_WORDS;
        self.set(word + 3, error);
        self.set(word + 2, last);
        self.set(word + 1, first);
    }

    /// From now on every call of this kind fails.
    pub fn fail_from_now(&self, call: Call, error: u64) {
        self.fail(call, 1, u64::MAX, error);
    }

    /// After a flush that fails, what was written since the last good one is gone.
    pub fn lose_pages(&self) {
        self.set(LOSES_PAGES_WORD, 1);
    }

    /// Nothing fails any more.
    pub fn mend(&self) {
        for call in 0..4 {
            self.set(call * CALL_WORDS + 1, 0);
        }
    }

    /// Calls of this kind so far, over all processes.
    pub fn count(&self, call: Call) -> u64 {
        self.get(call as u64 * CALL_WORDS)
    }

    /// Calls that failed.
    pub fn failed(&self) -> u64 {
        self.get(FAILED_WORD)
    }

    fn set(&self, word: u64, value: u64) {
        self.control.write_all_at(&value.to_le_bytes(), word * 8).expect("the control file can be written");
    }

    fn get(&self, word: u64) -> u64 {
        let mut bytes = [0; 8];
        self.control.read_exact_at(&mut bytes, word * 8).expect("the control file can be read");
        u64::from_le_bytes(bytes)
    }
}
