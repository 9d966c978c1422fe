//! Little-endian reads over a slice that can't run past its end.
//!
//! Everything that parses stored bytes goes through these, so that a short or hostile input is a
//! [`Truncated`] and never a panic. Nothing here allocates.

/// The bytes ended before the value did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated;

macro_rules! getter {
    ($name:ident, $type:ty, $len:literal, $what:literal) => {
        #[doc = concat!("The ", $what, " at `offset`; `Truncated` where the bytes end before it does.")]
        pub fn $name(bytes: &[u8], offset: usize) -> Result<$type, Truncated> {
            let rest = bytes.get(offset..).ok_or(Truncated)?;
            let array: &[u8; $len] = rest.first_chunk().ok_or(Truncated)?;
            Ok(<$type>::from_le_bytes(*array))
        }
    };
}

getter!(get_u16, u16, 2, "`u16`");
getter!(get_u32, u32, 4, "`u32`");
getter!(get_u64, u64, 8, "`u64`");
getter!(get_i64, i64, 8, "`i64`");

/// A read position in a slice.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// A cursor at the first byte.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What was not read yet.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `len` bytes.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Truncated> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next byte.
    pub fn u8(&mut self) -> Result<u8, Truncated> {
        let (first, rest) = self.rest.split_first().ok_or(Truncated)?;
        self.rest = rest;
        Ok(*first)
    }

    /// The next two bytes.
    pub fn u16(&mut self) -> Result<u16, Truncated> {
        let value = get_u16(self.rest, 0)?;
        self.take(2)?;
        Ok(value)
    }

    /// The next four bytes.
    pub fn u32(&mut self) -> Result<u32, Truncated> {
        let value = get_u32(self.rest, 0)?;
        self.take(4)?;
        Ok(value)
    }

    /// The next eight bytes.
    pub fn u64(&mut self) -> Result<u64, Truncated> {
        let value = get_u64(self.rest, 0)?;
        self.take(8)?;
        Ok(value)
    }

    /// The next eight bytes, signed.
    pub fn i64(&mut self) -> Result<i64, Truncated> {
        let value = get_i64(self.rest, 0)?;
        self.take(8)?;
        Ok(value)
    }

    /// The next LEB128 number of at most 64 bits.
    pub fn varint(&mut self) -> Result<u64, Truncated> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Truncated)
    }

    /// The next zigzag LEB128 number.
    pub fn zigzag(&mut self) -> Result<i64, Truncated> {
        let raw = self.varint()?;
        Ok(((raw >> 1) as i64) ^ -((raw & 1) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, Truncated};

    #[test]
    fn reads_stop_at_the_end() {
        let mut cursor = Cursor::new(&[1, 2, 0, 0x80, 0x01, 3]);
        assert_eq!(cursor.u8(), Ok(1));
        assert_eq!(cursor.u16(), Ok(2));
        assert_eq!(cursor.varint(), Ok(128));
        assert_eq!(cursor.zigzag(), Ok(-2));
        assert_eq!(cursor.u8(), Err(Truncated));
        assert_eq!(Cursor::new(&[0xFF; 12]).varint(), Err(Truncated));
    }
}
