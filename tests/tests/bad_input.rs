//! What is wrong gets one clear sentence that says what and where; the process lives on where it can,
//! and nothing already stored is lost.
//!
//! Question of this suite: what does a person see who made a mistake, or whose file or broker is bad?

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value as Json, json};
use siltstone_core::block::{BLOCK_LEN, Crc, HEADER_LEN};
use siltstone_tests::agent::{Agent, segments, siltstone};
use siltstone_tests::mosquitto::Mosquitto;
use siltstone_tests::publisher::Publisher;
use siltstone_tests::scratch::Scratch;
use siltstone_tests::{port, wait, workspace};

/// Rows of the segment that is damaged.
const MADE_ROWS: usize = 8_000;
/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_wrong_configuration_names_file_line_and_column() {
    let scratch = Scratch::new("bad-config");
    let file = scratch.join("siltstone.toml");
    let cases = [
        ("[mqtt]\nurl = \"mqtt://127.0.0.1:1883\"\nhots = 1\n", ":3:", "hots"),
        ("[mqtt]\nurl = 5\n", ":2:", "url"),
        ("[ingest]\nmax_age = \"20 parsecs\"\n", ":2:", "parsecs"),
        ("[http]\nlisten = \"0.0.0.0:8642\"\n", ":2:", "0.0.0.0"),
        ("[mqtt\n", ":1:", ""),
    ];
    for (text, place, word) in cases {
        std::fs::write(&file, text).unwrap();
        let sentence = siltstone(&["run", "--config", file.to_str().unwrap()]).failure();
        let one_line = sentence.lines().count() == 1;
        assert!(one_line && sentence.contains(place) && sentence.contains(word), "{text:?}: {sentence}");
    }
    let missing = scratch.join("nothing.toml");
    let sentence = siltstone(&["run", "--config", missing.to_str().unwrap()]).failure();
    assert!(sentence.contains("nothing.toml"), "{sentence}");
}

#[test]
fn a_bad_question_names_its_fault_and_place() {
    let scratch = Scratch::new("bad-question");
    let broker = Mosquitto::start(&scratch);
    let mut agent = Agent::configure(&scratch, &broker.url(), "");
    agent.start();
    let http = agent.http();
    let good = json!({ "select": "a", "from": "2020-01-01T00:00:00Z", "to": "2020-01-02T00:00:00Z" });
    let with = |key: &str, value: Json| {
        let mut question = good.clone();
        question[key] = value;
        question
    };
    let cases = [
        with("select", json!("a{device=\"x\"")),
        with("select", json!("{device=~\"(\"}")),
        with("select", json!(7)),
        with("from", json!("yesterday")),
        with("to", json!("2019-01-01T00:00:00Z")),
        with("fn", json!(["median"])),
        with("step", json!("0s")),
        with("surprise", json!(1)),
        json!([]),
    ];
    for question in cases {
        let answer = http.post("/api/query", &question);
        assert_eq!(answer.status, 400, "{question}: {}", answer.text());
        let error = &answer.json()["error"];
        let message = error["message"].as_str().unwrap_or_default();
        assert!(error["code"].is_string() && message.len() > 10, "{question}: {error}");
        assert!(!message.contains('\n'), "{question}: {message}");
    }
    // The byte at which a selector stops making sense.
    for (select, at) in [("a{device=\"x\"", 12), ("a b", 2), ("{a=\"b\"} c", 8), ("a{x=1}", 4)] {
        let answer = http.post("/api/query", &with("select", json!(select)));
        assert_eq!(answer.status, 400, "{select}: {}", answer.text());
        assert_eq!(answer.json()["error"]["at"], at, "{select}: {}", answer.text());
    }
    assert_eq!(http.get("/api/segments/nonsense").status, 404);
    assert_eq!(http.get("/api/nonsense").status, 404);
    assert_eq!(http.get("/api/segments/..%2f..%2fstore.id").status, 404);
    assert!(agent.is_running());
    assert_eq!(http.query(&good)["rows"], json!([]));
}

#[test]
fn payloads_that_are_no_readings_cost_nothing_else() {
    let scratch = Scratch::new("bad-payload");
    let broker = Mosquitto::start(&scratch);
    // With MQTT 3.1.1 the broker has a window of 20 messages, so that the flow would stop if these were
    // not acknowledged.
    let mut agent = Agent::configure_mqtt(&scratch, &broker.url(), "protocol = 4", "");
    agent.start();
    agent.wait_for_log("subscribed", PATIENCE);
    let mut publisher = Publisher::connect(broker.port, "nonsense");
    let nonsense: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"\x1f\x8b\x08\x00gzip".to_vec(),
        vec![0xff; 3_000],
        b"{\"a\":".to_vec(),
        b"[1,2".to_vec(),
        b"{}".to_vec(),
        "x".repeat(100_000).into_bytes(),
        format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000)).into_bytes(),
        format!("{}1{}", "{\"a\":".repeat(5_000), "}".repeat(5_000)).into_bytes(),
        b"1e999".to_vec(),
    ];
    for at in 0..400 {
        publisher.publish(&format!("noise/{}", at % nonsense.len()), nonsense[at % nonsense.len()].clone());
    }
    publisher.publish("noise/mixed", r#"{"bad":nan,"worse":{"x":null},"good":21.5}"#);
    // A time that is none costs the time, not the reading.
    publisher.publish("noise/time", r#"{"ts":1e300,"v":1}"#);
    publisher.publish("probe/value", "5");
    publisher.flush();

    let http = agent.http();
    let stored = |select: &str| {
        let rows = http.query_all(&json!({ "select": select, "from": "2020-01-01T00:00:00Z",
            "to": "2200-01-01T00:00:00Z" }));
        rows.iter().map(|row| row[2].clone()).collect::<Vec<_>>()
    };
    wait::for_true("the good reading behind them is stored", PATIENCE, || {
        !stored("{device=\"probe\"}").is_empty() || !stored("{device=\"probe/value\"}").is_empty()
    });
    assert_eq!(stored("good{device=\"noise/mixed\"}"), [json!(21.5)]);
    assert_eq!(stored("v{device=\"noise/time\"}"), [json!(1)]);
    let noise = stored("{device=~\"noise.*\"}");
    assert_eq!(noise.len(), 2, "none of the nonsense became a reading: {noise:?}");
    let health = http.get("/api/health").json();
    assert_eq!(health["mqtt"]["protocol"], "3.1.1", "{health}");
    let rejected = health["ingest"]["rejected"].as_object().expect("what was dropped is counted by reason");
    let counted: u64 = rejected.values().filter_map(Json::as_u64).sum();
    assert!(counted > 250 && rejected.len() > 3, "of 400, few of them empty: {health}");
    assert!(agent.is_running());
    assert!(!agent.log().contains("panicked"));
}

#[test]
fn a_file_that_is_no_segment_is_refused_by_name() {
    let scratch = Scratch::new("no-segment");
    let cases: [(&str, Vec<u8>); 4] = [
        ("empty.silt", Vec::new()),
        ("short.silt", b"these are notes".to_vec()),
        ("text.silt", "these are notes\n".repeat(1_000).into_bytes()),
        ("zeros.silt", vec![0; 3 * BLOCK_LEN]),
    ];
    for (name, bytes) in cases {
        let file = scratch.join(name);
        std::fs::write(&file, bytes).unwrap();
        refused(&file, name);
        refused(&file, "not a Siltstone segment");
    }
    let sentence = siltstone(&["inspect", scratch.join("nothing.silt").to_str().unwrap()]).failure();
    assert!(sentence.contains("nothing.silt"), "{sentence}");
}

/// Every command that reads a file names it in one line and fails.
fn refused(file: &Path, word: &str) {
    let path = file.to_str().unwrap();
    for arguments in [vec!["inspect", path], vec!["query", "--file", path, "--select", "{__name__=~\".+\"}"]]
    {
        let sentence = siltstone(&arguments).failure();
        assert!(sentence.lines().count() == 1 && sentence.contains(word), "{arguments:?}: {sentence}");
    }
    let verified = siltstone(&["verify", path]);
    assert_eq!(verified.code, Some(1), "{}{}", verified.stdout, verified.stderr);
    assert!(format!("{}{}", verified.stdout, verified.stderr).contains(word), "{verified:?}");
}

#[test]
fn a_segment_of_a_future_version_is_refused_by_its_version() {
    let scratch = Scratch::new("future");
    let segment = made_segment(&scratch);
    let mut bytes = std::fs::read(&segment).unwrap();
    let version_at = HEADER_LEN + 8;
    bytes[version_at..version_at + 2].copy_from_slice(&4_711u16.to_le_bytes());
    // A later writer's checksum is right.
    let device: [u8; 16] = bytes[HEADER_LEN + 16..HEADER_LEN + 32].try_into().unwrap();
    let crc = Crc::new().with(&bytes[..28]).with(&bytes[32..BLOCK_LEN]).with(&device).value();
    bytes[28..32].copy_from_slice(&crc.to_le_bytes());
    let file = scratch.join("future.silt");
    std::fs::write(&file, bytes).unwrap();
    refused(&file, "4711");
}

#[test]
fn every_damage_to_a_segment_is_reported_and_none_is_believed() {
    let scratch = Scratch::new("damage");
    let segment = made_segment(&scratch);
    let good = std::fs::read(&segment).unwrap();
    assert_eq!(siltstone(&["verify", segment.to_str().unwrap()]).code, Some(0));
    let rows = rows_of(&segment).expect("the good file can be read");
    assert_eq!(rows.len(), 2 * MADE_ROWS);
    assert!(good.len() > 8 * BLOCK_LEN, "the segment has several leaves");

    let damaged = scratch.join("damaged.silt");
    let path = damaged.to_str().unwrap();
    let mut lost_rows = 0;
    // One flip in each block, at a place that differs from block to block.
    for block in 0..good.len() / BLOCK_LEN {
        let mut bytes = good.clone();
        bytes[block * BLOCK_LEN + (block * 977 + 40) % BLOCK_LEN] ^= 0x10;
        std::fs::write(&damaged, bytes).unwrap();
        let verified = siltstone(&["verify", path]);
        let told = format!("{}{}", verified.stdout, verified.stderr);
        assert_eq!(verified.code, Some(1), "block {block}: {told}");
        assert!(told.contains(&block.to_string()) && !told.contains("panicked"), "block {block}: {told}");
        // A question is answered with good rows or refused; never with wrong ones.
        if let Some(found) = rows_of(&damaged) {
            assert!(found.iter().all(|row| rows.contains(row)), "block {block}");
            lost_rows = lost_rows.max(rows.len() - found.len());
        }
    }
    // At the worst the bad block is the root of one series.
    assert!(lost_rows > 0 && lost_rows <= MADE_ROWS, "one bad block costs what it holds: {lost_rows}");
    for length in [0, 1, 31, 4_095, 4_096, 4_097, good.len() / 2, good.len() - 4_096, good.len() - 1] {
        std::fs::write(&damaged, &good[..length]).unwrap();
        let verified = siltstone(&["verify", path]);
        assert_eq!(verified.code, Some(1), "{length} bytes: {}{}", verified.stdout, verified.stderr);
        if let Some(found) = rows_of(&damaged) {
            assert!(found.iter().all(|row| rows.contains(row)), "{length} bytes");
        }
    }
}

#[test]
fn bytes_behind_a_whole_segment_are_reported() {
    let scratch = Scratch::new("grown");
    let mut bytes = std::fs::read(made_segment(&scratch)).unwrap();
    let blocks = bytes.len() / BLOCK_LEN;
    bytes.push(0);
    let grown = scratch.join("grown.silt");
    std::fs::write(&grown, bytes).unwrap();
    let verified = siltstone(&["verify", grown.to_str().unwrap()]);
    assert_eq!(verified.code, Some(1), "{}{}", verified.stdout, verified.stderr);
    assert!(verified.stdout.contains(&format!("block {blocks}")), "{verified:?}");
}

/// A small sealed segment of two series in several leaves: values without a pattern.
fn made_segment(scratch: &Scratch) -> PathBuf {
    let mut csv = String::from("timestamp_s,temperature,humidity\n");
    let mut state = 1u64;
    for at in 0..MADE_ROWS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (temperature, humidity) = (state >> 40 & 0xfff, state >> 52);
        csv.push_str(&format!(
            "{},{}.{},{humidity}\n",
            1_700_000_000 + at * 10,
            temperature / 10,
            temperature % 10
        ));
    }
    let file = scratch.join("readings.csv");
    std::fs::write(&file, csv).unwrap();
    let data = scratch.join("imported");
    siltstone(&["import", file.to_str().unwrap(), "--data", data.to_str().unwrap()]).success();
    let found = segments(&data);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// All rows of a file as CSV lines, without the head; `None` where the question is refused with one
/// clear sentence.
fn rows_of(file: &Path) -> Option<std::collections::BTreeSet<String>> {
    let path = file.to_str().unwrap();
    let output = siltstone(&["query", "--file", path, "--select", "{__name__=~\".+\"}", "--format", "csv"]);
    if output.code == Some(0) {
        return Some(output.stdout.lines().skip(1).map(str::to_owned).collect());
    }
    output.failure();
    None
}

#[test]
fn a_broker_that_refuses_or_is_absent_is_said_once_in_a_while() {
    let scratch = Scratch::new("bad-broker");
    let refusing = Mosquitto::refusing(&scratch);
    let absent = format!("mqtt://127.0.0.1:{}", port::free());
    for (url, what) in [(refusing.url(), "refus"), (absent, "")] {
        let folder = Scratch::new("bad-broker-agent");
        let mut agent = Agent::configure(&folder, &url, "");
        agent.start();
        std::thread::sleep(Duration::from_secs(4));
        assert!(agent.is_running());
        let log = agent.log();
        let address = url.trim_start_matches("mqtt://");
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(address)).collect();
        assert!(!lines.is_empty() && lines.iter().any(|line| line.to_lowercase().contains(what)), "{log}");
        assert!(lines.len() <= 8, "it says so too often:\n{log}");
        let health = agent.http().get("/api/health");
        assert_eq!(health.status, 200);
        agent.stop();
    }
    let attempts = refusing.log().matches("New connection from").count();
    assert!((1..=8).contains(&attempts), "it tries without a pause:\n{}", refusing.log());
}

#[test]
fn a_second_agent_on_the_same_store_or_port_is_refused() {
    let scratch = Scratch::new("second-agent");
    let broker = Mosquitto::start(&scratch);
    let mut agent = Agent::configure(&scratch, &broker.url(), "");
    agent.start();
    let config = |name: &str, data: &Path, port: u16| {
        let file = scratch.join(name);
        let text = format!(
            "[data]\ndir = \"{}\"\n[mqtt]\nurl = \"{}\"\n[http]\nlisten = \"127.0.0.1:{port}\"\n",
            data.display(),
            broker.url()
        );
        std::fs::write(&file, text).unwrap();
        file
    };
    let same_store = config("same-store.toml", &agent.data, port::free());
    let sentence = siltstone(&["run", "--config", same_store.to_str().unwrap()]).failure();
    assert!(sentence.contains(agent.data.to_str().unwrap()), "{sentence}");
    let same_port = config("same-port.toml", &scratch.join("other"), agent.port);
    let sentence = siltstone(&["run", "--config", same_port.to_str().unwrap()]).failure();
    assert!(sentence.contains(&agent.port.to_string()), "{sentence}");
    assert!(agent.is_running());
    agent.stop();
}

#[test]
fn an_unknown_command_or_option_says_what_there_is() {
    for arguments in [vec!["frobnicate"], vec!["query", "--nonsense"], vec![]] {
        let output = Command::new(workspace::agent_binary()).args(&arguments).output().unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("Usage") || told.contains("usage"), "{arguments:?}: {told}");
    }
}
