//! The tail of a sealed segment: one byte stream over consecutive tail blocks. `docs/format.md`, chapter 11.

use super::blocks::Blocks;
use super::footer::Footer;
use crate::block::{BLOCK_LEN, Block, BlockKind, HEADER_LEN, PAYLOAD_MAX, SegmentId, open};
use crate::index::Source;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

/// Collects the stream and cuts it into payloads.
#[derive(Debug)]
pub(super) struct TailWriter {
    first_block: u32,
    stream: Vec<u8>,
}

impl TailWriter {
    /// A stream whose first block will be `first_block`.
    pub(super) fn new(first_block: u32) -> Self {
        Self { first_block, stream: Vec::new() }
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> u64 {
        self.stream.len() as u64
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.stream.extend_from_slice(bytes);
    }

    /// The blocks with their payloads, the footer whole within the last.
    pub(super) fn finish(mut self, footer: &Footer) -> Vec<(Box<Block>, u16)> {
        debug_assert_eq!(self.first_block, footer.tail_block);
        let used = self.stream.len() % PAYLOAD_MAX;
        if used + footer.encoded_len() > PAYLOAD_MAX {
            self.stream.resize(self.stream.len() - used + PAYLOAD_MAX, 0);
        }
        self.stream.extend_from_slice(&footer.encode());
        let blocks = self.stream.chunks(PAYLOAD_MAX).map(|payload| {
            let mut block = Box::new([0; BLOCK_LEN]);
            block[HEADER_LEN..HEADER_LEN + payload.len()].copy_from_slice(payload);
            (block, payload.len() as u16)
        });
        blocks.collect()
    }
}

/// The stream, as far as its blocks are at hand.
#[derive(Clone, Copy)]
pub(super) struct TailStream<'b, B: ?Sized> {
    pub blocks: &'b B,
    pub id: &'b SegmentId,
    pub first_block: u32,
}

impl<B: Blocks + ?Sized> Source for TailStream<'_, B> {
    fn read(&self, begin: u64, out: &mut [u8]) -> bool {
        let mut at = begin;
        let mut rest = out;
        while !rest.is_empty() {
            let Ok(number) = u32::try_from(at / PAYLOAD_MAX as u64) else { return false };
            let from = (at % PAYLOAD_MAX as u64) as usize;
            let Some(payload) = self.payload(self.first_block.saturating_add(number)) else { return false };
            let Some(bytes) = payload.get(from..).filter(|bytes| !bytes.is_empty()) else { return false };
            let count = bytes.len().min(rest.len());
            let (to, behind) = rest.split_at_mut(count);
            to.copy_from_slice(bytes.get(..count).unwrap_or_default());
            rest = behind;
            at = at.saturating_add(count as u64);
        }
        true
    }
}

impl<'b, B: Blocks + ?Sized> TailStream<'b, B> {
    fn payload(&self, number: u32) -> Option<&'b [u8]> {
        let (header, payload) = open(self.blocks.block(number)?, self.id, number).ok()?;
        (header.kind == BlockKind::Tail).then_some(payload)
    }

    /// The blocks that hold `ranges` of the stream and are not at hand; joined where they touch.
    pub(super) fn missing(&self, ranges: &[Range<u64>]) -> Vec<Range<u32>> {
        let mut missing: Vec<Range<u32>> = Vec::new();
        for range in ranges {
            let block = |offset: u64| {
                let number = u32::try_from(offset / PAYLOAD_MAX as u64).unwrap_or(u32::MAX);
                self.first_block.saturating_add(number)
            };
            for number in block(range.start)..block(range.end.saturating_sub(1)).saturating_add(1) {
                if self.blocks.block(number).is_some() {
                    continue;
                }
                match missing.last_mut() {
                    Some(last) if last.end == number => last.end += 1,
                    Some(last) if last.contains(&number) => {}
                    _ => missing.push(number..number.saturating_add(1)),
                }
            }
        }
        missing
    }
}
