//! The functions of a bucket, and what each needs to be known.

/// What can be asked of the points of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Function {
    /// Values: numbers and states; NaN and gaps apart.
    Count,
    /// Smallest number.
    Min,
    /// When it was first seen.
    MinAt,
    /// Largest number.
    Max,
    /// When it was first seen.
    MaxAt,
    /// Sum of the numbers.
    Sum,
    /// Their mean.
    Mean,
    /// Their standard deviation, as of a population.
    Stddev,
    /// First value, number or state.
    First,
    /// When.
    FirstAt,
    /// Last value, number or state.
    Last,
    /// When.
    LastAt,
    /// Last number minus first, with what fell away at resets of a counter.
    Increase,
    /// Increase by the seconds from first number to last.
    Rate,
    /// Integral over time in value × seconds, a straight line from each number to the next.
    Integral,
    /// The same with each number held until the next.
    IntegralStepwise,
    /// The stepwise integral by the seconds over which numbers were held.
    TimeWeightedMean,
    /// How often a value differs from the one before.
    Changes,
    /// Gap markers.
    Gaps,
    /// Readings that are NaN.
    Nans,
    /// How often a number fell below the one before.
    Resets,
}

/// Every function with its word in the API and the CLI.
const WORDS: [(Function, &str); 21] = [
    (Function::Count, "count"),
    (Function::Min, "min"),
    (Function::MinAt, "min_at"),
    (Function::Max, "max"),
    (Function::MaxAt, "max_at"),
    (Function::Sum, "sum"),
    (Function::Mean, "mean"),
    (Function::Stddev, "stddev"),
    (Function::First, "first"),
    (Function::FirstAt, "first_at"),
    (Function::Last, "last"),
    (Function::LastAt, "last_at"),
    (Function::Increase, "increase"),
    (Function::Rate, "rate"),
    (Function::Integral, "integral"),
    (Function::IntegralStepwise, "integral_stepwise"),
    (Function::TimeWeightedMean, "time_weighted_mean"),
    (Function::Changes, "changes"),
    (Function::Gaps, "gaps"),
    (Function::Nans, "nans"),
    (Function::Resets, "resets"),
];

impl Function {
    /// Every function.
    pub fn all() -> impl Iterator<Item = Self> {
        WORDS.iter().map(|(function, _)| *function)
    }

    /// The function of a word of the API.
    pub fn parse(word: &str) -> Option<Self> {
        WORDS.iter().find(|(_, name)| *name == word).map(|(function, _)| *function)
    }

    /// The word of the API.
    pub fn name(self) -> &'static str {
        WORDS.iter().find(|(function, _)| *function == self).map_or("", |(_, name)| name)
    }
}

/// What functions need beyond what every summary holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// Resets, which gauges don't keep.
    pub(super) resets: bool,
    /// Changes, which only booleans and states keep.
    pub(super) changes: bool,
    /// Pieces of integrals across the edges of buckets.
    pub(super) hold: bool,
    /// Over how long numbers were held, which irregular series don't keep.
    pub(super) held: bool,
    /// Texts of states, of which summaries keep keys.
    pub(super) texts: bool,
}

impl Needs {
    pub(super) fn of(functions: &[Function]) -> Self {
        let any = |wanted: &[Function]| functions.iter().any(|function| wanted.contains(function));
        Self {
            resets: any(&[Function::Increase, Function::Rate, Function::Resets]),
            changes: any(&[Function::Changes]),
            hold: any(&[Function::Integral, Function::IntegralStepwise, Function::TimeWeightedMean]),
            held: any(&[Function::TimeWeightedMean]),
            texts: any(&[Function::First, Function::Last]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Function;

    #[test]
    fn words_name_functions_and_back() {
        for function in Function::all() {
            assert_eq!(Function::parse(function.name()), Some(function));
        }
        assert_eq!(Function::parse("median"), None);
    }
}
