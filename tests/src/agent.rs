//! The agent as a process with a store, a configuration and a log in a folder of its own; and its
//! command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::http::Http;
use crate::process::Process;
use crate::scratch::Scratch;
use crate::workspace::agent_binary;
use crate::{port, wait};

/// How long the agent may take to answer after its start.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How long it may take to stop in good order.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a command may take.
pub(crate) const COMMAND_TIMEOUT: Duration = Duration::from_secs(300);

/// A configured agent, running or not.
pub struct Agent {
    /// Its HTTP port on 127.0.0.1.
    pub port: u16,
    /// Its store, as the test sees it.
    pub data: PathBuf,
    /// Its store, as it sees it.
    inside: PathBuf,
    broker_url: String,
    setup: Setup,
    config: PathBuf,
    log: PathBuf,
    process: Option<Process>,
}

/// What an agent is made of, beside its broker and a folder.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Where its store is, as it sees it and as the test does; in its folder where nothing is said.
    pub data: Option<(PathBuf, PathBuf)>,
    /// Further lines of `[data]`.
    pub data_lines: String,
    /// Further lines of `[mqtt]`.
    pub mqtt_lines: String,
    /// Further lines of `[ingest]`.
    pub ingest_lines: String,
    /// Words before its command line: a program that runs it.
    pub before: Vec<String>,
    /// Its environment, beside ours.
    pub environment: Vec<(String, OsString)>,
}

impl Agent {
    /// An agent for the broker at `broker_url`, not started yet. `ingest` are further lines of
    /// `[ingest]`.
    pub fn configure(scratch: &Scratch, broker_url: &str, ingest: &str) -> Self {
        Self::configure_mqtt(scratch, broker_url, "", ingest)
    }

    /// The same with further lines of `[mqtt]`.
    pub fn configure_mqtt(scratch: &Scratch, broker_url: &str, mqtt: &str, ingest: &str) -> Self {
        let setup =
            Setup { mqtt_lines: mqtt.to_owned(), ingest_lines: ingest.to_owned(), ..Setup::default() };
        Self::with(scratch, broker_url, setup)
    }

    /// The same with all that can be chosen.
    pub fn with(scratch: &Scratch, broker_url: &str, setup: Setup) -> Self {
        let port = port::free();
        let in_scratch = || (scratch.join("data"), scratch.join("data"));
        let (inside, data) = setup.data.clone().unwrap_or_else(in_scratch);
        let config = scratch.join("siltstone.toml");
        let broker_url = broker_url.to_owned();
        let agent = Self {
            port,
            data,
            inside,
            broker_url,
            setup,
            config,
            log: scratch.join("agent.log"),
            process: None,
        };
        agent.write_config();
        agent
    }

    /// Other further lines of `[data]`, from the next start on.
    pub fn set_data_lines(&mut self, lines: &str) {
        lines.clone_into(&mut self.setup.data_lines);
        self.write_config();
    }

    fn write_config(&self) {
        let Setup { data_lines, mqtt_lines, ingest_lines: ingest, .. } = &self.setup;
        // Tests kill, restart and look again: they need not wait for seconds until something is durable.
        let quick = if ingest.contains("commit_interval") { "" } else { "commit_interval = \"100ms\"\n" };
        let (inside, broker_url, port) = (self.inside.display(), &self.broker_url, self.port);
        let text = format!(
            "[data]\ndir = \"{inside}\"\n{data_lines}\n\n[mqtt]\nurl = \"{broker_url}\"\n{mqtt_lines}\n\n\
             [http]\nlisten = \"127.0.0.1:{port}\"\n\n[ingest]\n{quick}{ingest}\n"
        );
        std::fs::write(&self.config, text).expect("a configuration can be written");
    }

    /// Starts it and waits until it answers.
    pub fn start(&mut self) {
        self.launch();
        let begin = Instant::now();
        let http = self.http();
        while http.try_get("/api/health").is_none_or(|answer| answer.status != 200) {
            if let Some(status) = self.process_mut().ended() {
                panic!("the agent ended at its start with {status}");
            }
            assert!(begin.elapsed() < START_TIMEOUT, "the agent does not answer within {START_TIMEOUT:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Starts it and does not wait.
    pub fn launch(&mut self) {
        assert!(self.process.is_none(), "the agent runs already");
        let mut command = self.command();
        command.arg("run").arg("--config").arg(&self.config).env("RUST_BACKTRACE", "1");
        command.envs(self.setup.environment.iter().map(|(name, value)| (name, value)));
        self.process = Some(Process::start("the agent", &mut command, &self.log));
    }

    /// Its program, where and how it runs.
    fn command(&self) -> Command {
        let Some((program, words)) = self.setup.before.split_first() else {
            return Command::new(agent_binary());
        };
        let mut command = Command::new(program);
        command.args(words).arg(agent_binary());
        command
    }

    /// Runs its command line where it runs, on the store as it sees it.
    pub fn on_store(&self, subcommand: &str, arguments: &[&str]) -> Output {
        run(self.command().arg(subcommand).arg(&self.inside).args(arguments), COMMAND_TIMEOUT)
    }

    /// `kill -9`, at whatever it is doing.
    pub fn kill(&mut self) {
        self.process.take().expect("the agent was started").kill();
    }

    /// Sends it the signal of this name, without `SIG`.
    pub fn signal(&self, name: &str) {
        self.process.as_ref().expect("the agent was started").signal(name);
    }

    /// SIGTERM: it must end in good order, soon, and with success.
    pub fn stop(&mut self) {
        let status = self.process_mut().terminate(STOP_TIMEOUT);
        assert!(status.success(), "the agent stopped with {status}");
        self.process = None;
    }

    /// SIGTERM, whatever comes of it: its exit code and the last line of its log.
    pub fn end(&mut self) -> (Option<i32>, String) {
        let status = self.process_mut().terminate(STOP_TIMEOUT);
        self.process = None;
        (status.code(), self.log().lines().next_back().unwrap_or_default().to_owned())
    }

    /// Its exit status once it ends by itself.
    pub fn wait(&mut self, timeout: Duration) -> ExitStatus {
        self.process_mut().wait(timeout)
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| process.ended().is_none())
    }

    /// Bytes of it that are in memory, its program's own included.
    pub fn resident_bytes(&self) -> u64 {
        let id = self.process.as_ref().expect("the agent was started").id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux tells");
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kib << 10
    }

    /// Everything it logged, over all its starts.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// A client of its API.
    pub fn http(&self) -> Http {
        Http::new(self.port)
    }

    /// Waits until its log holds `text`.
    pub fn wait_for_log(&self, text: &str, timeout: Duration) {
        wait::for_true(&format!("the agent logs \"{text}\""), timeout, || self.log().contains(text));
    }

    fn process_mut(&mut self) -> &mut Process {
        self.process.as_mut().expect("the agent was started")
    }
}

/// What a command answered.
#[derive(Debug)]
pub struct Output {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    /// Standard output of a command that must succeed.
    pub fn success(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self.stdout
    }

    /// One clear sentence of a command that must fail: standard error, which must not be empty, hold
    /// no panic, and not run over several lines.
    pub fn failure(self) -> String {
        assert!(self.code.is_some_and(|code| code != 0), "it should fail: {self:?}");
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        let sentence = self.stderr.trim().to_owned();
        assert!(!sentence.is_empty(), "it fails without a word");
        sentence
    }
}

/// Runs the agent's command line and waits for its end.
pub fn siltstone<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Output {
    run(Command::new(agent_binary()).args(arguments), COMMAND_TIMEOUT)
}

/// Runs a command to its end, with a bound; both outputs are taken at once, so that neither can fill
/// up and block it.
pub fn run(command: &mut Command, timeout: Duration) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child =
        child.unwrap_or_else(|error| panic!("{}: {error}", command.get_program().to_string_lossy()));
    let stdout = drain(child.stdout.take().expect("piped"));
    let stderr = drain(child.stderr.take().expect("piped"));
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be asked") {
            break status;
        }
        if begin.elapsed() > timeout {
            // It may have ended in between.
            let _ = child.kill();
            panic!("it takes longer than {timeout:?}: {command:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = |thread: std::thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&thread.join().expect("reading a pipe does not panic")).into_owned()
    };
    Output { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

fn drain(mut pipe: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // A pipe that breaks has said all it will say.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// Every block file below a folder, sorted.
pub fn segments(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "silt") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
