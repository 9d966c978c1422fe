//! The open segments: a library of the engine, with the numbers by which the page knows its devices.

use siltstone_core::point::TimeRange;
use siltstone_core::query::{Library, Request, SegmentHandle};
use siltstone_core::segment::{Opened, SegmentError};

use crate::fault::Fault;

/// Blocks that are needed: device, first, count.
pub(crate) type Need = Vec<(u32, u32, u32)>;

/// The open segments.
#[derive(Default)]
pub(crate) struct Shelf {
    pub(crate) library: Library,
    /// The device of each segment, by handle; `None` where it was closed.
    devices: Vec<Option<u32>>,
    /// What is wrong with each segment, though it opened; by handle.
    warnings: Vec<Option<String>>,
}

impl Shelf {
    /// Adds what was opened on `device`.
    pub(crate) fn add(&mut self, device: u32, opened: Opened) -> Result<(), Fault> {
        let id = opened.header().id;
        let mut others = (0..).map(SegmentHandle).take(self.devices.len());
        if others.any(|other| self.library.header(other).is_some_and(|header| header.id == id)) {
            return Err(Fault::new("already-open", "this segment is open already"));
        }
        self.warnings.push(warning_of(&opened));
        self.devices.push(Some(device));
        self.library.add(opened);
        Ok(())
    }

    /// Takes the segment on `device` out.
    pub(crate) fn close(&mut self, device: u32) {
        if let Some(handle) = self.handle(device) {
            self.library.remove(handle);
            if let Some(entry) = self.devices.get_mut(handle.0 as usize) {
                *entry = None;
            }
        }
    }

    /// The segment on `device`.
    pub(crate) fn handle(&self, device: u32) -> Option<SegmentHandle> {
        let position = self.devices.iter().position(|other| *other == Some(device))?;
        u32::try_from(position).ok().map(SegmentHandle)
    }

    /// The device of a segment.
    pub(crate) fn device(&self, handle: SegmentHandle) -> Option<u32> {
        self.devices.get(handle.0 as usize).copied().flatten()
    }

    /// The same blocks by device.
    pub(crate) fn need(&self, requests: &[Request]) -> Need {
        let by_device = |need: &Request| Some((self.device(need.segment)?, need.block, need.count));
        requests.iter().filter_map(by_device).collect()
    }

    /// What is wrong with the tail of a segment.
    pub(crate) fn fault(&self, (handle, error): (SegmentHandle, SegmentError)) -> Fault {
        Fault { device: self.device(handle), ..error.into() }
    }

    /// The span of the segment on `device`, unless it has no rows.
    pub(crate) fn span(&self, device: u32) -> Option<TimeRange> {
        self.library.get(self.handle(device)?)?.span()
    }

    /// What is wrong with the segment on `device`, though it opened.
    pub(crate) fn warning(&self, device: u32) -> Option<String> {
        self.handle(device).and_then(|handle| self.warnings.get(handle.0 as usize).cloned().flatten())
    }
}

/// What is wrong with a segment, though it opened; the end of a sentence.
fn warning_of(opened: &Opened) -> Option<String> {
    match opened {
        Opened::Sealed { sealed, .. } => sealed
            .header_fault()
            .map(|fault| format!("its first block is damaged ({fault}); the copy at its end is used")),
        Opened::Unsealed(unsealed) => Some(match unsealed.faults.len() {
            0 => "it was never sealed, so all of it was read; what its writer still held in memory is not in it"
                .to_owned(),
            damaged => format!("it was never sealed, and {damaged} of its blocks are damaged and left out"),
        }),
    }
}
