//! An agent under load on a small disk, and what must hold while the disk is full, after, and in the end.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::agent::{Agent, Setup};
use crate::load::Load;
use crate::mosquitto::Mosquitto;
use crate::reckoning::{Account, Messages, delivered_and_waiting, recognise};
use crate::scratch::Scratch;
use crate::tap::Tap;
use crate::volume::Volume;
use crate::wait;

/// How long the agent may take to notice that the disk is full, and to notice that it is not any more.
/// It tries again after 30 s at the latest, and then opens the store.
pub const NOTICE_TIMEOUT: Duration = Duration::from_secs(90);
/// How long the end may take: everything the broker holds is stored.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(60);
/// Texts of 64 characters beside each eighth counter: they fill the space that a segment has ahead in a second or two.
const FILLERS: usize = 32;
/// `segment_max` of the agent.
pub const SEGMENT_MAX_BYTES: u64 = 1 << 20;
/// Messages a second.
const RATE: u32 = 1_000;
/// While this passes nothing may be acknowledged.
const SILENCE: Duration = Duration::from_millis(150);

/// An agent whose data are on this volume.
pub fn setup_on(volume: &Volume) -> Setup {
    Setup {
        data: Some((volume.inside().join("data"), volume.outside().join("data"))),
        before: volume.entering(),
        ..Setup::default()
    }
}

/// Broker, tap, agent, load and disk.
pub struct Bench {
    /// The disk.
    pub volume: Volume,
    /// The agent on it.
    pub agent: Agent,
    /// What it takes in.
    pub load: Load,
    /// What the messages are.
    pub messages: Messages,
    tap: Tap,
    _broker: Mosquitto,
    _scratch: Scratch,
}

impl Bench {
    /// Everything running; `None`, with the reason on standard error, where this machine gives no disk.
    pub fn start(name: &str, size_bytes: u64, max_bytes_mib: u64) -> Option<Self> {
        Self::start_with(name, size_bytes, max_bytes_mib, FILLERS)
    }

    /// The same with so many texts that fill.
    pub fn start_with(name: &str, size_bytes: u64, max_bytes_mib: u64, fillers: usize) -> Option<Self> {
        Self::start_lines(name, size_bytes, data_lines(max_bytes_mib), fillers)
    }

    /// The same with these lines of `[data]`.
    pub fn start_lines(name: &str, size_bytes: u64, data_lines: String, fillers: usize) -> Option<Self> {
        let scratch = Scratch::new(name);
        let volume = Volume::or_say(&scratch, size_bytes)?;
        let broker = Mosquitto::start(&scratch);
        let tap = Tap::start(broker.port, recognise);
        let setup = Setup { data_lines, mqtt_lines: "keep_alive = \"5s\"".to_owned(), ..setup_on(&volume) };
        let mut agent = Agent::with(&scratch, &tap.url(), setup);
        agent.start();
        agent.wait_for_log("subscribed", Duration::from_secs(20));
        let messages = Messages::new(fillers);
        let load = Load::start(broker.port, RATE, messages.compose());
        Some(Self { volume, agent, load, messages, tap, _broker: broker, _scratch: scratch })
    }

    /// Another quota, from the next start on.
    pub fn set_quota(&mut self, max_bytes_mib: u64) {
        self.agent.set_data_lines(&data_lines(max_bytes_mib));
    }

    /// Waits until something is stored, and seals it.
    pub fn seal_something(&self) {
        wait::for_true("messages are stored", NOTICE_TIMEOUT, || self.acknowledged() > 500);
        assert_eq!(self.agent.http().post("/api/seal", &json!({})).status, 200);
    }

    /// The health document.
    pub fn health(&self) -> Json {
        self.agent.http().get("/api/health").json()
    }

    /// Messages that the agent acknowledged so far.
    pub fn acknowledged(&self) -> u64 {
        self.tap.record().messages.values().map(|seen| u64::from(seen.is_acknowledged)).sum()
    }

    /// Takes room away, as often as the agent gives some back, until it says that it can't go on; where `asks_to_seal`,
    /// it is asked to do what needs room.
    pub fn fill(&self, blocks_left: u64, asks_to_seal: bool) {
        wait::for_true("the agent notices that the disk is full", NOTICE_TIMEOUT, || {
            self.volume.fill(blocks_left);
            if asks_to_seal {
                let status = self.agent.http().post("/api/seal", &json!({})).status;
                assert!([200, 503].contains(&status), "sealing on a full disk: {status}");
            }
            self.is_failing()
        });
    }

    /// Waits until the agent says that it can't go on; where `asks_to_seal` it is asked to do what needs the disk.
    pub fn wait_failing(&self, asks_to_seal: bool) {
        wait::for_true("the agent notices that the disk fails", NOTICE_TIMEOUT, || {
            if asks_to_seal {
                self.agent.http().post("/api/seal", &json!({}));
            }
            self.is_failing()
        });
    }

    fn is_failing(&self) -> bool {
        let health = self.health();
        // Whoever was first to find out, ingest follows.
        health["status"] == "failing" && !health["ingest"]["problem"].is_null()
    }

    /// Waits until the agent takes in messages again, by itself.
    pub fn wait_resumed(&self) {
        let before = self.acknowledged();
        wait::for_true("ingest goes on by itself", NOTICE_TIMEOUT, || {
            // `degraded` where the broker was let go and is not back yet: what counts is that messages are taken in.
            self.health()["status"] != "failing" && self.acknowledged() > before
        });
    }

    /// While the store fails: what is wrong is said, nothing is acknowledged, changes are refused with a word, and
    /// everything that was acknowledged is found.
    pub fn assert_failing(&self, reason: &str) {
        let health = self.health();
        for part in ["store", "ingest"] {
            let problem = health[part]["problem"].as_str().unwrap_or_default();
            assert!(problem.contains(reason), "{part}: {health}");
        }
        assert_eq!((&health["status"], &health["ingest"]["mode"]), (&json!("failing"), &json!("slow")));
        let acknowledged = self.settled();
        for (path, body) in [("/api/seal", json!({})), ("/api/delete", json!({ "select": "f0" }))] {
            let begin = Instant::now();
            let answer = self.agent.http().post(path, &body);
            let error = &answer.json()["error"];
            assert_eq!((answer.status, &error["code"]), (503, &json!("unavailable")), "{path}: {error}");
            assert!(error["message"].as_str().is_some_and(|text| text.contains(reason)), "{path}: {error}");
            assert!(begin.elapsed() < Duration::from_secs(5), "{path} takes {:?}", begin.elapsed());
        }
        assert!(self.count("n") >= acknowledged, "what was acknowledged is found");
        std::thread::sleep(SILENCE);
        assert_eq!(self.health()["status"], "failing", "the test is too slow, or the disk not full");
        assert_eq!(self.acknowledged(), acknowledged, "nothing is acknowledged while the disk is full");
    }

    /// Messages that are acknowledged once nothing of what was committed before is on its way any more.
    fn settled(&self) -> u64 {
        let mut last = self.acknowledged();
        wait::until("acknowledgements end", NOTICE_TIMEOUT, || {
            std::thread::sleep(SILENCE);
            let before = std::mem::replace(&mut last, self.acknowledged());
            (before == last).then_some(last)
        })
    }

    /// Readings of a metric.
    pub fn count(&self, metric: &str) -> u64 {
        let mut question = crate::stored::question(metric);
        question["fn"] = json!(["count"]);
        let rows = self.agent.http().query_all(&question);
        rows.iter().map(|row| crate::stored::number(&row[row.len() - 1]) as u64).sum()
    }

    /// Ends the load, waits until everything is acknowledged, and starts the agent once more.
    pub fn drain(&mut self) {
        self.load.finish(Duration::from_secs(30));
        let published = self.load.begun();
        wait::for_true("everything is acknowledged", DRAIN_TIMEOUT, || {
            self.acknowledged() == published && delivered_and_waiting(&self.tap).1 == 0
        });
        self.agent.stop();
        self.agent.start();
    }

    /// Everything that was published is stored once, and the directory is as it should be.
    pub fn reckon(&self) -> Account {
        let stored = self.messages.stored(&self.agent.http());
        let account = Account::draw(&stored, &self.load, &self.tap.record(), |_, _| false);
        account.assert_nothing_lost();
        self.messages.assert_whole(&self.agent.http());
        assert_tidy(&self.agent.data);
        account
    }
}

fn data_lines(max_bytes_mib: u64) -> String {
    format!("segment_max = \"{SEGMENT_MAX_BYTES}B\"\nmax_bytes = \"{max_bytes_mib}MiB\"")
}

/// No file is empty that should not be, and nothing unfinished is left. The agent may run: what it is writing it
/// finishes.
pub fn assert_tidy(data: &Path) {
    let is_unfinished =
        |path: &PathBuf| path.extension().is_some_and(|ending| ending == "part" || ending == "tmp");
    let is_finished = || !files_below(data).iter().any(is_unfinished);
    wait::for_true("nothing unfinished is left", NOTICE_TIMEOUT, is_finished);
    for path in files_below(data) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let length = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        assert!(length > 0 || name == "lock", "{} is empty", path.display());
        assert!(!path.to_string_lossy().contains("/quarantine/"), "{} was set aside", path.display());
    }
}

/// Every file below a folder.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}
