//! The summary functions by their names.

/// A function over the readings of a range or a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Readings, those that are no number included.
    Count,
    /// The smallest.
    Min,
    /// When the smallest was.
    MinTime,
    /// The largest.
    Max,
    /// When the largest was.
    MaxTime,
    /// The sum.
    Sum,
    /// The mean of the readings.
    Mean,
    /// The standard deviation of the readings.
    Stddev,
    /// The first.
    First,
    /// The last.
    Last,
    /// How much a counter grew, resets accounted for.
    Increase,
    /// The same for each second.
    Rate,
    /// Value times seconds, each value held until the next.
    Integral,
    /// The mean weighted by how long each value held.
    TimeMean,
    /// How often the value changed.
    Changes,
}

impl Function {
    /// Every function by its name.
    pub const NAMES: [(&'static str, Self); 15] = [
        ("count", Self::Count),
        ("min", Self::Min),
        ("min_time", Self::MinTime),
        ("max", Self::Max),
        ("max_time", Self::MaxTime),
        ("sum", Self::Sum),
        ("mean", Self::Mean),
        ("stddev", Self::Stddev),
        ("first", Self::First),
        ("last", Self::Last),
        ("increase", Self::Increase),
        ("rate", Self::Rate),
        ("integral", Self::Integral),
        ("time_mean", Self::TimeMean),
        ("changes", Self::Changes),
    ];

    /// The function called `name`.
    ///
    /// # Errors
    ///
    /// A sentence that lists those there are.
    pub fn from_name(name: &str) -> Result<Self, String> {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, function)| *function);
        known.ok_or_else(|| {
            let names: Vec<_> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            format!("there is no function `{name}`; there are {}", names.join(", "))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }
}
