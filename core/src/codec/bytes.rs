//! Cursors over bytes: [`Source`] reads and never panics, [`Sink`] writes and never stops counting.
//!
//! A sink that is too small goes on counting, so that coding into an empty slice gives the exact size
//! that is needed. A source knows its place, so that every error can name the byte.

use super::{CodecError, Defect, bitpack, varint};

/// Reads forward through bytes that may be anything.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Source<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The position of the next byte.
    pub fn at(&self) -> usize {
        self.at
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The error that says `defect` at the present position.
    pub fn defect(&self, defect: Defect) -> CodecError {
        CodecError::Invalid { at: self.at, defect }
    }

    /// The next `len` bytes.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], CodecError> {
        let taken = self.rest().get(..len).ok_or(CodecError::Truncated { at: self.bytes.len() })?;
        self.at = self.at.saturating_add(len);
        Ok(taken)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Result<u8, CodecError> {
        let byte = self.bytes.get(self.at).copied().ok_or(CodecError::Truncated { at: self.bytes.len() })?;
        self.at = self.at.saturating_add(1);
        Ok(byte)
    }

    /// The next eight bytes as a little-endian number.
    pub fn u64(&mut self) -> Result<u64, CodecError> {
        let first = self.rest().first_chunk().ok_or(CodecError::Truncated { at: self.bytes.len() })?;
        self.at = self.at.saturating_add(8);
        Ok(u64::from_le_bytes(*first))
    }

    /// The next LEB128 number.
    pub fn varint(&mut self) -> Result<u64, CodecError> {
        let rest = self.rest();
        let (value, used) = varint::read(rest).ok_or_else(|| {
            if rest.len() < varint::LEN_MAX {
                CodecError::Truncated { at: self.bytes.len() }
            } else {
                self.defect(Defect::Varint)
            }
        })?;
        self.at = self.at.saturating_add(used);
        Ok(value)
    }

    /// The next zigzag LEB128 number.
    pub fn zigzag(&mut self) -> Result<i64, CodecError> {
        self.varint().map(varint::unzigzag)
    }

    /// A LEB128 number of `low..=high`; `defect` names what else it would be.
    pub fn varint_in(&mut self, low: usize, high: usize, defect: Defect) -> Result<usize, CodecError> {
        let wrong = self.defect(defect);
        let value = usize::try_from(self.varint()?).map_err(|_| wrong)?;
        if (low..=high).contains(&value) { Ok(value) } else { Err(wrong) }
    }

    /// Fills `out` from a bit-packed run.
    pub fn unpack(&mut self, width_bits: u32, out: &mut [u64]) -> Result<(), CodecError> {
        let used = bitpack::unpack(self.rest(), width_bits, out)
            .ok_or(CodecError::Truncated { at: self.bytes.len() })?;
        self.at = self.at.saturating_add(used);
        Ok(())
    }

    /// Refuses bytes behind the end.
    pub fn finish(&self) -> Result<(), CodecError> {
        if self.rest().is_empty() { Ok(()) } else { Err(CodecError::Trailing { at: self.at }) }
    }
}

/// Writes forward into a slice, and counts on where it ends.
#[derive(Debug)]
pub struct Sink<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl<'a> Sink<'a> {
    /// Starts at the first byte of `bytes`.
    pub fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes were put, whether or not they fit.
    pub fn len(&self) -> usize {
        self.at
    }

    /// Whether nothing was put.
    pub fn is_empty(&self) -> bool {
        self.at == 0
    }

    /// Whether everything put so far is in the slice.
    pub fn fits(&self) -> bool {
        self.at <= self.bytes.len()
    }

    /// Puts `bytes`.
    pub fn put(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        if let Some(place) = self.bytes.get_mut(self.at..end) {
            place.copy_from_slice(bytes);
        }
        self.at = end;
    }

    /// Puts one byte.
    pub fn byte(&mut self, byte: u8) {
        self.put(&[byte]);
    }

    /// Puts eight bytes, little-endian.
    pub fn u64(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }

    /// Puts a LEB128 number.
    pub fn varint(&mut self, value: u64) {
        if let Some(rest) = self.bytes.get_mut(self.at..) {
            // A number that does not fit is only counted.
            let _ = varint::write(value, rest);
        }
        self.at += varint::len(value);
    }

    /// Puts a zigzag LEB128 number.
    pub fn zigzag(&mut self, value: i64) {
        self.varint(varint::zigzag(value));
    }

    /// Puts a bit-packed run.
    pub fn pack(&mut self, values: &[u64], width_bits: u32) {
        if let Some(rest) = self.bytes.get_mut(self.at..) {
            // A run that does not fit is only counted.
            let _ = bitpack::pack(values, width_bits, rest);
        }
        self.at += bitpack::packed_len(values.len(), width_bits);
    }
}
