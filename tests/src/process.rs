//! A child process whose output goes to a file: killed at the latest when this value is dropped,
//! and its last lines shown when the test fails.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::wait;

/// How many lines of a log a failing test shows.
const SHOWN_LINES: usize = 60;

/// A running (or ended) child process.
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `command`; standard output and error are appended to `log`.
    pub fn start(name: &str, command: &mut Command, log: &Path) -> Self {
        let open = || File::options().create(true).append(true).open(log).expect("a log file can be opened");
        let child = command.stdin(Stdio::null()).stdout(open()).stderr(open()).spawn();
        let child = child.unwrap_or_else(|error| {
            panic!("{name} can't be started ({}): {error}", command.get_program().to_string_lossy())
        });
        Self { name: name.to_owned(), child, log: log.to_owned() }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it wrote so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Its exit status, if it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be asked")
    }

    /// `kill -9`: the process gets no chance to do anything. Returns when it is gone.
    pub fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a killed child ends");
    }

    /// SIGTERM, and its exit status; panics when it takes longer than `timeout`.
    pub fn terminate(&mut self, timeout: Duration) -> ExitStatus {
        if let Some(status) = self.ended() {
            return status;
        }
        self.signal("TERM");
        self.wait(timeout)
    }

    /// Sends the signal of this name, without `SIG`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("kill can be run").success(), "{} can't be signalled", self.name);
    }

    /// Its exit status; panics when it takes longer than `timeout`.
    pub fn wait(&mut self, timeout: Duration) -> ExitStatus {
        let name = self.name.clone();
        wait::until(&format!("{name} ends"), timeout, || self.ended())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<&str> = log.lines().collect();
            let shown = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
            eprintln!("---- the last lines of {} ----\n{}\n----", self.name, shown.join("\n"));
        }
    }
}
