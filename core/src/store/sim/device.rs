//! The store's traits over a simulated medium: every call is counted, and fails where it is told to.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::fault::Call;
use super::medium::{SimError, SimMedium};
use super::world::{FileId, NameChange, Node, World, parent};
use crate::block::{BLOCK_LEN, Block};
use crate::store::device::{Device, Entry, EntryKind, Medium};

impl SimMedium {
    /// Counts a call; an error where it is to fail.
    fn call(&self, call: Call) -> Result<u64, SimError> {
        let mut world = self.world.borrow_mut();
        if world.is_off {
            return Err(SimError::PowerCut);
        }
        let at = world.schedule.count(call);
        if world.schedule.fails(call, at) { Err(SimError::Io(call)) } else { Ok(at) }
    }

    /// Keeps the moment, where moments are kept.
    fn keep_moment(&self, world: &World) {
        if let Some(moments) = &mut *self.moments.borrow_mut() {
            moments.push(world.clone());
        }
    }

    /// Runs one operation that changes something and takes `blocks` more; `change` is left undone in a world
    /// without power.
    fn operate(&self, call: Call, blocks: u64, change: impl FnOnce(&mut World)) -> Result<(), SimError> {
        self.call(call)?;
        let mut world = self.world.borrow_mut();
        let at = world.operations;
        if world.schedule.is_read_only(at) {
            return Err(SimError::ReadOnly);
        }
        if !world.has_room(blocks) {
            return Err(SimError::NoRoom);
        }
        let is_cut = world.tick();
        change(&mut world);
        self.keep_moment(&world);
        if is_cut { Err(SimError::PowerCut) } else { Ok(()) }
    }

    /// Runs one operation that makes something durable: with the power cut in it, nothing happens.
    fn settle(&self, call: Call, change: impl FnOnce(&mut World, u64) -> bool) -> Result<(), SimError> {
        let at = self.call(call)?;
        let mut world = self.world.borrow_mut();
        if world.tick() {
            return Err(SimError::PowerCut);
        }
        self.keep_moment(&world);
        if change(&mut world, at) { Ok(()) } else { Err(SimError::Io(call)) }
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
        let change = NameChange::Link { path, node: Node::Directory };
        self.operate(Call::Name, 1, |world| world.change_names(change))
    }

    fn list(&self, directory: &str) -> Result<Vec<Entry>, SimError> {
        self.call(Call::Look)?;
        let world = self.world.borrow();
        let inside = |path: &str| !path.is_empty() && parent(path) == directory;
        let entry = |(path, node): (&alloc::string::String, &Node)| Entry {
            name: path.rsplit('/').next().unwrap_or_default().to_string(),
            kind: if matches!(node, Node::File(_)) { EntryKind::File } else { EntryKind::Directory },
        };
        Ok(world.names.iter().filter(|(path, _)| inside(path)).map(entry).collect())
    }

    fn create(&mut self, path: &str) -> Result<SimDevice, SimError> {
        self.require_directory(path)?;
        let mut created = 0;
        self.operate(Call::Name, 1, |world| {
            created = world.add_file(path);
            let path = path.to_string();
            world.change_names(NameChange::Link { path, node: Node::File(created) });
        })?;
        Ok(SimDevice { medium: self.clone(), file: created })
    }

    fn open(&self, path: &str) -> Result<Option<SimDevice>, SimError> {
        self.call(Call::Look)?;
        let file = self.world.borrow().file(path);
        Ok(file.map(|file| SimDevice { medium: self.clone(), file }))
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), SimError> {
        self.require_directory(to)?;
        let node = self.world.borrow().names.get(from).copied();
        let node = node.ok_or_else(|| SimError::Missing(from.to_string()))?;
        let (from, to) = (from.to_string(), to.to_string());
        self.operate(Call::Name, 0, |world| world.change_names(NameChange::Rename { from, to, node }))
    }

    fn remove(&mut self, path: &str) -> Result<(), SimError> {
        // One that is not there is no error, but the call may fail like any other.
        if self.world.borrow().file(path).is_none() {
            return self.operate(Call::Name, 0, |_| {});
        }
        let path = path.to_string();
        self.operate(Call::Name, 0, |world| world.change_names(NameChange::Unlink { path }))
    }

    fn sync_directory(&mut self, directory: &str) -> Result<(), SimError> {
        self.settle(Call::Sync, |world, at| {
            world.sync_directory(directory, at);
            true
        })
    }
}

/// An open device of a simulated medium.
#[derive(Debug)]
pub struct SimDevice {
    medium: SimMedium,
    file: FileId,
}

impl SimDevice {
    /// Blocks that the device grows by, if it ends at `end`.
    fn growth(&self, end: u32) -> u64 {
        let blocks = self.medium.world.borrow().live[self.file].len() as u64;
        u64::from(end).saturating_sub(blocks)
    }
}

impl Device for SimDevice {
    type Error = SimError;

    fn block_count(&self) -> Result<u32, SimError> {
        self.medium.call(Call::Look)?;
        Ok(self.medium.world.borrow().live[self.file].len() as u32)
    }

    fn read(&self, first: u32, out: &mut [u8]) -> Result<(), SimError> {
        assert!(out.len().is_multiple_of(BLOCK_LEN), "reads are whole blocks");
        self.medium.call(Call::Read)?;
        let mut world = self.medium.world.borrow_mut();
        for (block, out) in (first..).zip(out.chunks_exact_mut(BLOCK_LEN)) {
            let data = world.live[self.file].get(block as usize).cloned().ok_or(SimError::PastEnd)?;
            if world.is_bad(self.file, block) {
                return Err(SimError::Io(Call::Read));
            }
            world.read(self.file, block, &data, out.first_chunk_mut().ok_or(SimError::PastEnd)?);
        }
        Ok(())
    }

    fn write(&mut self, first: u32, blocks: &[u8]) -> Result<(), SimError> {
        assert!(blocks.len().is_multiple_of(BLOCK_LEN), "writes are whole blocks");
        for (block, data) in (first..).zip(blocks.chunks_exact(BLOCK_LEN)) {
            let data: &Block = data.first_chunk().ok_or(SimError::PastEnd)?;
            let growth = self.growth(block + 1);
            self.medium.operate(Call::Write, growth, |world| world.write(self.file, block, data))?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SimError> {
        self.medium.settle(Call::Flush, |world, at| world.flush(self.file, at))
    }

    fn set_length(&mut self, block_count: u32) -> Result<(), SimError> {
        let growth = self.growth(block_count);
        self.medium.operate(Call::Length, growth, |world| world.set_length(self.file, block_count))
    }
}
