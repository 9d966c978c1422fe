//! The state of the simulated medium: what is durable, what is seen, and what lies between.
//!
//! `live` is what a running program reads; `durable` is what was flushed; `pending` is the list of
//! operations that lead from one to the other, block by block, in the order in which they were done.
//! Blocks and devices are shared between the copies, so that cloning a world for one more crash is cheap.
//! What goes wrong with blocks is `damage`'s.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::crash::{Fate, torn};
use super::fault::{Schedule, View};
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
    pub(super) live: Vec<Rc<Blocks>>,
    pub(super) durable: Vec<Rc<Blocks>>,
    /// What a block held before it was last written.
    pub(super) before: Vec<Rc<BTreeMap<u32, Rc<Block>>>>,
    pub(super) names: BTreeMap<String, Node>,
    pub(super) durable_names: BTreeMap<String, Node>,
    pub(super) pending: Vec<Pending>,
    pub(super) operations: u64,
    pub(super) cut_at: Option<u64>,
    pub(super) is_off: bool,
    /// Blocks that there is room for; a name takes one, too.
    pub(super) capacity_blocks: Option<u64>,
    pub(super) schedule: Schedule,
    pub(super) clock_ns: u64,
    /// Blocks written, by device and the kind in their first byte.
    pub(super) wear: Rc<BTreeMap<(FileId, u8), u64>>,
    /// Blocks read of each device.
    pub(super) read_of: Rc<BTreeMap<FileId, u64>>,
    /// Under which path each device was made.
    pub(super) made_as: Rc<Vec<String>>,
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
        const OPERATION_NS: u64 = 50_000;
        let at = self.operations;
        self.operations += 1;
        self.clock_ns += OPERATION_NS;
        if self.cut_at == Some(at) {
            self.is_off = true;
        }
        self.is_off
    }

    pub(super) fn add_file(&mut self, path: &str) -> FileId {
        Rc::make_mut(&mut self.made_as).push(path.to_string());
        self.live.push(Rc::default());
        self.durable.push(Rc::default());
        self.before.push(Rc::default());
        self.live.len() - 1
    }

    /// Blocks that are taken.
    pub(super) fn used_blocks(&self) -> u64 {
        let blocks = |node: &Node| match node {
            Node::File(file) => 1 + self.live[*file].len() as u64,
            Node::Directory => 1,
        };
        self.names.values().map(blocks).sum()
    }

    /// Whether there is room for `more` blocks.
    pub(super) fn has_room(&mut self, more: u64) -> bool {
        let fits = |capacity| self.used_blocks() + more <= capacity;
        self.capacity_blocks.is_none_or(fits) && !(more > 0 && self.schedule.is_full())
    }

    pub(super) fn write(&mut self, file: FileId, block: u32, data: &Block) {
        *Rc::make_mut(&mut self.wear).entry((file, data[0])).or_default() += 1;
        let at = self.schedule.calls(super::Call::Write).saturating_sub(1);
        let Some((file, block)) = self.landing(at, file, block) else { return };
        let data = Rc::new(*data);
        if let Some(old) = self.live[file].get(block as usize) {
            Rc::make_mut(&mut self.before[file]).insert(block, Rc::clone(old));
        }
        put(Rc::make_mut(&mut self.live[file]), block, Rc::clone(&data), &self.zero.0);
        self.pending.push(Pending::Write { file, block, data });
        self.damage_neighbour(at, file, block);
    }

    pub(super) fn set_length(&mut self, file: FileId, block_count: u32) {
        Rc::make_mut(&mut self.live[file]).resize(block_count as usize, Rc::clone(&self.zero.0));
        self.pending.push(Pending::Length { file, block_count });
    }

    /// Makes a device durable; false where that fails and what was written is lost.
    pub(super) fn flush(&mut self, file: FileId, at: u64) -> bool {
        self.clock_ns += self.schedule.flush_ns();
        if self.schedule.flush_lies(at) {
            return true;
        }
        let lost = self.schedule.flush_loses(at);
        let pending = core::mem::take(&mut self.pending);
        for operation in pending {
            match operation {
                // Only what is pending: pages that an earlier flush lost are clean, whatever is read of them.
                Pending::Write { file: of, block, data } if of == file => {
                    if lost.is_none() {
                        put(Rc::make_mut(&mut self.durable[file]), block, data, &self.zero.0);
                    }
                }
                Pending::Length { file: of, block_count } if of == file => {
                    if lost.is_none() {
                        let zero = Rc::clone(&self.zero.0);
                        Rc::make_mut(&mut self.durable[file]).resize(block_count as usize, zero);
                    }
                }
                other => self.pending.push(other),
            }
        }
        if lost == Some(View::Dropped) {
            self.live[file] = Rc::clone(&self.durable[file]);
        }
        lost.is_none()
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

    pub(super) fn sync_directory(&mut self, directory: &str, at: u64) {
        self.clock_ns += self.schedule.flush_ns();
        if self.schedule.sync_lies(at) {
            return;
        }
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
        after.schedule = self.schedule.after_crash();
        after.capacity_blocks = self.capacity_blocks;
        after.clock_ns = self.clock_ns;
        after.before.clone_from(&self.before);
        (after.wear, after.made_as) = (Rc::clone(&self.wear), Rc::clone(&self.made_as));
        let mut durable = self.durable.clone();
        let mut names = self.durable_names.clone();
        for (pending, fate) in self.pending.iter().zip(fates) {
            match pending {
                _ if matches!(fate, Fate::Lost) => {}
                Pending::Names { change, .. } => apply_names(&mut names, change),
                Pending::Length { file, block_count } => {
                    Rc::make_mut(&mut durable[*file]).resize(*block_count as usize, Rc::clone(&self.zero.0));
                }
                Pending::Write { file, block, data } => {
                    let blocks = Rc::make_mut(&mut durable[*file]);
                    let old = blocks.get(*block as usize).unwrap_or(&self.zero.0);
                    let new = match fate {
                        Fate::Torn(sectors) => Rc::new(torn(old, data, sectors, random)),
                        Fate::SizeOnly => Rc::clone(old),
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
