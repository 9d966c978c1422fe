//! Every dependency's licence lets both of ours be given: Rust packages by Cargo's own list, npm
//! packages that end up in the shipped page by the lock file.

use std::process::Command;

use serde_json::Value as Json;
use siltstone_tests::workspace::root;

/// Licences that ask for no more than their notice.
const FITTING: &[&str] = &[
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "Unlicense",
    "CC0-1.0",
    "BSL-1.0",
    "Unicode-3.0",
];

/// Whether an SPDX expression can be fulfilled with fitting licences. `OR` needs one of its sides,
/// `AND` needs both; the older `/` means `OR`.
fn fits(expression: &str) -> bool {
    let text = expression.replace('/', " OR ");
    let text = text.trim();
    if let Some(inside) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'))
        && !inside.contains(['(', ')'])
    {
        return fits(inside);
    }
    if let Some(sides) = split_outside(text, " AND ") {
        return sides.iter().all(|side| fits(side));
    }
    if let Some(sides) = split_outside(text, " OR ") {
        return sides.iter().any(|side| fits(side));
    }
    FITTING.contains(&text)
}

/// The parts around a word that stands outside of parentheses; `None` where it doesn't.
fn split_outside(text: &str, word: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut depth = 0i32;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if depth == 0 && rest.starts_with(word) {
            parts.push(String::new());
            rest = &rest[word.len()..];
            continue;
        }
        depth += i32::from(first == '(') - i32::from(first == ')');
        parts.last_mut()?.push(first);
        rest = &rest[first.len_utf8()..];
    }
    (parts.len() > 1).then_some(parts)
}

#[test]
fn every_rust_dependency_may_be_used() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root())
        .output()
        .expect("cargo can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Json = serde_json::from_slice(&output.stdout).expect("cargo's list is JSON");
    let packages = metadata["packages"].as_array().expect("it lists packages");
    assert!(packages.len() > 50);
    let unfit: Vec<String> = packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(fits))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(unfit.is_empty(), "{unfit:#?}");
}

#[test]
fn every_package_in_the_shipped_page_may_be_used() {
    let Ok(text) = std::fs::read_to_string(root().join("web/package-lock.json")) else {
        panic!("web/package-lock.json is missing");
    };
    let lock: Json = serde_json::from_str(&text).expect("a lock file is JSON");
    let packages = lock["packages"].as_object().expect("it lists packages");
    let unfit: Vec<String> = packages
        .iter()
        .filter(|(name, package)| !name.is_empty() && package["dev"] != true)
        .filter(|(_, package)| !package["license"].as_str().is_some_and(fits))
        .map(|(name, package)| format!("{name}: {}", package["license"]))
        .collect();
    assert!(unfit.is_empty(), "{unfit:#?}");
}

#[test]
fn expressions_are_read_as_they_are_meant() {
    for good in
        ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR GPL-2.0) AND Unicode-3.0", "(MIT OR Apache-2.0)"]
    {
        assert!(fits(good), "{good}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND MPL-2.0", "MPL-2.0 OR GPL-2.0"] {
        assert!(!fits(bad), "{bad}");
    }
}
