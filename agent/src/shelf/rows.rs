//! Rows of core to cells: points as series, instant and value, buckets as series, span and answers.

use siltstone_core::point::Value;
use siltstone_core::query::{self, Bucket, Function, Rows};
use siltstone_core::series::SeriesName;

use crate::api::{Cell, Column};

/// The columns of an answer.
pub(super) fn columns(functions: &[Function]) -> Vec<Column> {
    let mut columns = vec![Column::new("series", "series"), Column::new("t", "instant")];
    if functions.is_empty() {
        columns.push(Column::new("value", "value"));
        return columns;
    }
    columns.push(Column::new("t_end", "instant"));
    columns.extend(functions.iter().map(|function| {
        let kind = match function {
            Function::MinAt | Function::MaxAt | Function::FirstAt | Function::LastAt => "instant",
            Function::First | Function::Last => "value",
            _ => "number",
        };
        Column::new(function.name(), kind)
    }));
    columns
}

/// Appends the rows of one batch.
pub(super) fn push(out: &mut Vec<Vec<Cell>>, name: &SeriesName, rows: &Rows, functions: &[Function]) {
    match rows {
        Rows::Points(chunk) => out.extend(chunk.points().map(|point| {
            vec![Cell::Text(name.as_str().to_owned()), Cell::Instant(point.timestamp.0), cell(&point.value)]
        })),
        Rows::Buckets(buckets) => {
            out.extend(buckets.iter().map(|bucket| bucket_row(name, bucket, functions)))
        }
    }
}

fn bucket_row(name: &SeriesName, bucket: &Bucket, functions: &[Function]) -> Vec<Cell> {
    let mut row = vec![
        Cell::Text(name.as_str().to_owned()),
        Cell::Instant(bucket.span.begin),
        Cell::Instant(bucket.span.end),
    ];
    row.extend(functions.iter().map(|function| match bucket.answer(*function) {
        query::Answer::Null => Cell::None,
        query::Answer::Float(float) => Cell::Float(float),
        query::Answer::Integer(integer) => Cell::Integer(integer),
        query::Answer::Count(count) => i64::try_from(count).map_or(Cell::Integer(i64::MAX), Cell::Integer),
        query::Answer::Time(nanos) => Cell::Instant(nanos),
        query::Answer::Text(text) => Cell::Text(text),
    }));
    row
}

/// The cell of a value.
pub(super) fn cell(value: &Value<'_>) -> Cell {
    match value {
        Value::Float(float) => Cell::Float(*float),
        Value::Integer(integer) => Cell::Integer(*integer),
        Value::Boolean(boolean) => Cell::Boolean(*boolean),
        Value::State(text) => Cell::Text((*text).to_owned()),
        Value::Gap => Cell::None,
    }
}
