//! Commands and options.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use siltstone_core::query::{Filter, Function};

use crate::api::{parse_condition, parse_function, parse_instant, parse_step};
use crate::config::{Partition, parse_size_bytes};

/// A collector for the edge: MQTT sensors in, compressed time series in 4 KiB blocks, answers over HTTP.
#[derive(Debug, Parser)]
#[command(name = "siltstone", version, subcommand_required = true, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Collect from an MQTT broker and answer on http://127.0.0.1:8642.
    Run(RunOptions),
    /// Put CSV files into a store and seal it.
    Import(ImportOptions),
    /// Ask a question.
    Query(QueryOptions),
    /// Write readings as CSV, in a form that `import` reads back.
    Export(ExportOptions),
    /// Seal what is open in a store, so that its files can be carried away.
    Seal(SealOptions),
    /// Delete series, or a range of time of them.
    Delete(DeleteOptions),
    /// Say what a block file, or each in a directory, is made of.
    Inspect(InspectOptions),
    /// Check that block files or stores are whole: blocks, chunks, summaries, names, journal. One line a fault, exit 1.
    Verify(VerifyOptions),
    /// Write a good copy of what is left of a damaged block file, and say what is lost. The file is not touched.
    Repair(RepairOptions),
    /// Give a store a device id and an MQTT session of its own, after its card was cloned.
    NewId(NewIdOptions),
}

#[derive(Debug, Args)]
pub(super) struct RunOptions {
    /// The configuration, a TOML file; without it the defaults hold.
    #[arg(long, short)]
    pub(super) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct ImportOptions {
    /// CSV files, plain or .gz: first column timestamp_s, _ms, _us or _ns, then one column a series.
    #[arg(required = true)]
    pub(super) files: Vec<PathBuf>,
    /// The store, made where it is missing.
    #[arg(long, default_value = "siltstone-data")]
    pub(super) data: PathBuf,
    /// The calendar span of a segment: hour, day, month or year.
    #[arg(long, default_value = "month", value_parser = partition)]
    pub(super) partition: Partition,
    /// A segment is sealed at this size.
    #[arg(long, default_value = "256MiB", value_parser = segment_max)]
    pub(super) segment_max: u64,
    /// Put this before each column's name, with `_` between.
    #[arg(long)]
    pub(super) metric: Option<String>,
    /// A tag for every series, as name=value; may be repeated.
    #[arg(long = "tag", value_parser = tag)]
    pub(super) tags: Vec<(String, String)>,
}

/// What is to be read.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct InputOptions {
    /// A store.
    #[arg(long)]
    pub(super) data: Option<PathBuf>,
    /// A block file; may be repeated.
    #[arg(long = "file")]
    pub(super) files: Vec<PathBuf>,
    /// The http:// address of a block file; may be repeated.
    #[arg(long = "url")]
    pub(super) urls: Vec<String>,
}

/// The range that is meant; without an edge everything on that side.
#[derive(Debug, Args)]
pub(super) struct SpanOptions {
    /// The begin of the range, which is inside: RFC 3339, a date, or nanoseconds.
    #[arg(long, value_parser = parse_instant, allow_hyphen_values = true)]
    pub(super) from: Option<i64>,
    /// The end of the range, which is outside; in the same forms.
    #[arg(long, value_parser = parse_instant, allow_hyphen_values = true)]
    pub(super) to: Option<i64>,
}

impl SpanOptions {
    pub(super) fn begin_ns(&self) -> i64 {
        self.from.unwrap_or(i64::MIN)
    }

    pub(super) fn end_ns(&self) -> i64 {
        self.to.unwrap_or(i64::MAX)
    }
}

#[derive(Debug, Args)]
pub(super) struct QueryOptions {
    #[command(flatten)]
    pub(super) input: InputOptions,
    /// Which series, such as `temperature{device="attic"}`.
    #[arg(long)]
    pub(super) select: String,
    #[command(flatten)]
    pub(super) span: SpanOptions,
    /// The width of a bucket, such as 10m.
    #[arg(long, value_parser = parse_step)]
    pub(super) step: Option<i64>,
    /// A function of each bucket, such as mean; may be repeated.
    #[arg(long = "fn", value_parser = parse_function, value_delimiter = ',')]
    pub(super) functions: Vec<Function>,
    /// Let buckets move to the edges of tree nodes, which reads less.
    #[arg(long)]
    pub(super) snap: bool,
    /// Only readings that compare so, such as `> 30`.
    #[arg(long = "where", value_parser = parse_condition)]
    pub(super) condition: Option<Filter>,
    /// The newest first.
    #[arg(long)]
    pub(super) descending: bool,
    /// Rows at most.
    #[arg(long)]
    pub(super) limit: Option<u64>,
    /// How the answer is written.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Aligned columns, times in UTC.
    Table,
    /// Comma-separated, times in nanoseconds.
    Csv,
    /// The document of the API.
    Json,
}

#[derive(Debug, Args)]
pub(super) struct ExportOptions {
    #[command(flatten)]
    pub(super) input: InputOptions,
    /// Which series; all without it.
    #[arg(long)]
    pub(super) select: Option<String>,
    #[command(flatten)]
    pub(super) span: SpanOptions,
    /// The file to write, gzip if it ends in .gz; standard output without it.
    #[arg(long, short)]
    pub(super) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct SealOptions {
    /// The store.
    pub(super) dir: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct DeleteOptions {
    /// The store, where no agent runs on it.
    #[arg(required_unless_present = "url", conflicts_with = "url")]
    pub(super) dir: Option<PathBuf>,
    /// The address of a running agent, such as http://127.0.0.1:8642.
    #[arg(long)]
    pub(super) url: Option<String>,
    /// Which series, such as `temperature{device="attic"}`.
    #[arg(long)]
    pub(super) select: String,
    #[command(flatten)]
    pub(super) span: SpanOptions,
    /// Do not ask.
    #[arg(long, short)]
    pub(super) yes: bool,
}

#[derive(Debug, Args)]
pub(super) struct InspectOptions {
    /// A block file, or a directory of them. Of a store also what was written to its card.
    pub(super) path: PathBuf,
    /// Write a JSON document.
    #[arg(long)]
    pub(super) json: bool,
    /// What the card is rated for, such as 30TB: says how many years it lasts.
    #[arg(long, value_parser = parse_size_bytes)]
    pub(super) card_tbw: Option<u64>,
    /// A configuration; its `card_tbw` is taken.
    #[arg(long, short)]
    pub(super) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct VerifyOptions {
    /// Block files, directories of them, or stores.
    #[arg(required = true)]
    pub(super) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct RepairOptions {
    /// The damaged block file.
    pub(super) file: PathBuf,
    /// The copy; without it NAME.repaired.silt beside the file, or in quarantine/ for a file of a store.
    #[arg(long, short)]
    pub(super) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct NewIdOptions {
    /// The store; no agent may be running on it.
    pub(super) dir: PathBuf,
}

fn partition(text: &str) -> Result<Partition, String> {
    Partition::from_name(text)
        .ok_or_else(|| format!("`{text}` is no partition; use hour, day, month or year"))
}

fn segment_max(text: &str) -> Result<u64, String> {
    match parse_size_bytes(text)? {
        bytes if (1 << 20..=4 << 30).contains(&bytes) => Ok(bytes),
        _ => Err(format!("`{text}` is out of range: a segment has 1 MiB to 4 GiB")),
    }
}

fn tag(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(format!("`{text}` is no tag; write name=value")),
    }
}
