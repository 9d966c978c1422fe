//! The job that lists the series of all open segments.

use siltstone_core::query::{Found, Holding};
use siltstone_core::series::Selector;

use crate::fault::Fault;
use crate::pattern::Patterns;
use crate::shelf::{Need, Shelf};

/// Listing series.
pub(crate) struct Listing {
    selector: Selector,
    patterns: Patterns,
    found: Vec<Holding>,
}

impl Listing {
    /// Begins with the series that `select` means.
    pub(crate) fn new(select: &str) -> Result<Self, Fault> {
        let selector = Selector::parse(select)?;
        let patterns = Patterns::of(&selector)?;
        Ok(Self { selector, patterns, found: Vec::new() })
    }

    /// Goes on; gives the blocks needed, none when it is done.
    pub(crate) fn step(&mut self, shelf: &Shelf) -> Result<Need, Fault> {
        let listed = shelf.library.list(&self.selector, &self.patterns);
        match listed.map_err(|error| shelf.fault(error))? {
            Found::Need(requests) => Ok(shelf.need(&requests)),
            Found::Ready(found) => {
                self.found = found;
                Ok(Need::new())
            }
        }
    }

    /// The series in the order of names.
    pub(crate) fn finish(self) -> Vec<Holding> {
        self.found
    }
}
