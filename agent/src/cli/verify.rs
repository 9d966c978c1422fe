//! Whether what is stored is whole: every block, chunk, summary and name, and a store's journal.
//!
//! One line a fault, with file and block. A file without a footer is not whole when it is named itself;
//! in a directory it is a store's open segment, and only damage counts.

use std::path::Path;

use super::arguments::VerifyOptions;
use super::dispatch::{Failure, note, print};
use super::input::{block_files, is_store, refuse_newer};
use super::progress::blocks_bar;
use crate::files::{LockError, StoreLock};
use crate::shelf::{BlockSource, FileSource};
use crate::verify::{Seen, verify_journal, verify_segment};

/// Lines printed for one file.
const FAULTS_MAX: u64 = 1_000;

/// What was seen of all files.
#[derive(Default)]
struct Total {
    files: usize,
    blocks: u64,
    rows: u64,
    faults: u64,
}

/// Checks the files; whether all of them are whole.
pub(super) fn run(options: &VerifyOptions) -> Result<bool, Failure> {
    let mut total = Total::default();
    for path in &options.paths {
        refuse_newer(path)?;
        // A new store has no block file yet.
        let files = match block_files(path) {
            Err(_) if path.is_dir() && is_store(path) => Vec::new(),
            files => files?,
        };
        let (aside, files): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|file| path.is_dir() && file.strip_prefix(path).is_ok_and(is_aside));
        if !aside.is_empty() {
            note(&format!("{}: {} files in quarantine/ are left out", path.display(), aside.len()));
        }
        for file in &files {
            verify_file(file, !path.is_dir(), &mut total)?;
        }
        if path.is_dir() && is_store(path) {
            verify_store(path, &mut total)?;
        }
    }
    if total.faults == 0 {
        let files = if total.files == 1 { "1 file".to_owned() } else { format!("{} files", total.files) };
        note(&format!("{files}, {} blocks and {} readings are whole", total.blocks, total.rows));
    }
    Ok(total.faults == 0)
}

fn is_aside(inside: &Path) -> bool {
    inside.starts_with("quarantine")
}

fn verify_file(path: &Path, is_named: bool, total: &mut Total) -> Result<(), Failure> {
    total.files += 1;
    let mut faults = 0;
    let mut say = |sentence: &str| {
        faults += 1;
        if faults <= FAULTS_MAX { print(&format!("{}: {sentence}\n", path.display())) } else { Ok(()) }
    };
    let source = match FileSource::open(path) {
        Ok(source) if source.block_count() > 0 => source,
        Ok(_) => {
            say("not a Siltstone segment, or cut to less than its first block of 4096 bytes")?;
            total.faults += faults;
            return Ok(());
        }
        Err(sentence) => {
            say(sentence.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&sentence))?;
            total.faults += faults;
            return Ok(());
        }
    };
    let bar = blocks_bar(u64::from(source.block_count()), &path.display().to_string());
    let mut failed = None;
    let report = verify_segment(&source, &mut |seen| {
        match seen {
            Seen::Fault(fault) => failed = bar.suspend(|| say(&fault.to_string())).err(),
            Seen::Read { blocks_done, .. } => bar.set_position(u64::from(blocks_done)),
        }
        failed.is_none()
    });
    bar.finish_and_clear();
    if let Some(failure) = failed {
        return Err(failure);
    }
    let report = report.unwrap_or_default();
    if !report.is_sealed && is_named && faults == 0 {
        let last = source.block_count().saturating_sub(1);
        let say = |sentence: &str| print(&format!("{}: {sentence}\n", path.display()));
        say(&format!("not sealed: no footer in block {last}"))?;
        faults += 1;
    }
    if faults > FAULTS_MAX {
        print(&format!("{}: and {} more faults\n", path.display(), faults - FAULTS_MAX))?;
    }
    total.faults += faults;
    total.blocks += report.blocks;
    total.rows += report.rows;
    Ok(())
}

/// Identity and journal, where nobody writes them just now.
fn verify_store(directory: &Path, total: &mut Total) -> Result<(), Failure> {
    let lock = StoreLock::take(directory);
    match &lock {
        Ok(_) => {}
        Err(LockError::Taken(_)) => {
            note(&format!("{}: the store is in use; its journal is left out", directory.display()));
            return Ok(());
        }
        // A store on a medium that can't be written to is read all the same.
        Err(LockError::System(..)) => {}
    }
    let (found, files) = verify_journal(directory);
    total.files += files;
    for file in found {
        for fault in &file.faults {
            total.faults += 1;
            print(&format!("{}: {fault}\n", file.path.display()))?;
        }
    }
    drop(lock);
    Ok(())
}
