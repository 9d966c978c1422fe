//! Columns, rows and cost of an answer, as JSON, CSV or a table.
//!
//! JSON: instants and integers beyond 2^53 are strings of digits, NaN and the infinities are
//! strings, no value is null. CSV: the same without quotes where none are needed. Numbers are
//! printed with as few digits as give the same number back.

use std::fmt::Write;

use super::instant::format_instant;

/// Whole numbers up to this are exact in a JavaScript number.
const EXACT_MAX: u64 = 1 << 53;

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    None,
    /// A text: a series' name, a state.
    Text(String),
    /// An instant, nanoseconds.
    Instant(i64),
    /// A number.
    Float(f64),
    /// A whole number.
    Integer(i64),
    /// True or false.
    Boolean(bool),
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What its cells are: `series`, `instant`, `number`, `value`.
    pub kind: &'static str,
}

impl Column {
    /// A column.
    pub fn new(name: &str, kind: &'static str) -> Self {
        Self { name: name.to_owned(), kind }
    }
}

/// What an answer cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Blocks read.
    pub blocks_read: u64,
    /// Blocks that the segments asked have in all.
    pub blocks_total: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Points decoded.
    pub points_decoded: u64,
    /// Subtrees answered from their summaries.
    pub subtrees_used: u64,
}

/// An answer, or a page of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with a cell a column.
    pub rows: Vec<Vec<Cell>>,
    /// What it cost.
    pub cost: Cost,
    /// The cursor of the next page; `None` on the last.
    pub next: Option<String>,
    /// What could not be read, a sentence each; its readings are missing.
    pub warnings: Vec<String>,
}

impl Answer {
    /// The document of the API.
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(64 + self.rows.len() * 48);
        out.push_str("{\"columns\":[");
        for (index, column) in self.columns.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let _ = write!(out, "{comma}{{\"name\":{},\"type\":\"{}\"}}", quoted(&column.name), column.kind);
        }
        out.push_str("],\"rows\":[");
        for (index, row) in self.rows.iter().enumerate() {
            out.push_str(if index > 0 { ",\n[" } else { "\n[" });
            for (index, cell) in row.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                cell.write_json(&mut out);
            }
            out.push(']');
        }
        let cost = &self.cost;
        let next = self.next.as_deref().map_or_else(|| "null".to_owned(), quoted);
        let _ = write!(
            out,
            "],\"stats\":{{\"blocks_read\":{},\"blocks_total\":{},\"bytes_read\":{},\"points_decoded\":{},\
             \"subtrees_used\":{}}},\"next\":{next}",
            cost.blocks_read, cost.blocks_total, cost.bytes_read, cost.points_decoded, cost.subtrees_used
        );
        if !self.warnings.is_empty() {
            let warnings: Vec<_> = self.warnings.iter().map(|warning| quoted(warning)).collect();
            let _ = write!(out, ",\"warnings\":[{}]", warnings.join(","));
        }
        out.push('}');
        out
    }

    /// Appends a further page: its rows, its cost, its warnings.
    pub fn append(&mut self, page: Self) {
        self.rows.extend(page.rows);
        self.cost.blocks_read += page.cost.blocks_read;
        self.cost.bytes_read += page.cost.bytes_read;
        self.cost.points_decoded += page.cost.points_decoded;
        self.cost.subtrees_used += page.cost.subtrees_used;
        self.next = page.next;
        self.warnings = page.warnings;
    }

    /// The head line of CSV.
    pub fn csv_head(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|column| csv_field(&column.name)).collect();
        names.join(",") + "\n"
    }

    /// The rows as CSV.
    pub fn csv_rows(&self) -> String {
        let mut out = String::new();
        for row in &self.rows {
            for (index, cell) in row.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                cell.write_csv(&mut out);
            }
            out.push('\n');
        }
        out
    }

    /// A table for people, columns aligned.
    pub fn to_table(&self) -> String {
        let mut lines = vec![self.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>()];
        lines.extend(self.rows.iter().map(|row| row.iter().map(Cell::to_words).collect()));
        let mut widths = vec![0; self.columns.len()];
        for line in &lines {
            for (width, text) in widths.iter_mut().zip(line) {
                *width = (*width).max(text.chars().count());
            }
        }
        let mut out = String::new();
        for line in &lines {
            for (index, (text, width)) in line.iter().zip(&widths).enumerate() {
                let gap = if index + 1 == line.len() { 0 } else { width - text.chars().count() + 2 };
                let _ = write!(out, "{text}{:gap$}", "");
            }
            out.push('\n');
        }
        out
    }
}

impl Cell {
    fn write_json(&self, out: &mut String) {
        let _ = match self {
            Self::None => write!(out, "null"),
            Self::Text(text) => write!(out, "{}", quoted(text)),
            Self::Instant(nanos) => write!(out, "\"{nanos}\""),
            Self::Float(float) if float.is_finite() => write!(out, "{}", number_text(*float)),
            Self::Float(float) => write!(out, "\"{}\"", number_text(*float)),
            Self::Integer(integer) if integer.unsigned_abs() <= EXACT_MAX => write!(out, "{integer}"),
            Self::Integer(integer) => write!(out, "\"{integer}\""),
            Self::Boolean(boolean) => write!(out, "{boolean}"),
        };
    }

    fn write_csv(&self, out: &mut String) {
        let _ = match self {
            Self::None => Ok(()),
            Self::Text(text) => write!(out, "{}", csv_field(text)),
            Self::Instant(nanos) | Self::Integer(nanos) => write!(out, "{nanos}"),
            Self::Float(float) => write!(out, "{}", number_text(*float)),
            Self::Boolean(boolean) => write!(out, "{boolean}"),
        };
    }

    fn to_words(&self) -> String {
        match self {
            Self::None => "-".to_owned(),
            Self::Text(text) => text.clone(),
            Self::Instant(nanos) => format_instant(*nanos),
            Self::Float(float) => number_text(*float),
            Self::Integer(integer) => integer.to_string(),
            Self::Boolean(boolean) => boolean.to_string(),
        }
    }
}

/// A float with as few digits as give it back; no exponent where few zeros would do.
pub fn number_text(float: f64) -> String {
    if float.is_nan() {
        return "NaN".to_owned();
    }
    if float.is_infinite() {
        return if float > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let size = float.abs();
    if size != 0.0 && !(1e-5..1e16).contains(&size) { format!("{float:e}") } else { format!("{float}") }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A CSV field, quoted where it must be.
pub fn csv_field(text: &str) -> String {
    let plain = !text.contains([',', '"', '\n', '\r']) && text.trim() == text;
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Answer, Cell, Column, Cost, number_text};

    fn answer() -> Answer {
        Answer {
            columns: vec![
                Column::new("series", "series"),
                Column::new("t", "instant"),
                Column::new("value", "value"),
            ],
            rows: vec![
                vec![Cell::Text("a{b=\"c\"}".to_owned()), Cell::Instant(5), Cell::Float(21.5)],
                vec![Cell::Text("a".to_owned()), Cell::Instant(6), Cell::Float(f64::NAN)],
                vec![Cell::Text("a".to_owned()), Cell::Instant(7), Cell::Integer(9_007_199_254_740_993)],
                vec![Cell::Text("a".to_owned()), Cell::Instant(8), Cell::None],
            ],
            cost: Cost { blocks_read: 3, ..Cost::default() },
            next: Some("x".to_owned()),
            warnings: vec!["block 7".to_owned()],
        }
    }

    #[test]
    fn json() {
        let document: serde_json::Value = serde_json::from_str(&answer().to_json()).unwrap();
        assert_eq!(
            document,
            serde_json::json!({
                "columns": [{"name": "series", "type": "series"}, {"name": "t", "type": "instant"},
                            {"name": "value", "type": "value"}],
                "rows": [["a{b=\"c\"}", "5", 21.5], ["a", "6", "NaN"], ["a", "7", "9007199254740993"],
                         ["a", "8", null]],
                "stats": {"blocks_read": 3, "blocks_total": 0, "bytes_read": 0, "points_decoded": 0, "subtrees_used": 0},
                "next": "x",
                "warnings": ["block 7"],
            })
        );
    }

    #[test]
    fn csv_and_table() {
        assert_eq!(answer().csv_head(), "series,t,value\n");
        assert_eq!(answer().csv_rows(), "\"a{b=\"\"c\"\"}\",5,21.5\na,6,NaN\na,7,9007199254740993\na,8,\n");
        let table = answer().to_table();
        assert!(table.starts_with("series    t                               value\n"), "{table}");
        assert!(table.contains("a         1970-01-01T00:00:00.000000008Z  -\n"), "{table}");
    }

    proptest! {
        #[test]
        fn numbers_come_back(bits in any::<u64>()) {
            let float = f64::from_bits(bits);
            let back: f64 = number_text(float).parse().unwrap();
            prop_assert!(back.to_bits() == float.to_bits() || float.is_nan());
        }
    }

    #[test]
    fn numbers_are_short() {
        for (float, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (21.5, "21.5"),
            (1e15, "1000000000000000"),
            (1e300, "1e300"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(number_text(float), text);
        }
    }
}
