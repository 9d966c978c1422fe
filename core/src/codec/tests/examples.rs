//! Do the worked examples of `docs/format-codecs.md` hold?

use super::round_trip::check;
use crate::codec::{
    Entries, Model, Plan, Predictor, Rational, Rounding, Rows, TimestampPlan, ValuePlan, Values,
};

const DOCUMENT: &str = include_str!("../../../../docs/format-codecs.md");
const SECOND_NS: i64 = 1_000_000_000;

/// Encodes, and looks for the bytes in the document.
fn expect(name: &str, timestamps: &[i64], values: Values, gaps: &[u16], values_plan: ValuePlan) {
    let plan = Plan { timestamps: TimestampPlan::Steps, values: values_plan };
    let (_, bytes) = check(&Rows { timestamps, values, gaps }, &plan);
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let line = format!("| {name} | `{}` |", hex.join(" "));
    assert!(DOCUMENT.contains(&line), "the document lacks the line\n{line}");
}

fn plan(model: Model, predictor: Predictor) -> ValuePlan {
    ValuePlan { model, predictor, runs: false }
}

#[test]
fn floats() {
    let minutes = [0, 60, 120, 180].map(|seconds| seconds * SECOND_NS);
    let jitter = [0, 60, 119, 180].map(|seconds| seconds * SECOND_NS);
    let decimal = plan(Model::Decimal { decimals: 1 }, Predictor::Last);
    expect("A", &minutes, Values::Float(&[21.5, 21.6, 21.6, 21.4]), &[], decimal);
    expect("B", &jitter, Values::Float(&[21.5, 22.0, f64::NAN, 22.5]), &[], decimal);
    let runs = ValuePlan { runs: true, ..plan(Model::Bits, Predictor::Last) };
    expect("C", &minutes, Values::Float(&[0.0, 0.0, 1.0, 1.0]), &[1], runs);
    let rational = Rational { multiplier: 6, decimals: 0, rounding: Rounding::None };
    let sixths = [17.0 + 1.0 / 6.0, 17.5, 17.666_666_666_666_67, 17.5];
    expect("D", &minutes, Values::Float(&sixths), &[], plan(Model::Rational(rational), Predictor::Last));
    let single = plan(Model::Single { decimals: 3 }, Predictor::First);
    expect("E", &[5], Values::Float(&[f64::from(5.827_f32)]), &[], single);
    let entries = Entries::Decimal { decimals: 2 };
    let levels = [16.5, 99.25, 16.5, 99.25, 16.5, 16.5];
    let ticks = [0, 1, 2, 3, 4, 5];
    expect("F", &ticks, Values::Float(&levels), &[], plan(Model::Dictionary { entries }, Predictor::First));
    expect("G", &ticks, Values::Float(&[1.0; 6]), &[], plan(Model::Constant, Predictor::First));
    expect("H", &ticks[..3], Values::Float(&[1.0, 2.0, 1.5]), &[], plan(Model::Dfcm, Predictor::First));
    expect("I", &ticks[..1], Values::Float(&[-0.0]), &[], plan(Model::Raw, Predictor::First));
}

#[test]
fn other_kinds() {
    let ticks = [0, 1, 2, 3, 4, 5];
    let big = 1_i64 << 60;
    let integers = plan(Model::Integers, Predictor::Last);
    expect("J", &ticks[..3], Values::Integer(&[big + 1, big + 11, big + 31]), &[], integers);
    let booleans = [true, true, false, false, false, true];
    expect("K", &ticks, Values::Boolean(&booleans), &[], plan(Model::Bitmap, Predictor::First));
    expect("L", &ticks, Values::Boolean(&booleans), &[], plan(Model::Alternating, Predictor::First));
    let states = Values::State { codes: &[2, 2, 0, 0, 0, 2], texts: &["shut", "ajar", "open"] };
    expect("M", &ticks, states, &[], plan(Model::Codes, Predictor::First));
}
