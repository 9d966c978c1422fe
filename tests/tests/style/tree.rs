//! The files of the repository: path from the root with `/`, and text.
//!
//! Walks the folders instead of asking git, so that it works in an unpacked archive too; leaves out
//! what is built, fetched or left behind by a run. Files that aren't text are skipped.

use std::path::{Path, PathBuf};

/// One text file.
pub(crate) struct File {
    /// From the repository's root, with `/`.
    pub(crate) path: String,
    /// All of it.
    pub(crate) text: String,
}

/// Folders that hold nothing written by hand.
const SKIPPED: &[&str] =
    &["target", "node_modules", ".git", "dist", "pkg", "artefacts", "demo-data", "shared"];

/// What is written by hand, by ending; files without one are read too (Makefile, .ci/run).
const ENDINGS: &[&str] =
    &["rs", "toml", "md", "sh", "ts", "tsx", "js", "mjs", "css", "html", "json", "yml", "yaml", ""];

/// Written by tools or taken over as they are.
const NOT_OURS: &[&str] = &["LICENSE-MIT", "LICENSE-APACHE", "package-lock.json"];

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the root").to_path_buf()
}

/// Every file the rules apply to, in order of path.
pub(crate) fn files(root: &Path) -> Vec<File> {
    let mut found = Vec::new();
    walk(root, root, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<File>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository can be listed") {
        let path = entry.expect("its entries too").path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                walk(root, &path, found);
            }
            continue;
        }
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if name == ".git" || !ENDINGS.contains(&ending) || NOT_OURS.contains(&name.as_str()) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let path = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
        found.push(File { path, text });
    }
}
