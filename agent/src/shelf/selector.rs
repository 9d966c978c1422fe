//! Selectors with the regular expressions in them, compiled once and in advance.
//!
//! The engine of the `regex` crate takes linear time whatever the pattern; its size is bounded here.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};
use siltstone_core::series::{RegexMatcher, Selector};

use crate::api::ApiError;

/// Bytes of a compiled pattern.
const REGEX_BYTES_MAX: usize = 1 << 20;

/// A selector that can be matched.
#[derive(Clone, Debug)]
pub struct ParsedSelector {
    /// The conditions.
    pub selector: Selector,
    /// The patterns in them.
    pub patterns: Patterns,
}

/// Compiled patterns by their text.
#[derive(Clone, Debug, Default)]
pub struct Patterns(HashMap<String, Regex>);

impl RegexMatcher for Patterns {
    fn is_match(&self, pattern: &str, text: &str) -> bool {
        self.0.get(pattern).is_some_and(|regex| regex.is_match(text))
    }
}

impl ParsedSelector {
    /// The selector that `text` writes.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, ApiError> {
        let selector = Selector::parse(text).map_err(|error| {
            ApiError::bad(format!("the selector can't be read: {}", error.reason)).at(error.at)
        })?;
        let mut patterns = HashMap::new();
        for pattern in selector.patterns() {
            let regex = RegexBuilder::new(&format!("^(?s:{pattern})$")).size_limit(REGEX_BYTES_MAX).build();
            let regex = regex.map_err(|error| {
                let reason = match error {
                    regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
                    other => other.to_string().lines().last().unwrap_or("").trim().to_owned(),
                };
                let fault = ApiError::bad(format!("`{pattern}` is no regular expression: {reason}"));
                match text.find(pattern) {
                    Some(at) => fault.at(at),
                    None => fault,
                }
            })?;
            patterns.insert(pattern.to_owned(), regex);
        }
        Ok(Self { selector, patterns: Patterns(patterns) })
    }

    /// Every series.
    ///
    /// # Errors
    ///
    /// None, as long as `{}` is a selector.
    pub fn everything() -> Result<Self, ApiError> {
        Self::parse("{}")
    }

    /// No series: for those who ask only which files there are.
    ///
    /// # Errors
    ///
    /// None, as long as this is a selector.
    pub fn nothing() -> Result<Self, ApiError> {
        Self::parse("{__name__=\"\u{1}\"}")
    }
}

#[cfg(test)]
mod tests {
    use siltstone_core::series::SeriesName;

    use super::ParsedSelector;

    fn matches(selector: &str, name: &str) -> bool {
        let parsed = ParsedSelector::parse(selector).unwrap();
        parsed.selector.matches(SeriesName::parse(name).unwrap().name_ref(), &parsed.patterns)
    }

    #[test]
    fn patterns_match_whole_texts() {
        assert!(matches(r#"{device=~"att.c|cellar"}"#, r#"a{device="attic"}"#));
        assert!(!matches(r#"{device=~"att"}"#, r#"a{device="attic"}"#));
        assert!(!matches(r#"{device=~"a|b"}"#, r#"a{device="bx"}"#), "alternatives are anchored too");
        assert!(matches(r#"{__name__=~".+"}"#, "a"));
        assert!(matches("{}", r#"a{device="attic"}"#));
        let name = SeriesName::parse("a").unwrap();
        let nothing = ParsedSelector::nothing().unwrap();
        assert!(!nothing.selector.matches(name.name_ref(), &nothing.patterns));
    }

    #[test]
    fn faults_have_a_place() {
        let fault = ParsedSelector::parse(r#"a{device="x""#).unwrap_err();
        assert!(fault.at.is_some() && fault.message.starts_with("the selector can't be read: "), "{fault}");
        let fault = ParsedSelector::parse(r#"{device=~"("}"#).unwrap_err();
        assert_eq!(fault.at, Some(10));
        assert!(fault.message.starts_with("`(` is no regular expression: "), "{fault}");
        assert!(ParsedSelector::parse(r#"{a=~"((a{999}){999}){999}"}"#).is_err());
    }
}
