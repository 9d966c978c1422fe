//! Keeping only values that compare as asked, decided from a summary where that is possible.
//!
//! Only numbers pass (booleans are 0 and 1): gaps, NaN and states never do.

use core::cmp::Ordering;

use crate::point::Value;
use crate::tree::{Number, Summary};

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
}

impl Comparison {
    /// The comparison written as `sign`: `>`, `>=`, `<`, `<=`, `=` (or `==`), `!=`.
    pub fn parse(sign: &str) -> Option<Self> {
        Some(match sign {
            ">" => Self::Above,
            ">=" => Self::AtLeast,
            "<" => Self::Below,
            "<=" => Self::AtMost,
            "=" | "==" => Self::Equal,
            "!=" => Self::NotEqual,
            _ => return None,
        })
    }

    const fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
        }
    }
}

/// A condition on values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filter {
    /// How.
    pub comparison: Comparison,
    /// With what; NaN lets nothing pass.
    pub number: f64,
}

/// What is known of the rows of a subtree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passes {
    All,
    None,
    Some,
}

impl Filter {
    fn number_passes(&self, number: Number) -> bool {
        !self.number.is_nan() && self.comparison.holds(number.order(Number::Float(self.number)))
    }

    /// Whether a value passes.
    pub fn passes(&self, value: &Value<'_>) -> bool {
        match *value {
            Value::Float(float) => !float.is_nan() && self.number_passes(Number::Float(float)),
            Value::Integer(integer) => self.number_passes(Number::from_integer(integer)),
            Value::Boolean(boolean) => self.number_passes(Number::Float(f64::from(u8::from(boolean)))),
            Value::State(_) | Value::Gap => false,
        }
    }

    /// How many rows of a subtree pass, as far as its smallest and largest number tell.
    pub(super) fn of_summary(&self, summary: &Summary) -> Passes {
        let Some(numbers) = &summary.numbers else { return Passes::None };
        if self.number.is_nan() {
            return Passes::None;
        }
        let bound = Number::Float(self.number);
        let (low, high) = (numbers.min.order(bound), numbers.max.order(bound));
        let holds = |order| self.comparison.holds(order);
        // Orders between those of the extremes may all occur; those outside of them do not.
        let occurring = [Ordering::Less, Ordering::Equal, Ordering::Greater]
            .into_iter()
            .filter(|order| low <= *order && *order <= high);
        let only_numbers = summary.gaps == 0 && summary.nans == 0 && summary.words.is_none();
        if !occurring.clone().any(holds) {
            Passes::None
        } else if only_numbers && occurring.clone().all(holds) {
            Passes::All
        } else {
            Passes::Some
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Filter, Passes};
    use crate::point::Value;
    use crate::tree::{Laws, Summary};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn summaries_decide_as_the_values_do(values in proptest::collection::vec(-3_i8..4, 1..5), bound in -4_i8..5, sign in 0_usize..6) {
            let comparison = Comparison::parse([">", ">=", "<", "<=", "=", "!="][sign]).unwrap();
            let filter = Filter { comparison, number: f64::from(bound) };
            let values: std::vec::Vec<Value<'_>> = values.into_iter().map(|v| Value::Float(f64::from(v))).collect();
            let summary = values.iter().zip(0..).fold(Summary::EMPTY, |all, (value, at)| {
                all.combine(&Summary::of_row(at, value), &Laws::default())
            });
            let passing = values.iter().filter(|value| filter.passes(value)).count();
            match filter.of_summary(&summary) {
                Passes::All => prop_assert_eq!(passing, values.len()),
                Passes::None => prop_assert_eq!(passing, 0),
                Passes::Some => {}
            }
            let with_gap = summary.combine(&Summary::of_row(99, &Value::Gap), &Laws::default());
            prop_assert_ne!(filter.of_summary(&with_gap), Passes::All);
        }
    }

    #[test]
    fn only_numbers_pass() {
        let filter = Filter { comparison: Comparison::NotEqual, number: 5.0 };
        assert!(filter.passes(&Value::Float(4.0)) && filter.passes(&Value::Boolean(true)));
        for value in [Value::Float(f64::NAN), Value::Gap, Value::State("open"), Value::Float(5.0)] {
            assert!(!filter.passes(&value));
        }
        assert!(!Filter { number: f64::NAN, ..filter }.passes(&Value::Float(1.0)));
    }
}
