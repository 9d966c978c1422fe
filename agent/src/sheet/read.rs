//! Rows of a file, plain or gzip, one at a time.
//!
//! Every fault names file and line. A line may have 16 MiB at most, so that memory stays bounded
//! whatever the file is.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;
use siltstone_core::series::SeriesName;

use super::cell::read_cell;
use super::head::{ColumnRules, TimeUnit};
use crate::decode::SampleValue;

/// Bytes of the longest line.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// A fault in a sheet.
#[derive(Debug)]
pub struct SheetError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; `None` where the file as a whole is meant.
    pub line: Option<u64>,
    /// One sentence.
    pub message: String,
}

impl fmt::Display for SheetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path.display(), self.message),
            None => write!(f, "{}: {}", self.path.display(), self.message),
        }
    }
}

impl std::error::Error for SheetError {}

/// A row: an instant and the columns that have a reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Nanoseconds.
    pub timestamp_ns: i64,
    /// Column (from 0, the time left out) and value.
    pub cells: Vec<(usize, SampleValue)>,
}

/// An open sheet.
pub struct SheetReader {
    path: PathBuf,
    csv: csv::Reader<Box<dyn Read>>,
    unit: TimeUnit,
    series: Vec<SeriesName>,
    record: csv::StringRecord,
    bytes_read: Arc<AtomicU64>,
}

impl SheetReader {
    /// Opens a sheet and reads its head.
    ///
    /// # Errors
    ///
    /// With the place, where it can't be read or its head is none.
    pub fn open(path: &Path, rules: &ColumnRules) -> Result<Self, SheetError> {
        let whole = |message: String| SheetError { path: path.to_owned(), line: None, message };
        let file = File::open(path).map_err(|error| whole(format!("can't read it: {error}")))?;
        let bytes_read = Arc::new(AtomicU64::new(0));
        let counted = Counted { inner: file, count: Arc::clone(&bytes_read) };
        let gzip = path.extension().is_some_and(|ending| ending == "gz");
        let raw: Box<dyn Read> =
            if gzip { Box::new(MultiGzDecoder::new(BufReader::new(counted))) } else { Box::new(counted) };
        let bounded: Box<dyn Read> = Box::new(LineBound { inner: raw, since_newline: 0 });
        let mut csv = csv::ReaderBuilder::new().has_headers(false).from_reader(bounded);
        let mut record = csv::StringRecord::new();
        let head =
            |message: &str| SheetError { path: path.to_owned(), line: Some(1), message: message.to_owned() };
        match csv.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Err(whole("it is empty".to_owned())),
            Err(error) => return Err(csv_error(path, &error)),
        }
        let first = record.get(0).unwrap_or("").trim_start_matches('\u{feff}');
        let unit = TimeUnit::from_head(first).ok_or_else(|| {
            head(&format!("the first column is `{first}`; it must be timestamp_s, timestamp_ms, timestamp_us or timestamp_ns"))
        })?;
        let series: Vec<_> = record
            .iter()
            .skip(1)
            .map(|name| rules.series(name))
            .collect::<Result<_, _>>()
            .map_err(|e| head(&e))?;
        if series.is_empty() {
            return Err(head("there is no column beside the time"));
        }
        let mut sorted: Vec<_> = series.iter().collect();
        sorted.sort();
        if let Some(pair) = sorted.windows(2).find(|pair| pair.first() == pair.last()) {
            return Err(head(&format!(
                "two columns name the series {}",
                pair.first().map_or("", |name| name.as_str())
            )));
        }
        Ok(Self { path: path.to_owned(), csv, unit, series, record, bytes_read })
    }

    /// The series, one a column.
    pub fn series(&self) -> &[SeriesName] {
        &self.series
    }

    /// Bytes of the file read so far, compressed where it is.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Fills `row` with the next one; false at the end.
    ///
    /// # Errors
    ///
    /// With the line, where it can't be read.
    pub fn next_row(&mut self, row: &mut Row) -> Result<bool, SheetError> {
        match self.csv.read_record(&mut self.record) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) => return Err(csv_error(&self.path, &error)),
        }
        let line = self.record.position().map(csv::Position::line);
        let text = self.record.get(0).unwrap_or("");
        let Some(timestamp_ns) = self.unit.read(text) else {
            return Err(SheetError {
                path: self.path.clone(),
                line,
                message: format!("`{}` is no instant", text.chars().take(64).collect::<String>()),
            });
        };
        row.timestamp_ns = timestamp_ns;
        row.cells.clear();
        let cells = self.record.iter().skip(1).enumerate().filter(|(_, cell)| !cell.is_empty());
        row.cells.extend(cells.map(|(column, cell)| (column, read_cell(cell))));
        Ok(true)
    }
}

fn csv_error(path: &Path, error: &csv::Error) -> SheetError {
    let line = error.position().map(csv::Position::line);
    let message = match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "it is not UTF-8 text".to_owned(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the line has {len} cells, the head has {expected_len}")
        }
        csv::ErrorKind::Io(error) => format!("can't read it: {error}"),
        _ => error.to_string(),
    };
    SheetError { path: path.to_owned(), line, message }
}

/// Counts the bytes of the file for a progress bar.
struct Counted {
    inner: File,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Fails on a line that is too long to be one.
struct LineBound {
    inner: Box<dyn Read>,
    since_newline: u64,
}

impl Read for LineBound {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let seen = buffer.get(..read).unwrap_or(&[]);
        match seen.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => self.since_newline = (read - at) as u64,
            None => self.since_newline += read as u64,
        }
        if self.since_newline > LINE_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line has more than 16 MiB"));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::{ColumnRules, Row, SheetReader};
    use crate::decode::SampleValue;
    use crate::test_dir::TestDir;

    fn read(name: &str, bytes: &[u8]) -> Result<Vec<Row>, String> {
        let dir = TestDir::new("sheet");
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let mut reader =
            SheetReader::open(&path, &ColumnRules::default()).map_err(|error| error.to_string())?;
        let mut rows = Vec::new();
        let mut row = Row::default();
        while reader.next_row(&mut row).map_err(|error| error.to_string())? {
            rows.push(row.clone());
        }
        Ok(rows)
    }

    #[test]
    fn empty_cells_are_no_readings() {
        let rows = read("a.csv", b"timestamp_s,a,b\n1,2.5,\n2,,open\n3,,\n").unwrap();
        assert_eq!(rows[0], Row { timestamp_ns: 1_000_000_000, cells: vec![(0, SampleValue::Float(2.5))] });
        assert_eq!(rows[1].cells, [(1, SampleValue::State("open".into()))]);
        assert!(rows[2].cells.is_empty());
    }

    #[test]
    fn gzip_is_taken_by_its_name() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"timestamp_ms,a\r\n5,1\r\n").unwrap();
        assert_eq!(read("a.csv.gz", &gzip.finish().unwrap()).unwrap()[0].timestamp_ns, 5_000_000);
    }

    #[test]
    fn faults_name_file_and_line() {
        for (bytes, part) in [
            (&b""[..], "a.csv: it is empty"),
            (b"time,a\n", "a.csv:1: the first column is `time`"),
            (b"timestamp_s\n1\n", "a.csv:1: there is no column"),
            (b"timestamp_s,a,a\n", "a.csv:1: two columns name the series a"),
            (b"timestamp_s,a\n1,2\nnoon,3\n", "a.csv:3: `noon` is no instant"),
            (b"timestamp_s,a\n1,2,3\n", "a.csv:2: the line has 3 cells, the head has 2"),
            (b"timestamp_s,a\n1,\xff\n", "a.csv:2: it is not UTF-8"),
        ] {
            let error = read("a.csv", bytes).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(read("a.csv.gz", b"timestamp_s,a\n1,2\n").unwrap_err().contains("can't read it"));
        let mut long = b"timestamp_s,a\n1,".to_vec();
        long.resize(18 << 20, b'x');
        assert!(read("a.csv", &long).unwrap_err().contains("more than 16 MiB"));
    }
}
