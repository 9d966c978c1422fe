//! A real Mosquitto on loopback, with a configuration and a persistence folder of its own.
//!
//! The program is `$MOSQUITTO`, or the one on the path or in Debian's sbin folders. Where there is
//! none the test fails: `make test` installs it.

use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use crate::process::Process;
use crate::scratch::Scratch;
use crate::{port, wait};

/// How long it takes at most to write its sessions.
const WRITING: Duration = Duration::from_secs(1);

/// A running broker.
pub struct Mosquitto {
    /// Its port on 127.0.0.1.
    pub port: u16,
    folder: PathBuf,
    process: Process,
}

impl Mosquitto {
    /// A broker for tests that must lose nothing: no limit on queued messages, sessions persistent.
    pub fn start(scratch: &Scratch) -> Self {
        Self::with(scratch, "allow_anonymous true\nmax_queued_messages 0\n")
    }

    /// A broker that refuses everybody: it wants a password and knows none.
    pub fn refusing(scratch: &Scratch) -> Self {
        Self::with(scratch, "allow_anonymous false\n")
    }

    /// A broker with the given lines of configuration beside port, folder and log.
    pub fn with(scratch: &Scratch, lines: &str) -> Self {
        let folder = scratch.join("mosquitto");
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let port = port::free();
        // `user root` keeps a broker started by root from giving up the right to its folder.
        let config = format!(
            "listener {port} 127.0.0.1\nuser root\npersistence true\npersistence_location {}/\n\
             autosave_interval 1\nlog_dest stderr\n{lines}",
            folder.display()
        );
        std::fs::write(folder.join("mosquitto.conf"), config).expect("a configuration can be written");
        let process = launch(&folder);
        let broker = Self { port, folder, process };
        broker.wait_listening();
        broker
    }

    /// Its address as the agent's configuration wants it.
    pub fn url(&self) -> String {
        format!("mqtt://127.0.0.1:{}", self.port)
    }

    /// What it logged so far.
    pub fn log(&self) -> String {
        self.process.log()
    }

    /// Ends it as the service manager would: it writes its sessions.
    pub fn stop(&mut self) {
        self.process.terminate(Duration::from_secs(10));
    }

    /// Starts it again, on the same port and with the sessions it wrote.
    pub fn restart(&mut self) {
        self.stop();
        self.start_again();
    }

    /// `kill -9`: what it took since it last wrote its sessions it will not know any more.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Sends it a signal, by its name without `SIG`.
    pub fn signal(&self, name: &str) {
        self.process.signal(name);
    }

    /// When it began, at the latest, to write its sessions for the last time: what it took before is in them, since it takes
    /// nothing while it writes.
    pub fn saved(&self) -> Option<Instant> {
        let changed = std::fs::metadata(self.folder.join("mosquitto.db")).ok()?.modified().ok()?;
        let age = SystemTime::now().duration_since(changed).unwrap_or_default();
        Instant::now().checked_sub(age + WRITING)
    }

    /// Starts it again after its end.
    pub fn start_again(&mut self) {
        self.process = launch(&self.folder);
        self.wait_listening();
    }

    fn wait_listening(&self) {
        wait::for_true("mosquitto listens", Duration::from_secs(10), || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok()
        });
    }
}

fn launch(folder: &Path) -> Process {
    let mut command = Command::new(program());
    command.arg("-c").arg(folder.join("mosquitto.conf"));
    Process::start("mosquitto", &mut command, &folder.join("mosquitto.log"))
}

fn program() -> PathBuf {
    if let Some(given) = std::env::var_os("MOSQUITTO") {
        return PathBuf::from(given);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/usr/local/sbin".into()])
        .map(|folder| folder.join("mosquitto"))
        .find(|program| program.is_file())
        .expect("mosquitto is not installed; 'bash scripts/setup.sh test' (part of 'make test') installs it")
}
