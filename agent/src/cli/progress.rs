//! How far a long command has got: a bar on a terminal, nothing elsewhere.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// Characters of a name beside a bar: what is longer would take the bar's room, or a second line.
const NAME_LEN_MAX: usize = 32;

/// A bar over `bytes` of input.
pub(super) fn bytes_bar(bytes: u64, what: &str) -> ProgressBar {
    bar(bytes, what, "{msg} {wide_bar} {bytes}/{total_bytes} {eta}")
}

/// A bar over `blocks`.
pub(super) fn blocks_bar(blocks: u64, what: &str) -> ProgressBar {
    bar(blocks, what, "{msg} {wide_bar} {pos}/{len} blocks {eta}")
}

/// A count of `what` that nobody knows the end of, moved by `inc`.
pub(super) fn counter(what: &str) -> ProgressBar {
    bar(0, what, "{spinner} {human_pos} {msg} {elapsed}")
}

fn bar(length: u64, what: &str, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(shortened(what));
    bar
}

/// The end of a long name, which tells it from its neighbours.
fn shortened(name: &str) -> String {
    let length = name.chars().count();
    if length <= NAME_LEN_MAX {
        return name.to_owned();
    }
    let tail = name.chars().skip(length - NAME_LEN_MAX + 1);
    std::iter::once('…').chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn a_long_name_keeps_its_end() {
        assert_eq!(shortened("short.silt"), "short.silt");
        assert_eq!(
            shortened(&format!("{}ü/0123456789.silt", "x".repeat(80))),
            format!("…{}ü/0123456789.silt", "x".repeat(14))
        );
    }
}
