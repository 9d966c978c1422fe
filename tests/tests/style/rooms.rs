//! Rules about the rooms of the house: who may use whom, and that the documents name every room.
//!
//! The flow is `point → series → codec → block → tree → index → segment → store → query`. A room of
//! `core` may use rooms to its left. Tests may use anything, comments may speak of anything.

use std::path::Path;

use crate::rules::is_test_file;
use crate::tree::File;

/// The rooms of core in the order of the flow.
const FLOW: &[&str] = &["point", "series", "codec", "block", "tree", "index", "segment", "store", "query"];

/// Uses of a room to the right.
pub(crate) fn direction(file: &File) -> Vec<String> {
    let Some(inside) = file.path.strip_prefix("core/src/") else { return Vec::new() };
    let room = inside.split('/').next().unwrap_or_default();
    let Some(place) = FLOW.iter().position(|r| *r == room) else { return Vec::new() };
    if is_test_file(&file.path) {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        if line == "#[cfg(test)]" {
            break;
        }
        let line = line.split("//").next().unwrap_or_default();
        for used in used_rooms(line) {
            if FLOW.iter().position(|r| *r == used).is_some_and(|p| p > place) {
                faults.push(format!(
                    "{}:{}: {room} uses {used}, which is to its right",
                    file.path,
                    number + 1
                ));
            }
        }
    }
    faults
}

/// The rooms a line of code names: `crate::tree`, `crate::{block, tree}`, `super::super::tree`.
fn used_rooms(line: &str) -> Vec<&str> {
    let name =
        |text: &'_ str| text.len() - text.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    let mut rooms = Vec::new();
    for prefix in ["crate::", "super::super::"] {
        for (at, _) in line.match_indices(prefix) {
            let rest = &line[at + prefix.len()..];
            if let Some(list) = rest.strip_prefix('{') {
                // Only the outermost names of the list are rooms.
                let mut depth = 0usize;
                let mut begin = 0;
                for (i, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => {
                            rooms.push(list[begin..i].trim_start());
                            break;
                        }
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            rooms.push(list[begin..i].trim_start());
                            begin = i + 1;
                        }
                        _ => {}
                    }
                }
            } else {
                rooms.push(rest);
            }
        }
    }
    rooms.into_iter().map(|text| &text[..name(text)]).filter(|n| !n.is_empty()).collect()
}

/// What would let core reach a clock, a file, a socket or a thread: the standard library by name.
pub(crate) fn outside(file: &File) -> Vec<String> {
    if !file.path.starts_with("core/src/") || is_test_file(&file.path) {
        return Vec::new();
    }
    file.text
        .lines()
        .take_while(|line| *line != "#[cfg(test)]")
        .enumerate()
        .filter(|(_, line)| line.split("//").next().unwrap_or_default().contains("std::"))
        .map(|(number, _)| format!("{}:{}: core uses core and alloc, not std", file.path, number + 1))
        .collect()
}

/// Rooms that `docs/architecture.md` does not name: folders of the root, files and folders of the
/// packages' sources.
pub(crate) fn undocumented(root: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(root.join("docs/architecture.md")).unwrap_or_default();
    let mut faults = Vec::new();
    let missing = |faults: &mut Vec<String>, room: &str| {
        if !text.contains(&format!("`{room}`")) {
            faults.push(format!("docs/architecture.md: the room `{room}` is missing"));
        }
    };
    for room in FLOW {
        missing(&mut faults, room);
    }
    for package in ["core", "agent", "wasm", "web", "tests"] {
        missing(&mut faults, &format!("{package}/"));
        for room in folders(&root.join(package).join("src")) {
            missing(&mut faults, &room);
        }
    }
    for room in folders(&root.join("core/src")) {
        if !FLOW.contains(&room.as_str()) {
            faults.push(format!("core/src/{room}: a room without a place in the flow"));
        }
    }
    faults
}

fn folders(below: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(below) else { return Vec::new() };
    let generated = |name: &String| name != "pkg" && name != "bin";
    entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(generated)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> usize {
        direction(&File { path: path.to_owned(), text: text.to_owned() }).len()
    }

    #[test]
    fn the_arrow_points_one_way() {
        assert_eq!(faults("core/src/block/header.rs", "use crate::tree::Node;\n"), 1);
        assert_eq!(faults("core/src/tree/node.rs", "use crate::block::Block;\n"), 0);
        assert_eq!(faults("core/src/block/header.rs", "let n = crate::query::run();\n"), 1);
        assert_eq!(
            faults("core/src/block/header.rs", "use crate::{point::{A, B}, segment::C, block::D};\n"),
            1
        );
        assert_eq!(faults("core/src/block/header.rs", "use super::super::index::Sketch;\n"), 1);
        assert_eq!(faults("agent/src/block/header.rs", "use crate::tree::Node;\n"), 0);
    }

    #[test]
    fn comments_and_tests_may_speak_of_any_room() {
        assert_eq!(faults("core/src/block/header.rs", "// see crate::tree\n"), 0);
        assert_eq!(faults("core/src/block/header_tests.rs", "use crate::tree::Node;\n"), 0);
        assert_eq!(
            faults("core/src/block/header.rs", "#[cfg(test)]\nmod tests {\n    use crate::tree::N;\n}\n"),
            0
        );
    }

    #[test]
    fn core_does_not_reach_for_the_standard_library() {
        let check = |path: &str, text: &str| outside(&File { path: path.into(), text: text.into() }).len();
        assert_eq!(check("core/src/a.rs", "use std::fs;\n"), 1);
        assert_eq!(check("core/src/a.rs", "// std::fs is not here\n#[cfg(test)]\nmod t;\nuse std::fs;\n"), 0);
        assert_eq!(check("agent/src/a.rs", "use std::fs;\n"), 0);
    }

    #[test]
    fn a_document_that_names_no_room_has_faults() {
        let empty = std::env::temp_dir().join("siltstone-style-no-documents");
        assert!(undocumented(&empty).len() >= FLOW.len());
    }
}
