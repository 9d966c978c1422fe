//! The store's traits over a simulated world, and the handle a test steers it with.

use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;

use super::crash::Fate;
use super::random::Random;
use super::world::{FileId, NameChange, Node, World, parent};
use crate::block::{BLOCK_LEN, Block};
use crate::store::device::{Device, Entry, EntryKind, Medium};

/// Why a simulated operation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimError {
    /// The power is off.
    PowerCut,
    /// A read beyond the end of the device.
    PastEnd,
    /// No such name, or no such directory above it.
    Missing(String),
}

impl core::fmt::Display for SimError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::PowerCut => write!(f, "the power is off"),
            Self::PastEnd => write!(f, "read beyond the end"),
            Self::Missing(path) => write!(f, "{path}: no such name"),
        }
    }
}

impl core::error::Error for SimError {}

/// A simulated medium. Clones are handles of the same one.
#[derive(Clone, Debug, Default)]
pub struct SimMedium {
    world: Rc<RefCell<World>>,
}

impl SimMedium {
    /// An empty medium.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cuts the power with operation number `at`, counted from 0 over everything that changes the
    /// medium or makes it durable. That operation is left unflushed, and everything after it fails.
    pub fn cut_power_at(&self, at: u64) {
        self.world.borrow_mut().cut_at = Some(at);
    }

    /// From now on flushes of devices say `Ok` and do nothing.
    pub fn break_flush(&self) {
        self.world.borrow_mut().is_flush_broken = true;
    }

    /// Operations so far.
    pub fn operations(&self) -> u64 {
        self.world.borrow().operations
    }

    /// Blocks written so far, each time counted.
    pub fn blocks_written(&self) -> u64 {
        self.world.borrow().writes_blocks
    }

    /// Flushes of devices so far.
    pub fn flushes(&self) -> u64 {
        self.world.borrow().flushes
    }

    /// Operations that a crash now would decide about.
    pub fn pending(&self) -> usize {
        self.world.borrow().pending.len()
    }

    /// What is there once the power is back, as a medium of its own; this one stays as it is, so that
    /// one run can end in many ways. Fates beyond the list are `Lost`.
    #[must_use]
    pub fn after_crash(&self, fates: &[Fate], random: &mut Random) -> Self {
        Self { world: Rc::new(RefCell::new(self.world.borrow().after_crash(fates, random))) }
    }

    /// An independent copy in the same state, power on: what a killed process leaves behind.
    #[must_use]
    pub fn after_kill(&self) -> Self {
        let mut world = self.world.borrow().clone();
        world.is_off = false;
        world.cut_at = None;
        world.operations = 0;
        Self { world: Rc::new(RefCell::new(world)) }
    }

    /// Changes a byte of a block where it lies: damage at rest. False where there is no such block.
    pub fn flip(&self, path: &str, block: u32, byte: usize, bits: u8) -> bool {
        let mut world = self.world.borrow_mut();
        let Some(Node::File(file)) = world.names.get(path).copied() else { return false };
        let world = &mut *world;
        let mut is_there = false;
        for blocks in [&mut world.live[file], &mut world.durable[file]] {
            if let Some(data) = blocks.get_mut(block as usize) {
                let mut changed = **data;
                changed[byte % BLOCK_LEN] ^= bits;
                *data = Rc::new(changed);
                is_there = true;
            }
        }
        is_there
    }

    /// Every device's path and length in blocks, in the order of paths.
    pub fn files(&self) -> Vec<(String, u32)> {
        let world = self.world.borrow();
        let length = |node: &Node| match node {
            Node::File(file) => Some(world.live[*file].len() as u32),
            Node::Directory => None,
        };
        world.names.iter().filter_map(|(path, node)| Some((path.clone(), length(node)?))).collect()
    }

    /// Runs one operation that changes something; `change` is left undone in a world without power.
    fn operate(&self, change: impl FnOnce(&mut World)) -> Result<(), SimError> {
        let mut world = self.world.borrow_mut();
        if world.is_off {
            return Err(SimError::PowerCut);
        }
        let is_cut = world.tick();
        change(&mut world);
        if is_cut { Err(SimError::PowerCut) } else { Ok(()) }
    }

    /// Runs one operation that makes something durable: with the power cut in it, nothing happens.
    fn settle(&self, change: impl FnOnce(&mut World)) -> Result<(), SimError> {
        let mut world = self.world.borrow_mut();
        if world.tick() {
            return Err(SimError::PowerCut);
        }
        change(&mut world);
        Ok(())
    }

    fn file(&self, path: &str) -> Result<Option<FileId>, SimError> {
        let world = self.world.borrow();
        if world.is_off {
            return Err(SimError::PowerCut);
        }
        Ok(match world.names.get(path) {
            Some(Node::File(file)) => Some(*file),
            _ => None,
        })
    }

    fn require_directory(&self, path: &str) -> Result<(), SimError> {
        let directory = parent(path);
        if directory.is_empty() || self.world.borrow().names.get(directory) == Some(&Node::Directory) {
            Ok(())
        } else {
            Err(SimError::Missing(directory.to_string()))
        }
    }
}

impl Medium for SimMedium {
    type Error = SimError;
    type Device = SimDevice;

    fn create_directory(&mut self, path: &str) -> Result<(), SimError> {
        self.require_directory(path)?;
        if self.world.borrow().names.contains_key(path) {
            return Ok(());
        }
        let path = path.to_string();
        self.operate(|world| world.change_names(NameChange::Link { path, node: Node::Directory }))
    }

    fn list(&self, directory: &str) -> Result<Vec<Entry>, SimError> {
        let world = self.world.borrow();
        if world.is_off {
            return Err(SimError::PowerCut);
        }
        let inside = |path: &str| !path.is_empty() && parent(path) == directory;
        let entry = |(path, node): (&String, &Node)| Entry {
            name: path.rsplit('/').next().unwrap_or_default().to_string(),
            kind: if matches!(node, Node::File(_)) { EntryKind::File } else { EntryKind::Directory },
        };
        Ok(world.names.iter().filter(|(path, _)| inside(path)).map(entry).collect())
    }

    fn create(&mut self, path: &str) -> Result<SimDevice, SimError> {
        self.require_directory(path)?;
        let mut created = 0;
        let path = path.to_string();
        self.operate(|world| {
            created = world.add_file();
            world.change_names(NameChange::Link { path, node: Node::File(created) });
        })?;
        Ok(SimDevice { medium: self.clone(), file: created })
    }

    fn open(&self, path: &str) -> Result<Option<SimDevice>, SimError> {
        Ok(self.file(path)?.map(|file| SimDevice { medium: self.clone(), file }))
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), SimError> {
        self.require_directory(to)?;
        let node = self.world.borrow().names.get(from).copied();
        let node = node.ok_or_else(|| SimError::Missing(from.to_string()))?;
        let (from, to) = (from.to_string(), to.to_string());
        self.operate(|world| world.change_names(NameChange::Rename { from, to, node }))
    }

    fn remove(&mut self, path: &str) -> Result<(), SimError> {
        if self.file(path)?.is_none() {
            return Err(SimError::Missing(path.to_string()));
        }
        let path = path.to_string();
        self.operate(|world| world.change_names(NameChange::Unlink { path }))
    }

    fn sync_directory(&mut self, directory: &str) -> Result<(), SimError> {
        let directory = directory.to_string();
        self.settle(|world| world.sync_directory(&directory))
    }
}

/// An open device of a simulated medium.
#[derive(Debug)]
pub struct SimDevice {
    medium: SimMedium,
    file: FileId,
}

impl Device for SimDevice {
    type Error = SimError;

    fn block_count(&self) -> Result<u32, SimError> {
        let world = self.medium.world.borrow();
        if world.is_off { Err(SimError::PowerCut) } else { Ok(world.live[self.file].len() as u32) }
    }

    fn read(&self, first: u32, out: &mut [u8]) -> Result<(), SimError> {
        let world = self.medium.world.borrow();
        if world.is_off {
            return Err(SimError::PowerCut);
        }
        for (at, block) in out.chunks_mut(BLOCK_LEN).enumerate() {
            let data = world.live[self.file].get(first as usize + at).ok_or(SimError::PastEnd)?;
            block.copy_from_slice(&data[..block.len()]);
        }
        Ok(())
    }

    fn write(&mut self, first: u32, blocks: &[u8]) -> Result<(), SimError> {
        assert!(blocks.len().is_multiple_of(BLOCK_LEN), "writes are whole blocks");
        for (block, data) in (first..).zip(blocks.chunks_exact(BLOCK_LEN)) {
            let data: &Block = data.first_chunk().ok_or(SimError::PastEnd)?;
            self.medium.operate(|world| world.write(self.file, block, data))?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SimError> {
        self.medium.settle(|world| world.flush(self.file))
    }

    fn set_length(&mut self, block_count: u32) -> Result<(), SimError> {
        self.medium.operate(|world| world.set_length(self.file, block_count))
    }
}
