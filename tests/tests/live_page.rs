//! The page of a running agent, with readings that arrive through a real broker: it opens on what moves,
//! advances without being loaded again, and lists series that are new.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value as Json, json};
use siltstone_tests::agent::Agent;
use siltstone_tests::mosquitto::Mosquitto;
use siltstone_tests::publisher::Publisher;
use siltstone_tests::scratch::Scratch;
use siltstone_tests::{browser, workspace};

/// Messages come this far apart.
const PAUSE: Duration = Duration::from_millis(100);
/// After so many messages another device appears.
const NEW_DEVICE_EVERY: usize = 30;

#[test]
fn the_page_of_an_agent_shows_what_moves_and_advances_by_itself() {
    // Told here, before anything is started, when the page is not built.
    workspace::dashboard();
    let scratch = Scratch::new("live-page");
    let broker = Mosquitto::start(&scratch);
    let mut agent = Agent::configure(&scratch, &broker.url(), "");
    agent.start();
    agent.wait_for_log("subscribed", Duration::from_secs(20));
    let stop = AtomicBool::new(false);
    let (answer, published) = std::thread::scope(|scope| {
        let sensors = scope.spawn(|| publish(broker.port, &stop));
        let page = format!("http://127.0.0.1:{}/", agent.port);
        let task = json!({ "page": page, "watched": "force", "screenshots": workspace::artefacts() });
        // The sensors are stopped in either case, or a failure would wait for them for ever.
        let answer = std::panic::catch_unwind(|| browser::run("live.mjs", &task));
        stop.store(true, Ordering::SeqCst);
        (answer, sensors.join().expect("the sensors do not fail"))
    });
    let answer = answer.unwrap_or_else(|panic| std::panic::resume_unwind(panic));

    let shown: Vec<&str> = rows(&answer, "first").iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(shown.iter().any(|name| name.starts_with("force{")), "{shown:?}");
    assert!(
        shown.iter().all(|name| !name.starts_with("aaa_still{")),
        "what stands still is shown: {shown:?}"
    );
    assert_eq!(answer["range"], "1m", "{answer:#}");

    let (first, later) = (watched(&answer, "first"), watched(&answer, "later"));
    assert!(readings(later) >= readings(first) + 10, "no readings arrive: {first} {later}");
    for row in [first, later] {
        let last = row["last"].as_str().unwrap();
        assert!(published.iter().any(|value| value == last), "{last} was never published");
    }
    assert_ne!(first["last"], later["last"]);
    assert_eq!(answer["loads"], 1, "the page was loaded again");
    assert!(answer["grown"].as_u64() > answer["list"].as_u64(), "new series are not listed: {answer:#}");
    assert_eq!(answer["console"], json!([]), "the browser complains");
    agent.stop();
}

/// A press with one figure that moves and one that does not, and every few seconds another device.
/// Gives what it published of the moving one, as the page writes it.
fn publish(port: u16, stop: &AtomicBool) -> Vec<String> {
    let mut publisher = Publisher::connect(port, "live-page");
    let mut published = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        let turn = published.len();
        let force = (50_000.0 + 40_000.0 * (turn as f64 / 5.0).sin()).round() / 1000.0;
        publisher.publish("hall/press", format!("{{\"aaa_still\":91,\"force\":{force}}}"));
        publisher.publish(&format!("hall/lamp {}", turn / NEW_DEVICE_EVERY), "{\"aaa_still\":3}");
        published.push(force.to_string());
        std::thread::sleep(PAUSE);
    }
    published
}

fn rows<'a>(answer: &'a Json, look: &str) -> &'a [Json] {
    answer[look].as_array().expect("the legend has rows")
}

fn watched<'a>(answer: &'a Json, look: &str) -> &'a Json {
    let mut rows = rows(answer, look).iter();
    rows.find(|row| row["name"].as_str().unwrap().starts_with("force{")).expect("the moving series is shown")
}

fn readings(row: &Json) -> u64 {
    let plain: String = row["readings"].as_str().unwrap().chars().filter(char::is_ascii_digit).collect();
    plain.parse().expect("a count")
}
