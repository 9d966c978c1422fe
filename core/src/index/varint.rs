//! Appending LEB128 numbers to a growing section; reading is the block room's `Cursor`.

use alloc::vec::Vec;

/// Appends `value`, seven bits a byte, the lowest first.
pub(super) fn push(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends the length of `bytes` and then `bytes`.
pub(super) fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}
