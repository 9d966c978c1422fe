//! Holds the summaries of the trees against recomputation from the points below them: a torn summary would be
//! the likeliest silent error of all.

use super::reader::Row;
use crate::point::Value;
use crate::store::sim::OwnedValue;
use crate::tree::{Number, Summary};

/// What the points say, computed the plain way.
#[derive(Debug, Default)]
struct Plain {
    count: u64,
    words: u64,
    gaps: u64,
    nans: u64,
    first: Option<(Number, i64)>,
    last: Option<(Number, i64)>,
    min: Option<(Number, i64)>,
    max: Option<(Number, i64)>,
    sum: f64,
    magnitude: f64,
}

impl Plain {
    fn take(&mut self, at: i64, value: &OwnedValue) {
        let number = match value.value() {
            Value::Gap => {
                self.gaps += 1;
                return;
            }
            Value::State(_) => {
                self.words += 1;
                return;
            }
            Value::Float(float) if float.is_nan() => {
                self.nans += 1;
                return;
            }
            Value::Float(float) => Number::Float(float),
            Value::Integer(integer) => Number::from_integer(integer),
            Value::Boolean(boolean) => Number::Float(f64::from(u8::from(boolean))),
        };
        self.count += 1;
        self.first = self.first.or(Some((number, at)));
        self.last = Some((number, at));
        if self.min.is_none_or(|(min, _)| number.below(min)) {
            self.min = Some((number, at));
        }
        if self.max.is_none_or(|(max, _)| max.below(number)) {
            self.max = Some((number, at));
        }
        self.sum += number.as_f64();
        self.magnitude += number.as_f64().abs();
    }
}

/// Whether `summary` is that of these rows.
///
/// # Errors
/// What differs.
pub(super) fn check_summary(summary: &Summary, rows: &[Row]) -> Result<(), String> {
    let mut plain = Plain::default();
    rows.iter().for_each(|(at, value)| plain.take(*at, value));
    let differs = |what: &str| Err(format!("{what}: {summary:?}, but the points say {plain:?}"));
    let (Some((begin, _)), Some((last, _))) = (rows.first(), rows.last()) else { return differs("rows") };
    if (summary.begin, summary.end) != (*begin, last + 1) {
        return differs("span");
    }
    let counts = (summary.gaps, summary.nans, summary.words.map_or(0, |words| words.count));
    if counts != (plain.gaps, plain.nans, plain.words) {
        return differs("gaps, NaN or states");
    }
    let Some(numbers) = summary.numbers else {
        return if plain.count == 0 { Ok(()) } else { differs("count") };
    };
    if numbers.count != plain.count {
        return differs("count");
    }
    for (what, summarized, computed) in [
        ("first", (numbers.first, numbers.first_at), plain.first),
        ("last", (numbers.last, numbers.last_at), plain.last),
        ("min", (numbers.min, numbers.min_at), plain.min),
        ("max", (numbers.max, numbers.max_at), plain.max),
    ] {
        if Some(summarized) != computed {
            return differs(what);
        }
    }
    let off = (numbers.sums.sum() - plain.sum).abs();
    if off > plain.magnitude * 1e-12 {
        return differs("sum");
    }
    Ok(())
}

#[test]
fn a_wrong_summary_is_noticed() {
    use crate::tree::Laws;
    let rows: Vec<Row> = [1.5, f64::NAN, -2.0, 7.25, 7.25]
        .into_iter()
        .zip(10..)
        .map(|(float, at)| (at, OwnedValue::from(Value::Float(float))))
        .chain([(20, OwnedValue::Gap)])
        .collect();
    let laws = Laws::default();
    let right = rows
        .iter()
        .fold(Summary::EMPTY, |sum, (at, value)| sum.combine(&Summary::of_row(*at, &value.value()), &laws));
    assert_eq!(check_summary(&right, &rows), Ok(()));
    assert!(check_summary(&right, &rows[..5]).is_err() && check_summary(&right, &[]).is_err());
    let changes: [fn(&mut crate::tree::Numbers); 6] = [
        |numbers| numbers.count += 1,
        |numbers| numbers.first = Number::Float(1.25),
        |numbers| numbers.last_at += 1,
        |numbers| numbers.min = Number::Float(-2.25),
        |numbers| numbers.max_at += 1,
        |numbers| numbers.sums = crate::tree::Sums::of_float(14.125),
    ];
    for change in changes {
        let mut wrong = right;
        change(wrong.numbers.as_mut().expect("numbers"));
        assert!(check_summary(&wrong, &rows).is_err(), "{wrong:?}");
    }
    for wrong in
        [Summary { gaps: 0, ..right }, Summary { nans: 2, ..right }, Summary { end: right.end + 1, ..right }]
    {
        assert!(check_summary(&wrong, &rows).is_err(), "{wrong:?}");
    }
}
