//! A small disk of its own: a tmpfs in a mount namespace, which can be filled to the last block and made read-only.
//!
//! The namespace belongs to a holding process and goes with it, however the test ends, so nothing is left mounted. It
//! needs the right to mount: that of root, or user namespaces. Where there is neither, [`Volume::new`] says why, and
//! the test says so loudly and goes another way.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::agent::{COMMAND_TIMEOUT, run};
use crate::scratch::Scratch;

/// What takes the room.
const BALLAST: &str = "ballast";
/// Bytes written at a time, falling towards the last block.
const PIECES: [usize; 3] = [1 << 20, 64 << 10, 4 << 10];

/// A disk; it goes with this value.
pub struct Volume {
    folder: PathBuf,
    holder: Child,
    is_user_namespace: bool,
}

impl Volume {
    /// An empty disk of so many bytes in a folder of `scratch`.
    ///
    /// # Errors
    /// Why there can be none here.
    pub fn new(scratch: &Scratch, size_bytes: u64) -> Result<Self, String> {
        let folder = scratch.join("volume");
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let mut reasons = String::new();
        for is_user_namespace in [false, true] {
            match hold(&folder, size_bytes, is_user_namespace) {
                Ok(holder) => return Ok(Self { folder, holder, is_user_namespace }),
                Err(reason) => reasons.push_str(&reason),
            }
        }
        Err(reasons.trim().replace('\n', "; "))
    }

    /// The same; `None`, with the reason on standard error, where there can be none.
    pub fn or_say(scratch: &Scratch, size_bytes: u64) -> Option<Self> {
        let made = Self::new(scratch, size_bytes);
        made.inspect_err(|reason| {
            eprintln!("\n!!! NOT TESTED, for want of the right to mount a disk: {reason}\n");
        })
        .ok()
    }

    /// Its folder as those see it who run in it.
    pub fn inside(&self) -> &Path {
        &self.folder
    }

    /// Its folder as everybody else sees it.
    pub fn outside(&self) -> PathBuf {
        let relative = self.folder.strip_prefix("/").expect("a temporary folder has an absolute path");
        PathBuf::from(format!("/proc/{}/root", self.holder.id())).join(relative)
    }

    /// The words before a command that is to run in it.
    pub fn entering(&self) -> Vec<String> {
        let target = self.holder.id().to_string();
        let mut words = vec!["nsenter", "--target", &target, "--mount"];
        if self.is_user_namespace {
            words.extend(["--user", "--preserve-credentials"]);
        }
        words.push("--");
        words.into_iter().map(str::to_owned).collect()
    }

    /// Takes all room but for so many blocks of 4 KiB.
    pub fn fill(&self, blocks_left: u64) {
        let path = self.outside().join(BALLAST);
        let mut file =
            File::options().create(true).append(true).open(path).expect("the ballast can be opened");
        for piece in PIECES {
            let zeros = vec![0; piece];
            // A piece that fits in part is as good as full.
            while let Ok(written) = file.write(&zeros)
                && written == piece
            {}
        }
        let length = file.metadata().expect("a file can be measured").len();
        file.set_len(length.saturating_sub(blocks_left * 4096)).expect("the ballast can be cut");
    }

    /// Gives the room back.
    pub fn release(&self) {
        match std::fs::remove_file(self.outside().join(BALLAST)) {
            Err(error) if error.kind() != ErrorKind::NotFound => panic!("the ballast stays: {error}"),
            _ => {}
        }
    }

    /// Makes every name on the disk read-only, or lets that be. What is open for writing stays so: the kernel
    /// refuses to take that away.
    pub fn set_read_only(&self, is_read_only: bool) {
        let folder = self.folder.display();
        let script = if is_read_only {
            format!("mount --bind '{folder}' '{folder}' && mount -o remount,bind,ro '{folder}'")
        } else {
            // Files that were opened through it may be open still.
            format!("umount --lazy '{folder}'")
        };
        let words = self.entering();
        run(Command::new(&words[0]).args(&words[1..]).args(["sh", "-c", &script]), COMMAND_TIMEOUT).success();
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// A process in a mount namespace of its own with the disk in it. It ends when its input does, so at the latest with us.
fn hold(folder: &Path, size_bytes: u64, is_user_namespace: bool) -> Result<Child, String> {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private"]);
    if is_user_namespace {
        command.args(["--user", "--map-root-user"]);
    }
    let script = format!(
        "mount -t tmpfs -o size={size_bytes} siltstone-test '{}' && echo mounted && exec cat",
        folder.display()
    );
    command.args(["sh", "-c", &script]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut holder = command.spawn().map_err(|error| format!("unshare: {error}\n"))?;
    let mut line = String::new();
    // An end without a word is an answer, too.
    let _ = BufReader::new(holder.stdout.as_mut().expect("piped")).read_line(&mut line);
    if line.trim() == "mounted" {
        return Ok(holder);
    }
    let output = holder.wait_with_output().map_err(|error| format!("unshare: {error}\n"))?;
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}
