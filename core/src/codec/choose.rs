//! Choosing a plan by trial.

use super::{
    Model, Plan, Predictor, Rows, Scratch, TimestampPlan, ValuePlan, Values, bytes::Sink,
    encode::write_values, grid, timestamps,
};

/// A plan other than the last one must save one part of this many.
const GAIN_MIN: usize = 64;

/// The plan with which `rows` take the fewest bytes, among those tried; `last` unless another one
/// saves at least 1/64.
pub fn choose(rows: &Rows, last: &Plan, scratch: &mut Scratch) -> Plan {
    if rows.check().is_err() || scratch.check(rows).is_err() {
        return *last;
    }
    Plan {
        timestamps: choose_timestamps(rows.timestamps, last.timestamps, scratch),
        values: choose_values(rows, last.values, scratch),
    }
}

fn choose_timestamps(column: &[i64], last: TimestampPlan, scratch: &mut Scratch) -> TimestampPlan {
    let mut size = |plan| {
        let mut sink = Sink::new(&mut []);
        timestamps::write(column, plan, scratch.a, &mut sink);
        sink.len()
    };
    let last = timestamps::resolve(column, last);
    if last == TimestampPlan::ConstantStep {
        return last;
    }
    let mut best = (last, size(last) * (GAIN_MIN - 1) / GAIN_MIN);
    for plan in [TimestampPlan::Steps, TimestampPlan::DeltaOfDelta] {
        let bytes = size(plan);
        if bytes < best.1 {
            best = (plan, bytes);
        }
    }
    best.0
}

fn choose_values(rows: &Rows, last: ValuePlan, scratch: &mut Scratch) -> ValuePlan {
    let mut size = |plan| {
        let mut sink = Sink::new(&mut []);
        write_values(rows.values, rows.gaps, plan, scratch, &mut sink);
        sink.len()
    };
    let last = last.for_kind(rows.values.kind());
    let mut best = (last, size(last) * (GAIN_MIN - 1) / GAIN_MIN);
    let mut consider = |model: Model, predictors: &[Predictor]| {
        for runs in [false, true] {
            for &predictor in predictors {
                let plan = ValuePlan { model, predictor, runs };
                let bytes = size(plan);
                if bytes < best.1 {
                    best = (plan, bytes);
                }
            }
        }
    };
    let none = &[Predictor::First][..];
    consider(Model::Constant, none);
    match rows.values {
        Values::Float(values) => {
            if let Some(model) = decimal(values) {
                consider(model, &Predictor::ALL);
            }
            consider(Model::Bits, &Predictor::ALL);
        }
        Values::Integer(_) => consider(Model::Integers, &Predictor::ALL),
        Values::Boolean(_) => {
            consider(Model::Bitmap, none);
            consider(Model::Alternating, none);
        }
        Values::State { .. } => consider(Model::Codes, &[Predictor::First, Predictor::Last]),
    }
    best.0
}

/// The fewest decimals, plain or through binary32, that hold most of a sample of `values`.
fn decimal(values: &[f64]) -> Option<Model> {
    const SAMPLE: usize = 64;
    let sample = || values.iter().step_by(values.len() / SAMPLE + 1);
    let limit = sample().count() / 8;
    let mut best = None;
    for decimals in 0..=grid::DECIMALS_MAX {
        let power = grid::power(decimals).unwrap_or(1.0);
        let plain = sample().filter(|&&value| grid::to_power(value, power).is_none()).count();
        let single = sample().filter(|&&value| grid::to_single(value, power).is_none()).count();
        for (off, model) in [(plain, Model::Decimal { decimals }), (single, Model::Single { decimals })] {
            if off <= limit && best.is_none_or(|(least, _)| off < least) {
                best = Some((off, model));
            }
        }
    }
    best.map(|(_, model)| model)
}
