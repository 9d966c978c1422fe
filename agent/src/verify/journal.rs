//! `store.id` and the ring of journal files of a store that nobody writes.

use std::path::{Path, PathBuf};

use siltstone_core::block::BLOCK_LEN;
use siltstone_core::segment::Fault;
use siltstone_core::store::{Flushed, JournalCheck, device_of_store};

use crate::shelf::{BlockSource, FileSource};

/// Blocks of one read.
const READ_BLOCKS: u32 = 64;

/// What is wrong with one file.
pub(crate) struct FileFaults {
    /// The file.
    pub(crate) path: PathBuf,
    /// A sentence each.
    pub(crate) faults: Vec<String>,
}

/// Verifies identity and journal of the store in `directory`; gives the files with faults and how many
/// files were looked at.
pub(crate) fn verify_journal(directory: &Path) -> (Vec<FileFaults>, usize) {
    let mut found = Vec::new();
    let id_path = directory.join("store.id");
    let device = std::fs::read(&id_path).ok().and_then(|bytes| device_of_store(&bytes));
    if device.is_none() {
        let faults = vec!["no valid store identity".to_owned()];
        found.push(FileFaults { path: id_path, faults });
    }
    let files = journal_files(&directory.join("journal"));
    let mut looked_at = files.len() + 1;
    let mut checks = Vec::new();
    let stated = |path: &PathBuf| {
        let bytes = FileSource::open(path).and_then(|source| source.read(0, 1)).ok()?;
        JournalCheck::device_of(&bytes)
    };
    let Some(device) = device.or_else(|| files.iter().find_map(|(_, path)| stated(path))) else {
        looked_at = 1;
        return (found, looked_at);
    };
    for (number, path) in files {
        match FileSource::open(&path) {
            Ok(source) => checks.push((path, read(&source, JournalCheck::new(number, device)))),
            Err(sentence) => found.push(FileFaults { path, faults: vec![sentence] }),
        }
    }
    let flushed = Flushed::of(checks.iter().map(|(_, check)| check));
    for (path, check) in checks {
        let faults: Vec<String> = check.finish(&flushed).iter().map(Fault::to_string).collect();
        if !faults.is_empty() {
            found.push(FileFaults { path, faults });
        }
    }
    (found, looked_at)
}

/// `NN.journal`, by their numbers.
fn journal_files(directory: &Path) -> Vec<(u32, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_journal = path.extension().is_some_and(|ending| ending == "journal");
            let number = path.file_stem()?.to_str()?.parse().ok()?;
            is_journal.then_some((number, path))
        })
        .collect();
    files.sort();
    files
}

fn read(source: &FileSource, mut check: JournalCheck) -> JournalCheck {
    let mut first = 0;
    while first < source.block_count() {
        let count = READ_BLOCKS.min(source.block_count() - first);
        match source.read(first, count) {
            Ok(bytes) => bytes.chunks(BLOCK_LEN).for_each(|block| check.push(Some(block))),
            Err(_) => {
                (first..first + count).for_each(|block| check.push(source.read(block, 1).ok().as_deref()))
            }
        }
        first += count;
    }
    check
}
