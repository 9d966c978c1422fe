//! Names: catalog, index, roots and definitions against each other.

use super::fault::What;
use super::machine::{Check, Phase, Wanted};
use super::tallies::definition_hash;
use crate::index::{CATALOG_VERSION, Catalog, CatalogEntry, INDEX_VERSION, Index, Lookup};
use crate::segment::blocks::Answer;
use crate::segment::error::SegmentError;
use crate::segment::footer::SectionKind;
use crate::series::Selector;
use crate::tree::Reference;
use alloc::string::String;
use alloc::vec::Vec;

/// Names that are read at a time: as many as roots.
const LOT: u32 = 64;

/// A name, and whether the index finds it.
type Found = (CatalogEntry, bool);

impl Check {
    /// The sections beside the names.
    pub(super) fn section_step(&mut self) -> Result<(), Wanted> {
        if let Some(sealed) = self.sealed.as_deref() {
            let (superseded, heads) = (sealed.supersedes(&self.blocks), sealed.heads(&self.blocks));
            // Both must be at hand before either is judged: what is wrong is said once.
            if let (Ok(Answer::Need(need)), _) | (_, Ok(Answer::Need(need))) = (&superseded, &heads) {
                let need = need.clone();
                self.want::<()>(Ok(Answer::Need(need)))?;
            }
            self.want(superseded)?;
            self.ends = self.want(heads)?.flatten().map(|heads| heads.own);
        }
        self.phase = Phase::Names(0);
        Ok(())
    }

    /// The names from catalog position `position` on.
    pub(super) fn name_step(&mut self, position: u32) -> Result<(), Wanted> {
        let Some(entries) = self.entries(position)? else {
            self.phase = Phase::Sums;
            return Ok(());
        };
        let Some(roots) = self.roots(position)? else {
            self.phase = Phase::Sums;
            return Ok(());
        };
        if entries.len() != roots.len() {
            let (stated, counted) = (roots.len() as u64, entries.len() as u64);
            self.fault(None, What::Count { what: "roots beside names of the catalog", stated, counted });
        }
        for ((entry, is_found), roots) in entries.iter().zip(&roots) {
            if let Some(root) = roots.first() {
                self.take_name(entry, *is_found, root);
            }
            self.take_end(entry, roots);
        }
        let count = entries.len().min(roots.len()) as u32;
        if count == 0
            && let Some(ends) = self.ends.take()
            && ends.len() as u64 != u64::from(position)
        {
            let (stated, counted) = (ends.len() as u64, u64::from(position));
            self.fault(None, What::Count { what: "heads beside names of the catalog", stated, counted });
        }
        self.phase = if count == 0 { Phase::Sums } else { Phase::Names(position.saturating_add(count)) };
        Ok(())
    }

    fn take_name(&mut self, entry: &CatalogEntry, is_found: bool, root: &Reference) {
        let series = root.series;
        if !is_found {
            self.fault(None, What::Series { series, what: "the index does not find its name" });
        }
        if entry.name.as_str() <= self.last_name.as_str() && entry.position > 0 {
            self.fault(None, What::Series { series, what: "the names of the catalog don't rise" });
        }
        self.last_name = String::from(entry.name.as_str());
        let hash = definition_hash(entry.name.as_str(), entry.kind.code(), &entry.unit);
        let defined = self.tallies.get(series).and_then(|tally| tally.definition);
        if defined.is_some_and(|defined| defined != hash) {
            self.fault(
                None,
                What::Series { series, what: "the catalog says something else than its definition" },
            );
        }
    }

    /// Where its heads section says that a series ends, its roots must.
    fn take_end(&mut self, entry: &CatalogEntry, roots: &[Reference]) {
        let Some(ends) = &self.ends else { return };
        let stated = ends.get(entry.position as usize).copied().flatten();
        let last = roots.last().filter(|root| root.block > 0);
        let found = last.map(|root| root.summary.span().end.saturating_sub(1));
        if let Some(root) = roots.first().filter(|_| stated != found) {
            let what = "its head is not where its rows end";
            self.fault(None, What::Series { series: root.series, what });
        }
    }

    fn entries(&mut self, position: u32) -> Result<Option<Vec<Found>>, Wanted> {
        let Some(sealed) = self.sealed.as_deref() else { return Ok(None) };
        let stream = sealed.stream(&self.blocks);
        let read = || -> Result<Lookup<Vec<Found>>, SegmentError> {
            let section = sealed.range(SectionKind::Catalog, CATALOG_VERSION)?;
            let catalog = match Catalog::open(&stream, section)? {
                Lookup::Found(catalog) => catalog,
                Lookup::Need(need) => return Ok(Lookup::Need(need)),
            };
            let end = position.saturating_add(LOT).min(catalog.len());
            #[expect(clippy::single_range_in_vec_init, reason = "a list of one range of positions is meant")]
            let entries = match catalog.entries(&stream, &[position..end])? {
                Lookup::Found(entries) => entries,
                Lookup::Need(need) => return Ok(Lookup::Need(need)),
            };
            // A segment may be without an index.
            if sealed.footer().section(SectionKind::Index, INDEX_VERSION).is_none() {
                return Ok(Lookup::Found(entries.into_iter().map(|entry| (entry, true)).collect()));
            }
            let section = sealed.range(SectionKind::Index, INDEX_VERSION)?;
            let index = match Index::open(&stream, section)? {
                Lookup::Found(index) => index,
                Lookup::Need(need) => return Ok(Lookup::Need(need)),
            };
            if index.len() != catalog.len() {
                return Err(SegmentError::Tail("the index counts other series than the catalog"));
            }
            let mut found = Vec::with_capacity(entries.len());
            for entry in entries {
                let selector = Selector::of_name(entry.name.name_ref());
                match index.candidates(&stream, &selector)? {
                    Lookup::Found(ranges) => {
                        let is_found = ranges.iter().any(|range| range.contains(&entry.position));
                        found.push((entry, is_found));
                    }
                    Lookup::Need(need) => return Ok(Lookup::Need(need)),
                }
            }
            Ok(Lookup::Found(found))
        };
        let asked = match read() {
            Ok(Lookup::Found(found)) => return Ok(Some(found)),
            Ok(Lookup::Need(need)) => sealed.need(&stream, &need),
            Err(error) => Err(error),
        };
        self.want(asked)
    }
}
