//! The agent in 64 MiB: a month of a thousand series, asked for and merged.
//!
//! What is stored would take more than that if it were ever in memory as a whole. Measured is the peak
//! resident size of the process as the kernel keeps it (`VmHWM`), with the program's own pages in it.
//! `docs/reliability.md`, chapter "Memory".

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use siltstone::files::FileMedium;
use siltstone_core::point::{Point, Timestamp, Value, ValueKind};
use siltstone_core::series::SeriesName;
use siltstone_core::store::{Reading, SeriesId, Store, StoreConfig};

const SERIES: usize = 1_000;
/// Every twenty minutes of 30 days: 35 MB as plain rows, 140 MB as an answer.
const ROUNDS: i64 = 30 * 72;
const STEP_NS: i64 = 1_200_000_000_000;
/// Of those in a sealed segment; the rest is in the open one.
const ROUNDS_SEALED: i64 = 29 * 72;
/// 2026-10-01T00:00:00Z.
const BEGIN_NS: i64 = 1_790_812_800_000_000_000;
/// Late segments, and readings of each: few enough that the budget of merges allows for some of them.
const LATE: (i64, usize) = (8, 4_000);
const PEAK_MAX_KIB: u64 = 64 << 10;
const PATIENCE: Duration = Duration::from_secs(60);

/// A store with everything in segments, written here.
fn write_store(folder: &Path) {
    let medium = FileMedium::open(folder).expect("a medium");
    let (mut store, _) = Store::open(medium, StoreConfig::default(), [7; 16]).expect("a store");
    let ids: Vec<SeriesId> = (0..SERIES)
        .map(|at| {
            let tags = [("device", format!("sensor_{at:04}")), ("room", format!("room {}", at % 10))];
            let tags = tags.iter().map(|(tag, value)| (*tag, value.as_str()));
            let name = SeriesName::new("temperature", tags).expect("a good name");
            store.series(&name, ValueKind::Float, "°C").expect("a new series")
        })
        .collect();
    let mut noise = 1u64;
    let mut put = |store: &mut Store<FileMedium>, series: SeriesId, at_ns: i64| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let value = Value::Float(((noise >> 54) as f64 + (at_ns / STEP_NS % 72) as f64) / 100.0);
        let point = Point { timestamp: Timestamp(at_ns), value };
        store.append(&[Reading { series, point }], None).expect("stored");
    };
    for round in 0..ROUNDS {
        if round == ROUNDS_SEALED {
            store.seal().expect("sealed");
        }
        ids.iter().for_each(|series| put(&mut store, *series, BEGIN_NS + round * STEP_NS));
    }
    for file in 0..LATE.0 {
        for at in 0..LATE.1 {
            // Each falls between two that are there.
            let round = (at as i64 * 7 + file) % ROUNDS;
            put(&mut store, ids[at % SERIES], BEGIN_NS + round * STEP_NS + STEP_NS / 2 + file);
        }
        store.checkpoint().expect("a late segment");
    }
    store.close().expect("closed");
}

/// A running agent; ended with the test.
struct Agent {
    process: Child,
    base: String,
}

impl Agent {
    fn start(folder: &Path) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = port.expect("a free port").port();
        let config = folder.join("siltstone.toml");
        let text = format!(
            "[data]\ndir = \"{}\"\n[mqtt]\nurl = \"mqtt://127.0.0.1:9\"\n[http]\nlisten = \"127.0.0.1:{port}\"\n",
            folder.join("data").display()
        );
        std::fs::write(&config, text).expect("a configuration");
        let mut command = Command::new(env!("CARGO_BIN_EXE_siltstone"));
        command.arg("run").arg("--config").arg(&config).stdout(Stdio::null()).stderr(Stdio::null());
        let agent =
            Self { process: command.spawn().expect("it starts"), base: format!("http://127.0.0.1:{port}") };
        let begin = Instant::now();
        while ureq::get(format!("{}/api/health", agent.base)).call().is_err() {
            assert!(begin.elapsed() < PATIENCE, "it does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        agent
    }

    /// A line of its status, KiB.
    fn status_kib(&self, key: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).expect("it runs");
        let line = text.lines().find_map(|line| line.strip_prefix(key)).expect("a line of that name");
        line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().expect("a number")
    }

    fn segments(&self) -> usize {
        let mut answer = ureq::get(format!("{}/api/segments", self.base)).call().expect("an answer");
        let text = answer.body_mut().read_to_string().expect("text");
        let list: Json = serde_json::from_str(&text).expect("JSON");
        list["segments"].as_array().expect("a list").len()
    }

    /// How many rows a question has, page after page.
    fn rows(&self, mut question: Json) -> usize {
        let mut rows = 0;
        loop {
            let url = format!("{}/api/query", self.base);
            let mut answer = ureq::post(url).send(question.to_string()).expect("an answer");
            let text = answer.body_mut().with_config().limit(1 << 30).read_to_string().expect("text");
            rows += text.matches("\n[").count();
            let (_, next) = text.rsplit_once("\"next\":").expect("every page says what is next");
            let next: Json =
                serde_json::Deserializer::from_str(next).into_iter().next().expect("it").expect("JSON");
            if next.is_null() {
                return rows;
            }
            question["cursor"] = next;
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_month_is_asked_for_and_merged_in_64_mib() {
    let (folder, begin) = (tempfile::tempdir().expect("a folder"), Instant::now());
    write_store(&folder.path().join("data"));
    let agent = Agent::start(folder.path());
    println!("written in {:.1} s", begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    let (resident, files) = (agent.status_kib("VmRSS"), agent.segments());
    let step = |step: &str| json!({ "select": "temperature", "fn": ["mean", "max"], "step": step });
    // Two at once, as many as are answered at once; the largest pages that can be asked for.
    std::thread::scope(|scope| {
        let by_hour = scope.spawn(|| agent.rows(json!({ "limit": 1_000_000, "select": r#"temperature{room="room 3"}"#, "fn": ["mean", "max"], "step": "1h" })));
        let raw = agent.rows(json!({ "limit": 1_000_000, "select": r#"temperature{room=~"room [45]"}"# }));
        let late = LATE.0 as usize * LATE.1;
        assert_eq!(raw, 2 * (SERIES * ROUNDS as usize + late) / 10);
        assert_eq!(by_hour.join().expect("answered"), SERIES / 10 * 30 * 24);
    });
    println!("questions took {:.1} s", begin.elapsed().as_secs_f64());
    let asked = agent.status_kib("VmHWM");
    assert_eq!(agent.rows(step("1d")), SERIES * 30);
    let begin = Instant::now();
    while agent.segments() + 3 > files {
        assert!(begin.elapsed() < PATIENCE, "{} of {files} segments are left", agent.segments());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(agent.rows(step("1d")), SERIES * 30);
    let peak = agent.status_kib("VmHWM");
    println!("KiB resident: {resident} at the start, {asked} after questions, {peak} after a merge, at most");
    assert!(peak < PEAK_MAX_KIB, "{peak} KiB");
}
