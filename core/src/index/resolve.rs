//! From a selector to the series it means, over a stored index and catalog.

use alloc::vec::Vec;

use super::catalog::{Catalog, CatalogEntry};
use super::error::IndexError;
use super::section_reader::Index;
use super::source::{Lookup, Source, found};
use crate::series::{RegexMatcher, Selector};

/// The series of a catalog that `selector` means, in the order of their names.
///
/// Without an index every name is read and compared. Source, index and catalog speak of one stream.
///
/// # Errors
///
/// [`IndexError`] where the parts that had to be read are malformed.
pub fn resolve<S: Source + ?Sized>(
    source: &S,
    index: Option<&Index>,
    catalog: &Catalog,
    selector: &Selector,
    regex: &(impl RegexMatcher + ?Sized),
) -> Result<Lookup<Vec<CatalogEntry>>, IndexError> {
    let positions = match index {
        Some(index) => found!(index.candidates(source, selector)?),
        None => alloc::vec![0..catalog.len()],
    };
    let mut entries = Vec::new();
    let lookup = catalog.visit(source, &positions, |entry| {
        if selector.matches(entry.name, regex) {
            entries.push(entry.to_owned());
        }
        true
    })?;
    Ok(lookup.map(|()| entries))
}
