//! Deleting, over HTTP and on the command line.
//!
//! Question of this suite: is what was deleted gone, at once and for ever, over kills, starts and merges; is nothing else;
//! does what is written later count; and what does a person see who asks wrongly?

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use siltstone_tests::agent::{Agent, segments, siltstone};
use siltstone_tests::chance::Chance;
use siltstone_tests::http::Http;
use siltstone_tests::mosquitto::Mosquitto;
use siltstone_tests::publisher::Publisher;
use siltstone_tests::scratch::Scratch;
use siltstone_tests::stored::{number, question};
use siltstone_tests::{port, wait};

/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// 2026-11-01T00:00:00Z, milliseconds.
const BEGIN_MS: u64 = 1_793_491_200_000;
/// Readings of each series.
const ROWS: u64 = 2_000;

/// Readings of a selector.
fn count(http: &Http, select: &str) -> u64 {
    let mut question = question(select);
    question["fn"] = json!(["count"]);
    http.query_all(&question).iter().map(|row| number(&row[row.len() - 1]) as u64).sum()
}

fn device(name: &str) -> String {
    format!("n{{device=\"home/{name}\"}}")
}

/// Publishes a reading a second to each device, and waits until they are stored.
fn publish(publisher: &mut Publisher, http: &Http, devices: &[&str], rows: std::ops::Range<u64>, value: u64) {
    let before: u64 = devices.iter().map(|name| count(http, &device(name))).sum();
    for row in rows.clone() {
        for name in devices {
            let at = BEGIN_MS + row * 1_000;
            publisher.publish(&format!("home/{name}"), format!("{{\"ts\":{at},\"n\":{value}}}"));
        }
    }
    publisher.flush();
    let expected = before + devices.len() as u64 * (rows.end - rows.start);
    wait::for_true("the readings are stored", PATIENCE, || {
        devices.iter().map(|name| count(http, &device(name))).sum::<u64>() == expected
    });
    // Seen is not yet flushed: what a kill would undo comes again, but later.
    wait::for_true("the readings are acknowledged", PATIENCE, || {
        http.get("/api/health").json()["ingest"]["unacknowledged"] == 0
    });
}

/// Half a megabyte of noise in the month before: merges may write a share of what came in.
fn publish_noise(publisher: &mut Publisher, http: &Http) {
    let (mut chance, rows) = (Chance(3), 4_000);
    for row in 0..rows {
        let fields: Vec<String> =
            ('a'..='h').map(|field| format!("\"{field}\":{}", chance.fraction())).collect();
        let at = BEGIN_MS - 86_400_000 + row * 1_000;
        publisher.publish("noise/box", format!("{{\"ts\":{at},{}}}", fields.join(",")));
    }
    publisher.flush();
    wait::for_true("the noise is stored", PATIENCE, || {
        http.get("/api/health").json()["ingest"]["samples"] == rows * 8
    });
}

fn instant(row: u64) -> String {
    format!("{}000000", BEGIN_MS + row * 1_000)
}

fn tombstones(data: &Path) -> usize {
    segments(&data.join("segments/deletions")).len()
}

#[test]
fn what_is_deleted_stays_deleted_and_nothing_else_is() {
    let scratch = Scratch::new("deletion");
    let broker = Mosquitto::start(&scratch);
    let mut agent = Agent::configure(&scratch, &broker.url(), "");
    agent.start();
    agent.wait_for_log("subscribed", PATIENCE);
    let http = agent.http();
    let mut publisher = Publisher::connect(broker.port, "deletion");
    publish_noise(&mut publisher, &http);
    publish(&mut publisher, &http, &["attic", "cellar", "garage"], 0..ROWS, 1);
    // A part of one series, and the whole of another; both are gone with the answer.
    let delete = |body: Json| http.post("/api/delete", &body);
    let part = json!({ "select": device("attic"), "from": instant(500), "to": instant(600) });
    let answer = delete(part);
    assert_eq!((answer.status, &answer.json()["series"]), (200, &json!(1)));
    let begin = Instant::now();
    let whole = json!({ "select": device("cellar"), "from": instant(0), "to": instant(ROWS) });
    assert_eq!(delete(whole).json()["series"], 1);
    assert!(begin.elapsed() < Duration::from_secs(5), "it waits for its commit only: {:?}", begin.elapsed());
    let counts = |http: &Http| ["attic", "cellar", "garage"].map(|name| count(http, &device(name)));
    assert_eq!(counts(&http), [ROWS - 100, 0, ROWS]);
    // What is written later counts, in the deleted span as elsewhere.
    publish(&mut publisher, &http, &["cellar"], 0..50, 2);
    publish(&mut publisher, &http, &["attic"], 550..560, 2);
    let expected = [ROWS - 90, 50, ROWS];
    assert_eq!(counts(&http), expected);
    for _ in 0..2 {
        agent.kill();
        agent.start();
        assert_eq!(counts(&http), expected, "after a kill");
    }
    // A merge takes the rows away, and then the tombstones have done their work.
    assert_eq!(http.post("/api/seal", &json!({})).status, 200);
    wait::for_true("the tombstones are gone", PATIENCE, || tombstones(&agent.data) == 0);
    assert_eq!(counts(&http), expected, "after merging");
    agent.kill();
    agent.start();
    assert_eq!(counts(&http), expected, "after merging and a kill");
    let mut later = question(&device("attic"));
    later["from"] = json!(instant(500));
    later["to"] = json!(instant(600));
    assert!(http.query_all(&later).iter().all(|row| number(&row[2]) == 2.0), "none of the old ones is back");
    agent.stop();
    assert_eq!(agent.on_store("verify", &[]).code, Some(0));
}

#[test]
fn the_command_deletes_in_a_stopped_store_and_by_a_running_agent() {
    let scratch = Scratch::new("delete-command");
    let broker = Mosquitto::start(&scratch);
    let mut agent = Agent::configure(&scratch, &broker.url(), "");
    agent.start();
    agent.wait_for_log("subscribed", PATIENCE);
    let mut publisher = Publisher::connect(broker.port, "delete-command");
    publish(&mut publisher, &agent.http(), &["attic", "cellar"], 0..200, 1);
    let url = format!("http://127.0.0.1:{}", agent.port);
    let data = agent.data.display().to_string();
    let (attic, cellar) = (device("attic"), device("cellar"));
    // While the agent runs, only it can.
    let refused = siltstone(&["delete", &data, "--select", &attic, "--yes"]).failure();
    assert!(one_line(&refused) && refused.contains("is in use by another process"), "{refused}");
    let (from, to) = (instant(10), instant(20));
    let told =
        siltstone(&["delete", "--url", &url, "--select", &attic, "--from", &from, "--to", &to, "--yes"]);
    assert_eq!(told.success(), "deleted from 1 series\n");
    assert_eq!(count(&agent.http(), &attic), 190);
    agent.stop();
    let told = siltstone(&["delete", &data, "--select", &cellar, "--from", "2026-11-01T00:01:40Z", "--yes"]);
    assert_eq!(told.success(), "deleted from 1 series\n");
    assert_eq!(
        siltstone(&["delete", &data, "--select", "nothing", "--yes"]).success(),
        "deleted from 0 series\n"
    );
    agent.start();
    assert_eq!([count(&agent.http(), &attic), count(&agent.http(), &cellar)], [190, 100]);
    agent.kill();
    agent.start();
    assert_eq!([count(&agent.http(), &attic), count(&agent.http(), &cellar)], [190, 100]);
}

fn one_line(sentence: &str) -> bool {
    sentence.lines().count() == 1
}

#[test]
fn a_wrong_deletion_deletes_nothing_and_says_why() {
    let scratch = Scratch::new("wrong-deletion");
    let broker = Mosquitto::start(&scratch);
    let mut agent = Agent::configure(&scratch, &broker.url(), "");
    agent.start();
    agent.wait_for_log("subscribed", PATIENCE);
    let http = agent.http();
    let mut publisher = Publisher::connect(broker.port, "wrong-deletion");
    publish(&mut publisher, &http, &["attic"], 0..50, 1);
    let bodies = [
        (json!({}), "`select`"),
        (json!([]), "JSON object"),
        (json!({ "select": "n{" }), ""),
        (json!({ "select": "n{device=~\"(\"}" }), ""),
        (json!({ "select": 5 }), "`select`"),
        (json!({ "select": "n", "form": "1" }), "`form`"),
        (json!({ "select": "n", "from": "yesterday" }), "`from`"),
        (json!({ "select": "n", "from": "9", "to": "9" }), "`from` must be before `to`"),
    ];
    for (body, word) in bodies {
        let answer = http.post("/api/delete", &body);
        let error = answer.json()["error"].clone();
        assert_eq!((answer.status, &error["code"]), (400, &json!("bad_request")), "{body}: {error}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(one_line(message) && message.contains(word), "{body}: {message}");
    }
    assert_eq!(http.get("/api/delete").status, 405, "a link can't delete");
    let plain = http.post_as("/api/delete", "text/plain", &json!({ "select": "n" }).to_string());
    assert!(plain.status == 400 && plain.text().contains("Content-Type"), "{}", plain.text());
    let url = format!("http://127.0.0.1:{}", agent.port);
    let nobody = format!("http://127.0.0.1:{}", port::free());
    let (missing, here) = (scratch.join("nothing"), scratch.path().display().to_string());
    let missing = missing.display().to_string();
    let commands: [(&[&str], &str); 7] = [
        (&["--url", &url, "--select", "n{", "--yes"], ""),
        (&["--url", &url, "--select", "n", "--from", "7", "--to", "7", "--yes"], "`--from` must be before"),
        (&["--url", &url, "--select", "n"], "--yes"),
        (&["--url", &nobody, "--select", "n", "--yes"], &nobody),
        (&["--url", &format!("{url}/elsewhere"), "--select", "n", "--yes"], "/elsewhere"),
        (&[&missing, "--select", "n", "--yes"], "there is no store"),
        (&[&here, "--select", "n", "--yes"], "there is no store"),
    ];
    for (arguments, word) in commands {
        let sentence = siltstone(&[&["delete"], arguments].concat()).failure();
        assert!(one_line(&sentence) && sentence.contains(word), "{arguments:?}: {sentence}");
    }
    assert_eq!(count(&http, "n"), 50, "nothing was deleted");
    agent.stop();
}
