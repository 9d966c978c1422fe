//! What a file is made of: series, readings, blocks by kind, chunks by codec, bytes a reading.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use siltstone_core::block::BLOCK_LEN;
use siltstone_core::point::TimeRange;
use siltstone_core::query::Holding;
use siltstone_core::store::{Meter, Written};

use super::arguments::InspectOptions;
use super::dispatch::{Failure, note, print};
use super::input::{block_files, is_store, refuse_newer};
use super::progress::blocks_bar;
use super::walk::{Walk, walk};
use crate::api::format_instant;
use crate::config;
use crate::engine::{measured_json, measured_words};
use crate::files::FileMedium;
use crate::shelf::{BlockSource, FileSource, Member, ParsedSelector, Shelf};

/// Series listed one by one in the text form.
const SERIES_LISTED_MAX: usize = 50;

/// One file, looked at.
struct Inspected {
    path: String,
    id: String,
    kind: &'static str,
    sealed: bool,
    rank: u64,
    blocks: u64,
    holdings: Vec<Holding>,
    walk: Walk,
}

pub(super) fn run(options: &InspectOptions) -> Result<(), Failure> {
    refuse_newer(&options.path)?;
    let mut documents = Vec::new();
    let card_bytes = card_bytes(options)?;
    // A new store has no block file yet.
    let files = match block_files(&options.path) {
        Err(_) if is_store(&options.path) => Vec::new(),
        files => files?,
    };
    for path in files {
        let inspected = match inspect(&path) {
            // Dropped or merged by an agent that runs.
            Err(_) if !path.exists() => continue,
            inspected => inspected?,
        };
        if options.json { documents.push(inspected.to_json()) } else { print(&inspected.to_text())? }
    }
    let written = written(&options.path)?;
    if options.json {
        let written = written.map(|(written, meter)| measured_json(written, meter, card_bytes));
        print(&format!("{:#}\n", json!({ "segments": documents, "written": written })))?;
    } else if let Some((written, meter)) = written {
        print(&measured_words(written, meter, card_bytes))?;
    }
    Ok(())
}

/// What the card is rated for, where that was said.
fn card_bytes(options: &InspectOptions) -> Result<Option<u64>, Failure> {
    let Some(path) = options.config.as_ref().filter(|_| options.card_tbw.is_none()) else {
        return Ok(options.card_tbw);
    };
    let config = config::load(path).map_err(|error| Failure(error.to_string()))?;
    Ok(config.data.card_tbw_bytes)
}

/// What a store wrote to its medium, where the path is a store. Its files are only read, so whoever may read them may ask,
/// and while an agent writes them, too.
fn written(path: &Path) -> Result<Option<(Written, Option<Meter>)>, Failure> {
    if !path.join("journal").is_dir() {
        return Ok(None);
    }
    let medium = FileMedium::looking(path);
    Written::of_store(&medium).map_err(|error| Failure(error.to_string()))
}

fn inspect(path: &Path) -> Result<Inspected, Failure> {
    let source = Arc::new(FileSource::open(path).map_err(Failure)?);
    let member = Member::open(Arc::clone(&source) as Arc<dyn BlockSource>)?;
    let header = *member.header();
    let (sealed, blocks) = (member.is_sealed(), u64::from(member.opened().block_count()));
    let bar = blocks_bar(u64::from(source.block_count()), &path.display().to_string());
    let walk = walk(&*source, &header.id, |count| bar.inc(count));
    bar.finish_and_clear();
    let mut shelf = Shelf::new();
    shelf.add(member);
    let holdings = shelf.select(&ParsedSelector::everything()?);
    for warning in shelf.warnings() {
        note(warning);
    }
    for (block, reason) in walk.faults.iter().take(100) {
        note(&format!("{}: block {block}: {reason}", path.display()));
    }
    Ok(Inspected {
        path: path.display().to_string(),
        id: siltstone_core::store::file_name(&header.id).trim_end_matches(".silt").to_owned(),
        kind: match header.kind {
            siltstone_core::segment::SegmentKind::InOrder => "in order",
            siltstone_core::segment::SegmentKind::Late => "late",
            siltstone_core::segment::SegmentKind::Tombstones => "tombstones",
        },
        sealed,
        rank: header.rank,
        blocks,
        holdings,
        walk,
    })
}

/// Bytes a reading, with three digits.
fn per(bytes: u64, rows: u64) -> f64 {
    if rows == 0 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure of three digits for people")]
    let ratio = bytes as f64 / rows as f64;
    (ratio * 1000.0).round() / 1000.0
}

impl Inspected {
    /// Bytes of timestamps, values and overhead in chunks and leaves.
    fn split(&self) -> (u64, u64, u64) {
        let sum =
            |part: fn(&super::walk::SeriesTally) -> u64| self.walk.series.values().map(part).sum::<u64>();
        let leaves = self.walk.kinds.get("leaf").map_or(0, |tally| tally.blocks) * BLOCK_LEN as u64;
        let (timestamps, values) = (sum(|tally| tally.timestamp_bytes), sum(|tally| tally.value_bytes));
        (timestamps, values, leaves.saturating_sub(timestamps + values))
    }

    fn span(&self) -> Option<TimeRange> {
        TimeRange::hull(self.holdings.iter().filter_map(Holding::span))
    }

    fn to_json(&self) -> Value {
        let rows = self.walk.rows();
        let (timestamps, values, overhead) = self.split();
        let kinds: Map<String, Value> = self
            .walk
            .kinds
            .iter()
            .map(|(kind, tally)| {
                ((*kind).to_owned(), json!({ "blocks": tally.blocks, "payload_bytes": tally.payload_bytes }))
            })
            .collect();
        let codecs: Map<String, Value> = self
            .walk
            .codecs
            .iter()
            .map(|(codec, tally)| {
                (codec.clone(), json!({ "chunks": tally.chunks, "points": tally.rows, "bytes": tally.bytes }))
            })
            .collect();
        let series: Vec<Value> = self
            .holdings
            .iter()
            .map(|holding| {
                let run = holding.runs.first();
                let tally = run.and_then(|run| self.walk.series.get(&run.series)).copied().unwrap_or_default();
                let span = holding.span();
                json!({
                    "name": holding.name.as_str(), "kind": holding.kind.name(), "unit": holding.unit,
                    "points": tally.rows, "chunks": tally.chunks,
                    "begin": span.map(|span| span.begin.to_string()), "end": span.map(|span| span.end.to_string()),
                    "timestamp_bytes": tally.timestamp_bytes, "value_bytes": tally.value_bytes,
                    "overhead_bytes": tally.overhead_bytes,
                })
            })
            .collect();
        json!({
            "path": self.path, "id": self.id, "kind": self.kind, "sealed": self.sealed, "rank": self.rank,
            "points": rows, "series_count": self.holdings.len(), "blocks": self.blocks,
            "bytes": self.blocks * BLOCK_LEN as u64,
            "begin": self.span().map(|span| span.begin.to_string()), "end": self.span().map(|span| span.end.to_string()),
            "blocks_by_kind": kinds, "chunks_by_codec": codecs,
            "bytes_per_point": {
                "file": per(self.blocks * BLOCK_LEN as u64, rows), "leaves": per(timestamps + values + overhead, rows),
                "timestamps": per(timestamps, rows), "values": per(values, rows), "overhead": per(overhead, rows),
            },
            "block_header_bytes": self.walk.header_bytes(), "block_frame_bytes": self.walk.frame_bytes(),
            "directory_bytes": self.walk.directory_bytes,
            "faults": self.walk.faults.iter().map(|(block, reason)| format!("block {block}: {reason}")).collect::<Vec<_>>(),
            "series": series,
        })
    }

    fn to_text(&self) -> String {
        let rows = self.walk.rows();
        let (timestamps, values, overhead) = self.split();
        let mut out = format!("{}\n", self.path);
        let state = if self.sealed { "sealed" } else { "not sealed" };
        // Writing into a String does not fail.
        let _ = writeln!(out, "  segment {}, {}, {state}, rank {}", self.id, self.kind, self.rank);
        if let Some(span) = self.span() {
            // The end is behind the last reading; people look for the reading.
            let (begin, last) = (format_instant(span.begin), format_instant(span.end.saturating_sub(1)));
            let _ = writeln!(out, "  from {begin} to {last}");
        }
        let _ = writeln!(
            out,
            "  {rows} readings of {} series in {} blocks ({} bytes): {} bytes a reading",
            self.holdings.len(),
            self.blocks,
            self.blocks * BLOCK_LEN as u64,
            per(self.blocks * BLOCK_LEN as u64, rows)
        );
        let _ = writeln!(
            out,
            "  leaves: {} bytes a reading, of which timestamps {}, values {}, overhead {}",
            per(timestamps + values + overhead, rows),
            per(timestamps, rows),
            per(values, rows),
            per(overhead, rows)
        );
        for (kind, tally) in &self.walk.kinds {
            let _ = writeln!(out, "  {:>8} blocks  {kind}", tally.blocks);
        }
        for (codec, tally) in &self.walk.codecs {
            let _ = writeln!(
                out,
                "  {:>8} chunks  {codec}: {} readings, {} bytes",
                tally.chunks, tally.rows, tally.bytes
            );
        }
        for holding in self.holdings.iter().take(SERIES_LISTED_MAX) {
            let run = holding.runs.first();
            let tally = run.and_then(|run| self.walk.series.get(&run.series)).copied().unwrap_or_default();
            let bytes = tally.timestamp_bytes + tally.value_bytes + tally.overhead_bytes;
            let _ = writeln!(out, "  {:>8} {:>8.3} B  {}", tally.rows, per(bytes, tally.rows), holding.name);
        }
        if self.holdings.len() > SERIES_LISTED_MAX {
            let _ = writeln!(out, "  and {} more series", self.holdings.len() - SERIES_LISTED_MAX);
        }
        out
    }
}
