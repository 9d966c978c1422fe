//! The state of the simulated medium: what is durable, what is seen, and what lies between.
//!
//! `live` is what a running program reads; `durable` is what was flushed; `pending` is the list of
//! operations that lead from one to the other, block by block, in the order in which they were done.
//! Blocks are shared between the copies, so that cloning a world for one more crash is cheap.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::crash::{Fate, torn};
use super::random::Random;
use crate::block::{BLOCK_LEN, Block};

/// Number of a device for ever, whatever it is named.
pub(super) type FileId = usize;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    File(FileId),
    Directory,
}

/// A change of names.
#[derive(Clone, Debug)]
pub(super) enum NameChange {
    Link { path: String, node: Node },
    Rename { from: String, to: String, node: Node },
    Unlink { path: String },
}

/// Something that was done and is not durable yet.
#[derive(Clone, Debug)]
pub(super) enum Pending {
    /// One block of a write.
    Write { file: FileId, block: u32, data: Rc<Block> },
    /// A change of length.
    Length { file: FileId, block_count: u32 },
    /// A change of names, and the directories that are still to be synced for it.
    Names { change: NameChange, directories: Vec<String> },
}

/// The blocks of one device.
pub(super) type Blocks = Vec<Rc<Block>>;

/// Everything there is.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    pub(super) live: Vec<Blocks>,
    pub(super) durable: Vec<Blocks>,
    pub(super) names: BTreeMap<String, Node>,
    pub(super) durable_names: BTreeMap<String, Node>,
    pub(super) pending: Vec<Pending>,
    pub(super) operations: u64,
    pub(super) cut_at: Option<u64>,
    pub(super) is_off: bool,
    pub(super) is_flush_broken: bool,
    pub(super) writes_blocks: u64,
    pub(super) flushes: u64,
    zero: Zero,
}

#[derive(Clone, Debug)]
struct Zero(Rc<Block>);

impl Default for Zero {
    fn default() -> Self {
        Self(Rc::new([0; BLOCK_LEN]))
    }
}

/// The directory of a path.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

impl World {
    /// Counts an operation; true where the power goes with it.
    pub(super) fn tick(&mut self) -> bool {
        let at = self.operations;
        self.operations += 1;
        if self.cut_at == Some(at) {
            self.is_off = true;
        }
        self.is_off
    }

    pub(super) fn add_file(&mut self) -> FileId {
        self.live.push(Vec::new());
        self.durable.push(Vec::new());
        self.live.len() - 1
    }

    pub(super) fn write(&mut self, file: FileId, block: u32, data: &Block) {
        let data = Rc::new(*data);
        self.writes_blocks += 1;
        put(&mut self.live[file], block, Rc::clone(&data), &self.zero.0);
        self.pending.push(Pending::Write { file, block, data });
    }

    pub(super) fn set_length(&mut self, file: FileId, block_count: u32) {
        self.live[file].resize(block_count as usize, Rc::clone(&self.zero.0));
        self.pending.push(Pending::Length { file, block_count });
    }

    pub(super) fn flush(&mut self, file: FileId) {
        self.flushes += 1;
        if self.is_flush_broken {
            return;
        }
        self.durable[file] = self.live[file].clone();
        self.pending.retain(
            |p| !matches!(p, Pending::Write { file: f, .. } | Pending::Length { file: f, .. } if *f == file),
        );
    }

    pub(super) fn change_names(&mut self, change: NameChange) {
        let mut directories: Vec<String> = Vec::new();
        match &change {
            NameChange::Link { path, .. } | NameChange::Unlink { path } => {
                directories.push(parent(path).to_string())
            }
            NameChange::Rename { from, to, .. } => {
                directories.push(parent(from).to_string());
                if parent(from) != parent(to) {
                    directories.push(parent(to).to_string());
                }
            }
        }
        apply_names(&mut self.names, &change);
        self.pending.push(Pending::Names { change, directories });
    }

    pub(super) fn sync_directory(&mut self, directory: &str) {
        let durable_names = &mut self.durable_names;
        self.pending.retain_mut(|pending| {
            let Pending::Names { change, directories } = pending else { return true };
            directories.retain(|d| d != directory);
            if directories.is_empty() {
                apply_names(durable_names, change);
            }
            !directories.is_empty()
        });
    }

    /// The world after the power came back: `fates` says what became of each pending operation; those
    /// beyond its end are lost.
    pub(super) fn after_crash(&self, fates: &[Fate], random: &mut Random) -> Self {
        let mut after = Self { zero: self.zero.clone(), ..Self::default() };
        after.is_flush_broken = self.is_flush_broken;
        let mut durable = self.durable.clone();
        let mut names = self.durable_names.clone();
        for (pending, fate) in self.pending.iter().zip(fates) {
            match pending {
                _ if matches!(fate, Fate::Lost) => {}
                Pending::Names { change, .. } => apply_names(&mut names, change),
                Pending::Length { file, block_count } => {
                    durable[*file].resize(*block_count as usize, Rc::clone(&self.zero.0));
                }
                Pending::Write { file, block, data } => {
                    let blocks = &mut durable[*file];
                    let old = blocks.get(*block as usize).unwrap_or(&self.zero.0);
                    let new = match fate {
                        Fate::Torn(sectors) => Rc::new(torn(old, data, sectors, random)),
                        _ => Rc::clone(data),
                    };
                    put(blocks, *block, new, &self.zero.0);
                }
            }
        }
        names.retain(|path, _| !path.is_empty());
        let reachable = names.clone();
        names.retain(|path, _| is_reachable(&reachable, path));
        after.names = names.clone();
        after.durable_names = names;
        after.live = durable.clone();
        after.durable = durable;
        after
    }
}

/// Whether every directory above `path` is there.
fn is_reachable(names: &BTreeMap<String, Node>, path: &str) -> bool {
    let mut directory = parent(path);
    while !directory.is_empty() {
        if names.get(directory) != Some(&Node::Directory) {
            return false;
        }
        directory = parent(directory);
    }
    true
}

fn put(blocks: &mut Blocks, block: u32, data: Rc<Block>, zero: &Rc<Block>) {
    let at = block as usize;
    if blocks.len() <= at {
        blocks.resize(at + 1, Rc::clone(zero));
    }
    blocks[at] = data;
}

fn apply_names(names: &mut BTreeMap<String, Node>, change: &NameChange) {
    match change {
        NameChange::Link { path, node } => {
            names.insert(path.clone(), *node);
        }
        NameChange::Unlink { path } => {
            names.remove(path);
        }
        NameChange::Rename { from, to, node } => {
            if names.get(from) == Some(node) {
                names.remove(from);
            }
            names.insert(to.clone(), *node);
        }
    }
}
