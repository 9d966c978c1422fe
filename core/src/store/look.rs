//! The first look at a store: what is there and whose it is, before anything is written.
//!
//! A store that a newer program wrote into, or that is not the one that was asked for, is refused here: until then
//! nothing on the medium was made, renamed or removed. Only then comes [`Look::tidy`], which does what
//! every start does to a directory.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::bad_block::read_block;
use super::device::{Device, EntryKind, Medium};
use super::error::StoreError;
use super::journal;
use super::recover::Recovery;
use super::segment_file::{self, EXTENSION, SegmentFile};
use super::store_id::{self, Found};
use super::version::Newer;
use crate::block::{BLOCK_LEN, DeviceId};
use crate::segment::SegmentError;

const QUARANTINE: &str = "quarantine";
const PART: &str = ".part";

/// Whose store is on `medium`, where there is one; reads only.
///
/// # Errors
/// `Newer` where a newer program wrote into it; the medium.
pub fn look_at<M: Medium>(medium: &M) -> Result<Option<DeviceId>, StoreError<M::Error>> {
    Look::at(medium).map(|look| look.device)
}

/// What is there.
#[derive(Debug)]
pub(super) struct Look {
    /// Whose store it is: what `store.id` says, else the journal, else a segment; none where there is no store.
    pub(super) device: Option<DeviceId>,
    identity: Found,
    /// All segments that can be read, by their ranks.
    pub(super) segments: Vec<SegmentFile>,
    /// The directories of the segments.
    directories: Vec<String>,
    /// Directory and name of what claims to be a segment and can't be read, and why.
    strange: Vec<(String, String, SegmentError)>,
    /// Segments of another store in a newer format.
    unknown: u64,
    /// Blocks of those.
    unknown_blocks: u64,
    /// Unsealed segments whose header is the copy.
    copied: u64,
    /// Names that were listed and are not there any more.
    gone: u64,
}

impl Look {
    /// Looks; reads only.
    ///
    /// # Errors
    /// `Newer`, or the medium.
    pub(super) fn at<M: Medium>(medium: &M) -> Result<Self, StoreError<M::Error>> {
        let stored = store_id::read(medium);
        if let Ok(Found::Newer(newer)) = stored {
            return Err(newer.refusal(String::from(store_id::PATH)));
        }
        let stated = journal::stated(medium)?;
        if let Some((path, newer)) = stated.newer {
            return Err(newer.refusal(path));
        }
        // A file of one block has no neighbours by which a bad block is told from a bad medium; but where the
        // journal can be read and names the id, the medium is good.
        let identity = match stored {
            Err(error) if stated.device.is_none() => return Err(StoreError::Medium(error)),
            Err(_) => Found::Damaged,
            Ok(stored) => stored,
        };
        let device = if let Found::Id(id) = identity { Some(id) } else { stated.device };
        let mut look = Self {
            device,
            identity,
            segments: Vec::new(),
            directories: Vec::new(),
            strange: Vec::new(),
            unknown: 0,
            unknown_blocks: 0,
            copied: 0,
            gone: 0,
        };
        look.find_segments(medium)?;
        look.device = device.or_else(|| look.segments.last().map(|file| file.header.id.device));
        Ok(look)
    }

    fn find_segments<M: Medium>(&mut self, medium: &M) -> Result<(), StoreError<M::Error>> {
        for partition in medium.list(segment_file::DIRECTORY)? {
            if partition.kind != EntryKind::Directory {
                continue;
            }
            let directory = join(segment_file::DIRECTORY, &partition.name);
            for entry in medium.list(&directory)? {
                if entry.kind != EntryKind::File || !entry.name.ends_with(EXTENSION) {
                    continue;
                }
                let path = join(&directory, &entry.name);
                match SegmentFile::inspect(medium, &path)? {
                    None => self.gone += 1,
                    Some(Ok((file, is_copy))) => {
                        self.copied += u64::from(is_copy);
                        self.segments.push(file);
                    }
                    Some(Err(SegmentError::FutureVersion(_) | SegmentError::BlockSize(_))) => {
                        self.note_unknown(medium, path)?;
                    }
                    Some(Err(fault)) => self.strange.push((directory.clone(), entry.name, fault)),
                }
            }
            self.directories.push(directory);
        }
        self.segments.sort_by_key(|file| file.header.rank);
        Ok(())
    }

    /// Refuses a newer segment that this store's own device wrote, or may have written; others are counted.
    fn note_unknown<M: Medium>(&mut self, medium: &M, path: String) -> Result<(), StoreError<M::Error>> {
        let Some(device) = medium.open(&path)? else { return Ok(()) };
        let mut bytes = vec![0; BLOCK_LEN];
        read_block(&device, 0, &mut bytes)?;
        if let Some(newer) = Newer::of(&bytes)
            && self.device.is_none_or(|own| own == newer.device)
        {
            return Err(newer.refusal(path));
        }
        self.unknown += 1;
        self.unknown_blocks += u64::from(device.block_count()?);
        Ok(())
    }

    /// Does what comes before anything else is written: directories, what was never finished, what can't be read,
    /// and the device id, which is `new_device` where there is no store.
    ///
    /// # Errors
    /// What the medium says.
    pub(super) fn tidy<M: Medium>(
        &self,
        medium: &mut M,
        new_device: DeviceId,
        recovery: &mut Recovery,
    ) -> Result<DeviceId, M::Error> {
        for directory in [journal::DIRECTORY, segment_file::DIRECTORY, QUARANTINE, "state"] {
            medium.create_directory(directory)?;
        }
        medium.sync_directory("")?;
        let directories = self.directories.iter().map(String::as_str);
        for directory in ["", journal::DIRECTORY, segment_file::DIRECTORY].into_iter().chain(directories) {
            remove_parts(medium, directory, recovery)?;
        }
        for (directory, name, fault) in &self.strange {
            set_aside(medium, directory, name)?;
            recovery.set_aside.push((join(directory, name), *fault));
        }
        (recovery.headers_restored, recovery.segments_unknown) = (self.copied, self.unknown);
        (recovery.unknown_blocks, recovery.segments_gone) = (self.unknown_blocks, self.gone);
        if let Found::Id(id) = self.identity {
            return Ok(id);
        }
        recovery.is_identity_restored = self.device.is_some();
        recovery.is_new = self.device.is_none();
        if self.identity == Found::Damaged {
            set_aside(medium, "", store_id::PATH)?;
        }
        let id = self.device.unwrap_or(new_device);
        store_id::write(medium, &id)?;
        Ok(id)
    }
}

/// Removes what was never finished in a directory, and makes its names durable: a sync that failed in an
/// earlier run may have left some that are seen and would not survive, and what they name is relied on from here.
fn remove_parts<M: Medium>(medium: &mut M, directory: &str, recovery: &mut Recovery) -> Result<(), M::Error> {
    for entry in medium.list(directory)? {
        if entry.kind == EntryKind::File && entry.name.ends_with(PART) {
            let path = join(directory, &entry.name);
            if path.starts_with(segment_file::DIRECTORY)
                && let Some(part) = medium.open(&path)?
            {
                recovery.part_blocks += u64::from(part.block_count()?);
            }
            medium.remove(&path)?;
            recovery.parts_removed += 1;
        }
    }
    medium.sync_directory(directory)
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { String::from(name) } else { format!("{directory}/{name}") }
}

/// Moves a file to the quarantine, under a name that is free there.
fn set_aside<M: Medium>(medium: &mut M, directory: &str, name: &str) -> Result<(), M::Error> {
    let taken = medium.list(QUARANTINE)?;
    let is_free = |name: &str| taken.iter().all(|entry| entry.name != name);
    let numbered = (1..).map(|n| format!("{name}.{n}"));
    let free = core::iter::once(String::from(name)).chain(numbered).find(|name| is_free(name));
    let to = join(QUARANTINE, &free.unwrap_or_default());
    medium.rename(&join(directory, name), &to)?;
    medium.sync_directory(QUARANTINE)?;
    medium.sync_directory(directory)
}
