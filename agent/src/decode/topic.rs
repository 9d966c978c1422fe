//! Topic to device and field, and patterns of topics that are left out.
//!
//! Generic default: a JSON document is about the device that the whole topic names. A bare value is
//! about the field in the last level, a trailing `state` or `value` left out, of the device in the
//! levels before it. Empty levels are real levels.

/// Device and field of a bare value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScalarTopic<'a> {
    /// The levels before the field; empty for a topic of one level.
    pub(super) device: &'a str,
    /// The metric.
    pub(super) field: &'a str,
}

/// Splits the topic of a bare value.
pub(super) fn split_scalar(topic: &str) -> ScalarTopic<'_> {
    let trimmed = topic
        .strip_suffix("/state")
        .or_else(|| topic.strip_suffix("/value"))
        // Something must be left for the device, and the field must have a name.
        .filter(|rest| rest.contains('/') && !rest.ends_with('/'))
        .unwrap_or(topic);
    let (device, field) = trimmed.rsplit_once('/').unwrap_or(("", trimmed));
    ScalarTopic { device, field: if field.is_empty() { "value" } else { field } }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Level {
    /// `+`: one level.
    One,
    /// `#`: any number of levels, none included.
    Any,
    /// This level.
    Literal(String),
}

/// A topic pattern: `+` stands for one level, `#` for any number of levels, at any place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicPattern {
    levels: Vec<Level>,
}

impl TopicPattern {
    /// The pattern written as `text`; every text is one.
    pub fn new(text: &str) -> Self {
        let levels = text
            .split('/')
            .map(|level| match level {
                "+" => Level::One,
                "#" => Level::Any,
                literal => Level::Literal(literal.to_owned()),
            })
            .collect();
        Self { levels }
    }

    /// Whether `topic` matches. Time grows with levels of the topic times levels of the pattern.
    pub fn matches(&self, topic: &str) -> bool {
        // The classic wildcard walk: on a mismatch, the last `#` takes one level more.
        let topic: Vec<&str> = topic.split('/').collect();
        let (mut level, mut at) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        while at < topic.len() {
            let fits = match self.levels.get(level) {
                Some(Level::Any) => {
                    retry = Some((level, at));
                    level += 1;
                    continue;
                }
                Some(Level::One) => true,
                Some(Level::Literal(literal)) => topic.get(at) == Some(&literal.as_str()),
                None => false,
            };
            if fits {
                level += 1;
                at += 1;
            } else if let Some((any, taken)) = retry {
                retry = Some((any, taken + 1));
                level = any + 1;
                at = taken + 1;
            } else {
                return false;
            }
        }
        self.levels.iter().skip(level).all(|level| *level == Level::Any)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ScalarTopic, TopicPattern, split_scalar};

    #[test]
    fn bare_values_belong_to_the_levels_before() {
        for (topic, device, field) in [
            ("greenhouse-2/sensor/soil_moisture/state", "greenhouse-2/sensor", "soil_moisture"),
            ("solar/112183000123/0/powerdc", "solar/112183000123/0", "powerdc"),
            ("temp", "", "temp"),
            ("state", "", "state"),
            ("/state", "", "state"),
            ("a//state", "a/", "state"),
            ("/leading/x", "/leading", "x"),
            ("probe/value", "probe", "value"),
            ("a/b/", "a/b", "value"),
            ("a//b", "a/", "b"),
            ("/", "", "value"),
        ] {
            assert_eq!(split_scalar(topic), ScalarTopic { device, field }, "{topic}");
        }
    }

    #[test]
    fn patterns_take_wildcards_anywhere() {
        for (pattern, topic, expected) in [
            ("#/set", "zigbee2mqtt/Keller/Frostwächter Nord/set", true),
            ("#/set", "set", true),
            ("#/set", "a/setup", false),
            ("cmnd/#", "cmnd", true),
            ("cmnd/#", "a/cmnd/x", false),
            ("+/+/set", "a/b/set", true),
            ("+/+/set", "a/b/c/set", false),
            ("a/#/z/#", "a/b/z/c/z", true),
            ("#", "anything/at/all", true),
            ("a/+", "a/", true),
            ("a/+", "a", false),
        ] {
            assert_eq!(TopicPattern::new(pattern).matches(topic), expected, "{pattern} {topic}");
        }
    }

    fn naive(pattern: &[&str], topic: &[&str]) -> bool {
        match (pattern, topic) {
            ([], []) => true,
            (["#", rest @ ..], _) => {
                naive(rest, topic) || matches!(topic, [_, more @ ..] if naive(pattern, more))
            }
            ([level, rest @ ..], [first, more @ ..]) => {
                (*level == "+" || level == first) && naive(rest, more)
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_naive_twin(pattern in "[ab+#](/[ab+#]){0,5}", topic in "[ab](/[ab]){0,6}") {
            let expected = naive(&pattern.split('/').collect::<Vec<_>>(), &topic.split('/').collect::<Vec<_>>());
            prop_assert_eq!(TopicPattern::new(&pattern).matches(&topic), expected);
        }
    }
}
