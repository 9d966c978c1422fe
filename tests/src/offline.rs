//! Block files without an agent: what the command line says of them, and what the static page shows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::agent::{segments, siltstone};
use crate::range_server::RangeServer;
use crate::stored::{EVERYTHING, number};
use crate::{browser, workspace};

/// What both sides are asked for, and where the page's legend has it.
const FIGURES: [(&str, &str); 5] =
    [("count", "readings"), ("last", "last"), ("min", "min"), ("mean", "mean"), ("max", "max")];

/// Series to the figures of `FIGURES`.
pub type Figures = BTreeMap<String, [f64; FIGURES.len()]>;

/// Copies the block files of a store to `to`: what is left is the files alone.
pub fn carry_away(data: &Path, to: &Path) -> Vec<PathBuf> {
    std::fs::create_dir(to).expect("a folder can be made");
    let copies = segments(data).into_iter().map(|file| {
        let copy = to.join(file.file_name().expect("a segment has a name"));
        std::fs::copy(&file, &copy).expect("a segment can be copied");
        copy
    });
    copies.collect()
}

/// What `siltstone query` says of the files.
pub fn command_line(files: &[PathBuf]) -> Figures {
    let mut arguments = vec!["query".to_owned()];
    for file in files {
        arguments.extend(["--file".to_owned(), file.to_str().expect("a plain path").to_owned()]);
    }
    arguments.extend(["--select", EVERYTHING, "--format", "json"].map(str::to_owned));
    for (function, _) in FIGURES {
        arguments.extend(["--fn".to_owned(), function.to_owned()]);
    }
    let answer: Json = serde_json::from_str(&siltstone(&arguments).success()).expect("query answers JSON");
    let columns = answer["columns"].as_array().expect("an answer has columns");
    let place = |function: &str| {
        columns.iter().position(|column| column["name"] == function).expect("a column a function")
    };
    let places = FIGURES.map(|(function, _)| place(function));
    let rows = answer["rows"].as_array().expect("an answer has rows");
    let figures = |row: &Json| places.map(|place| number(&row[place]));
    rows.iter()
        .map(|row| (row[0].as_str().expect("a row begins with its series").to_owned(), figures(row)))
        .collect()
}

/// Opens the files in the built static page in Chromium, by drop and by the file dialog without a
/// network and by address, and panics where the page shows anything but `said` for any series.
/// Screenshots are kept.
pub fn assert_page_shows(files: &[PathBuf], said: &Figures) {
    let folder = files[0].parent().expect("the files lie in a folder");
    let server = RangeServer::start(0, &[("/", &workspace::dashboard()), ("/data/", folder)])
        .expect("a port of loopback is free");
    let address = |file: &PathBuf| {
        let name = file.file_name().and_then(|name| name.to_str()).expect("a plain name");
        server.url(&format!("/data/{name}"))
    };
    let urls: Vec<String> = files.iter().map(address).collect();
    let answer = browser::run(
        "offline.mjs",
        &json!({
            "page": server.url("/"), "files": files, "urls": urls,
            "series": said.keys().collect::<Vec<_>>(), "screenshots": workspace::artefacts(),
        }),
    );

    let wanted = as_written(said);
    for way in ["drop", "picker", "url"] {
        assert_eq!(shown(&answer[way]), wanted, "by {way}");
        let cost = answer[way]["cost"].as_str().unwrap_or_default();
        assert!(cost.contains("block") && cost.contains(" of "), "{way}: {cost}");
    }
    assert_eq!(answer["requests"], json!([]), "wanted from the network while offline");
    assert_eq!(answer["strangers"], json!([]), "fetched from another host");
    assert_eq!(answer["console"], json!([]), "the browser complains");

    // By address the blocks were fetched one by one, not the files as a whole.
    let size = |path: &str| {
        let name = path.strip_prefix("/data/").unwrap_or_default();
        std::fs::metadata(folder.join(name)).expect("what was served is there").len()
    };
    let fetched: Vec<_> = server.take_served().into_iter().filter(|s| s.path.starts_with("/data/")).collect();
    assert!(fetched.len() >= 2 * files.len(), "{fetched:?}");
    for part in &fetched {
        assert!(part.bytes < size(&part.path), "a whole file was fetched: {part:?}");
    }
}

/// Figures as the page writes them: it rounds means, and nothing else, to seven significant digits.
fn as_written(said: &Figures) -> Figures {
    let mut figures = said.clone();
    for (at, _) in FIGURES.iter().enumerate().filter(|(_, (function, _))| *function == "mean") {
        for row in figures.values_mut() {
            row[at] = format!("{:.6e}", row[at]).parse().expect("a number");
        }
    }
    figures
}

/// The page's legend.
fn shown(way: &Json) -> Figures {
    let rows = way["shown"].as_array().expect("the legend has rows");
    let figures = |row: &Json| FIGURES.map(|(_, head)| figure(row[head].as_str().unwrap_or("")));
    rows.iter()
        .map(|row| (row["name"].as_str().expect("a row has a name").to_owned(), figures(row)))
        .collect()
}

/// A number as the page writes it: thin spaces between thousands, a true minus.
fn figure(text: &str) -> f64 {
    let plain: String = text.chars().filter(|c| !c.is_whitespace() && *c != '\u{202f}').collect();
    plain.replace('\u{2212}', "-").parse().unwrap_or_else(|_| panic!("\"{text}\" is no figure"))
}
