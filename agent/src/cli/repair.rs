//! A good copy of what is left of a damaged block file. The file itself is never touched.
//!
//! The copy stands beside the file as `NAME.repaired.silt`; for a file inside a store it goes to the store's
//! `quarantine/`, because everything in `segments/` counts and a copy beside its original would count twice.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use siltstone_core::block::{BLOCK_LEN, SegmentId};
use siltstone_core::segment::{Salvage, SalvageReport, SalvageStep};

use super::arguments::RepairOptions;
use super::dispatch::{Failure, note, print};
use super::input::is_store;
use super::progress::blocks_bar;
use crate::api::format_instant;
use crate::files::flush_directory;
use crate::shelf::{BlockSource, FileSource};
use crate::verify::{Seen, verify_segment};

/// Losses that are listed.
const LOSSES_MAX: usize = 1_000;

pub(super) fn run(options: &RepairOptions) -> Result<(), Failure> {
    let path = &options.file;
    let source = FileSource::open(path).map_err(Failure)?;
    if is_whole(&source) {
        note(&format!("{}: it is whole, there is nothing to repair", path.display()));
        return Ok(());
    }
    let target = options.output.clone().map_or_else(|| beside(path), Ok)?;
    if target.exists() {
        return Err(Failure(format!("{}: it is there already and is left as it is", target.display())));
    }
    let part = with_ending(&target, "part");
    let report = match copy(&source, path, &part) {
        Ok(report) => report,
        Err(failure) => {
            // What was begun is of no use to anybody.
            let _ = fs::remove_file(&part);
            return Err(failure);
        }
    };
    let copied = FileSource::open(&part).map_err(Failure)?;
    if !is_whole(&copied) {
        let kept = part.display();
        return Err(Failure(format!("{kept}: the copy is not whole; the medium may be bad")));
    }
    if target.exists() {
        return Err(Failure(format!("{}: it is there already and is left as it is", target.display())));
    }
    fs::rename(&part, &target)?;
    flush_directory(
        target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")),
    )?;
    tell(path, &target, &report)
}

/// Sealed, and without a fault.
fn is_whole(source: &FileSource) -> bool {
    let mut is_whole = source.odd_bytes() == 0;
    let report = verify_segment(source, &mut |seen| {
        is_whole &= !matches!(seen, Seen::Fault(_));
        is_whole
    });
    is_whole && report.is_some_and(|report| report.is_sealed)
}

fn copy(source: &FileSource, path: &Path, part: &Path) -> Result<SalvageReport, Failure> {
    let mut salvage = Salvage::new(source.block_count(), id_of_name(path));
    let file = File::create(part).map_err(|error| Failure(format!("{}: {error}", part.display())))?;
    let bar = blocks_bar(u64::from(source.block_count()), &path.display().to_string());
    loop {
        match salvage.step() {
            SalvageStep::Need(range) => {
                let count = range.end.saturating_sub(range.start);
                match source.read(range.start, count) {
                    Ok(bytes) if !bytes.is_empty() => salvage.feed(range.start, &bytes),
                    _ => range.for_each(|block| {
                        let bytes = source.read(block, 1).ok().filter(|bytes| bytes.len() == BLOCK_LEN);
                        // A block that the medium does not give is as good as one of zeros.
                        salvage.feed(block, &bytes.unwrap_or_else(|| vec![0; BLOCK_LEN]));
                    }),
                }
                bar.set_position(u64::from(salvage.blocks_done()));
            }
            SalvageStep::Write(blocks) => {
                for block in blocks {
                    file.write_all_at(&block.bytes[..], u64::from(block.number) * BLOCK_LEN as u64)?;
                }
            }
            SalvageStep::Done => break,
            SalvageStep::Failed(error) => return Err(Failure(format!("{}: {error}", path.display()))),
        }
    }
    bar.finish_and_clear();
    file.sync_all()?;
    Ok(salvage.report().clone())
}

/// Says what is in the copy, and what is not.
fn tell(path: &Path, target: &Path, report: &SalvageReport) -> Result<(), Failure> {
    for loss in report.losses.iter().take(LOSSES_MAX) {
        let name = loss.name.as_ref().map_or("a series without a name", |name| name.as_str());
        let (from, to) = (format_instant(loss.span.begin), format_instant(loss.span.end));
        print(&format!("{}: lost: {} readings of {name} in [{from}, {to})\n", path.display(), loss.rows))?;
    }
    if report.losses.len() > LOSSES_MAX {
        print(&format!("{}: lost: and {} more\n", path.display(), report.losses.len() - LOSSES_MAX))?;
    }
    if report.is_header_lost {
        note("its header was lost in both places: rank and partition of the copy are made up");
    }
    if report.is_history_lost {
        note("which segments it took the place of could not be read and is not in the copy");
    }
    if report.names_lost > 0 {
        note(&format!("the names of {} series were lost; the copy calls them name_lost", report.names_lost));
    }
    if report.rows_refused > 0 {
        note(&format!("{} readings contradict those before them and are left out", report.rows_refused));
    }
    let lost: u64 = report.losses.iter().map(|loss| loss.rows).sum();
    note(&format!(
        "{}: {} readings of {} series; {} blocks could not be read, {lost} readings are known to be lost",
        target.display(),
        report.rows,
        report.series,
        report.blocks_lost
    ));
    Ok(())
}

/// Where the copy goes.
fn beside(path: &Path) -> Result<PathBuf, Failure> {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let stem = stem.ok_or_else(|| Failure(format!("{}: it has no name", path.display())))?;
    let name = format!("{stem}.repaired.silt");
    let absolute = fs::canonicalize(path)?;
    // segments/PARTITION/NAME.silt of a store.
    let segments = absolute.parent().and_then(Path::parent).filter(|folder| folder.ends_with("segments"));
    Ok(match segments.and_then(Path::parent).filter(|store| is_store(store)) {
        Some(store) => store.join("quarantine").join(name),
        None => path.with_file_name(name),
    })
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}

/// The segment that a file is called after: 48 hex digits.
fn id_of_name(path: &Path) -> Option<SegmentId> {
    let name = path.file_stem()?.to_str()?;
    if name.len() != 48 || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let device = u128::from_str_radix(name.get(..32)?, 16).ok()?.to_be_bytes();
    let number = |at: std::ops::Range<usize>| u32::from_str_radix(name.get(at)?, 16).ok();
    Some(SegmentId { device, epoch: number(32..40)?, number: number(40..48)? })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::id_of_name;

    #[test]
    fn the_name_of_a_file_says_whose_segment_it_is() {
        let id = siltstone_core::block::SegmentId { device: *b"0123456789abcdef", epoch: 7, number: 300 };
        let name = siltstone_core::store::file_name(&id);
        assert_eq!(id_of_name(&Path::new("x").join(name)), Some(id));
        assert_eq!(id_of_name(Path::new("january.silt")), None);
    }
}
