//! Rows of a sheet: one line an instant, one column a series, instants ascending.

use std::io::{self, Write};

use siltstone_core::point::Value;
use siltstone_core::series::SeriesName;

use super::cell::write_cell;
use crate::api::csv_field;

/// A sheet that is being written.
pub struct SheetWriter<W> {
    out: W,
    columns: usize,
    line: Vec<String>,
    timestamp_ns: Option<i64>,
}

impl<W: Write> SheetWriter<W> {
    /// A sheet of these series; writes the head.
    ///
    /// # Errors
    ///
    /// The sink's.
    pub fn new(mut out: W, series: &[SeriesName]) -> io::Result<Self> {
        write!(out, "timestamp_ns")?;
        for name in series {
            write!(out, ",{}", csv_field(name.as_str()))?;
        }
        writeln!(out)?;
        Ok(Self { out, columns: series.len(), line: vec![String::new(); series.len()], timestamp_ns: None })
    }

    /// Adds a reading; instants must not fall.
    ///
    /// # Errors
    ///
    /// The sink's, and for a column that is not there.
    pub fn reading(&mut self, timestamp_ns: i64, column: usize, value: &Value<'_>) -> io::Result<()> {
        if self.timestamp_ns != Some(timestamp_ns) {
            self.end_line()?;
            self.timestamp_ns = Some(timestamp_ns);
        }
        let cell = self.line.get_mut(column).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        *cell = csv_field(&write_cell(value));
        Ok(())
    }

    fn end_line(&mut self) -> io::Result<()> {
        let Some(timestamp_ns) = self.timestamp_ns.take() else { return Ok(()) };
        write!(self.out, "{timestamp_ns}")?;
        for cell in self.line.iter_mut().take(self.columns) {
            write!(self.out, ",{cell}")?;
            cell.clear();
        }
        writeln!(self.out)
    }

    /// Writes what is left and gives the sink back.
    ///
    /// # Errors
    ///
    /// The sink's.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_line()?;
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use siltstone_core::point::Value;
    use siltstone_core::series::SeriesName;

    use super::SheetWriter;

    #[test]
    fn one_line_an_instant() {
        let series = [SeriesName::new("a", [("device", "x")]).unwrap(), SeriesName::new("b", []).unwrap()];
        let mut sheet = SheetWriter::new(Vec::new(), &series).unwrap();
        sheet.reading(1, 0, &Value::Float(2.5)).unwrap();
        sheet.reading(1, 1, &Value::State("a,b")).unwrap();
        sheet.reading(2, 1, &Value::Gap).unwrap();
        assert!(sheet.reading(3, 2, &Value::Gap).is_err());
        let text = String::from_utf8(sheet.finish().unwrap()).unwrap();
        assert_eq!(text, "timestamp_ns,\"a{device=\"\"x\"\"}\",b\n1,2.5,\"a,b\"\n2,,-\n3,,\n");
    }
}
