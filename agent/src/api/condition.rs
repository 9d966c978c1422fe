//! A filter by value: one or two comparisons, such as `> 30` or `>= 5 and < 7`.

use std::ops::Bound;

/// An interval of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// The lower end.
    pub low: Bound<f64>,
    /// The upper end.
    pub high: Bound<f64>,
}

impl Condition {
    /// The condition that `text` writes.
    ///
    /// # Errors
    ///
    /// The reason in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no condition; write for example `> 30` or `>= 5 and < 7`");
        let mut condition = Self { low: Bound::Unbounded, high: Bound::Unbounded };
        for part in text.split(" and ") {
            let part = part.trim();
            let digits = part.trim_start_matches(['<', '>', '=']);
            let operator = part.get(..part.len() - digits.len()).unwrap_or("");
            let value: f64 = digits.trim().parse().map_err(|_| wrong())?;
            let (low, high) = match operator {
                ">" => (Some(Bound::Excluded(value)), None),
                ">=" => (Some(Bound::Included(value)), None),
                "<" => (None, Some(Bound::Excluded(value))),
                "<=" => (None, Some(Bound::Included(value))),
                "=" | "==" => (Some(Bound::Included(value)), Some(Bound::Included(value))),
                _ => return Err(wrong()),
            };
            for (end, new) in [(&mut condition.low, low), (&mut condition.high, high)] {
                if let Some(new) = new {
                    if *end != Bound::Unbounded || value.is_nan() {
                        return Err(wrong());
                    }
                    *end = new;
                }
            }
        }
        Ok(condition)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{Excluded, Included, Unbounded};

    use super::Condition;

    #[test]
    fn comparisons() {
        assert_eq!(Condition::parse("> 30"), Ok(Condition { low: Excluded(30.0), high: Unbounded }));
        assert_eq!(
            Condition::parse(">=5 and < 7.5"),
            Ok(Condition { low: Included(5.0), high: Excluded(7.5) })
        );
        assert_eq!(Condition::parse("= -1"), Ok(Condition { low: Included(-1.0), high: Included(-1.0) }));
        for wrong in ["", "30", "> x", "> 1 and > 2", "!= 5", "> 1 or < 0", "= 1 and < 2", "> NaN", "=> 3"] {
            assert!(Condition::parse(wrong).is_err(), "{wrong}");
        }
    }
}
