//! A segment that is merged: its series page by page in the order of names, and its blocks one by one.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use crate::block::{BLOCK_LEN, Block, BlockHeader, open};
use crate::segment::SegmentKind;
use crate::segment::{BlockMap, Rooted, Sealed};
use crate::series::SeriesName;
use crate::store::carried;
use crate::store::device::Device;
use crate::store::segment_file::ask;

/// Series read at once.
const PAGE_SERIES: u32 = 64;

/// Something that an input should hold can't be read: the merge is given up, and nothing is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// A sealed segment that is read.
#[derive(Debug)]
pub(super) struct Input<D> {
    pub(super) sealed: Box<Sealed>,
    blocks: BlockSource<D>,
    page: VecDeque<Rooted>,
    next_position: u32,
}

/// The blocks of a file, the last one kept: neighbours in name share packed leaves.
#[derive(Debug)]
pub(super) struct BlockSource<D> {
    device: D,
    sealed_id: crate::block::SegmentId,
    last: Option<(u32, Box<Block>)>,
}

impl<D: Device> Input<D> {
    pub(super) fn new(sealed: Box<Sealed>, device: D) -> Self {
        let sealed_id = sealed.header().id;
        let blocks = BlockSource { device, sealed_id, last: None };
        Self { sealed, blocks, page: VecDeque::new(), next_position: 0 }
    }

    /// The next series, which stays the next one.
    pub(super) fn series(&mut self) -> Result<Option<&SeriesName>, Damaged> {
        if self.page.is_empty() {
            let positions = self.next_position..self.next_position.saturating_add(PAGE_SERIES);
            self.next_position = positions.end;
            let device = &self.blocks.device;
            let page =
                ask(device, &mut BlockMap::new(), |blocks| self.sealed.page(blocks, positions.clone()));
            self.page = page.ok().and_then(Result::ok).ok_or(Damaged)?.into();
        }
        Ok(self.page.front().map(|(entry, _)| &entry.name))
    }

    /// The heads that it carries, where it is in order and they can be read.
    pub(super) fn heads(&self) -> Option<carried::Carries> {
        let is_in_order = self.sealed.header().kind == SegmentKind::InOrder;
        is_in_order.then(|| carried::read(&self.sealed, &self.blocks.device).ok()?).flatten()
    }

    /// Takes the next series.
    pub(super) fn take(&mut self) -> Option<Rooted> {
        self.page.pop_front()
    }

    pub(super) fn blocks(&mut self) -> &mut BlockSource<D> {
        &mut self.blocks
    }
}

impl<D: Device> BlockSource<D> {
    /// A block's header and payload, verified.
    pub(super) fn open(&mut self, number: u32) -> Result<(BlockHeader, &[u8]), Damaged> {
        if self.last.as_ref().is_none_or(|(known, _)| *known != number) {
            let mut bytes = Box::new([0; BLOCK_LEN]);
            self.device.read(number, &mut bytes[..]).map_err(|_| Damaged)?;
            self.last = Some((number, bytes));
        }
        let (_, bytes) = self.last.as_ref().ok_or(Damaged)?;
        open(&bytes[..], &self.sealed_id, number).map_err(|_| Damaged)
    }
}
