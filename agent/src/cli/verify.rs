//! Whether a file is whole: every block, chunk and node, and whether the tail agrees with the leaves.
//!
//! One line a fault, with file and block. A file without a footer is not whole when it is named itself;
//! in a directory it is a store's open segment, and only damage counts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use siltstone_core::segment::Opened;

use super::arguments::VerifyOptions;
use super::dispatch::{Failure, note, print};
use super::input::block_files;
use super::progress::blocks_bar;
use super::walk::{Walk, walk};
use crate::shelf::{BlockSource, FileSource, Member, ParsedSelector, Shelf};

/// Lines printed for one file.
const FAULTS_MAX: usize = 1_000;

/// Checks the files; whether all of them are whole.
pub(super) fn run(options: &VerifyOptions) -> Result<bool, Failure> {
    let files = block_files(&options.path)?;
    let is_named = !options.path.is_dir();
    let (mut is_whole, mut rows, mut blocks) = (true, 0, 0);
    for path in &files {
        let verdict = verify(path, is_named);
        rows += verdict.rows;
        blocks += verdict.blocks;
        is_whole &= verdict.faults.is_empty();
        for fault in verdict.faults.iter().take(FAULTS_MAX) {
            print(&format!("{}: {fault}\n", path.display()))?;
        }
        if verdict.faults.len() > FAULTS_MAX {
            print(&format!("{}: and {} more faults\n", path.display(), verdict.faults.len() - FAULTS_MAX))?;
        }
    }
    if is_whole {
        let files = if files.len() == 1 { "1 file".to_owned() } else { format!("{} files", files.len()) };
        note(&format!("{files}, {blocks} blocks and {rows} readings are whole"));
    }
    Ok(is_whole)
}

#[derive(Default)]
struct Verdict {
    faults: Vec<String>,
    rows: u64,
    blocks: u64,
}

fn verify(path: &Path, is_named: bool) -> Verdict {
    let mut verdict = Verdict::default();
    let fault = |verdict: &mut Verdict, sentence: String| verdict.faults.push(sentence);
    let source = match FileSource::open(path) {
        Ok(source) => Arc::new(source),
        Err(sentence) => {
            fault(&mut verdict, strip(&sentence, path));
            return verdict;
        }
    };
    let blocks = source.block_count();
    verdict.blocks = u64::from(blocks);
    let shared: Arc<dyn BlockSource> = Arc::clone(&source) as Arc<dyn BlockSource>;
    let member = match Member::open(shared) {
        Ok(member) => member,
        Err(error) => {
            fault(&mut verdict, error.message);
            return verdict;
        }
    };
    if source.odd_bytes() > 0 {
        fault(&mut verdict, format!("block {blocks}: it ends inside a block: it was cut"));
    }
    let bar = blocks_bar(u64::from(blocks), &path.display().to_string());
    let walk = walk(&*source, &member.header().id, |count| bar.inc(count));
    bar.finish_and_clear();
    verdict.rows = walk.rows();
    verdict.faults.extend(walk.faults.iter().map(|(block, reason)| format!("block {block}: {reason}")));
    if member.is_sealed() {
        if walk.empty_blocks > 0 {
            fault(&mut verdict, format!("{} blocks of zeros at its end", walk.empty_blocks));
        }
        if verdict.faults.is_empty() {
            verdict.faults.extend(compare(member, &walk));
        }
    } else if is_named {
        fault(&mut verdict, format!("not sealed: no footer in block {}", blocks.saturating_sub(1)));
    }
    verdict
}

/// The sentence without the path before it.
fn strip(sentence: &str, path: &Path) -> String {
    sentence.strip_prefix(&format!("{}: ", path.display())).unwrap_or(sentence).to_owned()
}

/// What the tail says against what the leaves hold.
fn compare(member: Member, walk: &Walk) -> Vec<String> {
    let mut faults = Vec::new();
    if let Opened::Sealed { sealed, .. } = member.opened()
        && sealed.footer().rows != walk.rows()
    {
        faults.push(format!(
            "the footer counts {} readings, the leaves hold {}",
            sealed.footer().rows,
            walk.rows()
        ));
    }
    let Ok(everything) = ParsedSelector::everything() else { return faults };
    let mut shelf = Shelf::new();
    shelf.add(member);
    let holdings = shelf.select(&everything);
    faults.extend(shelf.warnings().iter().map(|warning| format!("tail: {warning}")));
    let mut in_leaves: BTreeMap<u32, u64> =
        walk.series.iter().map(|(series, tally)| (*series, tally.rows)).collect();
    for holding in &holdings {
        for run in &holding.runs {
            let counted: u64 = run.roots.iter().map(|root| root.summary.rows()).sum();
            let held = in_leaves.remove(&run.series).unwrap_or(0);
            if counted != held {
                faults.push(format!(
                    "{}: its root counts {counted} readings, the leaves hold {held}",
                    holding.name
                ));
            }
        }
    }
    for (series, rows) in in_leaves {
        faults.push(format!("series {series} has {rows} readings in leaves and no root"));
    }
    faults
}
