//! The real and synthetic sensor data sets of the development machine, as columns.
//!
//! They lie in `shared/data` beside the workspace, or in the folder that `SILTSTONE_SHARED` names
//! (`data` below it), as gzip CSV. A machine without them has no columns, and is told so.

use std::{env, fs::File, io::Read, path::PathBuf};

/// One column of a data set, with the rows that have a value in it, in their order of arrival.
pub(crate) struct Column {
    /// Name of the data set.
    pub(crate) set: String,
    /// Name of the column.
    pub(crate) name: String,
    /// Nanoseconds since the epoch.
    pub(crate) timestamps: Vec<i64>,
    /// As many values.
    pub(crate) values: Vec<f64>,
}

/// The folder of the sets.
fn folder() -> PathBuf {
    let shared = env::var_os("SILTSTONE_SHARED").map(PathBuf::from);
    shared.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared")).join("data")
}

/// All columns, by set; none, and a line on standard error, where the folder is absent.
pub(crate) fn load() -> Vec<Column> {
    let folder = folder();
    let Ok(entries) = folder.read_dir() else {
        eprintln!("SKIPPED: no data sets in {}; set SILTSTONE_SHARED to their folder", folder.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder can be listed").path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".csv.gz"));
    paths.sort();
    paths.iter().flat_map(columns).collect()
}

fn columns(path: &PathBuf) -> Vec<Column> {
    let mut text = String::new();
    let file = File::open(path).expect("a data set can be opened");
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("a data set is gzip text");
    let set = path.file_name().expect("a file has a name").to_string_lossy().replace(".csv.gz", "");
    let mut lines = text.lines();
    let names = lines.next().expect("a data set has a header").split(',').skip(1);
    let mut columns: Vec<Column> = names
        .map(|name| Column { set: set.clone(), name: name.into(), timestamps: vec![], values: vec![] })
        .collect();
    for line in lines {
        let mut cells = line.split(',');
        let millis: i64 = cells.next().and_then(|cell| cell.parse().ok()).expect("a row has a timestamp");
        for (column, cell) in columns.iter_mut().zip(cells).filter(|(_, cell)| !cell.is_empty()) {
            column.timestamps.push(millis * 1_000_000);
            column.values.push(cell.parse().expect("a cell is a number"));
        }
    }
    columns
}
