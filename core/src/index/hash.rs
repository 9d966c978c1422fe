//! The hash that puts a key into the cells of a sketch table; part of the format
//! (`docs/format-index.md`, chapter 5).

/// The key of a metric.
pub(super) fn metric_key(metric: &str) -> u64 {
    fnv(FNV_BASIS, metric.as_bytes())
}

/// The key of a tag and its value.
pub(super) fn tag_key(tag: &str, value: &str) -> u64 {
    fnv(fnv(fnv(FNV_BASIS, tag.as_bytes()), &[0xff]), value.as_bytes())
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

fn fnv(state: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(state, |state, byte| (state ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}

/// The column of `key` in row `row` of a table of 2^`bits` columns.
pub(super) fn column(key: u64, row: u32, bits: u32) -> u32 {
    let mut x = key.wrapping_add(u64::from(row).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    x.checked_shr(64_u32.saturating_sub(bits)).unwrap_or(0) as u32
}

#[cfg(test)]
mod tests {
    use super::{column, metric_key, tag_key};

    #[test]
    fn the_documented_example_holds() {
        let key = metric_key("temperature");
        assert_eq!(key, 0x5565_75c1_ce10_7955);
        assert_eq!((column(key, 0, 3), column(key, 1, 3)), (4, 7));
        assert_eq!(column(key, 0, 0), 0);
        assert_ne!(tag_key("a", "bc"), tag_key("ab", "c"));
    }
}
