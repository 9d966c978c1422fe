//! Choosing a plan by trial.
//!
//! Trials run over a few windows of the rows, so that choosing costs less than encoding. The last plan is
//! kept unless another one saves at least 1/64: a plan that changes back and forth gains nothing.

use super::{
    Model, Plan, Predictor, Rows, Scratch, TimestampPlan, ValuePlan, Values, bytes::Sink, choose_floats,
    encode::write_values, timestamps,
};

/// A plan other than the last one must save one part of this many.
const GAIN_MIN: u64 = 64;

/// Rows of timestamps, integers, booleans and states in a window.
const WINDOW_ROWS: usize = 512;

/// The plan with which `rows` take the fewest bytes, as far as trials show; `last` where it is nearly
/// as good, or where the rows are no chunk.
pub fn choose(rows: &Rows, last: &Plan, scratch: &mut Scratch) -> Plan {
    if rows.check().is_err() || scratch.check(rows).is_err() {
        return *last;
    }
    let values = match rows.values {
        Values::Float(values) => choose_floats::choose(values, rows.gaps, last.values, scratch),
        _ => choose_others(rows, last.values, scratch),
    };
    Plan { timestamps: choose_timestamps(rows.timestamps, last.timestamps, scratch), values }
}

fn choose_timestamps(column: &[i64], last: TimestampPlan, scratch: &mut Scratch) -> TimestampPlan {
    let last = timestamps::resolve(column, last);
    if last == TimestampPlan::ConstantStep {
        return last;
    }
    let window = window(column, WINDOW_ROWS);
    let mut size = |plan| {
        let mut sink = Sink::new(&mut []);
        timestamps::write(window, plan, scratch.steps, &mut sink);
        sink.len() as u64
    };
    let other = match last {
        TimestampPlan::Steps => TimestampPlan::DeltaOfDelta,
        _ => TimestampPlan::Steps,
    };
    if size(other) < least_gain(size(last)) { other } else { last }
}

/// What another plan must stay below.
pub(super) const fn least_gain(bytes: u64) -> u64 {
    bytes - bytes / GAIN_MIN
}

/// At most `rows` rows from the middle of a column.
pub(super) fn window<T>(column: &[T], rows: usize) -> &[T] {
    let begin = column.len().saturating_sub(rows) / 2;
    column.get(begin..(begin + rows).min(column.len())).unwrap_or(column)
}

/// A plan for integers, booleans or states, by trial over a window.
fn choose_others(rows: &Rows, last: ValuePlan, scratch: &mut Scratch) -> ValuePlan {
    let none = &[Predictor::First][..];
    let (values, models, predictors) = match rows.values {
        Values::Float(_) => return last,
        Values::Integer(column) => {
            let models = [Model::Constant, Model::Integers];
            (Values::Integer(window(column, WINDOW_ROWS)), models, &Predictor::ALL[..])
        }
        // Runs of booleans and states may be long; so may windows, since they cost little a row.
        Values::Boolean(column) => {
            let models = [Model::Bitmap, Model::Alternating];
            (Values::Boolean(window(column, 8 * WINDOW_ROWS)), models, none)
        }
        Values::State { codes, texts } => {
            let codes = window(codes, 8 * WINDOW_ROWS);
            let models = [Model::Codes, Model::Codes];
            (Values::State { codes, texts }, models, &Predictor::ALL[..2])
        }
    };
    let mut size = |plan| {
        let mut sink = Sink::new(&mut []);
        write_values(values, &[], plan, scratch, &mut sink);
        sink.len() as u64
    };
    let last = last.for_kind(rows.values.kind());
    let mut best = (last, least_gain(size(last)));
    for model in models {
        for runs in [false, true] {
            for &predictor in predictors {
                let plan = ValuePlan { model, predictor, runs };
                let bytes = size(plan);
                if bytes < best.1 {
                    best = (plan, bytes);
                }
            }
        }
    }
    best.0
}
