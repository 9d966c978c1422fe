//! CRC-32C (Castagnoli; RFC 3720, appendix B.4): by the CPU's instruction with `std`, else by a 1 KiB table.

/// A running CRC-32C.
#[derive(Clone)]
pub struct Crc(Inner);

#[cfg(feature = "std")]
type Inner = u32;
#[cfg(not(feature = "std"))]
type Inner = crc::Digest<'static, u32, crc::Table<1>>;

#[cfg(any(not(feature = "std"), test))]
static TABLE: crc::Crc<u32, crc::Table<1>> = crc::Crc::<u32, crc::Table<1>>::new(&crc::CRC_32_ISCSI);

impl Crc {
    /// The CRC of nothing.
    #[cfg(feature = "std")]
    pub const fn new() -> Self {
        Self(0)
    }

    /// The CRC of nothing.
    #[cfg(not(feature = "std"))]
    pub fn new() -> Self {
        Self(TABLE.digest())
    }

    /// With `bytes` behind what went in so far.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        #[cfg(feature = "std")]
        {
            Self(crc32c::crc32c_append(self.0, bytes))
        }
        #[cfg(not(feature = "std"))]
        {
            let mut digest = self.0;
            digest.update(bytes);
            Self(digest)
        }
    }

    /// The checksum.
    pub fn value(self) -> u32 {
        #[cfg(feature = "std")]
        {
            self.0
        }
        #[cfg(not(feature = "std"))]
        {
            self.0.finalize()
        }
    }
}

impl Default for Crc {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Crc, TABLE};

    #[test]
    fn instruction_and_table_agree_with_the_standard() {
        assert_eq!(Crc::new().with(b"1234").with(b"56789").value(), 0xE306_9283);
        assert_eq!(TABLE.checksum(b"123456789"), 0xE306_9283);
    }
}
