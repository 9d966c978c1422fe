//! The commands as a person runs them: what goes in comes out, faults are one sentence and a code.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use siltstone::config::DataConfig;
use siltstone::engine::Engine;

const SHEET: &str = "timestamp_ns,\"humidity{device=\"\"attic\"\"}\",\"mode{device=\"\"attic\"\"}\",\"{\"\"soil moisture\"\"}\"\n\
                     1700000000000000000,40,on,\n\
                     1700000000000000001,-0,true,9007199254740993\n\
                     1700000010000000000,NaN,\"\"\"007\"\"\",7i\n\
                     1700000020000000000,-Infinity,,-\n\
                     1700000030000000000,5e-324,\"a,b\",0.1\n\
                     1800000000000000000,NaN:7ff8000000000001,-,1e300\n";

/// A directory for one test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("siltstone-commands-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn siltstone(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_siltstone")).args(arguments).output().unwrap()
}

fn good(arguments: &[&str]) -> String {
    let output = siltstone(arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {told}");
    String::from_utf8(output.stdout).unwrap()
}

/// The sentence of a command that must fail with `code`.
fn bad(arguments: &[&str], code: i32) -> String {
    let output = siltstone(arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    assert!(!told.contains("panicked"), "{told}");
    told
}

fn segments(path: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            segments(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "silt") {
            found.push(path);
        }
    }
}

#[test]
fn what_is_exported_imports_to_the_same() {
    let scratch = Scratch::new("round-trip");
    std::fs::write(scratch.path("a.csv"), SHEET).unwrap();
    good(&["import", &scratch.path("a.csv"), "--data", &scratch.path("one")]);
    let columns = |sheet: &str| sheet.lines().next().unwrap().to_owned();
    let first = good(&["export", "--data", &scratch.path("one")]);
    assert_eq!(first.lines().count(), SHEET.lines().count());
    good(&["export", "--data", &scratch.path("one"), "--output", &scratch.path("b.csv.gz")]);
    good(&["import", &scratch.path("b.csv.gz"), "--data", &scratch.path("two"), "--partition", "year"]);
    let second = good(&["export", "--data", &scratch.path("two")]);
    assert_eq!(first, second);
    assert!(columns(&first).starts_with("timestamp_ns,\"humidity{device=\"\"attic\"\"}\""), "{first}");
    // Columns come in the order of names; with them in that order the sheet itself comes back.
    let mut ordered: Vec<&str> = SHEET.lines().collect();
    let mut lines: Vec<&str> = first.lines().collect();
    assert_eq!(ordered.remove(0).len(), lines.remove(0).len());
    for (ours, theirs) in ordered.iter().zip(&lines) {
        let sorted = |line: &str| {
            let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            cells.sort();
            cells
        };
        assert_eq!(sorted(ours), sorted(theirs));
    }
    let part =
        good(&["export", "--data", &scratch.path("one"), "--select", "humidity", "--to", "2023-12-01"]);
    assert_eq!(part.lines().count(), 6);
}

#[test]
fn questions_in_three_forms() {
    let scratch = Scratch::new("query");
    let mut sheet = String::from("timestamp_s,cpu\n");
    for n in 0..5_000 {
        sheet.push_str(&format!("{},{}\n", 1_700_000_000 + n * 60, n % 7));
    }
    std::fs::write(scratch.path("a.csv"), sheet).unwrap();
    let rules = ["--metric", "node", "--tag", "host=gw"];
    good(&[&["import", &scratch.path("a.csv"), "--data", &scratch.path("d")][..], &rules].concat());
    let mut files = Vec::new();
    segments(&scratch.0.join("d"), &mut files);
    assert_eq!(files.len(), 1);
    let file = files[0].to_str().unwrap();
    let ask = |more: &[&str]| {
        good(&[&["query", "--file", file, "--select", "node_cpu{host=\"gw\"}"][..], more].concat())
    };
    assert_eq!(ask(&["--format", "csv"]).lines().count(), 5_001);
    let table = ask(&["--fn", "count,max", "--step", "1d", "--from", "2023-11-15", "--to", "2023-11-17"]);
    assert!(table.contains("2023-11-15T00:00:00Z  2023-11-16T00:00:00Z  1440   6"), "{table}");
    let document: serde_json::Value =
        serde_json::from_str(&ask(&["--format", "json", "--where", "> 5", "--limit", "3", "--descending"]))
            .unwrap();
    assert_eq!(document["rows"].as_array().unwrap().len(), 3);
    assert_eq!(document["rows"][0][2], 6);
    assert!(document["stats"]["blocks_total"].as_u64().unwrap() > 3);
    let inspected: serde_json::Value = serde_json::from_str(&good(&["inspect", file, "--json"])).unwrap();
    let segment = &inspected["segments"][0];
    assert_eq!((&segment["points"], &segment["sealed"]), (&5_000.into(), &true.into()));
    let split = &segment["bytes_per_point"];
    let of = |key: &str| split[key].as_f64().unwrap();
    assert!((of("timestamps") + of("values") + of("overhead") - of("leaves")).abs() < 0.01, "{split}");
    assert!(good(&["inspect", file]).contains("5000 readings of 1 series"));
    assert_eq!(siltstone(&["verify", &scratch.path("d")]).status.code(), Some(0));
}

#[test]
fn a_store_in_use_says_how_long_its_card_lasts() {
    const DAY_NS: i64 = 86_400_000_000_000;
    let scratch = Scratch::new("card");
    let config = DataConfig { dir: scratch.0.join("d"), ..DataConfig::default() };
    let (engine, _) = Engine::open(&config).unwrap();
    let begin = 1_796_000_000_000_000_000;
    for day in [0, 4] {
        engine.work(Some(begin + day * DAY_NS), true).unwrap();
        engine.checkpoint().unwrap();
    }
    // The store is open, and its journal is all there is.
    let document: serde_json::Value =
        serde_json::from_str(&good(&["inspect", &scratch.path("d"), "--json", "--card-tbw", "1TB"])).unwrap();
    let written = &document["written"];
    let measured = &written["measured"];
    assert_eq!(measured["begin"], begin.to_string());
    assert_eq!(measured["end"], (begin + 4 * DAY_NS).to_string());
    let bytes = measured["bytes"].as_u64().unwrap();
    assert!(bytes > 0 && written["bytes_per_day"] == bytes / 4, "{written}");
    assert!(written["card_years_left"].as_f64().unwrap() > 1_000.0, "{written}");
    std::fs::write(scratch.path("c.toml"), "[data]\ncard_tbw = \"2TB\"\n").unwrap();
    let text = good(&["inspect", &scratch.path("d"), "--config", &scratch.path("c.toml")]);
    assert!(text.contains("measured over 4.0 days") && text.contains("rated for 2.0 TB"), "{text}");
    assert!(bad(&["inspect", &scratch.path("d"), "--card-tbw", "much"], 2).contains("much"));
}

#[test]
fn faults_are_one_sentence_and_a_code() {
    let scratch = Scratch::new("faults");
    std::fs::write(scratch.path("bad.csv"), "timestamp_s,a\n1,2\nnoon,3\n").unwrap();
    std::fs::write(scratch.path("no.silt"), "these are notes\n".repeat(1000)).unwrap();
    let data = scratch.path("d");
    for (arguments, code, part) in [
        (vec!["import", &scratch.path("bad.csv"), "--data", &data], 1, "bad.csv:3: `noon` is no instant"),
        (vec!["import", &scratch.path("none.csv"), "--data", &data], 1, "none.csv: can't read it"),
        (
            vec!["query", "--file", &scratch.path("no.silt"), "--select", "a"],
            1,
            "no.silt: not a Siltstone segment",
        ),
        (vec!["query", "--data", &scratch.path("nowhere"), "--select", "a"], 1, "there is no such directory"),
        (vec!["query", "--data", &data, "--select", "a{"], 1, "the selector can't be read"),
        (vec!["query", "--url", "https://localhost/a.silt", "--select", "a"], 1, "only http://"),
        (
            vec!["query", "--data", &data, "--select", "a", "--fn", "median"],
            2,
            "there is no function `median`",
        ),
        (vec!["query", "--select", "a"], 2, "Usage"),
        (vec!["seal", &scratch.path("")], 1, "there is no store in it"),
        (vec!["inspect", &scratch.path("nothing.silt")], 1, "nothing.silt: there is no such file"),
        (vec!["verify", &scratch.path("nothing.silt")], 1, "nothing.silt: there is no such file"),
        (vec!["run", "--config", &scratch.path("nothing.toml")], 1, "nothing.toml: can't read it"),
    ] {
        let told = bad(&arguments, code);
        assert!(told.contains(part), "{arguments:?}: {told}");
        if code == 1 {
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }
    let verified = siltstone(&["verify", &scratch.path("no.silt")]);
    assert_eq!(verified.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&verified.stdout).contains("no.silt: not a Siltstone segment"));
}
