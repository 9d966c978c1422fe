//! Codecs: any bytes decode or don't; any rows come back bit by bit.

use siltstone_core::codec::{
    Chunk, OwnedValues, Plan, Rows, ScratchBuffer, Values, choose, decode, describe, encode, fit, measure,
};

/// Rows, 2 bytes; first timestamp, 8 bytes; the chunk.
pub(super) fn decode_chunk(input: &[u8]) {
    let Some((rows, rest)) = input.split_first_chunk::<2>() else { return };
    let Some((begin, bytes)) = rest.split_first_chunk::<8>() else { return };
    let (rows, begin) = (u16::from_le_bytes(*rows), i64::from_le_bytes(*begin));
    let mut chunk = Chunk::default();
    let decoded = decode(bytes, rows, begin, &mut chunk);
    let described = describe(bytes, rows);
    if decoded.is_ok() {
        assert_eq!(chunk.len(), usize::from(rows), "as many rows as were asked for");
        assert!(described.is_ok(), "what decodes can be described");
        assert!(chunk.gaps.is_sorted_by(|a, b| a < b) && chunk.gaps.last().is_none_or(|gap| *gap < rows));
        if chunk.timestamps.is_sorted_by(|a, b| a < b) {
            comes_back(&chunk.rows(&mut Vec::new()));
        }
    } else {
        assert!(chunk.is_empty(), "a chunk that does not decode leaves nothing");
    }
}

/// Rows from the bytes: kind, then for each a distance and a value.
pub(super) fn round_trip(input: &[u8]) {
    let Some((kind, rest)) = input.split_first() else { return };
    let (mut at, mut timestamps, mut bits, mut gaps) = (-77_i64, Vec::new(), Vec::new(), Vec::new());
    for (row, piece) in (0_u16..).zip(rest.chunks_exact(9)) {
        let (head, value) = piece.split_at(1);
        let distance = [1, 1_000, 1_000_000_007, 1 << 50][usize::from(head[0] & 3)];
        let Some(next) = at.checked_add(distance) else { break };
        at = next;
        if head[0] & 0x80 != 0 {
            gaps.push(row);
        }
        timestamps.push(at);
        bits.push(u64::from_le_bytes(*value.first_chunk().unwrap_or(&[0; 8])));
    }
    if timestamps.is_empty() {
        return;
    }
    let texts = ["on", "off", "", "heating up"];
    let floats: Vec<f64> = bits
        .iter()
        .map(|bits| match kind & 0x30 {
            0 => f64::from_bits(*bits),
            0x10 => (bits % 100_000) as f64 / 100.0,
            _ => (bits % 7) as f64,
        })
        .collect();
    let integers: Vec<i64> = bits.iter().map(|bits| *bits as i64).collect();
    let booleans: Vec<bool> = bits.iter().map(|bits| bits & 1 != 0).collect();
    let codes: Vec<u16> = bits.iter().map(|bits| (bits & 3) as u16).collect();
    let values = match kind & 3 {
        0 => Values::Float(&floats),
        1 => Values::Integer(&integers),
        2 => Values::Boolean(&booleans),
        _ => Values::State { codes: &codes, texts: &texts },
    };
    comes_back(&Rows { timestamps: &timestamps, values, gaps: &gaps });
}

/// Codes the rows, whole and as many as fit a block, and decodes them again.
fn comes_back(rows: &Rows<'_>) {
    let mut memory = ScratchBuffer::default();
    let mut scratch = memory.lend(rows.len().max(16));
    let plan = choose(rows, &Plan::default(), &mut scratch);
    let Ok(measured) = measure(rows, &plan, &mut scratch) else { return };
    let mut bytes = vec![0; measured.len];
    let encoded = encode(rows, &plan, &mut scratch, &mut bytes).expect("as long as it was measured");
    assert_eq!(encoded.len, measured.len);
    same(rows, &bytes);
    let count = fit(rows, &plan, &mut scratch, 4_064);
    if count > 0 && count < rows.len() {
        let some = rows.prefix(count);
        let mut bytes = vec![0; 8_192];
        if let Ok(encoded) = encode(&some, &plan, &mut scratch, &mut bytes) {
            same(&some, &bytes[..encoded.len]);
        }
    }
}

fn same(rows: &Rows<'_>, bytes: &[u8]) {
    let mut chunk = Chunk::default();
    decode(bytes, rows.len() as u16, rows.timestamps[0], &mut chunk).expect("what was coded");
    assert_eq!((&chunk.timestamps[..], &chunk.gaps[..]), (rows.timestamps, rows.gaps));
    for row in (0..rows.len()).filter(|row| rows.gaps.binary_search(&(*row as u16)).is_err()) {
        let is_same = match (&chunk.values, rows.values) {
            (OwnedValues::Float(back), Values::Float(values)) => back[row].to_bits() == values[row].to_bits(),
            (OwnedValues::Integer(back), Values::Integer(values)) => back[row] == values[row],
            (OwnedValues::Boolean(back), Values::Boolean(values)) => back[row] == values[row],
            (OwnedValues::State { codes: back, texts: own }, Values::State { codes, texts }) => {
                own[usize::from(back[row])] == texts[usize::from(codes[row])]
            }
            _ => false,
        };
        assert!(is_same, "row {row} of {}", rows.len());
    }
}
