//! One series of an open segment: a short raw buffer, coded chunks, and the nodes above its leaves.
//!
//! ```text
//! points → rows (raw, at most 256) → coded chunks (FAST, about 8 KiB) → one leaf, coded once, full
//! ```
//!
//! When the raw buffer is full its older rows are coded and the newest stay, so that a point which is a
//! little late still finds the rows that it belongs between (`docs/decisions/0011-the-raw-tail-sorts.md`).
//! A leaf is cut from the front of the coded chunks when they would fill more than one: they are decoded,
//! planned together, and as many rows as fit become one chunk; the rest is coded again. A change of
//! kind ends a chunk. Nothing here writes: the leaf builder gets the leaf's chunks.
//!
//! A series all of whose rows are in leaves rests: it holds no buffer, only where it ends, its last plan and the
//! references above its leaves.

use super::extent::Extent;
use super::rows::{self, Placed};
use crate::codec::{self, Chunk, Plan, ROWS_MAX, Rows, ScratchBuffer};
use crate::point::{Value, ValueKind};
use crate::tree::leaf::{Entry, LeafBuilder};
use crate::tree::{Laws, Summary, summarize};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Rows that are kept raw.
const RAW_ROWS_MAX: usize = 256;
/// Rows that stay raw when a full buffer is coded.
const RAW_ROWS_KEPT: usize = 64;
/// Rows that a full buffer gives to be coded.
const RAW_ROWS_CODED: usize = RAW_ROWS_MAX - RAW_ROWS_KEPT;
/// Bytes of coded chunks from which a leaf is cut: two leaves, so that one is surely full.
const CODED_LEN_MAX: usize = 8_192;

/// Rows from which a leaf is cut, however small they are coded.
const ROWS_FULL: usize = ROWS_MAX - RAW_ROWS_MAX;

/// Whether a leaf is cut because there is enough for it, or because everything must go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filling {
    /// Only a full leaf is wanted.
    Full,
    /// Whatever there is.
    Any,
}

/// Rows that are coded but in no leaf yet.
#[derive(Clone, Debug)]
struct CodedChunk {
    bytes: Vec<u8>,
    kind: ValueKind,
    rows: u16,
    begin: i64,
    /// Journal position of the first of them.
    lsn: u64,
}

/// The rows of a series that are in no leaf.
#[derive(Clone, Debug, Default)]
struct OpenRows {
    raw: Chunk,
    /// No raw row stands in the journal before it.
    raw_lsn: u64,
    /// When rows were last left raw by a coding: the newest of them, and the journal position then.
    kept: Option<(i64, u64)>,
    coded: Vec<CodedChunk>,
    coded_len: usize,
    coded_rows: usize,
}

/// A series of an open segment.
#[derive(Clone, Debug)]
pub(super) struct OpenSeries {
    pub index: u32,
    /// Kind of the first value.
    pub kind: ValueKind,
    /// None while it rests.
    open: Option<Box<OpenRows>>,
    /// Last timestamp that is coded or in a leaf.
    closed_at: Option<i64>,
    /// First and last timestamp of all rows.
    pub begin: Option<i64>,
    plan: Plan,
    /// The kind of values that the plan was chosen for.
    planned_for: Option<ValueKind>,
    pub extent: Extent,
}

/// Buffers that all series of a writer share.
#[derive(Debug, Default)]
pub(super) struct Workshop {
    scratch: ScratchBuffer,
    work: Chunk,
    part: Chunk,
    bytes: Vec<u8>,
}

/// Makes `bytes` at least this long, and takes no more memory than that.
fn grow(bytes: &mut Vec<u8>, len: usize) {
    if bytes.len() < len {
        bytes.reserve_exact(len - bytes.len());
        bytes.resize(len, 0);
    }
}

/// A chunk that went into a leaf builder.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedChunk {
    pub slot: u16,
    pub summary: Summary,
}

impl OpenRows {
    fn begin_raw(&mut self, value: &Value<'_>, lsn: u64, first_kind: ValueKind) {
        let kind = rows::kind_for(value, self.coded.last().map_or(first_kind, |chunk| chunk.kind));
        if self.raw.values.kind() != kind {
            self.raw = rows::empty(kind);
        }
        self.raw_lsn = lsn;
    }

    fn push(&mut self, chunk: CodedChunk) {
        self.coded_len += chunk.bytes.len();
        self.coded_rows += usize::from(chunk.rows);
        if self.coded.len() == self.coded.capacity() {
            self.coded.reserve_exact(1 + self.coded.len() / 2);
        }
        self.coded.push(chunk);
    }
}

impl OpenSeries {
    pub(super) fn new(index: u32, kind: ValueKind) -> Self {
        Self {
            index,
            kind,
            open: None,
            closed_at: None,
            begin: None,
            plan: Plan::default(),
            planned_for: None,
            extent: Extent::new(index),
        }
    }

    /// The timestamps of the raw rows.
    fn raw_timestamps(&self) -> &[i64] {
        self.open.as_ref().map_or(&[], |open| &open.raw.timestamps)
    }

    /// Last timestamp of all rows.
    pub(super) fn last_at(&self) -> Option<i64> {
        self.raw_timestamps().last().copied().or(self.closed_at)
    }

    /// Whether a point at `at` still finds its place: behind all rows that are coded, or will be to make
    /// room for it.
    pub(super) fn takes(&self, at: i64) -> bool {
        let raw = self.raw_timestamps();
        let is_full = raw.len() >= RAW_ROWS_MAX;
        let coded_next = raw.get(RAW_ROWS_CODED - 1).copied();
        let floor = if is_full { coded_next } else { self.closed_at };
        floor.is_none_or(|floor| floor < at)
    }

    /// Whether a raw row is exactly this point.
    pub(super) fn repeats(&self, at: i64, value: &Value<'_>) -> bool {
        let Some(open) = &self.open else { return false };
        let Ok(row) = open.raw.timestamps.binary_search(&at) else { return false };
        open.raw.points().nth(row).is_some_and(|point| point.value.same_bits(value))
    }

    /// Notes rows up to `last` that are in leaves already.
    pub(super) fn resume_at(&mut self, begin: i64, last: i64) {
        self.begin = Some(self.begin.map_or(begin, |known| known.min(begin)));
        self.closed_at = Some(self.closed_at.map_or(last, |known| known.max(last)));
    }

    /// Whether there are rows in no leaf.
    pub(super) fn is_open(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.raw.is_empty() || !open.coded.is_empty())
    }

    /// Journal position of the oldest row in no leaf.
    pub(super) fn open_lsn(&self) -> Option<u64> {
        let open = self.open.as_ref()?;
        let raw = (!open.raw.is_empty()).then_some(open.raw_lsn);
        open.coded.first().map(|chunk| chunk.lsn).or(raw)
    }

    /// Bytes of memory beyond its own, nearly: of rows in no leaf, and of references.
    pub(super) fn heap_len(&self) -> usize {
        let open = self
            .open
            .as_ref()
            .map_or(0, |open| size_of::<OpenRows>() + open.coded_len + open.raw.timestamps.capacity() * 16);
        open + self.extent.heap_len()
    }

    /// Puts a point that [`Self::takes`] allows.
    pub(super) fn append(&mut self, at: i64, value: &Value<'_>, lsn: u64, shop: &mut Workshop) -> Placed {
        if self.raw_timestamps().len() >= RAW_ROWS_MAX {
            self.code_older_rows(lsn, shop);
        }
        self.begin = Some(self.begin.map_or(at, |begin| begin.min(at)));
        let open = self.open.get_or_insert_default();
        if open.raw.is_empty() {
            open.begin_raw(value, lsn, self.kind);
        }
        if let Some(placed) = rows::place(&mut open.raw, at, value) {
            return placed;
        }
        self.change_kind(at, value, lsn, shop)
    }

    /// Ends the raw chunk where a value of another kind comes; rows behind that value begin anew after it.
    fn change_kind(&mut self, at: i64, value: &Value<'_>, lsn: u64, shop: &mut Workshop) -> Placed {
        let open = self.open.get_or_insert_default();
        let behind = open.raw.timestamps.partition_point(|t| *t < at);
        let later: Vec<(i64, Owned)> = open
            .raw
            .points()
            .skip(behind)
            .filter(|point| point.timestamp.0 != at)
            .map(|point| (point.timestamp.0, Owned::of(&point.value)))
            .collect();
        let replaced = open.raw.timestamps.get(behind) == Some(&at);
        rows::truncate(&mut open.raw, behind);
        let lsn_of_rows = lsn.min(open.raw_lsn);
        self.code_raw(shop);
        let open = self.open.get_or_insert_default();
        open.begin_raw(value, lsn_of_rows, self.kind);
        rows::place(&mut open.raw, at, value);
        for (at, value) in &later {
            let open = self.open.get_or_insert_default();
            if rows::place(&mut open.raw, *at, &value.value()).is_none() {
                self.change_kind(*at, &value.value(), lsn, shop);
            }
        }
        match (replaced, later.is_empty()) {
            (true, _) => Placed::Replaced,
            (false, true) => Placed::Appended,
            (false, false) => Placed::Inserted,
        }
    }

    /// Codes all raw rows.
    fn code_raw(&mut self, shop: &mut Workshop) {
        let Some(open) = self.open.as_mut().filter(|open| !open.raw.is_empty()) else { return };
        let mut raw = core::mem::take(&mut open.raw);
        let lsn = open.raw_lsn;
        self.code(&raw, raw.len(), lsn, shop);
        rows::truncate(&mut raw, 0);
        let open = self.open.get_or_insert_default();
        open.raw = raw;
        open.kept = None;
    }

    /// Codes the older rows of a full buffer, to make room for a point at `lsn`.
    fn code_older_rows(&mut self, lsn: u64, shop: &mut Workshop) {
        let open = self.open.get_or_insert_default();
        let mut raw = core::mem::take(&mut open.raw);
        let raw_lsn = open.raw_lsn;
        self.code(&raw, RAW_ROWS_CODED, raw_lsn, shop);
        rows::drop_front(&mut raw, RAW_ROWS_CODED);
        let open = self.open.get_or_insert_default();
        // Rows behind those that were left the last time all came after that.
        if let (Some((newest, kept_lsn)), Some(first)) = (open.kept, raw.timestamps.first())
            && newest < *first
        {
            open.raw_lsn = kept_lsn;
        }
        open.kept = raw.timestamps.last().map(|last| (*last, lsn));
        open.raw = raw;
    }

    /// Codes the first `count` rows of `chunk`.
    fn code(&mut self, chunk: &Chunk, count: usize, lsn: u64, shop: &mut Workshop) {
        let mut texts = Vec::new();
        let rows = chunk.rows(&mut texts).prefix(count);
        let (Some(begin), Some(last)) = (rows.timestamps.first(), rows.timestamps.last()) else { return };
        let room = coded_len_max(&rows);
        grow(&mut shop.bytes, room);
        let mut scratch = shop.scratch.lend(slots(&rows));
        // Plans are looked for when a leaf is cut, over many rows; here only where there is none yet.
        let known = self.planned_for == Some(rows.values.kind());
        let plan = if known { self.plan } else { codec::choose(&rows, &self.plan, &mut scratch) };
        // The buffer holds any rows raw, and rows from a buffer are always a chunk.
        let Ok(encoded) = codec::encode(&rows, &plan, &mut scratch, &mut shop.bytes) else { return };
        self.plan = plan;
        self.planned_for = Some(rows.values.kind());
        let bytes = shop.bytes.get(..encoded.len).unwrap_or_default().to_vec();
        self.closed_at = Some(*last);
        let kind = rows.values.kind();
        let chunk = CodedChunk { bytes, kind, rows: rows.len() as u16, begin: *begin, lsn };
        self.open.get_or_insert_default().push(chunk);
    }

    /// Whether the coded chunks fill a leaf.
    pub(super) fn fills_a_leaf(&self) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|open| open.coded_len >= CODED_LEN_MAX || open.coded_rows >= ROWS_FULL)
    }

    /// Codes the raw rows as well, so that everything can be cut.
    pub(super) fn close(&mut self, shop: &mut Workshop) {
        self.code_raw(shop);
    }

    /// Gives back the memory of the rows, where all are in leaves.
    pub(super) fn rest(&mut self) {
        if !self.is_open() {
            self.open = None;
        }
    }

    /// Moves rows from the front of the coded chunks into `leaf`, as many as fit, one chunk for each run
    /// of one kind. Gives what was placed.
    pub(super) fn cut<const N: usize>(
        &mut self,
        leaf: &mut LeafBuilder<N>,
        filling: Filling,
        laws: &Laws,
        shop: &mut Workshop,
    ) -> Vec<PlacedChunk> {
        let mut placed = Vec::new();
        while let Some(lsn) = self.open.as_ref().and_then(|open| open.coded.first()).map(|first| first.lsn) {
            self.take_run(shop);
            let mut work = core::mem::take(&mut shop.work);
            let (taken, chunk) = self.place_run(&work, leaf, filling, laws, shop);
            placed.extend(chunk);
            let rest_is_empty = taken == work.len();
            if !rest_is_empty {
                rows::drop_front(&mut work, taken);
                self.return_rest(&work, lsn, shop);
            }
            shop.work = work;
            if !rest_is_empty {
                break;
            }
        }
        placed
    }

    /// Decodes the front chunks of one kind into the work buffer and removes them.
    fn take_run(&mut self, shop: &mut Workshop) {
        let Some(open) = &mut self.open else { return };
        let Some(kind) = open.coded.first().map(|chunk| chunk.kind) else { return };
        if shop.work.values.kind() == kind {
            rows::truncate(&mut shop.work, 0);
        } else {
            shop.work = rows::empty(kind);
        }
        let mut count = 0;
        for chunk in &open.coded {
            if chunk.kind != kind || shop.work.len() + usize::from(chunk.rows) > ROWS_MAX {
                break;
            }
            // What this writer coded itself decodes.
            if codec::decode(&chunk.bytes, chunk.rows, chunk.begin, &mut shop.part).is_ok() {
                rows::extend(&mut shop.work, &shop.part);
            }
            count += 1;
        }
        for chunk in open.coded.drain(..count) {
            open.coded_len -= chunk.bytes.len();
            open.coded_rows -= usize::from(chunk.rows);
        }
    }

    /// Codes the front of `work` into the leaf; gives how many rows went in.
    fn place_run<const N: usize>(
        &mut self,
        work: &Chunk,
        leaf: &mut LeafBuilder<N>,
        filling: Filling,
        laws: &Laws,
        shop: &mut Workshop,
    ) -> (usize, Option<PlacedChunk>) {
        let mut texts = Vec::new();
        let rows = work.rows(&mut texts);
        let (Some(begin), Some(last)) = (rows.timestamps.first(), rows.timestamps.last()) else {
            return (0, None);
        };
        let widest =
            Entry { series: self.index, rows: rows.len() as u16, begin: *begin, last: *last, len: 0 };
        let room = leaf.room(&widest);
        let mut scratch = shop.scratch.lend(slots(&rows));
        let plan = codec::choose(&rows, &self.plan, &mut scratch);
        let mut count = codec::fit(&rows, &plan, &mut scratch, room);
        grow(&mut shop.bytes, room);
        self.plan = plan;
        self.planned_for = Some(rows.values.kind());
        // Rows that were coded by a poor plan may turn out to fill no leaf: they go back and wait.
        let is_all = count == rows.len() && self.open.as_ref().is_none_or(|open| open.coded.is_empty());
        if filling == Filling::Full && is_all && rows.len() < ROWS_FULL {
            return (0, None);
        }
        while count > 0 {
            let some = rows.prefix(count);
            let out = shop.bytes.get_mut(..room).unwrap_or_default();
            match codec::encode(&some, &plan, &mut scratch, out) {
                Ok(encoded) => {
                    let last = some.timestamps.last().copied().unwrap_or(*begin);
                    let entry = Entry { rows: count as u16, last, len: encoded.len as u16, ..widest };
                    let bytes = shop.bytes.get(..encoded.len).unwrap_or_default();
                    let slot = leaf.push(entry, bytes);
                    return match slot {
                        Some(slot) => (count, Some(PlacedChunk { slot, summary: summarize(&some, laws) })),
                        None => (0, None),
                    };
                }
                // A guess that was too bold: a little less.
                Err(_) => count -= (count / 32).max(1),
            }
        }
        (0, None)
    }

    /// Codes what didn't fit again, in front of what was not touched.
    fn return_rest(&mut self, rest: &Chunk, lsn: u64, shop: &mut Workshop) {
        let behind = core::mem::take(&mut self.open.get_or_insert_default().coded);
        let closed_at = self.closed_at;
        self.code(rest, rest.len(), lsn, shop);
        self.open.get_or_insert_default().coded.extend(behind);
        self.closed_at = closed_at;
    }

    /// The rows in no leaf, to be cut into leaves for a question while this one goes on.
    pub(super) fn open_copy(&self, shop: &mut Workshop) -> Self {
        let mut copy = Self {
            open: self.open.clone(),
            closed_at: self.closed_at,
            plan: self.plan,
            planned_for: self.planned_for,
            ..Self::new(self.index, self.kind)
        };
        copy.close(shop);
        copy
    }
}

/// Bytes that `rows` surely fit: raw, with exceptions for all of them.
fn coded_len_max(rows: &Rows<'_>) -> usize {
    let texts = match rows.values {
        codec::Values::State { texts, .. } => texts.iter().map(|text| text.len() + 4).sum(),
        _ => 0,
    };
    64 + rows.len() * 24 + texts
}

/// Slots of scratch memory that `rows` need.
fn slots(rows: &Rows<'_>) -> usize {
    match rows.values {
        codec::Values::State { texts, .. } => rows.len().max(texts.len()),
        _ => rows.len(),
    }
}

/// A value that outlives its buffer.
enum Owned {
    Number(Value<'static>),
    Text(alloc::string::String),
}

impl Owned {
    fn of(value: &Value<'_>) -> Self {
        match *value {
            Value::State(text) => Self::Text(text.into()),
            Value::Float(float) => Self::Number(Value::Float(float)),
            Value::Integer(integer) => Self::Number(Value::Integer(integer)),
            Value::Boolean(boolean) => Self::Number(Value::Boolean(boolean)),
            Value::Gap => Self::Number(Value::Gap),
        }
    }

    fn value(&self) -> Value<'_> {
        match self {
            Self::Number(value) => *value,
            Self::Text(text) => Value::State(text),
        }
    }
}
