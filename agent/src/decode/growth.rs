//! What grows where series are refused: the topics below which most of the new ones came, and their metric.
//!
//! New are those that were not stored before this start. Computed when somebody asks, over all series there are.

use std::collections::HashMap;
use std::fmt;

/// Where most of some new series come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Growth {
    /// How many new ones there are.
    new: usize,
    /// The longest beginning of topics that more than half of them share, whole levels.
    prefix: String,
    /// How many have it.
    below: usize,
    /// The metric that most of them have.
    metric: String,
    /// How many have it.
    with_metric: usize,
}

impl Growth {
    /// What grows, of new series given by topic and metric.
    pub(super) fn of<'a>(series: impl Iterator<Item = (&'a str, String)>) -> Self {
        let (mut topics, mut metrics) = (HashMap::new(), HashMap::new());
        for (topic, metric) in series {
            *topics.entry(topic).or_insert(0) += 1;
            *metrics.entry(metric).or_insert(0) += 1;
        }
        let new = topics.values().sum();
        let (metric, with_metric) = most(metrics).unwrap_or_default();
        let mut growth = Self { new, prefix: String::new(), below: new, metric, with_metric };
        while let Some((prefix, below)) = most(deeper(&topics, &growth.prefix)).filter(|(_, n)| n * 2 > new) {
            (growth.prefix, growth.below) = (prefix.to_owned(), below);
        }
        growth
    }
}

/// The topics that go on behind `prefix`, by their next level.
fn deeper<'a>(topics: &HashMap<&'a str, usize>, prefix: &str) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    for (topic, count) in topics {
        let Some(rest) = topic.strip_prefix(prefix).filter(|rest| !rest.is_empty()) else { continue };
        let level = rest.find('/').map_or(rest.len(), |slash| slash + 1);
        let Some(next) = topic.get(..prefix.len() + level) else { continue };
        *counts.entry(next).or_insert(0) += count;
    }
    counts
}

/// The key with the largest count, the first of those in the order of the alphabet.
fn most<K: Ord>(counts: HashMap<K, usize>) -> Option<(K, usize)> {
    counts.into_iter().max_by(|(a, m), (b, n)| m.cmp(n).then_with(|| b.cmp(a)))
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { new, prefix, below, metric, with_metric } = self;
        if *new == 0 {
            return write!(f, "none of them is new since the start");
        }
        write!(f, "{new} are new since the start")?;
        if !prefix.is_empty() {
            write!(f, ", {below} of them from `{prefix}`")?;
        }
        write!(f, ", {with_metric} with the metric `{metric}`")
    }
}

#[cfg(test)]
mod tests {
    use super::Growth;

    #[test]
    fn names_the_deepest_level_with_most_of_them() {
        let quiet = (0..40).map(|n| (format!("home/room{n}/sensor"), "temperature".to_owned()));
        let flood = (0..100).map(|n| (format!("plant/debug/{n}/x"), format!("m{}", n % 90)));
        let all: Vec<_> = quiet.chain(flood).collect();
        let growth = Growth::of(all.iter().map(|(topic, metric)| (topic.as_str(), metric.clone())));
        assert_eq!((growth.prefix.as_str(), growth.below), ("plant/debug/", 100));
        assert_eq!((growth.metric.as_str(), growth.with_metric), ("temperature", 40));
        let one = Growth::of((0..9).map(|n| ("a/b", format!("key{n}"))));
        assert_eq!((one.prefix.as_str(), one.below), ("a/b", 9));
        assert_eq!(
            one.to_string(),
            "9 are new since the start, 9 of them from `a/b`, 1 with the metric `key0`"
        );
        let even = Growth::of(["a/x", "b/x", "c/x"].into_iter().map(|topic| (topic, "x".to_owned())));
        assert_eq!(even.prefix, "", "no level has most of them");
        assert_eq!(Growth::of(std::iter::empty()).to_string(), "none of them is new since the start");
    }
}
