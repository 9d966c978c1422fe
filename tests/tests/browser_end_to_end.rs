//! Block files in a real browser, without any agent: the static page shows what the command line says.
//!
//! Question of this suite: can somebody carry the files away and look at them offline?

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value as Json, json};
use siltstone_tests::agent::{Agent, segments, siltstone};
use siltstone_tests::mosquitto::Mosquitto;
use siltstone_tests::publisher::Publisher;
use siltstone_tests::range_server::RangeServer;
use siltstone_tests::scratch::Scratch;
use siltstone_tests::{browser, wait, workspace};

/// Counts, minima, means and maxima: what both sides are asked for.
const FUNCTIONS: [&str; 4] = ["count", "min", "mean", "max"];

#[test]
fn the_static_page_shows_what_the_command_line_says() {
    let scratch = Scratch::new("offline-page");
    let files = carried_away(&scratch);
    let said = command_line(&scratch.join("carried"));
    assert!(said.len() >= 4, "{said:?}");

    let carried = scratch.join("carried");
    let server = RangeServer::start(0, &[("/", &workspace::dashboard()), ("/data/", &carried)]).unwrap();
    let urls: Vec<String> = files
        .iter()
        .map(|file| server.url(&format!("/data/{}", file.file_name().unwrap().to_str().unwrap())))
        .collect();
    let answer = browser::run(
        "offline.mjs",
        &json!({
            "page": server.url("/"), "files": files, "urls": urls,
            "series": said.keys().collect::<Vec<_>>(), "screenshots": workspace::artefacts(),
        }),
    );

    for way in ["drop", "picker", "url"] {
        assert_eq!(shown(&answer[way]), expected(&said), "by {way}, {answer:#}");
        let cost = answer[way]["cost"].as_str().unwrap();
        assert!(cost.contains("block") && cost.contains(" of "), "{way}: {cost}");
    }
    assert_eq!(answer["requests"], json!([]), "wanted from the network while offline");
    assert_eq!(answer["strangers"], json!([]), "fetched from another host");
    assert_eq!(answer["console"], json!([]), "the browser complains");

    // By address the blocks were fetched one by one, not the files as a whole.
    let sizes: BTreeMap<&str, u64> = BTreeMap::from_iter(
        urls.iter().zip(&files).map(|(url, file)| (url.as_str(), std::fs::metadata(file).unwrap().len())),
    );
    let fetched: Vec<_> = server.take_served().into_iter().filter(|s| s.path.starts_with("/data/")).collect();
    assert!(fetched.len() >= 2 * files.len(), "{fetched:?}");
    let largest = sizes.values().max().unwrap();
    assert!(fetched.iter().all(|s| s.bytes < *largest), "a whole file was fetched: {fetched:?}");
}

/// Readings through a broker and the agent, sealed, the agent stopped, its files copied to `carried/`:
/// what is left to the page is the files alone.
fn carried_away(scratch: &Scratch) -> Vec<PathBuf> {
    let broker = Mosquitto::start(scratch);
    let mut agent = Agent::configure(scratch, &broker.url(), "max_age = \"20y\"");
    agent.start();
    agent.wait_for_log("subscribed", Duration::from_secs(20));
    let mut publisher = Publisher::connect(broker.port, "offline");
    let total = publish(&mut publisher);
    publisher.flush();
    let http = agent.http();
    let question = json!({ "select": "{__name__=~\".+\"}", "from": "1971-01-01T00:00:00Z",
        "to": "2200-01-01T00:00:00Z", "fn": ["count"] });
    wait::for_true("everything is stored", Duration::from_secs(60), || {
        let rows = http.query_all(&question);
        rows.iter().filter_map(|row| row.last().and_then(Json::as_u64)).sum::<u64>() == total
    });
    assert_eq!(http.post("/api/seal", &json!({})).status, 200);
    agent.stop();

    let carried = scratch.join("carried");
    std::fs::create_dir(&carried).unwrap();
    segments(&agent.data)
        .iter()
        .map(|file| {
            let copy = carried.join(file.file_name().unwrap());
            std::fs::copy(file, &copy).unwrap();
            copy
        })
        .collect()
}

/// Four series over three calendar months, so that several segments are opened together.
fn publish(publisher: &mut Publisher) -> u64 {
    let begin_ms = 1_756_000_000_000i64;
    let mut total = 0;
    for at in 0..6_000i64 {
        let time = begin_ms + at * 600_000;
        let temperature = 20.0 + 6.0 * (at as f64 / 23.0).sin() + (at * at * 31 % 97) as f64 / 60.0;
        let humidity = 40.0 + (at % 97) as f64 / 4.0;
        publisher.publish(
            "house/attic",
            format!("{{\"ts\":{time},\"temperature\":{temperature:.2},\"humidity\":{humidity}}}"),
        );
        publisher.publish("house/cellar", format!("{{\"ts\":{time},\"temperature\":{}}}", 8 + at % 5));
        total += 3;
        if at % 50 == 0 {
            publisher.publish("house/meter", format!("{{\"ts\":{time},\"energy_wh\":{}}}", at * 17));
            total += 1;
        }
    }
    total
}

/// What `siltstone query` says of the files: series to count, min, mean, max.
fn command_line(folder: &Path) -> BTreeMap<String, [f64; 4]> {
    let mut arguments = vec!["query".to_owned()];
    for file in segments(folder) {
        arguments.extend(["--file".to_owned(), file.to_str().unwrap().to_owned()]);
    }
    arguments.extend(["--select", "{__name__=~\".+\"}", "--format", "json"].map(str::to_owned));
    for name in FUNCTIONS {
        arguments.extend(["--fn".to_owned(), name.to_owned()]);
    }
    let answer: Json = serde_json::from_str(&siltstone(&arguments).success()).expect("query answers JSON");
    let columns: Vec<&str> =
        answer["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    let at = |name: &str| columns.iter().position(|c| *c == name).expect("a column a function");
    let places = FUNCTIONS.map(at);
    answer["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row[0].as_str().unwrap().to_owned(), places.map(|place| row[place].as_f64().unwrap())))
        .collect()
}

/// The same as the page writes it.
fn expected(said: &BTreeMap<String, [f64; 4]>) -> BTreeMap<String, [f64; 4]> {
    said.iter()
        .map(|(name, [count, min, mean, max])| (name.clone(), [*count, *min, seven_digits(*mean), *max]))
        .collect()
}

/// The legend rounds means, and nothing else, to seven significant digits.
fn seven_digits(value: f64) -> f64 {
    format!("{value:.6e}").parse().expect("a number")
}

fn shown(way: &Json) -> BTreeMap<String, [f64; 4]> {
    let rows = way["shown"].as_array().expect("the legend has rows");
    rows.iter()
        .map(|row| {
            let cells =
                ["readings", "min", "mean", "max"].map(|head| figure(row[head].as_str().unwrap_or("")));
            (row["name"].as_str().unwrap().to_owned(), cells)
        })
        .collect()
}

/// A number as the page writes it: thin spaces between thousands, a true minus.
fn figure(text: &str) -> f64 {
    let plain: String = text.chars().filter(|c| !c.is_whitespace() && *c != '\u{202f}').collect();
    plain.replace('\u{2212}', "-").parse().unwrap_or_else(|_| panic!("\"{text}\" is no figure"))
}

#[test]
fn a_damaged_file_is_named_and_the_others_are_shown() {
    let scratch = Scratch::new("damaged-page");
    let files = carried_away(&scratch);
    let said = command_line(&scratch.join("carried"));
    let stranger = scratch.join("notes.silt");
    File::create(&stranger).unwrap().write_all(b"these are notes and no segment").unwrap();
    let server = RangeServer::start(0, &[("/", &workspace::dashboard())]).unwrap();
    let mut together = files;
    together.push(stranger);
    let answer = browser::run(
        "damaged.mjs",
        &json!({ "page": server.url("/"), "files": together, "series": said.keys().next(),
            "screenshots": workspace::artefacts() }),
    );
    let messages = answer["messages"].as_str().unwrap();
    assert!(messages.contains("notes.silt"), "{messages}");
    assert_eq!(answer["rows"], 1);
    assert_eq!(answer["errors"], json!([]));
}
