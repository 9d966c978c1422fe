//! Block files in a real browser, without any agent, that are not all in good order. (What the page
//! shows of good ones is in `home_end_to_end.rs`.)
//!
//! Question of this suite: does a bad file cost more than itself?

use siltstone_tests::agent::siltstone;
use siltstone_tests::home::Home;
use siltstone_tests::range_server::RangeServer;
use siltstone_tests::scratch::Scratch;
use siltstone_tests::{browser, offline, workspace};

use serde_json::json;

#[test]
fn a_damaged_file_is_named_and_the_others_are_shown() {
    let scratch = Scratch::new("damaged-page");
    let csv = scratch.join("home.csv");
    std::fs::write(&csv, Home::generated(6_000).csv()).unwrap();
    let data = scratch.join("data");
    siltstone(&["import", csv.to_str().unwrap(), "--data", data.to_str().unwrap()]).success();
    let files = offline::carry_away(&data, &scratch.join("carried"));
    let said = offline::command_line(&files);
    assert_eq!(said.len(), 9);
    let stranger = scratch.join("notes.silt");
    std::fs::write(&stranger, b"these are notes and no segment").unwrap();

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
