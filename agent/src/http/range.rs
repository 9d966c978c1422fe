//! One range of a Range header (RFC 9110, section 14).
//!
//! Several ranges at once are answered with the whole file, as the RFC allows; nobody who reads
//! block files asks for them.

/// What a Range header asks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ranged {
    /// The whole file: no header, or one that is ignored.
    Whole,
    /// Bytes from the first to behind the last.
    Part(u64, u64),
    /// Nothing of it lies in the file.
    Outside,
}

/// The part of a file of `length` bytes that `header` asks for.
pub(super) fn parse(header: Option<&str>, length: u64) -> Ranged {
    let Some(spec) = header.and_then(|header| header.trim().strip_prefix("bytes=")) else {
        return Ranged::Whole;
    };
    let Some((first, last)) = spec.split_once('-').filter(|_| !spec.contains(',')) else {
        return Ranged::Whole;
    };
    let number = |text: &str| text.trim().parse::<u64>().ok();
    match (first.trim(), last.trim()) {
        ("", count) => match number(count) {
            None => Ranged::Whole,
            Some(0) => Ranged::Outside,
            Some(_) if length == 0 => Ranged::Outside,
            Some(count) => Ranged::Part(length.saturating_sub(count), length),
        },
        (first, last) => {
            let last = if last.is_empty() { Some(u64::MAX) } else { number(last) };
            match (number(first), last) {
                (Some(first), Some(last)) if first > last => Ranged::Whole,
                (Some(first), Some(_)) if first >= length => Ranged::Outside,
                (Some(first), Some(last)) => Ranged::Part(first, last.saturating_add(1).min(length)),
                _ => Ranged::Whole,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ranged, parse};

    #[test]
    fn one_range_is_served() {
        for (header, expected) in [
            ("bytes=0-4095", Ranged::Part(0, 4096)),
            ("bytes=4096-", Ranged::Part(4096, 10_000)),
            ("bytes=9000-99999", Ranged::Part(9000, 10_000)),
            ("bytes=-100", Ranged::Part(9900, 10_000)),
            ("bytes=-99999", Ranged::Part(0, 10_000)),
            ("bytes=10000-", Ranged::Outside),
            ("bytes=-0", Ranged::Outside),
            ("bytes=5-4", Ranged::Whole),
            ("bytes=0-1,5-6", Ranged::Whole),
            ("bytes=x-", Ranged::Whole),
            ("blocks=0-1", Ranged::Whole),
            ("bytes=0-18446744073709551615", Ranged::Part(0, 10_000)),
        ] {
            assert_eq!(parse(Some(header), 10_000), expected, "{header}");
        }
        assert_eq!(parse(None, 10_000), Ranged::Whole);
        assert_eq!(parse(Some("bytes=-5"), 0), Ranged::Outside);
    }
}
