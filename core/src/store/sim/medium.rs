//! The handle with which a test steers a simulated medium: power, faults, damage, and what was counted.
//!
//! The store's traits over it are in `device`.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::crash::Fate;
use super::fault::{Call, Control, Fault, Rot};
use super::random::Random;
use super::world::World;
use crate::block::BLOCK_LEN;

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
    /// The medium failed in a call of this kind.
    Io(Call),
    /// The medium is full.
    NoRoom,
    /// Nothing can be changed on the medium.
    ReadOnly,
}

impl core::fmt::Display for SimError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::PowerCut => write!(f, "the power is off"),
            Self::PastEnd => write!(f, "read beyond the end"),
            Self::Missing(path) => write!(f, "{path}: no such name"),
            Self::Io(call) => write!(f, "input/output error ({call:?})"),
            Self::NoRoom => write!(f, "no space left"),
            Self::ReadOnly => write!(f, "the medium is read-only"),
        }
    }
}

impl core::error::Error for SimError {}

/// A simulated medium. Clones are handles of the same one.
#[derive(Clone, Debug, Default)]
pub struct SimMedium {
    pub(super) world: Rc<RefCell<World>>,
    /// The world as each operation so far would leave it if the power went with that operation.
    pub(super) moments: Rc<RefCell<Option<Vec<World>>>>,
}

impl SimMedium {
    /// An empty medium.
    pub fn new() -> Self {
        Self::default()
    }

    fn of(world: World) -> Self {
        Self { world: Rc::new(RefCell::new(world)), moments: Rc::default() }
    }

    /// Cuts the power with operation number `at`, counted from 0 over everything that changes the
    /// medium or makes it durable. That operation is left unflushed, and everything after it fails.
    pub fn cut_power_at(&self, at: u64) {
        self.world.borrow_mut().cut_at = Some(at);
    }

    /// Remembers from now on every moment at which the power could go.
    pub fn remember_moments(&self) {
        *self.moments.borrow_mut() = Some(Vec::new());
    }

    /// How many moments there are to choose from.
    pub fn moments(&self) -> usize {
        self.moments.borrow().as_ref().map_or(0, Vec::len)
    }

    /// The medium as it stood when the power went with the operation of moment `at`: what
    /// [`SimMedium::cut_power_at`] would have left.
    #[must_use]
    pub fn moment(&self, at: usize) -> Option<Self> {
        let moments = self.moments.borrow();
        let mut world = moments.as_ref()?.get(at)?.clone();
        world.is_off = true;
        Some(Self::of(world))
    }

    /// Adds a fault.
    pub fn inject(&self, fault: Fault) {
        self.world.borrow_mut().schedule.faults.push(fault);
    }

    /// Takes all faults away. What they did stays done.
    pub fn mend(&self) {
        self.world.borrow_mut().schedule.faults.clear();
    }

    /// Does something that no fault strikes and no count counts.
    pub fn aside<T>(&self, undisturbed: impl FnOnce() -> T) -> T {
        let schedule = core::mem::take(&mut self.world.borrow_mut().schedule);
        let result = undisturbed();
        self.world.borrow_mut().schedule = schedule;
        result
    }

    /// Makes one of the store's defences void, for this medium and whatever comes of it by a crash.
    pub fn control(&self, control: Control) {
        self.world.borrow_mut().schedule.controls.push(control);
    }

    /// Gives the medium room for so many blocks, each name counted as one; `None` for no end of room.
    pub fn set_capacity(&self, blocks: Option<u64>) {
        self.world.borrow_mut().capacity_blocks = blocks;
    }

    /// Blocks that are taken, each name counted as one.
    pub fn used_blocks(&self) -> u64 {
        self.world.borrow().used_blocks()
    }

    /// Operations so far.
    pub fn operations(&self) -> u64 {
        self.world.borrow().operations
    }

    /// Calls of a kind so far, counted as the faults count them.
    pub fn calls(&self, call: Call) -> u64 {
        self.world.borrow().schedule.calls(call)
    }

    /// Blocks read so far.
    pub fn blocks_read(&self) -> u64 {
        self.world.borrow().schedule.blocks_read
    }

    /// Blocks read so far of the device that has this path.
    pub fn blocks_read_of(&self, path: &str) -> u64 {
        let world = self.world.borrow();
        world.file(path).and_then(|file| world.read_of.get(&file)).copied().unwrap_or(0)
    }

    /// Allocations so far: names, extending blocks and extending lengths.
    pub fn allocations(&self) -> u64 {
        self.world.borrow().schedule.allocations
    }

    /// Blocks written so far, each time counted.
    pub fn blocks_written(&self) -> u64 {
        self.calls(Call::Write)
    }

    /// Flushes of devices so far.
    pub fn flushes(&self) -> u64 {
        self.calls(Call::Flush)
    }

    /// The simulated time since the beginning, nanoseconds: it goes on with operations only.
    pub fn clock_ns(&self) -> u64 {
        self.world.borrow().clock_ns
    }

    /// Blocks written since the beginning, crashes passed over, by the path under which the device was made (without
    /// `.part`) and the kind in the block's first byte.
    pub fn wear(&self) -> BTreeMap<(String, u8), u64> {
        let world = self.world.borrow();
        let mut wear = BTreeMap::new();
        for ((file, kind), blocks) in world.wear.iter() {
            let path = world.made_as[*file].trim_end_matches(".part");
            *wear.entry((String::from(path), *kind)).or_default() += blocks;
        }
        wear
    }

    /// Operations that a crash now would decide about.
    pub fn pending(&self) -> usize {
        self.world.borrow().pending.len()
    }

    /// What is there once the power is back, as a medium of its own; this one stays as it is, so that
    /// one run can end in many ways. Fates beyond the list are `Lost`.
    #[must_use]
    pub fn after_crash(&self, fates: &[Fate], random: &mut Random) -> Self {
        Self::of(self.world.borrow().after_crash(fates, random))
    }

    /// An independent copy in the same state, power on, faults gone: what a killed process leaves behind.
    #[must_use]
    pub fn after_kill(&self) -> Self {
        let mut world = self.world.borrow().clone();
        world.is_off = false;
        world.cut_at = None;
        world.operations = 0;
        world.schedule = world.schedule.after_crash();
        Self::of(world)
    }

    /// Changes a byte of a block where it lies: damage at rest. False where there is no such block.
    pub fn flip(&self, path: &str, block: u32, byte: usize, bits: u8) -> bool {
        let Some(mut bytes) = self.raw(path, block) else { return false };
        bytes[byte % BLOCK_LEN] ^= bits;
        self.put(path, block, &bytes)
    }

    /// Makes a block rotten where it lies. False where there is no such block.
    pub fn spoil(&self, path: &str, block: u32, rot: Rot, random: &mut Random) -> bool {
        let mut world = self.world.borrow_mut();
        world.file(path).is_some_and(|file| world.spoil(file, block, rot, random))
    }

    /// Puts these bytes in a block's place, as if they had always been there. False where there is no
    /// such block.
    pub fn put(&self, path: &str, block: u32, bytes: &[u8; BLOCK_LEN]) -> bool {
        let mut world = self.world.borrow_mut();
        world.file(path).is_some_and(|file| world.replace(file, block, Rc::new(*bytes)))
    }

    /// The bytes of a block, past all faults.
    pub fn raw(&self, path: &str, block: u32) -> Option<[u8; BLOCK_LEN]> {
        let world = self.world.borrow();
        world.live[world.file(path)?].get(block as usize).map(|data| **data)
    }

    /// What a block held before it was last written, past all faults.
    pub fn raw_before(&self, path: &str, block: u32) -> Option<[u8; BLOCK_LEN]> {
        let world = self.world.borrow();
        world.before[world.file(path)?].get(&block).map(|data| **data)
    }

    /// Every device's path and length in blocks, in the order of paths.
    pub fn files(&self) -> Vec<(String, u32)> {
        self.world.borrow().files()
    }
}
