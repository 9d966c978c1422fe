//! What the browser loads: bytes of the built dashboard, gzip -9.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use siltstone_tests::workspace::dashboard;

use crate::Row;

/// The rows of the table.
pub(crate) fn rows() -> Vec<Row> {
    let (mut engine, mut all) = (0, 0);
    walk(&dashboard(), &mut |file| {
        let size = gzipped(file);
        all += size;
        if file.extension().is_some_and(|ending| ending == "wasm") {
            engine += size;
        }
    });
    vec![
        Row::new("engine as WebAssembly, gzip -9, bytes", engine.to_string(), "≤ 130,000"),
        Row::new("everything the browser loads, gzip -9, bytes", all.to_string(), "≤ 200,000"),
    ]
}

fn walk(folder: &Path, visit: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).expect("web/dist can be listed").flatten() {
        let path = entry.path();
        if path.is_dir() { walk(&path, visit) } else { visit(&path) }
    }
}

fn gzipped(file: &Path) -> usize {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&fs::read(file).expect("a built file can be read")).expect("memory takes it");
    encoder.finish().expect("memory takes it").len()
}
