//! The house style as a test: what CONTRIBUTING.md asks for and a program can check.
//!
//! Each rule is a pure function from one file to its faults (`rules.rs`, `rooms.rs`), each has a
//! test that shows it failing, and one test here applies all of them to every file of the
//! repository. A rule that makes one piece of code worse is lifted for that piece by a comment on
//! the line before it, with the reason: `// style: <reason>` (see `rules::excused`).
//! It does not judge names, comments or design: people do.

mod rooms;
mod rules;
mod tree;

use tree::File;

#[test]
fn every_file_keeps_the_house_style() {
    let root = tree::root();
    let files = tree::files(&root);
    assert!(files.len() > 20, "only {} files found below {}", files.len(), root.display());
    let mut faults: Vec<String> = files.iter().flat_map(check).collect();
    faults.extend(rooms::undocumented(&root));
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The faults of one file, each with its place.
fn check(file: &File) -> Vec<String> {
    let mut faults = rules::words(file);
    faults.extend(rules::file_name(file));
    faults.extend(rules::machine_paths(file));
    if file.path.ends_with(".rs") {
        faults.extend(rules::opening(file));
        faults.extend(rules::file_length(file));
        faults.extend(rules::function_length(file));
        faults.extend(rules::bare_allow(file));
        faults.extend(rules::front_door(file));
        faults.extend(rooms::direction(file));
        faults.extend(rooms::outside(file));
    }
    faults
}
