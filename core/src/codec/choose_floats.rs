//! Choosing a plan for floats: grids that a sample is on, then a trial of each over a few windows.

use super::{
    Entries, Model, Predictor, Rational, Rounding, Scratch, ValuePlan,
    bytes::Sink,
    choose::{least_gain, window},
    dfcm, divisor,
    floats::{self, Memory, Prepared},
    gaps, grid, numbers,
    rational::RATIONAL_DECIMALS_MAX,
    runs, varint,
};

/// Windows that a plan is tried on.
const WINDOWS: usize = 4;
/// Values in each of them: the first of a mini-block's worth, and three mini-blocks.
const WINDOW_VALUES: usize = 97;
/// Values that a grid is first tried on.
const SAMPLE: usize = 64;
/// Of the sample, as many may be off a grid.
const SAMPLE_OFF_MAX: usize = SAMPLE / 8;
/// At least so many rows a run, on average, make it worth to look at runs.
const RUN_ROWS_MIN: usize = 3;
/// Where a value takes so many bytes on every grid, it is on none.
const NO_GRID_BYTES: usize = 5;
/// Decimals from which a value looks like a quotient that was printed.
const QUOTIENT_DECIMALS_MIN: u8 = 5;

/// A plan, and its bytes for each 2^16 rows of the column.
#[derive(Clone, Copy, Debug)]
struct Choice {
    plan: ValuePlan,
    density: u64,
}

/// The plan with which `values` take the fewest bytes.
pub(super) fn choose(values: &[f64], gap_rows: &[u16], last: ValuePlan, scratch: &mut Scratch) -> ValuePlan {
    let Some(copy) = scratch.floats.get_mut(..values.len()) else { return last };
    let mut column = values;
    if !gap_rows.is_empty() {
        copy.copy_from_slice(values);
        gaps::fill(copy, gap_rows, 0.0);
        column = copy;
    }
    let rows = column.len();
    let last = last.for_kind(crate::point::ValueKind::Float);
    let changes = changes(column);
    let mut memory = Memory {
        numbers: &mut *scratch.numbers,
        corrections: &mut *scratch.corrections,
        exceptions: &mut *scratch.exceptions,
        steps: &mut *scratch.steps,
    };
    let plain = best(column, last, &mut memory);
    if changes == 0 {
        let constant = ValuePlan { model: Model::Constant, ..ValuePlan::default() };
        return if plain.density < density(8, rows) { plain.plan } else { constant };
    }
    if (changes + 1) * RUN_ROWS_MIN > rows {
        return plain.plan;
    }
    let Some(column) = scratch.floats.get_mut(..rows) else { return plain.plan };
    if gap_rows.is_empty() {
        column.copy_from_slice(values);
    }
    let runs = runs::compact(column, scratch.lengths, |a, b| a.to_bits() == b.to_bits());
    let lengths = scratch.lengths.get(..runs).unwrap_or_default();
    let length_bytes = numbers::stream_len(lengths);
    let reduced = best(column.get(..runs).unwrap_or_default(), last, &mut memory);
    let reduced_density = reduced.density * runs as u64 / rows as u64 + density(length_bytes, rows);
    let (plain_density, reduced_density) = if last.runs {
        (plain.density, least_gain(reduced_density))
    } else {
        (least_gain(plain.density), reduced_density)
    };
    if reduced_density < plain_density { ValuePlan { runs: true, ..reduced.plan } } else { plain.plan }
}

/// How often a value differs from the one before.
fn changes(column: &[f64]) -> usize {
    let next = column.get(1..).unwrap_or_default();
    column.iter().zip(next).filter(|(last, now)| last.to_bits() != now.to_bits()).count()
}

/// `bytes` for `rows` rows, as bytes for 2^16 of them.
fn density(bytes: usize, rows: usize) -> u64 {
    ((bytes as u64) << 16) / rows.max(1) as u64
}

/// The best plan without runs.
fn best(column: &[f64], last: ValuePlan, memory: &mut Memory) -> Choice {
    let mut best = Choice { plan: ValuePlan { runs: false, ..last }, density: u64::MAX };
    let mut consider = |model: Model, memory: &mut Memory| {
        for (predictor, density) in trial(column, model, memory) {
            let plan = ValuePlan { model, predictor, runs: false };
            let kept = model == last.model && predictor == last.predictor;
            let weighed = if kept { least_gain(density) } else { density };
            if weighed < best.density {
                best = Choice { plan, density: weighed };
            }
        }
        best.density
    };
    let mut least = u64::MAX;
    if !matches!(last.model, Model::Raw | Model::Constant | Model::Dictionary { .. }) {
        least = consider(last.model, memory);
    }
    let decimal = decimals(column, grid::to_power);
    if let Some((decimals, _)) = decimal {
        least = consider(Model::Decimal { decimals }, memory);
    }
    let quotients = decimal.is_none_or(|(decimals, off)| off > 0 || decimals >= QUOTIENT_DECIMALS_MIN);
    let single = if quotients { decimals(column, grid::to_single) } else { None };
    if let Some((decimals, _)) = single {
        least = consider(Model::Single { decimals }, memory);
    }
    if quotients && let Some(rational) = rational(column, decimal.map(|(decimals, _)| decimals), memory) {
        least = consider(Model::Rational(rational), memory);
    }
    // In a short column the head of a grid counts.
    if quotients || column.len() <= SAMPLE {
        least = consider(Model::Bits, memory);
    }
    if may_be_dictionary(column, decimal, least) {
        let entries = match (decimal, single) {
            (Some((decimals, 0)), _) => Entries::Decimal { decimals },
            (_, Some((decimals, 0))) => Entries::Single { decimals },
            _ => Entries::Bits,
        };
        least = consider(Model::Dictionary { entries }, memory);
    }
    if least >= density(NO_GRID_BYTES, 1) {
        consider(Model::Dfcm, memory);
        consider(Model::Raw, memory);
    }
    best
}

/// For each predictor, the bytes of `model` for 2^16 rows; nothing if the column is not such.
fn trial(column: &[f64], model: Model, memory: &mut Memory) -> impl Iterator<Item = (Predictor, u64)> {
    let mut bytes = [0; 4];
    let mut rows = 0;
    let mut known = true;
    let whole = matches!(model, Model::Dictionary { .. }) || column.len() <= WINDOWS * WINDOW_VALUES;
    let part = if whole { column.len() } else { column.len() / WINDOWS };
    let size = if whole { part } else { WINDOW_VALUES };
    for values in column.chunks_exact(part.max(1)).map(|part| window(part, size)) {
        let prepared = floats::prepare(values.iter().copied(), model, memory);
        if prepared.model != model {
            known = false;
            break;
        }
        rows += values.len();
        let head = head_len(values, prepared, memory);
        let numbers = memory.numbers.get(..values.len()).unwrap_or_default();
        for (bytes, predictor) in bytes.iter_mut().zip(Predictor::ALL) {
            *bytes += head + if model.predicts() { numbers::predicted_len(numbers, predictor) } else { 0 };
        }
    }
    let predictors = if model.predicts() { 4 } else { 1 };
    let sizes = Predictor::ALL.into_iter().zip(bytes.map(|bytes| density(bytes, rows)));
    sizes.take(if known { predictors } else { 0 })
}

/// The bytes of a prepared column beside its numbers, which are divided afterwards.
fn head_len(values: &[f64], prepared: Prepared, memory: &mut Memory) -> usize {
    let rows = values.len();
    let Some(numbers) = memory.numbers.get_mut(..rows) else { return 0 };
    let exceptions = 1 + prepared.exceptions * 10;
    match prepared.model {
        Model::Raw => 8 * rows,
        Model::Constant => 8,
        Model::Dfcm => {
            let mut sink = Sink::new(&mut []);
            dfcm::write(values.iter().copied(), &mut sink);
            sink.len()
        }
        Model::Decimal { .. } | Model::Single { .. } => 1 + exceptions + divisor::divide_len(numbers),
        Model::Rational(rational) => {
            let corrections = memory.corrections.get(..rows).unwrap_or_default();
            let corrected = if prepared.corrected { numbers::stream_len(corrections) } else { 0 };
            rational.head_len() + exceptions + divisor::divide_len(numbers) + corrected
        }
        Model::Dictionary { entries } => floats::entries_len(prepared.entries, entries, memory),
        _ => 0,
    }
}

/// `SAMPLE` values or fewer from all over the column.
fn sample(column: &[f64]) -> impl Iterator<Item = f64> {
    column.iter().step_by(column.len() / SAMPLE + 1).copied()
}

/// The fewest decimals that most of a sample has, by `on_grid`, and how many of it have more.
fn decimals(column: &[f64], on_grid: impl Fn(f64, f64) -> Option<i64>) -> Option<(u8, usize)> {
    let mut best: Option<(u8, usize)> = None;
    for decimals in 0..=grid::DECIMALS_MAX {
        let power = grid::power(decimals)?;
        // A grid is given up as soon as it can't be the best any more.
        let limit = best.map_or(SAMPLE_OFF_MAX + 1, |(_, off)| off);
        let off = sample(column).filter(|&value| on_grid(value, power).is_none()).take(limit).count();
        if off < limit {
            best = Some((decimals, off));
        }
        if off == 0 {
            break;
        }
    }
    best
}

/// Whether a dictionary may take less than `least` bytes for 2^16 rows: if a sample has few distinct
/// values, and they don't fill the grid they are on.
fn may_be_dictionary(column: &[f64], decimal: Option<(u8, usize)>, least: u64) -> bool {
    let mut keys = [0; SAMPLE];
    let mut count = 0;
    for (key, value) in keys.iter_mut().zip(sample(column)) {
        *key = match decimal {
            Some((decimals, 0)) => {
                grid::power(decimals).and_then(|power| grid::to_power(value, power)).unwrap_or_default()
            }
            _ => grid::ordered(value),
        };
        count += 1;
    }
    let keys = keys.get_mut(..count).unwrap_or_default();
    divisor::divide(keys);
    keys.sort_unstable();
    let distinct = 1 + keys.iter().zip(keys.iter().skip(1)).filter(|(a, b)| a != b).count();
    let span = match keys {
        [first, .., last] => last.saturating_sub(*first),
        _ => 0,
    };
    // A code has at least about half of the bits that name an entry.
    let code_bits = varint::bit_len(distinct as u64) as usize / 2;
    span > SPARSE * distinct as i64 && distinct * 8 <= count * 7 && density(code_bits, 8) < least
}

/// A grid on which a sample spans no more than so many integers a distinct value is as good as full.
const SPARSE: i64 = 2;
/// Values that a rational grid is tried on, neighbours so that residuals show.
const NEIGHBOURS: usize = 48;
/// Of these, the first must be near multiples.
const PROBES: usize = 6;
/// How near: far from chance, and wide enough for values printed with 8 decimals.
const NEAR: f64 = 1e-3;
/// Multiples of more say nothing about nearness.
const MULTIPLE_MAX: f64 = 1e12;
/// So many grids are tried in full.
const GRIDS_MAX: usize = 4;

/// The rational grid, if there is one, on which residuals and corrections of a few neighbours are small.
fn rational(column: &[f64], decimals: Option<u8>, memory: &mut Memory) -> Option<Rational> {
    let values = window(column, NEIGHBOURS);
    let mut best: Option<(usize, Rational)> = None;
    let mut tried = 0;
    for (multiplier, k) in multipliers() {
        let scale = f64::from(multiplier) * grid::power(k)?;
        let near = |value: &f64| {
            let multiple = value * scale;
            multiple.abs() < MULTIPLE_MAX && (multiple - grid::round(multiple)).abs() < NEAR
        };
        if !values.iter().take(PROBES).all(near) {
            continue;
        }
        let rounded = decimals.map(Rounding::Decimals);
        for rounding in [Some(Rounding::None), Some(Rounding::Single), rounded].into_iter().flatten() {
            let rational = Rational { multiplier, decimals: k, rounding };
            let prepared = floats::prepare(values.iter().copied(), Model::Rational(rational), memory);
            if prepared.model != Model::Rational(rational) {
                continue;
            }
            let head = head_len(values, prepared, memory);
            let numbers = memory.numbers.get(..values.len())?;
            let bytes = head + numbers::predicted_len(numbers, Predictor::Last);
            if best.is_none_or(|(least, _)| bytes < least) {
                best = Some((bytes, rational));
            }
        }
        tried += 1;
        if tried == GRIDS_MAX {
            break;
        }
    }
    best.map(|(_, rational)| rational)
}

/// Multipliers and decimals in the order of trial; those that are multiples of ten come with one
/// decimal more.
fn multipliers() -> impl Iterator<Item = (u16, u8)> {
    let small = (1..=64).filter(|multiplier| multiplier % 10 != 0);
    let multipliers = small.chain((7..=12).map(|bits| 1 << bits));
    (0..=RATIONAL_DECIMALS_MAX - 3).flat_map(move |k| multipliers.clone().map(move |m| (m, k)))
}
