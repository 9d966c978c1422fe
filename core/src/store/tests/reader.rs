//! Reads everything a store holds, the plain way: every run, every tree, every chunk; ranks decide.
//!
//! On the way every summary of the trees is held against the points below it, where that is asked for. A
//! block that proves valid and says nothing sensible is a broken promise, not damage.

use std::collections::BTreeMap;

use super::aggregates::check_summary;
use super::workload::label;
use crate::block::{BLOCK_LEN, Block, SegmentId, open};
use crate::codec::{self, Chunk};
use crate::point::Value;
use crate::segment::{BlockMap, Blocks, SegmentKind, Unsealed, View, Writer};
use crate::series::{NoRegex, Selector, SeriesName};
use crate::store::segment_file::{ask, scan};
use crate::store::sim::{OwnedValue, SimDevice, SimMedium, Violation};
use crate::store::{Device, Medium, Run, RunContent, Store};
use crate::tree::leaf::Leaf;
use crate::tree::{Reference, node};

/// What was read: for each series and time the value that counts.
pub(super) type Points = BTreeMap<(String, i64), OwnedValue>;
/// A point as it stands in a tree.
pub(super) type Row = (i64, OwnedValue);

/// Where the blocks of a run are.
struct Place<'a> {
    id: SegmentId,
    device: Option<SimDevice>,
    memory: &'a dyn Blocks,
    checks_summaries: bool,
}

impl Place<'_> {
    fn block(&self, number: u32) -> Option<Block> {
        if let Some(block) = self.memory.block(number) {
            return Some(*block);
        }
        let mut bytes = [0; BLOCK_LEN];
        self.device.as_ref()?.read(number, &mut bytes).ok()?;
        Some(bytes)
    }

    /// Puts the points below `reference` into `rows`; gives the number of blocks that are damaged.
    fn collect(&self, reference: &Reference, rows: &mut Vec<Row>) -> Result<u64, Violation> {
        let Some(bytes) = self.block(reference.block) else { return Ok(1) };
        let Ok((_, payload)) = open(&bytes, &self.id, reference.block) else { return Ok(1) };
        let senseless = || Violation::Unreadable(format!("block {} of {:?}", reference.block, self.id));
        let begin = rows.len();
        let mut damaged = 0;
        if reference.level > 0 {
            let node = node::decode(payload, reference.slot).map_err(|_| senseless())?;
            for child in &node.references {
                damaged += self.collect(child, rows)?;
            }
        } else {
            let leaf = Leaf::open(payload).map_err(|_| senseless())?;
            let (entry, bytes) = leaf.chunk(reference.slot).map_err(|_| senseless())?;
            let mut chunk = Chunk::default();
            codec::decode(bytes, entry.rows, entry.begin, &mut chunk).map_err(|_| senseless())?;
            rows.extend(chunk.points().map(|point| (point.timestamp.0, OwnedValue::from(point.value))));
        }
        if damaged == 0 && self.checks_summaries {
            check_summary(&reference.summary, &rows[begin..]).map_err(Violation::Aggregate)?;
        }
        Ok(damaged)
    }

    /// Puts the points of a series into `points`; gives the number of blocks that are damaged.
    fn series(&self, name: &str, root: &Reference, points: &mut Points) -> Result<u64, Violation> {
        let mut rows = Vec::new();
        let damaged = self.collect(root, &mut rows)?;
        for (at, value) in rows {
            // A chunk of integers also holds numbers that floats could: one number, one value.
            let value = match value {
                OwnedValue::Integer(integer) => Value::from_integer(integer).into(),
                other => other,
            };
            if points.insert((label(name).to_string(), at), value).is_some() {
                return Err(Violation::Twice(label(name).to_string(), at));
            }
        }
        Ok(damaged)
    }
}

/// The points of one run, and how many of its blocks are damaged.
fn read_run(medium: &SimMedium, run: &Run, checks_summaries: bool) -> Result<(Points, u64), Violation> {
    let lost = |path: &str| Violation::Unreadable(path.to_string());
    let device = match &run.path {
        Some(path) => Some(medium.open(path).ok().flatten().ok_or_else(|| lost(path))?),
        None => None,
    };
    let nothing = BlockMap::new();
    let mut points = Points::new();
    let id = run.header.id;
    let mut damaged = 0;
    match &run.content {
        RunContent::Sealed(sealed) => {
            let place = Place { id, device, memory: &nothing, checks_summaries };
            let all = Selector::parse("{}").expect("a selector");
            let file = place.device.as_ref().ok_or_else(|| lost("a sealed run without a file"))?;
            match ask(file, &mut BlockMap::new(), |blocks| sealed.select(blocks, &all, &NoRegex)) {
                Ok(Ok(found)) => {
                    for (entry, roots) in found {
                        for root in roots.iter().filter(|root| root.block > 0) {
                            damaged += place.series(entry.name.as_str(), root, &mut points)?;
                        }
                    }
                }
                _ => {
                    let (found, more) = read_scanned(place.device, run, checks_summaries)?;
                    return Ok((found, more + 1));
                }
            }
        }
        RunContent::Live(live) => {
            let place = Place { id, device, memory: &**live, checks_summaries };
            for series in &live.series {
                for root in &series.references {
                    damaged += place.series(series.name.as_str(), root, &mut points)?;
                }
            }
        }
        RunContent::Unsealed => return read_scanned(device, run, checks_summaries),
    }
    Ok((points, damaged))
}

/// The points that a scan finds.
fn read_scanned(
    device: Option<SimDevice>,
    run: &Run,
    checks_summaries: bool,
) -> Result<(Points, u64), Violation> {
    let senseless = |what: &str| Violation::Unreadable(format!("{what} of {:?}", run.header.id));
    let file = device.ok_or_else(|| senseless("file"))?;
    let scanned = scan(&file, run.header, run.block_count, None).map_err(|_| senseless("medium"))?;
    let mut damaged = scanned.faults.len() as u64;
    let mut writer = Writer::resume(scanned, 0).map_err(|_| senseless("definitions"))?;
    let series = writer.series_with_rows();
    let names: Vec<_> = series.map(|(index, name, ..)| (index, name.to_string())).collect();
    let (mut view, mut points) = (View::new(), Points::new());
    let roots: Vec<_> =
        names.into_iter().map(|(index, name)| (name, writer.look(index, &mut view))).collect();
    writer.end_view(&mut view);
    let place = Place { id: run.header.id, device: Some(file), memory: &view, checks_summaries };
    for (name, references) in roots {
        for reference in references {
            damaged += place.series(&name, &reference, &mut points)?;
        }
    }
    Ok((points, damaged))
}

/// Everything the store holds, none of it damaged.
pub(super) fn read(store: &mut Store<SimMedium>) -> Points {
    try_read(store, true).unwrap_or_else(|violation| panic!("{violation:?}"))
}

/// Everything the store holds, none of it damaged.
///
/// # Errors
/// What is damaged, senseless or there twice; a summary that is wrong, where they are checked.
pub(super) fn try_read(store: &mut Store<SimMedium>, checks_summaries: bool) -> Result<Points, Violation> {
    let (points, damaged) = read_left(store, checks_summaries)?;
    if damaged > 0 {
        return Err(Violation::Unreadable(format!("{damaged} damaged blocks")));
    }
    Ok(points)
}

/// Everything that can be read, and how many blocks can't.
pub(super) fn read_what_is_left(store: &mut Store<SimMedium>) -> (Points, u64) {
    read_left(store, true).unwrap_or_else(|violation| panic!("{violation:?}"))
}

/// The same, for a medium that may make senseless blocks valid.
pub(super) fn read_left(
    store: &mut Store<SimMedium>,
    checks_summaries: bool,
) -> Result<(Points, u64), Violation> {
    let runs = runs(store)?;
    read_runs(&store.medium, &runs, checks_summaries)
}

/// What somebody reads who does not know which segment was written later.
pub(super) fn read_ignoring_ranks(store: &mut Store<SimMedium>) -> Result<Points, Violation> {
    let mut runs = runs(store)?;
    runs.reverse();
    read_runs(&store.medium, &runs, true).map(|(points, _)| points)
}

fn runs(store: &mut Store<SimMedium>) -> Result<Vec<Run>, Violation> {
    let all = Selector::parse("{}").expect("a selector");
    store.snapshot(&all, &NoRegex).map_err(|error| Violation::Refused(error.to_string()))
}

/// Reads runs in the order of their ranks, so that the higher one overwrites.
fn read_runs(medium: &SimMedium, runs: &[Run], checks_summaries: bool) -> Result<(Points, u64), Violation> {
    let (mut points, mut damaged) = (Points::new(), 0);
    for run in runs {
        if run.header.kind == SegmentKind::Tombstones {
            damaged += take_deleted(medium, run, &mut points)?;
            continue;
        }
        let (mut found, more) = read_run(medium, run, checks_summaries)?;
        points.append(&mut found);
        damaged += more;
    }
    Ok((points, damaged))
}

/// Takes away what a tombstone names: everything so far has a lower rank. Gives 1 where it is damaged.
fn take_deleted(medium: &SimMedium, run: &Run, points: &mut Points) -> Result<u64, Violation> {
    let lost = || Violation::Unreadable(format!("{:?}", run.path));
    let path = run.path.as_ref().ok_or_else(lost)?;
    let file = medium.open(path).ok().flatten().ok_or_else(lost)?;
    let all = Selector::parse("{}").expect("a selector");
    let entries = match &run.content {
        RunContent::Sealed(sealed) => {
            ask(&file, &mut BlockMap::new(), |blocks| sealed.series(blocks, &all, &NoRegex)).ok()
        }
        _ => None,
    };
    let (names, damaged): (Vec<SeriesName>, u64) = match entries.and_then(Result::ok) {
        Some(entries) => (entries.into_iter().map(|entry| entry.name).collect(), 0),
        // Its definitions are the second copy.
        None => {
            let scanned = scan(&file, run.header, run.block_count, None).map_err(|_| lost())?;
            (Unsealed::from(scanned).series.into_iter().map(|series| series.name).collect(), 1)
        }
    };
    for name in names {
        let name = label(name.as_str()).to_string();
        let span = run.header.partition;
        points.retain(|(series, at), _| *series != name || !span.contains(*at));
    }
    Ok(damaged)
}

/// The same as the oracle takes it.
pub(super) fn list(points: &Points) -> impl Iterator<Item = (String, i64, OwnedValue)> {
    points.iter().map(|((name, at), value)| (name.clone(), *at, value.clone()))
}
