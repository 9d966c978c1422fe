//! Where the writer without a heap puts its blocks, and the tail as a stream over them.

use super::footer::Footer;
use super::header::SegmentHeader;
use super::lean::LeanError;
use crate::block::{BLOCK_LEN, Block, BlockHeader, BlockKind, HEADER_LEN, PAYLOAD_MAX, seal};
use crate::codec::varint;
use crate::point::ValueKind;
use crate::tree::{Reference, VIRTUAL_BLOCK_MIN, table};

/// Roots of one group: few, so that a group fits a small buffer.
const ROOTS_GROUP: usize = 8;
/// Bytes of such a group at most: 34 columns of at most 16 bytes a reference and 18 for the column.
const ROOTS_GROUP_LEN_MAX: usize = 34 * (ROOTS_GROUP * 16 + 18);
/// Catalog entries carry their unit where this bit of the kind is set.
const UNIT_FOLLOWS: u8 = 0x10;

/// The sink, and the number of the next block.
pub(super) struct BlockOut<W> {
    sink: W,
    header: SegmentHeader,
    write_epoch: u32,
    pub next_block: u32,
}

impl<W: embedded_io::Write> BlockOut<W> {
    /// Writes block 0.
    pub(super) fn begin(
        mut sink: W,
        header: SegmentHeader,
        write_epoch: u32,
    ) -> Result<Self, LeanError<W::Error>> {
        sink.write_all(&header.block(write_epoch)).map_err(LeanError::Sink)?;
        Ok(Self { sink, header, write_epoch, next_block: 1 })
    }

    /// Seals and writes the next block; gives its number.
    pub(super) fn write(
        &mut self,
        block: &mut Block,
        kind: BlockKind,
        payload_len: u16,
    ) -> Result<u32, LeanError<W::Error>> {
        let number = self.next_block;
        if number >= VIRTUAL_BLOCK_MIN {
            return Err(LeanError::Full);
        }
        let header = BlockHeader {
            kind,
            flags: 0,
            payload_len,
            block: number,
            number: self.header.id.number,
            epoch: self.header.id.epoch,
            write_epoch: self.write_epoch,
            lsn: 0,
        };
        seal(block, &header, &self.header.id.device);
        self.sink.write_all(block).map_err(LeanError::Sink)?;
        self.next_block += 1;
        Ok(number)
    }

    /// Flushes the sink and gives it back.
    pub(super) fn finish(mut self) -> Result<W, LeanError<W::Error>> {
        self.sink.flush().map_err(LeanError::Sink)?;
        Ok(self.sink)
    }
}

/// The tail's byte stream, a block at a time.
pub(super) struct TailSink<'o, W> {
    out: &'o mut BlockOut<W>,
    block: Block,
    /// Bytes in the block at work.
    filled: usize,
    total: u64,
}

impl<'o, W: embedded_io::Write> TailSink<'o, W> {
    pub(super) fn new(out: &'o mut BlockOut<W>) -> Self {
        Self { out, block: [0; BLOCK_LEN], filled: 0, total: 0 }
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> u64 {
        self.total
    }

    fn put(&mut self, mut bytes: &[u8]) -> Result<(), LeanError<W::Error>> {
        self.total += bytes.len() as u64;
        while !bytes.is_empty() {
            if self.filled == PAYLOAD_MAX {
                self.emit()?;
            }
            let (now, later) = bytes.split_at(bytes.len().min(PAYLOAD_MAX - self.filled));
            let at = HEADER_LEN + self.filled;
            self.block[at..at + now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = later;
        }
        Ok(())
    }

    fn emit(&mut self) -> Result<(), LeanError<W::Error>> {
        self.out.write(&mut self.block, BlockKind::Tail, self.filled as u16)?;
        self.filled = 0;
        Ok(())
    }

    fn put_u32(&mut self, value: u32) -> Result<(), LeanError<W::Error>> {
        self.put(&value.to_le_bytes())
    }

    fn put_varint(&mut self, value: u64) -> Result<(), LeanError<W::Error>> {
        let mut bytes = [0; varint::LEN_MAX];
        let len = varint::write(value, &mut bytes).unwrap_or(0);
        self.put(bytes.get(..len).unwrap_or_default())
    }

    /// The catalog of names and units in the order of names: one group, whose keys share nothing.
    pub(super) fn put_catalog<'n>(
        &mut self,
        entries: impl Iterator<Item = (&'n str, &'n str)> + Clone,
    ) -> Result<(), LeanError<W::Error>> {
        let count = entries.clone().count() as u32;
        let own = |text: &str| (text.len() as u64) << 1;
        let entry_len = |(name, unit): (&str, &str)| {
            let unit_len = if unit.is_empty() { 0 } else { varint::len(unit.len() as u64) + unit.len() };
            2 + varint::len(own(name)) + name.len() + 1 + unit_len
        };
        let len: usize = entries.clone().map(entry_len).sum();
        let directory_len = varint::len(u64::from(count)) + varint::len(len as u64) + 2;
        let groups = u32::from(count > 0);
        for number in [count, groups, directory_len as u32 * groups, len as u32] {
            self.put_u32(number)?;
        }
        if count == 0 {
            return Ok(());
        }
        self.put_varint(u64::from(count))?;
        self.put_varint(len as u64)?;
        self.put(&[0, 0])?;
        for (name, unit) in entries {
            self.put(&[0, 0])?;
            self.put_varint(own(name))?;
            self.put(name.as_bytes())?;
            if unit.is_empty() {
                self.put(&[ValueKind::Float.code()])?;
            } else {
                self.put(&[ValueKind::Float.code() | UNIT_FOLLOWS])?;
                self.put_varint(unit.len() as u64)?;
                self.put(unit.as_bytes())?;
            }
        }
        Ok(())
    }

    /// The roots section.
    pub(super) fn put_roots(&mut self, roots: &[Reference]) -> Result<(), LeanError<W::Error>> {
        let mut scratch = [0; ROOTS_GROUP];
        let groups = roots.len().div_ceil(ROOTS_GROUP) as u32;
        self.put_u32(roots.len() as u32)?;
        self.put_u32(ROOTS_GROUP as u32)?;
        let mut offset = 8 + 4 * (groups + 1);
        for group in roots.chunks(ROOTS_GROUP) {
            self.put_u32(offset)?;
            offset += table::encoded_len(group, true, &mut scratch).ok_or(LeanError::Full)? as u32;
        }
        self.put_u32(offset)?;
        for group in roots.chunks(ROOTS_GROUP) {
            let mut bytes = [0; ROOTS_GROUP_LEN_MAX];
            let len = table::encode(group, true, &mut scratch, &mut bytes).ok_or(LeanError::Full)?;
            self.put(bytes.get(..len).unwrap_or_default())?;
        }
        Ok(())
    }

    /// Puts the footer whole into the last block and writes it.
    pub(super) fn finish(mut self, footer: &Footer) -> Result<(), LeanError<W::Error>> {
        if self.filled + footer.encoded_len() > PAYLOAD_MAX {
            self.put(&[0; PAYLOAD_MAX][self.filled..])?;
        }
        self.put(&footer.encode())?;
        self.emit()
    }
}
