//! Reads everything a store holds, the plain way: every run, every tree, every chunk; ranks decide.

use std::collections::BTreeMap;

use super::workload::label;
use crate::block::{BLOCK_LEN, Block, SegmentId, open};
use crate::codec::{self, Chunk};
use crate::point::Value;
use crate::segment::{BlockMap, Blocks, View, Writer};
use crate::series::{NoRegex, Selector};
use crate::store::segment_file::{ask, scan};
use crate::store::sim::{OwnedValue, SimDevice, SimMedium};
use crate::store::{Device, Medium, Run, RunContent, Store};
use crate::tree::leaf::Leaf;
use crate::tree::{Reference, node};

/// What was read: for each series and time the value that counts.
pub(super) type Points = BTreeMap<(String, i64), OwnedValue>;

/// Where the blocks of a run are.
struct Place<'a> {
    id: SegmentId,
    device: Option<SimDevice>,
    memory: &'a dyn Blocks,
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

    /// Puts the points below `reference` into `points`; gives the number of blocks that are damaged.
    fn collect(&self, name: &str, reference: &Reference, points: &mut Points) -> u64 {
        let Some(bytes) = self.block(reference.block) else { return 1 };
        let Ok((_, payload)) = open(&bytes, &self.id, reference.block) else { return 1 };
        if reference.level > 0 {
            let node = node::decode(payload).expect("a valid block holds a node");
            return node.references.iter().map(|child| self.collect(name, child, points)).sum();
        }
        let leaf = Leaf::open(payload).expect("a valid block holds a leaf");
        let (entry, bytes) = leaf.chunk(reference.slot).expect("a chunk");
        let mut chunk = Chunk::default();
        codec::decode(bytes, entry.rows, entry.begin, &mut chunk).expect("rows");
        for point in chunk.points() {
            let key = (label(name).to_string(), point.timestamp.0);
            // A chunk of integers also holds numbers that floats could: one number, one value.
            let value = match point.value {
                Value::Integer(integer) => Value::from_integer(integer),
                other => other,
            };
            let before = points.insert(key, value.into());
            assert_eq!(before, None, "{name} at {} twice in one run", point.timestamp.0);
        }
        0
    }
}

/// The points of one run, and how many of its blocks are damaged.
fn read_run(medium: &SimMedium, run: &Run) -> (Points, u64) {
    let device = run.path.as_ref().map(|path| medium.open(path).expect("on").expect("a named file"));
    let nothing = BlockMap::new();
    let mut points = Points::new();
    let id = run.header.id;
    let mut damaged = 0;
    match &run.content {
        RunContent::Sealed(sealed) => {
            let place = Place { id, device, memory: &nothing };
            let all = Selector::parse("{}").expect("a selector");
            let file = place.device.as_ref().expect("a file");
            match ask(file, &mut BlockMap::new(), |blocks| sealed.select(blocks, &all, &NoRegex)) {
                Ok(found) => {
                    for (entry, root) in found {
                        damaged += place.collect(entry.name.as_str(), &root, &mut points);
                    }
                }
                Err(_) => {
                    let (found, more) = read_scanned(place.device, run);
                    return (found, more + 1);
                }
            }
        }
        RunContent::Live(live) => {
            let place = Place { id, device, memory: live };
            for series in &live.series {
                damaged += place.collect(series.name.as_str(), &series.root, &mut points);
            }
        }
        RunContent::Unsealed => return read_scanned(device, run),
    }
    (points, damaged)
}

/// The points that a scan finds.
fn read_scanned(device: Option<SimDevice>, run: &Run) -> (Points, u64) {
    let file = device.expect("a file");
    let scanned = scan(&file, run.header, run.block_count, None);
    let mut damaged = scanned.faults.len() as u64;
    let mut writer = Writer::resume(scanned, 0).expect("definitions");
    let series = writer.series_with_rows();
    let names: Vec<_> = series.map(|(index, name, ..)| (index, name.to_string())).collect();
    let (mut view, mut points) = (View::new(), Points::new());
    let roots: Vec<_> =
        names.into_iter().filter_map(|(index, name)| Some((name, writer.root(index, &mut view)?))).collect();
    let place = Place { id: run.header.id, device: Some(file), memory: &view };
    for (name, root) in roots {
        damaged += place.collect(&name, &root, &mut points);
    }
    (points, damaged)
}

/// Everything the store holds, none of it damaged.
pub(super) fn read(store: &mut Store<SimMedium>) -> Points {
    let (points, damaged) = read_what_is_left(store);
    assert_eq!(damaged, 0, "damaged blocks");
    points
}

/// Everything that can be read, and how many blocks can't.
pub(super) fn read_what_is_left(store: &mut Store<SimMedium>) -> (Points, u64) {
    let all = Selector::parse("{}").expect("a selector");
    let runs = store.snapshot(&all, &NoRegex).expect("a snapshot");
    let (mut points, mut damaged) = (Points::new(), 0);
    // In the order of ranks, so that the higher one overwrites.
    for run in &runs {
        let (mut found, more) = read_run(&store.medium, run);
        points.append(&mut found);
        damaged += more;
    }
    (points, damaged)
}

/// The same as the oracle takes it.
pub(super) fn list(points: &Points) -> impl Iterator<Item = (String, i64, OwnedValue)> {
    points.iter().map(|((name, at), value)| (name.clone(), *at, value.clone()))
}
