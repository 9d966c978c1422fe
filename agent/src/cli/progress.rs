//! How far a long command has got: a bar on a terminal, nothing elsewhere.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over `bytes` of input.
pub(super) fn bytes_bar(bytes: u64, what: &str) -> ProgressBar {
    bar(bytes, what, "{msg} {wide_bar} {bytes}/{total_bytes} {eta}")
}

/// A bar over `blocks`.
pub(super) fn blocks_bar(blocks: u64, what: &str) -> ProgressBar {
    bar(blocks, what, "{msg} {wide_bar} {pos}/{len} blocks {eta}")
}

fn bar(length: u64, what: &str, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}
