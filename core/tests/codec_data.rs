//! Does every column of the data sets come back bit for bit, in leaves of 4 KiB, and in how few bytes?
//!
//! The bytes are bounded set by set, so that a codec that gets worse does not land unseen. Without the
//! sets, which are not part of the sources, this says so and proves nothing.

mod data_sets;

use data_sets::Column;
use siltstone_core::codec::{
    Chunk, OwnedValues, Plan, Rows, ScratchBuffer, Values, choose, decode, encode, fit,
};
use std::collections::BTreeMap;

/// A block less its header and a directory entry.
const CAPACITY_BYTES: usize = 4096 - 60;

/// Bytes a point of each set, everything counted, 2 % above what was measured when this was written.
const BOUNDS: [(&str, f64); 15] = [
    ("air_quality_gas", 1.06),
    ("beijing_pm25", 0.51),
    ("ett_transformer", 1.54),
    ("fan_accelerometer", 1.12),
    ("fleet_capmetro", 3.35),
    ("home_climate", 1.45),
    ("house_appliances", 1.30),
    ("household_power", 0.69),
    ("nab_cloud", 1.56),
    ("nab_machine", 4.88),
    ("nab_traffic", 1.61),
    ("room_occupancy", 2.02),
    ("synth_devops_cpu", 0.41),
    ("synth_edge_node", 2.49),
    ("synth_walk_temp", 0.76),
];

/// Cuts a column into leaves, checks each, and gives the bytes of all.
fn leaf_bytes(column: &Column) -> usize {
    let mut memory = ScratchBuffer::default();
    let mut chunk = Chunk::default();
    let mut plan = Plan::default();
    let (mut begin, mut bytes, mut window) = (0, 0, 1024);
    while begin < column.values.len() {
        let end = (begin + window).min(column.values.len());
        let timestamps = &column.timestamps[begin..end];
        let rows = Rows { timestamps, values: Values::Float(&column.values[begin..end]), gaps: &[] };
        let mut scratch = memory.lend(rows.len());
        let chosen = choose(&rows, &plan, &mut scratch);
        let count = fit(&rows, &chosen, &mut scratch, CAPACITY_BYTES);
        if count == rows.len() && end < column.values.len() && window < 65_535 {
            window = (2 * window).min(65_535);
            continue;
        }
        plan = chosen;
        let mut out = [0; CAPACITY_BYTES];
        let leaf = rows.prefix(count);
        let encoded = encode(&leaf, &plan, &mut scratch, &mut out).expect("what fits can be encoded");
        decode(&out[..encoded.len], count as u16, timestamps[0], &mut chunk).expect("it can be decoded");
        let OwnedValues::Float(values) = &chunk.values else { panic!("floats come back as floats") };
        assert_eq!(chunk.timestamps, leaf.timestamps);
        let same = values.iter().zip(&column.values[begin..]).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same && values.len() == count, "{} {} from row {begin}", column.set, column.name);
        begin += count;
        bytes += if begin == column.values.len() { 60 + encoded.len } else { 4096 };
        window = count + count / 8 + 64;
    }
    bytes
}

#[test]
fn every_column_comes_back_in_few_bytes() {
    let mut sets: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for column in data_sets::load() {
        let bytes = leaf_bytes(&column);
        let set = sets.entry(column.set).or_default();
        *set = (set.0 + bytes, set.1 + column.values.len());
    }
    for (set, (bytes, points)) in &sets {
        let measured = *bytes as f64 / *points as f64;
        let bound = BOUNDS.iter().find(|(name, _)| name == set).map_or(16.0, |(_, bound)| *bound);
        assert!(measured <= bound, "{set}: {measured:.3} bytes a point, at most {bound} expected");
    }
}
