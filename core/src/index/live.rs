//! The index of a running store: names are added one by one, selectors resolved at once.
//!
//! Exact posting lists in memory. A name gets the next number when it is first added and keeps it.
//! Memory: the name, an entry of an ordered map, and four bytes for the metric and for each tag; what
//! distinct tags and values take comes on top once.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Bound;

use super::error::BuildError;
use crate::series::{RegexMatcher, Selector, SeriesName};

/// The numbers of the series that have a term; one is the common case and takes no heap.
#[derive(Clone, Debug)]
enum Numbers {
    One(u32),
    Many(Vec<u32>),
}

impl Numbers {
    fn push(&mut self, number: u32) {
        match self {
            Self::One(first) => *self = Self::Many(alloc::vec![*first, number]),
            Self::Many(numbers) => numbers.push(number),
        }
    }

    fn as_slice(&self) -> &[u32] {
        match self {
            Self::One(number) => core::slice::from_ref(number),
            Self::Many(numbers) => numbers,
        }
    }
}

type Values = BTreeMap<String, Numbers>;

/// Names of series and what they are found by.
#[derive(Clone, Debug, Default)]
pub struct Live {
    names: Vec<SeriesName>,
    numbers: BTreeMap<SeriesName, u32>,
    metrics: Values,
    tags: BTreeMap<String, Values>,
}

impl Live {
    /// An empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many series there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name with this number.
    pub fn name(&self, number: u32) -> Option<&SeriesName> {
        self.names.get(number as usize)
    }

    /// The number of the series with this canonical text.
    pub fn find(&self, canonical: &str) -> Option<u32> {
        self.numbers.get(canonical).copied()
    }

    /// Every series in the order of the names, with its number.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&SeriesName, u32)> {
        self.numbers.iter().map(|(name, number)| (name, *number))
    }

    /// Adds a series and gives its number: the old one where it was there before.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooMuch`] beyond 2^32 − 1 series.
    pub fn add(&mut self, name: &SeriesName) -> Result<u32, BuildError> {
        if let Some(number) = self.find(name.as_str()) {
            return Ok(number);
        }
        let number = u32::try_from(self.names.len()).map_err(|_| BuildError::TooMuch)?;
        add_term(&mut self.metrics, &name.metric(), number);
        for (tag, value) in name.tags() {
            if !self.tags.contains_key(tag.as_ref()) {
                self.tags.insert(tag.clone().into_owned(), Values::new());
            }
            if let Some(values) = self.tags.get_mut(tag.as_ref()) {
                add_term(values, &value, number);
            }
        }
        self.names.push(name.clone());
        self.numbers.insert(name.clone(), number);
        Ok(number)
    }

    /// The numbers of the series that `selector` means, in the order of their names.
    pub fn resolve(&self, selector: &Selector, regex: &(impl RegexMatcher + ?Sized)) -> Vec<u32> {
        let matches = |number: &u32| self.name(*number).is_some_and(|name| selector.matches(name, regex));
        let Some(mut numbers) = self.fewest(selector) else {
            return self.iter().map(|(_, number)| number).filter(matches).collect();
        };
        numbers.retain(matches);
        numbers.sort_by_key(|number| self.name(*number));
        numbers
    }

    /// The shortest list that holds all series meant; `None` where no condition gives one.
    fn fewest(&self, selector: &Selector) -> Option<Vec<u32>> {
        let lists = selector.matchers().iter().filter_map(|matcher| {
            let words = matcher.required_words()?;
            let values = match &matcher.tag {
                None => Some(&self.metrics),
                Some(tag) => self.tags.get(tag),
            };
            let lists = words.iter().filter_map(|word| values?.get(word)).map(Numbers::as_slice);
            Some(lists.collect::<Vec<&[u32]>>())
        });
        let fewest = lists.min_by_key(|lists| lists.iter().map(|list| list.len()).sum::<usize>())?;
        let mut numbers = fewest.concat();
        numbers.sort_unstable();
        numbers.dedup();
        Some(numbers)
    }

    /// The first `limit` metric names that begin with `prefix`, in order.
    pub fn suggest_metrics(&self, prefix: &str, limit: usize) -> Vec<&str> {
        complete(&self.metrics, prefix, limit)
    }

    /// The first `limit` tag names that begin with `prefix`, in order.
    pub fn suggest_tags(&self, prefix: &str, limit: usize) -> Vec<&str> {
        complete(&self.tags, prefix, limit)
    }

    /// The first `limit` values of `tag` that begin with `prefix`, in order.
    pub fn suggest_values(&self, tag: &str, prefix: &str, limit: usize) -> Vec<&str> {
        self.tags.get(tag).map(|values| complete(values, prefix, limit)).unwrap_or_default()
    }
}

fn add_term(terms: &mut Values, term: &str, number: u32) {
    match terms.get_mut(term) {
        Some(numbers) => numbers.push(number),
        None => {
            terms.insert(term.into(), Numbers::One(number));
        }
    }
}

fn complete<'a, T>(terms: &'a BTreeMap<String, T>, prefix: &str, limit: usize) -> Vec<&'a str> {
    let from = (Bound::Included(prefix), Bound::Unbounded);
    let terms = terms.range::<str, _>(from).map(|(term, _)| term.as_str());
    terms.take_while(|term| term.starts_with(prefix)).take(limit).collect()
}
