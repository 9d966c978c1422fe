//! Rules about one file at a time: its name, its words, its opening, the length of it and its
//! functions.
//!
//! They read lines, not syntax: `cargo fmt --check` runs before them, so that indentation tells
//! where a function or a test module ends.

use crate::tree::File;

/// Lines of code in a file, its own tests not counted.
const FILE_LINES_MAX: usize = 500;
/// Lines in a file of nothing but tests.
const TEST_FILE_LINES_MAX: usize = 1_000;
/// Lines of a function, from its `fn` to its brace.
const FUNCTION_LINES_MAX: usize = 70;

/// Marks that say "later"; spelled in halves, so that this file keeps the rule.
const WORDS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
/// Names of drawers: what lies in them has no place of its own.
const DRAWERS: &[&str] = &["utils", "util", "common", "helpers", "helper", "misc", "stuff", "v2"];
/// Where one machine differs from the next.
const MACHINE_PATHS: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/user"), concat!("/tm", "p/")];

/// Whether the line before `at` lifts the rule for it: `// style: <reason>`.
fn excused(lines: &[&str], at: usize) -> bool {
    lines[..at]
        .iter()
        .rev()
        .take_while(|line| {
            let line = line.trim_start();
            line.starts_with("//") || line.starts_with("#[")
        })
        .any(|line| line.trim_start().strip_prefix("// style: ").is_some_and(|reason| reason.len() > 10))
}

/// A file whose lines are all tests.
pub(crate) fn is_test_file(path: &str) -> bool {
    path.ends_with("_tests.rs")
        || path.ends_with("/tests.rs")
        || path.contains("/tests/")
        || path.contains("/benches/")
}

/// The lines of code: all of a file up to its own tests.
fn code(file: &File) -> Vec<&str> {
    let lines: Vec<&str> = file.text.lines().collect();
    if is_test_file(&file.path) {
        return Vec::new();
    }
    let end = lines
        .windows(2)
        .position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{'));
    lines[..end.unwrap_or(lines.len())].to_vec()
}

/// Words that put something off.
pub(crate) fn words(file: &File) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        for word in line.split(|c: char| !c.is_ascii_alphanumeric()) {
            if WORDS.contains(&word) {
                faults.push(format!("{}:{}: \"{word}\": do it or leave it out", file.path, number + 1));
            }
        }
    }
    faults
}

/// Files and folders that are drawers.
pub(crate) fn file_name(file: &File) -> Vec<String> {
    file.path
        .split('/')
        .map(|part| part.split('.').next().unwrap_or(part))
        .filter(|stem| DRAWERS.contains(stem))
        .map(|stem| format!("{}: \"{stem}\" says nothing about what lies in it", file.path))
        .collect()
}

/// Paths that exist on one machine only.
pub(crate) fn machine_paths(file: &File) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        for path in MACHINE_PATHS {
            if line.contains(path) {
                faults.push(format!("{}:{}: \"{path}\" is a path of one machine", file.path, number + 1));
            }
        }
    }
    faults
}

/// Every Rust file says what it is before anything else.
pub(crate) fn opening(file: &File) -> Vec<String> {
    let opens = file.text.lines().next().is_some_and(|line| line.starts_with("//! ") && line.len() > 12);
    if opens { Vec::new() } else { vec![format!("{}:1: opens without //! and what the file is", file.path)] }
}

/// A file is one idea.
pub(crate) fn file_length(file: &File) -> Vec<String> {
    let (lines, limit) = if is_test_file(&file.path) {
        (file.text.lines().count(), TEST_FILE_LINES_MAX)
    } else {
        (code(file).len(), FILE_LINES_MAX)
    };
    if lines <= limit {
        return Vec::new();
    }
    vec![format!("{}: {lines} lines, {limit} are the most: it holds more than one idea", file.path)]
}

/// A function fits on a screen.
pub(crate) fn function_length(file: &File) -> Vec<String> {
    let lines = code(file);
    let mut faults = Vec::new();
    for (begin, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if !is_function(line.trim_start()) {
            continue;
        }
        let (close, bodiless) = (format!("{}}}", " ".repeat(indent)), format!("{})", " ".repeat(indent)));
        let end = lines[begin..]
            .iter()
            .position(|l| **l == close || (l.starts_with(&bodiless) && l.ends_with(';')));
        let Some(length) = end else { continue };
        if length + 1 > FUNCTION_LINES_MAX && !excused(&lines, begin) {
            faults.push(format!(
                "{}:{}: a function of {} lines, {FUNCTION_LINES_MAX} are the most",
                file.path,
                begin + 1,
                length + 1
            ));
        }
    }
    faults
}

/// Whether a trimmed line begins a function that has a body.
fn is_function(line: &str) -> bool {
    let mut rest = line;
    for word in ["pub ", "pub(crate) ", "pub(super) ", "pub(in crate) ", "default ", "const ", "async "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    rest.starts_with("fn ") && !line.ends_with(';') && !line.ends_with('}')
}

/// Lints are lifted with a reason or not at all.
pub(crate) fn bare_allow(file: &File) -> Vec<String> {
    let (outer, inner) = (concat!("#[al", "low("), concat!("#![al", "low("));
    file.text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains(outer) || line.contains(inner))
        .map(|(number, _)| format!("{}:{}: #[expect(lint, reason = \"...\")] instead", file.path, number + 1))
        .collect()
}

/// A `mod.rs` is the front door of a room: documents, files, what is lent outside.
pub(crate) fn front_door(file: &File) -> Vec<String> {
    if !file.path.ends_with("/mod.rs") {
        return Vec::new();
    }
    code(file)
        .iter()
        .enumerate()
        .filter(|(_, line)| is_function(line.trim_start()) || line.starts_with("impl"))
        .map(|(number, _)| format!("{}:{}: logic in a front door", file.path, number + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    fn long_function(lines: usize, before: &str) -> File {
        let body = "    step();\n".repeat(lines - 2);
        file("core/src/a.rs", &format!("//! A file of one function.\n{before}pub fn a() {{\n{body}}}\n"))
    }

    #[test]
    fn marks_of_unfinished_work_are_found_as_words_only() {
        let marked = file("a.md", &format!("fine\n// {}: later\n", WORDS[0]));
        assert_eq!(words(&marked).len(), 1);
        assert!(words(&marked)[0].starts_with("a.md:2:"));
        assert!(words(&file("a.md", &format!("{}S are listed", WORDS[0]))).is_empty());
    }

    #[test]
    fn drawers_are_found_in_any_part_of_a_path() {
        assert_eq!(file_name(&file("core/src/utils.rs", "")).len(), 1);
        assert_eq!(file_name(&file("core/src/common/bits.rs", "")).len(), 1);
        assert!(file_name(&file("core/src/commons_area.rs", "")).is_empty());
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        assert_eq!(machine_paths(&file("a.sh", &format!("cd {}main", MACHINE_PATHS[0]))).len(), 1);
        assert!(machine_paths(&file("a.sh", "cd ../shared")).is_empty());
    }

    #[test]
    fn a_file_opens_with_what_it_is() {
        assert_eq!(opening(&file("a.rs", "use x;\n")).len(), 1);
        assert_eq!(opening(&file("a.rs", "")).len(), 1);
        assert!(opening(&file("a.rs", "//! The file of the test.\n")).is_empty());
    }

    #[test]
    fn length_counts_code_and_not_its_tests() {
        let code = "a();\n".repeat(FILE_LINES_MAX);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "b();\n".repeat(80));
        assert!(file_length(&file("core/src/a.rs", &format!("{code}{tests}"))).is_empty());
        assert_eq!(file_length(&file("core/src/a.rs", &format!("{code}a();\n{tests}"))).len(), 1);
        let long = "a();\n".repeat(TEST_FILE_LINES_MAX);
        assert!(file_length(&file("core/src/a_tests.rs", &long)).is_empty());
        assert_eq!(file_length(&file("core/src/a_tests.rs", &format!("{long}b();\n"))).len(), 1);
    }

    #[test]
    fn long_functions_are_found_unless_a_reason_is_given() {
        assert!(function_length(&long_function(FUNCTION_LINES_MAX, "")).is_empty());
        assert_eq!(function_length(&long_function(FUNCTION_LINES_MAX + 1, "")).len(), 1);
        let reason = "// style: one table of cases reads best in one piece\n#[must_use]\n";
        assert!(function_length(&long_function(FUNCTION_LINES_MAX + 1, reason)).is_empty());
        assert_eq!(function_length(&long_function(FUNCTION_LINES_MAX + 1, "// style: so\n")).len(), 1);
    }

    #[test]
    fn lints_are_not_lifted_without_a_reason() {
        assert_eq!(bare_allow(&file("a.rs", concat!("#[al", "low(dead_code)]"))).len(), 1);
        assert!(bare_allow(&file("a.rs", "#[expect(dead_code, reason = \"x\")]")).is_empty());
    }

    #[test]
    fn a_front_door_holds_no_logic() {
        assert_eq!(front_door(&file("core/src/a/mod.rs", "//! A.\npub fn a() {\n}\n")).len(), 1);
        assert!(front_door(&file("core/src/a/mod.rs", "//! A.\nmod b;\npub use b::B;\n")).is_empty());
        assert!(front_door(&file("core/src/a/b.rs", "pub fn a() {\n}\n")).is_empty());
    }
}
