//! Rows as columns that become typed arrays.
//!
//! A value is a double; what a double can't say (a state, an integer beyond 2^53) goes along as a text.

use siltstone_core::codec::Chunk;
use siltstone_core::point::Value;
use siltstone_core::query::{Answer, Bucket, Function};
use wasm_bindgen::prelude::*;

/// One column of values.
#[derive(Debug, Default)]
struct Column {
    numbers: Vec<f64>,
    text_rows: Vec<u32>,
    texts: Vec<String>,
}

impl Column {
    fn number(&mut self, number: f64) {
        self.numbers.push(number);
    }

    fn text(&mut self, number: f64, text: String) {
        self.text_rows.push(u32::try_from(self.numbers.len()).unwrap_or(u32::MAX));
        self.texts.push(text);
        self.numbers.push(number);
    }
}

/// An answer. Each `take_` method gives its column away.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Table {
    series: Vec<String>,
    series_at: Vec<u32>,
    begin: Vec<i64>,
    /// Empty for points.
    end: Vec<i64>,
    columns: Vec<Column>,
    warning_segments: Vec<u32>,
    warnings: Vec<String>,
    pub(crate) is_cut: bool,
}

#[wasm_bindgen]
impl Table {
    /// The series of the rows.
    pub fn take_series(&mut self) -> Vec<String> {
        std::mem::take(&mut self.series)
    }

    /// Per row the position of its series.
    pub fn take_series_at(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.series_at)
    }

    /// Per row its instant, or the begin of its bucket.
    pub fn take_begin(&mut self) -> Vec<i64> {
        std::mem::take(&mut self.begin)
    }

    /// Per row the end of its bucket; empty for points.
    pub fn take_end(&mut self) -> Vec<i64> {
        std::mem::take(&mut self.end)
    }

    /// The numbers of a column; NaN where there is none.
    pub fn take_numbers(&mut self, column: usize) -> Vec<f64> {
        self.columns.get_mut(column).map(|column| std::mem::take(&mut column.numbers)).unwrap_or_default()
    }

    /// The rows of a column that have a text.
    pub fn take_text_rows(&mut self, column: usize) -> Vec<u32> {
        self.columns.get_mut(column).map(|column| std::mem::take(&mut column.text_rows)).unwrap_or_default()
    }

    /// Those texts.
    pub fn take_texts(&mut self, column: usize) -> Vec<String> {
        self.columns.get_mut(column).map(|column| std::mem::take(&mut column.texts)).unwrap_or_default()
    }

    /// The segments of which something could not be read.
    pub fn take_warning_segments(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.warning_segments)
    }

    /// What, for each of them.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Whether the limit cut the answer.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

impl Table {
    /// An empty table: a column a function, or one for points.
    pub(crate) fn new(functions: &[Function]) -> Self {
        let columns = (0..functions.len().max(1)).map(|_| Column::default()).collect();
        Self {
            series: Vec::new(),
            series_at: Vec::new(),
            begin: Vec::new(),
            end: Vec::new(),
            columns,
            warning_segments: Vec::new(),
            warnings: Vec::new(),
            is_cut: false,
        }
    }

    /// Appends points.
    pub(crate) fn push_points(&mut self, name: &str, chunk: &Chunk) {
        let series = self.series_of(name);
        let Some(column) = self.columns.first_mut() else { return };
        for point in chunk.points() {
            self.series_at.push(series);
            self.begin.push(point.timestamp.nanos());
            match point.value {
                Value::Float(float) => column.number(float),
                Value::Integer(integer) => column.text(rounded(integer), integer.to_string()),
                Value::Boolean(boolean) => column.number(f64::from(u8::from(boolean))),
                Value::State(text) => column.text(f64::NAN, text.to_owned()),
                Value::Gap => column.number(f64::NAN),
            }
        }
    }

    /// Appends buckets.
    pub(crate) fn push_buckets(&mut self, name: &str, buckets: &[Bucket], functions: &[Function]) {
        let series = self.series_of(name);
        for bucket in buckets {
            self.series_at.push(series);
            self.begin.push(bucket.span.begin);
            self.end.push(bucket.span.end);
            for (column, function) in self.columns.iter_mut().zip(functions) {
                match bucket.answer(*function) {
                    Answer::Null => column.number(f64::NAN),
                    Answer::Float(float) => column.number(float),
                    Answer::Integer(integer) => column.text(rounded(integer), integer.to_string()),
                    Answer::Count(count) => column.number(count as f64),
                    Answer::Time(nanos) => column.text(rounded(nanos), nanos.to_string()),
                    Answer::Text(text) => column.text(f64::NAN, text),
                }
            }
        }
    }

    /// Notes what could not be read of a segment.
    pub(crate) fn push_warning(&mut self, segment: u32, text: String) {
        self.warning_segments.push(segment);
        self.warnings.push(text);
    }

    fn series_of(&mut self, name: &str) -> u32 {
        // Batches come series by series.
        if self.series.last().is_none_or(|last| last != name) {
            self.series.push(name.to_owned());
        }
        u32::try_from(self.series.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }
}

/// The nearest double, for drawing; the text beside it is exact.
#[expect(clippy::cast_precision_loss, reason = "the exact text goes along")]
fn rounded(integer: i64) -> f64 {
    integer as f64
}
