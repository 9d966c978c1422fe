//! Readings as CSV: one column a series, one line an instant, merged in the order of time.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use indicatif::ProgressBar;
use siltstone_core::point::TimeRange;

use super::arguments::ExportOptions;
use super::dispatch::{Failure, note};
use super::input;
use super::progress::counter;
use crate::api::ApiError;
use crate::sheet::SheetWriter;
use crate::shelf::ParsedSelector;

/// Readings between two looks at how far it is.
const SHOWN_READINGS: u64 = 10_000;

pub(super) fn run(options: &ExportOptions) -> Result<(), Failure> {
    let selector = match &options.select {
        Some(text) => ParsedSelector::parse(text)?,
        None => ParsedSelector::everything()?,
    };
    let range = TimeRange::new(options.span.begin_ns(), options.span.end_ns());
    if range.is_empty() {
        return Err(ApiError::bad("--to must be later than --from").into());
    }
    let mut input = input::open(&options.input, &selector)?;
    let readings = match &options.output {
        None => {
            let out = BufWriter::new(io::stdout().lock());
            // On the screen the lines themselves show how far it is.
            let is_shown = io::stdout().is_terminal();
            let bar = if is_shown { ProgressBar::hidden() } else { counter("readings written") };
            let written = write(&mut input.shelf, &selector, range, out, &bar);
            bar.finish_and_clear();
            match written {
                Err(Written::Pipe) => return Ok(()),
                written => written?.0,
            }
        }
        Some(path) => {
            let fail = |error: io::Error| Failure(format!("{}: can't write it: {error}", path.display()));
            let bar = counter("readings written");
            let file = BufWriter::new(File::create(path).map_err(fail)?);
            let gzip = path.extension().is_some_and(|ending| ending == "gz");
            let (readings, file) = if gzip {
                let out = GzEncoder::new(file, Compression::default());
                let (readings, out) = write(&mut input.shelf, &selector, range, out, &bar)?;
                (readings, out.finish().map_err(fail)?)
            } else {
                write(&mut input.shelf, &selector, range, file, &bar)?
            };
            bar.finish_and_clear();
            file.into_inner().map_err(|error| fail(error.into_error()))?.sync_all().map_err(fail)?;
            readings
        }
    };
    for warning in input.shelf.warnings() {
        note(warning);
    }
    note(&format!("{readings} readings written"));
    Ok(())
}

/// Why writing ended early.
enum Written {
    /// Whoever reads has seen enough.
    Pipe,
    /// A failure.
    Failed(Failure),
}

impl From<Written> for Failure {
    fn from(written: Written) -> Self {
        match written {
            Written::Pipe => Self("whoever read the output has gone".to_owned()),
            Written::Failed(failure) => failure,
        }
    }
}

impl From<io::Error> for Written {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::Pipe } else { Self::Failed(error.into()) }
    }
}

fn write<W: Write>(
    shelf: &mut crate::shelf::Shelf,
    selector: &ParsedSelector,
    range: TimeRange,
    out: W,
    bar: &ProgressBar,
) -> Result<(u64, W), Written> {
    let fail = |error: ApiError| Written::Failed(error.into());
    let (names, mut merge) = shelf.merge(selector, range).map_err(fail)?;
    let mut sheet = SheetWriter::new(out, &names)?;
    let mut readings = 0;
    while shelf.advance(&mut merge) {
        if let Some((column, point)) = merge.reading() {
            sheet.reading(point.timestamp.nanos(), column, &point.value)?;
            readings += 1;
            if readings % SHOWN_READINGS == 0 {
                bar.set_position(readings);
            }
        }
    }
    Ok((readings, sheet.finish()?))
}
