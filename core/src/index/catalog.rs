//! The catalog: the names of a segment's series in order, with kind and unit.
//!
//! Layout: `docs/format-index.md`, chapter 3. The place of a name in it is its position; the roots
//! section stands in the same order. The reader finds a name by its position or a position by its
//! name with one group of a few KB.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::dictionary_reader::{Dictionary, Groups, for_each_entry};
use super::dictionary_writer::DictionaryWriter;
use super::error::{BuildError, IndexError};
use super::source::{Lookup, Source, found};
use super::varint::push_bytes;
use crate::block::Cursor;
use crate::point::ValueKind;
use crate::series::{NameRef, SeriesName};

/// Version of the catalog section.
pub const CATALOG_VERSION: u16 = 1;
/// Bytes of the longest unit.
pub const UNIT_BYTES_MAX: usize = 255;

const KIND_BITS: u8 = 0x0f;
const UNIT_FOLLOWS: u8 = 0x10;
const UNIT_AS_BEFORE: u8 = 0x20;

/// Writes a catalog from names in ascending order.
#[derive(Debug, Default)]
pub struct CatalogWriter {
    dictionary: DictionaryWriter,
    unit: String,
}

impl CatalogWriter {
    /// An empty catalog.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a series; its position is how many were appended before.
    ///
    /// # Errors
    ///
    /// [`BuildError::OutOfOrder`] where the name does not come after the last one,
    /// [`BuildError::TooLong`] where the unit is longer than [`UNIT_BYTES_MAX`].
    pub fn push(&mut self, name: NameRef<'_>, kind: ValueKind, unit: &str) -> Result<(), BuildError> {
        if unit.len() > UNIT_BYTES_MAX {
            return Err(BuildError::TooLong);
        }
        let (out, is_first) = self.dictionary.push(name.as_str().as_bytes())?;
        if unit.is_empty() {
            out.push(kind.code());
        } else if !is_first && self.unit == unit {
            out.push(kind.code() | UNIT_AS_BEFORE);
        } else {
            out.push(kind.code() | UNIT_FOLLOWS);
            push_bytes(out, unit.as_bytes());
        }
        self.unit.clear();
        self.unit.push_str(unit);
        Ok(())
    }

    /// The finished section.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooMuch`] beyond 4 GiB.
    pub fn finish(self) -> Result<Vec<u8>, BuildError> {
        self.dictionary.finish()
    }
}

/// One series of a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogEntry {
    /// Its place in the catalog.
    pub position: u32,
    /// Its name.
    pub name: SeriesName,
    /// What its values were first seen to be.
    pub kind: ValueKind,
    /// The unit of its values; empty where none is known.
    pub unit: String,
}

/// A stored catalog: its directory in memory, its names read when asked for.
#[derive(Clone, Debug)]
pub struct Catalog {
    dictionary: Dictionary,
}

impl Catalog {
    /// Opens the catalog that stands at `section` of the stream.
    ///
    /// # Errors
    ///
    /// [`IndexError`] where the bytes are no catalog.
    pub fn open<S: Source + ?Sized>(source: &S, section: Range<u64>) -> Result<Lookup<Self>, IndexError> {
        Ok(Dictionary::open(source, section)?.map(|dictionary| Self { dictionary }))
    }

    /// How many series there are.
    pub const fn len(&self) -> u32 {
        self.dictionary.entries()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries at `positions`: ascending, disjoint ranges; those beyond the end are left out.
    ///
    /// # Errors
    ///
    /// [`IndexError`] where a group is malformed.
    pub fn entries<S: Source + ?Sized>(
        &self,
        source: &S,
        positions: &[Range<u32>],
    ) -> Result<Lookup<Vec<CatalogEntry>>, IndexError> {
        let mut entries = Vec::new();
        let lookup = self.visit(source, positions, |entry| {
            entries.push(entry.to_owned());
            true
        })?;
        Ok(lookup.map(|()| entries))
    }

    /// Shows the entries at `positions` to `visit`, in order, until it says `false`.
    ///
    /// Nothing is shown before every group needed is at hand.
    ///
    /// # Errors
    ///
    /// [`IndexError`] where a group is malformed; entries before it were shown.
    pub fn visit<S: Source + ?Sized>(
        &self,
        source: &S,
        positions: &[Range<u32>],
        mut visit: impl FnMut(EntryRef<'_>) -> bool,
    ) -> Result<Lookup<()>, IndexError> {
        let groups = found!(self.dictionary.groups_of_entries(source, positions)?);
        let mut ranges = positions.iter().peekable();
        walk(&groups, |entry| {
            while ranges.next_if(|range| range.end <= entry.position).is_some() {}
            match ranges.peek() {
                None => Ok(false),
                Some(range) if entry.position < range.start => Ok(true),
                Some(_) => Ok(visit(entry)),
            }
        })?;
        Ok(Lookup::Found(()))
    }

    /// The entry with this name, if there is one.
    ///
    /// # Errors
    ///
    /// [`IndexError`] where its group is malformed.
    pub fn find<S: Source + ?Sized>(
        &self,
        source: &S,
        name: NameRef<'_>,
    ) -> Result<Lookup<Option<CatalogEntry>>, IndexError> {
        let groups = found!(self.dictionary.groups_of_key(source, name.as_str().as_bytes())?);
        let mut found = None;
        walk(&groups, |entry| {
            if entry.name == name {
                found = Some(entry.to_owned());
            }
            Ok(entry.name < name)
        })?;
        Ok(Lookup::Found(found))
    }
}

/// One series of a catalog, borrowed from the group it stands in.
#[derive(Clone, Copy, Debug)]
pub struct EntryRef<'a> {
    /// Its place in the catalog.
    pub position: u32,
    /// Its name.
    pub name: NameRef<'a>,
    /// What its values were first seen to be.
    pub kind: ValueKind,
    /// The unit of its values; empty where none is known.
    pub unit: &'a str,
}

impl EntryRef<'_> {
    /// The entry with a name of its own.
    pub fn to_owned(self) -> CatalogEntry {
        let Self { position, name, kind, unit } = self;
        CatalogEntry { position, name: name.into(), kind, unit: unit.into() }
    }
}

fn walk(
    groups: &Groups,
    mut visit: impl FnMut(EntryRef<'_>) -> Result<bool, IndexError>,
) -> Result<(), IndexError> {
    let mut unit = String::new();
    for_each_entry(groups, |position, key, is_first, cursor| {
        let kind = read_payload(cursor, is_first, &mut unit)?;
        let text = core::str::from_utf8(key).map_err(|_| IndexError::BadName)?;
        let name = NameRef::new(text).map_err(|_| IndexError::BadName)?;
        visit(EntryRef { position, name, kind, unit: &unit })
    })
}

/// Reads kind and unit; `unit` holds the one before and then the one read.
fn read_payload(cursor: &mut Cursor<'_>, is_first: bool, unit: &mut String) -> Result<ValueKind, IndexError> {
    let byte = cursor.u8()?;
    let kind = ValueKind::from_code(byte & KIND_BITS).ok_or(IndexError::BadEntry)?;
    match byte & !KIND_BITS {
        0 => unit.clear(),
        UNIT_AS_BEFORE if !is_first && !unit.is_empty() => {}
        UNIT_FOLLOWS => {
            let len = usize::try_from(cursor.varint()?).ok().filter(|len| *len <= UNIT_BYTES_MAX);
            let bytes = cursor.take(len.ok_or(IndexError::BadEntry)?)?;
            unit.clear();
            unit.push_str(core::str::from_utf8(bytes).map_err(|_| IndexError::BadEntry)?);
        }
        _ => return Err(IndexError::BadEntry),
    }
    Ok(kind)
}
