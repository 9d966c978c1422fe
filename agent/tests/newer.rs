//! A store that a newer program wrote into: every command says so in one sentence, and changes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use siltstone_core::block::{BLOCK_LEN, DeviceId, HEADER_LEN, peek, seal};

/// Bytes that are compared of each file, besides its length and when it was written.
const HEAD_BYTES: usize = 64 << 10;

fn siltstone(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_siltstone")).args(arguments).output().unwrap()
}

/// Everything below a directory: of files the length, when they were written, and how they begin.
type Image = BTreeMap<PathBuf, Option<(u64, SystemTime, Vec<u8>)>>;

fn image(directory: &Path, image: &mut Image) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            self::image(&path, image);
            image.insert(path, None);
            continue;
        }
        let about = path.metadata().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.truncate(HEAD_BYTES);
        image.insert(path, Some((about.len(), about.modified().unwrap(), bytes)));
    }
}

/// Makes the first block of a file what a program of version 3 would have written.
fn make_newer(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let block: &mut [u8; BLOCK_LEN] = bytes.first_chunk_mut().unwrap();
    let (header, payload) = peek(block).unwrap();
    let is_id = path.ends_with("store.id");
    let device = if is_id { DeviceId::default() } else { payload[16..32].try_into().unwrap() };
    block[HEADER_LEN + 8] = 3;
    seal(block, &header, &device);
    std::fs::write(path, bytes).unwrap();
}

fn segment(directory: &Path) -> PathBuf {
    let mut below = vec![directory.join("segments")];
    while let Some(directory) = below.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below.push(path);
            } else if path.extension().is_some_and(|ending| ending == "silt") {
                return path;
            }
        }
    }
    panic!("no segment");
}

#[test]
fn every_command_refuses_it_and_changes_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let path = |name: &str| scratch.path().join(name).display().to_string();
    let mut sheet = String::from("timestamp_s,t\n");
    (0..2_000).for_each(|n| sheet.push_str(&format!("{},{}\n", 1_700_000_000 + n * 60, n % 7)));
    std::fs::write(path("a.csv"), sheet).unwrap();
    for kind in ["store.id", "journal/00.journal", "a segment"] {
        let _ = std::fs::remove_dir_all(path("d"));
        let data = path("d");
        assert!(siltstone(&["import", &path("a.csv"), "--data", &data]).status.success());
        // As it may come from a backup: an older program would make the lock first of all.
        std::fs::remove_file(path("d/lock")).unwrap();
        std::fs::write(path("d/state/half.tmp"), "unfinished").unwrap();
        std::fs::write(path("d/journal/09.journal.part"), "unfinished").unwrap();
        let file = match kind {
            "a segment" => segment(Path::new(&data)),
            name => Path::new(&data).join(name),
        };
        make_newer(&file);
        let inside = file.strip_prefix(&data).unwrap().display().to_string();
        let config = format!(
            "[data]\ndir = {data:?}\n[mqtt]\nurl = \"mqtt://127.0.0.1:9\"\n[http]\nlisten = \"127.0.0.1:0\"\n"
        );
        std::fs::write(path("c.toml"), config).unwrap();
        let mut before = Image::new();
        image(Path::new(&data), &mut before);
        for (arguments, is_refused) in [
            (vec!["run", "--config", &path("c.toml")], true),
            (vec!["import", &path("a.csv"), "--data", &data], true),
            (vec!["seal", &data], true),
            (vec!["delete", &data, "--select", "t", "--yes"], true),
            (vec!["new-id", &data], true),
            (vec!["inspect", &data], true),
            (vec!["verify", &data], true),
            (vec!["query", "--data", &data, "--select", "t"], false),
        ] {
            let output = siltstone(&arguments);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            let place = format!("{data}: {inside} is of version 3, and this program knows versions up to 0");
            assert!(told.contains(&place), "{arguments:?}: {told}");
            if is_refused {
                assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
                assert_eq!(told.lines().count(), 1, "{arguments:?}: {told}");
            }
            let mut after = Image::new();
            image(Path::new(&data), &mut after);
            assert!(after == before, "{arguments:?} on a newer {kind} changed something");
        }
    }
}
