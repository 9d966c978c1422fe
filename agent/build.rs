//! Embeds the built dashboard, `web/dist`, if it is there: a table of paths, ETags and bytes.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    let dist = manifest.join("../web/dist");
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut files = Vec::new();
    collect(&dist, &mut files);
    files.sort();
    let mut table = String::from("static ASSETS: &[Asset] = &[\n");
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let Ok(relative) = file.strip_prefix(&dist) else { continue };
        let bytes = fs::read(file).unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let (path, absolute) = (relative.display().to_string(), file.display().to_string());
        let etag = format!("\"{:016x}\"", hasher.finish());
        // Writing into a String does not fail.
        let _ = writeln!(
            table,
            "    Asset {{ path: {path:?}, etag: {etag:?}, bytes: include_bytes!({absolute:?}) }},"
        );
    }
    table.push_str("];\n");
    let out = PathBuf::from(env::var("OUT_DIR").unwrap_or_default());
    if let Err(error) = fs::write(out.join("dashboard.rs"), table) {
        println!("cargo::error=can't write the table of the dashboard: {error}");
    }
}

/// Every file below `folder`; none where it is missing.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
