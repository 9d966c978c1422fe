//! Regular expressions of selectors, lent by the browser: its `RegExp`.

use std::collections::BTreeMap;

use siltstone_core::series::{RegexMatcher, Selector};
use wasm_bindgen::prelude::*;

use crate::fault::Fault;

#[wasm_bindgen]
extern "C" {
    type RegExp;

    #[wasm_bindgen(constructor, catch)]
    fn new(pattern: &str, flags: &str) -> Result<RegExp, JsValue>;

    #[wasm_bindgen(method)]
    fn test(this: &RegExp, text: &str) -> bool;
}

/// The patterns of one selector.
pub(crate) struct Patterns {
    compiled: BTreeMap<String, RegExp>,
}

impl Patterns {
    /// Compiles the patterns of `selector`.
    ///
    /// # Errors
    ///
    /// A pattern that is no regular expression of the browser.
    pub(crate) fn of(selector: &Selector) -> Result<Self, Fault> {
        let mut compiled = BTreeMap::new();
        for pattern in selector.patterns() {
            let whole = format!("^(?:{pattern})$");
            let made = RegExp::new(&whole, "su")
                .map_err(|_| Fault::request(format_args!("`{pattern}` is no regular expression")))?;
            compiled.insert(pattern.to_owned(), made);
        }
        Ok(Self { compiled })
    }
}

impl RegexMatcher for Patterns {
    fn is_match(&self, pattern: &str, text: &str) -> bool {
        self.compiled.get(pattern).is_some_and(|compiled| compiled.test(text))
    }
}
