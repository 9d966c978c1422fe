//! Does every chunk give back the bits that went in?

use super::generate::{Random, columns, special_values, timestamps};
use crate::codec::{
    Chunk, CodecError, EncodeError, Encoded, Entries, Model, OwnedValues, Plan, Predictor, Rational,
    Rounding, Rows, RowsMut, SCRATCH_INTEGERS, Scratch, ScratchBuffer, TimestampPlan, ValuePlan, Values,
    ValuesMut, choose, decode, decode_into, describe, encode, fit, measure,
};
use proptest::{collection::vec, prelude::*};

/// Every plan worth trying on floats.
pub(super) fn float_plans() -> Vec<Plan> {
    let models = [
        Model::Raw,
        Model::Constant,
        Model::Bits,
        Model::Decimal { decimals: 0 },
        Model::Decimal { decimals: 2 },
        Model::Decimal { decimals: 15 },
        Model::Single { decimals: 1 },
        Model::Single { decimals: 6 },
        Model::Rational(Rational { multiplier: 3, decimals: 0, rounding: Rounding::None }),
        Model::Rational(Rational { multiplier: 1, decimals: 2, rounding: Rounding::Single }),
        Model::Rational(Rational { multiplier: 6, decimals: 1, rounding: Rounding::Decimals(8) }),
        Model::Dictionary { entries: Entries::Decimal { decimals: 2 } },
        Model::Dictionary { entries: Entries::Single { decimals: 3 } },
        Model::Dictionary { entries: Entries::Bits },
        Model::Dfcm,
    ];
    let mut plans = Vec::new();
    for (index, model) in models.into_iter().enumerate() {
        for (step, predictor) in Predictor::ALL.into_iter().enumerate() {
            let timestamps = [TimestampPlan::ConstantStep, TimestampPlan::Steps, TimestampPlan::DeltaOfDelta]
                [(index + step) % 3];
            for runs in [false, true] {
                plans.push(Plan { timestamps, values: ValuePlan { model, predictor, runs } });
            }
        }
    }
    plans
}

/// Encodes, checks the measured size, decodes and compares all but what stands in gaps.
pub(super) fn check(rows: &Rows, plan: &Plan) -> (Encoded, Vec<u8>) {
    let mut memory = ScratchBuffer::default();
    let mut scratch = memory.lend(rows.len().max(16));
    let measured = measure(rows, plan, &mut scratch).unwrap();
    let mut bytes = vec![0xaa; measured.len];
    let encoded = encode(rows, plan, &mut scratch, &mut bytes).unwrap();
    assert_eq!(encoded, measured);
    let full = Err(EncodeError::Full { needed_bytes: measured.len });
    assert_eq!(encode(rows, plan, &mut scratch, &mut bytes.clone()[1..]), full);
    let mut chunk = Chunk::default();
    decode(&bytes, rows.len() as u16, rows.timestamps[0], &mut chunk).unwrap();
    assert_eq!(chunk.timestamps, rows.timestamps);
    assert_eq!(chunk.gaps, rows.gaps);
    let kept = (0..rows.len()).filter(|row| !rows.gaps.contains(&(*row as u16)));
    match (&chunk.values, rows.values) {
        (OwnedValues::Float(back), Values::Float(values)) => {
            for row in kept {
                assert_eq!(back[row].to_bits(), values[row].to_bits(), "row {row}, {plan:?}");
            }
        }
        (OwnedValues::Integer(back), Values::Integer(values)) => {
            kept.for_each(|row| assert_eq!(back[row], values[row], "row {row}, {plan:?}"));
        }
        (OwnedValues::Boolean(back), Values::Boolean(values)) => {
            kept.for_each(|row| assert_eq!(back[row], values[row], "row {row}, {plan:?}"));
        }
        (OwnedValues::State { codes: back, texts: own }, Values::State { codes, texts }) => {
            kept.for_each(|row| {
                assert_eq!(own[usize::from(back[row])], texts[usize::from(codes[row])], "row {row}");
            });
        }
        _ => panic!("the kind changed"),
    }
    let description = describe(&bytes, rows.len() as u16).unwrap();
    assert_eq!(description.codec, encoded.codec);
    assert_eq!(
        (description.timestamp_len, description.value_len),
        (encoded.timestamp_len, encoded.value_len)
    );
    assert_eq!(description.overhead_len + encoded.timestamp_len + encoded.value_len, bytes.len());
    (encoded, bytes)
}

#[test]
fn special_values_under_every_plan() {
    let values = special_values();
    let times = timestamps(values.len(), 4, &mut Random::new(7));
    for plan in float_plans() {
        for count in [1, 2, 3, 31, 32, 33, 34, 65, 200, values.len()] {
            let rows =
                Rows { timestamps: &times[..count], values: Values::Float(&values[..count]), gaps: &[] };
            check(&rows, &plan);
        }
    }
}

#[test]
fn generated_columns_under_chosen_plans() {
    for rows in [1, 2, 20, 333, 3000] {
        let mut plan = Plan::default();
        for column in columns(rows, 11) {
            let rows =
                Rows { timestamps: &column.timestamps, values: Values::Float(&column.values), gaps: &[] };
            let mut memory = ScratchBuffer::default();
            plan = choose(&rows, &plan, &mut memory.lend(rows.len()));
            let (chosen, _) = check(&rows, &plan);
            let (unplanned, _) = check(&rows, &Plan::default());
            let least = unplanned.len.min(2 + 17 * rows.len());
            assert!(chosen.len <= least + least / 50 + 2, "{}: {chosen:?} {unplanned:?}", column.name);
        }
    }
}

#[test]
fn prefixes_that_fit_do_fit() {
    let mut memory = ScratchBuffer::default();
    for column in columns(6000, 12) {
        let rows = Rows { timestamps: &column.timestamps, values: Values::Float(&column.values), gaps: &[] };
        let mut scratch = memory.lend(rows.len());
        let plan = choose(&rows, &Plan::default(), &mut scratch);
        for capacity in [0, 1, 2, 12, 40, 100, 1000, 4036] {
            let count = fit(&rows, &plan, &mut scratch, capacity);
            let size = |count: usize, scratch: &mut _| {
                measure(&rows.prefix(count), &plan, scratch).map_or(0, |encoded| encoded.len)
            };
            assert!(size(count, &mut scratch) <= capacity, "{}, {capacity}", column.name);
            if count < rows.len() && capacity >= 1000 {
                // Nearly nothing is wasted: a hundredth more rows would not fit.
                let more = (count + count / 100 + 8).min(rows.len());
                assert!(size(more, &mut scratch) > capacity, "{}, {capacity}: {count}", column.name);
            }
        }
    }
}

#[test]
fn rows_that_are_no_chunk_are_refused() {
    let mut memory = ScratchBuffer::default();
    let mut scratch = memory.lend(4);
    let times = [1, 2, 3, 4, 5];
    let mut refuse = |count: usize, values, gaps: &[u16]| {
        let rows = Rows { timestamps: &times[..count], values, gaps };
        encode(&rows, &Plan::default(), &mut scratch, &mut [0; 99]).unwrap_err()
    };
    assert_eq!(refuse(0, Values::Float(&[]), &[]), EncodeError::Empty);
    assert_eq!(refuse(2, Values::Boolean(&[true]), &[]), EncodeError::Uneven { timestamps: 2, values: 1 });
    assert_eq!(refuse(1, Values::Integer(&[5]), &[1]), EncodeError::Gaps);
    assert_eq!(refuse(2, Values::Integer(&[5, 6]), &[1, 1]), EncodeError::Gaps);
    let states = Values::State { codes: &[0, 1], texts: &["on"] };
    assert_eq!(refuse(2, states, &[]), EncodeError::StateCode { row: 1 });
    assert_eq!(refuse(5, Values::Float(&[0.0; 5]), &[]), EncodeError::Scratch { needed: 5 });
    let texts = ["a", "b", "c", "d", "e"];
    let states = Values::State { codes: &[0], texts: &texts };
    assert_eq!(refuse(1, states, &[]), EncodeError::Scratch { needed: 5 });
    let many = vec![0; 65_536];
    let rows = Rows { timestamps: &many, values: Values::Integer(&many), gaps: &[] };
    let error = encode(&rows, &Plan::default(), &mut memory.lend(65_536), &mut []).unwrap_err();
    assert_eq!(error, EncodeError::TooManyRows { rows: 65_536 });
}

#[test]
fn the_longest_chunk() {
    let times: Vec<i64> = (0..65_535).collect();
    let values: Vec<bool> = times.iter().map(|time| time % 3 == 0).collect();
    let rows = Rows { timestamps: &times, values: Values::Boolean(&values), gaps: &[0, 65_534] };
    check(&rows, &Plan::default());
}

/// Plans for all kinds of values, some of which fit none.
fn any_plan() -> impl Strategy<Value = Plan> {
    let model = prop_oneof![
        Just(Model::Raw),
        Just(Model::Constant),
        Just(Model::Bits),
        (0..=15_u8).prop_map(|decimals| Model::Decimal { decimals }),
        (0..=15_u8).prop_map(|decimals| Model::Single { decimals }),
        (1..=u16::MAX, 0..=9_u8, 0..=15_u8).prop_map(|(multiplier, decimals, rounded)| {
            let rounding = match rounded {
                14 => Rounding::None,
                15 => Rounding::Single,
                decimals => Rounding::Decimals(decimals),
            };
            Model::Rational(Rational { multiplier, decimals, rounding })
        }),
        (0..=15_u8).prop_map(|decimals| Model::Dictionary { entries: Entries::Decimal { decimals } }),
        Just(Model::Dictionary { entries: Entries::Bits }),
        Just(Model::Dfcm),
        Just(Model::Integers),
        Just(Model::Bitmap),
        Just(Model::Alternating),
        Just(Model::Codes),
    ];
    let timestamps = prop_oneof![
        Just(TimestampPlan::ConstantStep),
        Just(TimestampPlan::Steps),
        Just(TimestampPlan::DeltaOfDelta)
    ];
    let predictor = (0..4_usize).prop_map(|index| Predictor::ALL[index]);
    (model, timestamps, predictor, any::<bool>()).prop_map(|(model, timestamps, predictor, runs)| Plan {
        timestamps,
        values: ValuePlan { model, predictor, runs },
    })
}

/// Random walks of any scale, with repeats.
fn any_numbers() -> impl Strategy<Value = Vec<i64>> {
    (vec((any::<i64>(), 0..3_u8), 1..150), 0..64_u32).prop_map(|(steps, shift)| {
        let mut now = 0_i64;
        let mut next = |(step, repeat): (i64, u8)| {
            now = if repeat == 0 { now } else { now.wrapping_add(step >> shift) };
            now
        };
        steps.into_iter().map(&mut next).collect()
    })
}

proptest! {
    #[test]
    fn arbitrary_rows_under_any_plan(
        plan in any_plan(),
        times in any_numbers(),
        numbers in any_numbers(),
        decimals in 0..4,
        gap_step in 1..40_usize,
    ) {
        let count = times.len().min(numbers.len());
        let (times, numbers) = (&times[..count], &numbers[..count]);
        let gaps: Vec<u16> = if gap_step > 20 {
            Vec::new()
        } else {
            (0..count).step_by(gap_step).map(|row| row as u16).collect()
        };
        let floats: Vec<f64> =
            numbers.iter().map(|&number| number as f64 / 10_f64.powi(decimals)).collect();
        let bits: Vec<f64> = numbers.iter().map(|&number| f64::from_bits(number as u64)).collect();
        let booleans: Vec<bool> = numbers.iter().map(|number| number & 1 == 1).collect();
        let codes: Vec<u16> = numbers.iter().map(|number| (number & 3) as u16).collect();
        let texts = ["", "open", "geöffnet", "open"];
        for values in [
            Values::Float(&floats),
            Values::Float(&bits),
            Values::Integer(numbers),
            Values::Boolean(&booleans),
            Values::State { codes: &codes, texts: &texts },
        ] {
            let rows = Rows { timestamps: times, values, gaps: &gaps };
            check(&rows, &plan);
            let mut memory = ScratchBuffer::default();
            let mut scratch = memory.lend(count.max(4));
            let chosen = choose(&rows, &plan, &mut scratch);
            check(&rows, &chosen);
            for capacity in [0, 20, 100] {
                let count = fit(&rows, &plan, &mut scratch, capacity);
                if count > 0 {
                    let encoded = measure(&rows.prefix(count), &plan, &mut scratch).unwrap();
                    prop_assert!(encoded.len <= capacity);
                }
            }
        }
    }
}

#[test]
fn memory_of_the_caller_is_enough() {
    let (mut integers, mut floats) = ([0; 32 * SCRATCH_INTEGERS], [0.0; 32]);
    let mut scratch = Scratch::new(&mut integers, &mut floats);
    assert_eq!(scratch.slots(), 32);
    let timestamps: Vec<i64> = (0..32).collect();
    let values: Vec<f64> = (0..32).map(|row| f64::from(row / 7) / 3.0).collect();
    let rows = Rows { timestamps: &timestamps, values: Values::Float(&values), gaps: &[4] };
    let mut bytes = [0; 300];
    for plan in float_plans() {
        let len = encode(&rows, &plan, &mut scratch, &mut bytes).unwrap().len;
        let (mut times, mut back, mut gaps, mut lengths) = ([0; 32], [0.0; 32], [0; 32], [0; 32]);
        let out = RowsMut {
            timestamps: &mut times,
            values: ValuesMut::Float(&mut back),
            gaps: &mut gaps,
            scratch: &mut lengths,
        };
        let decoded = decode_into(&bytes[..len], 32, 0, out).unwrap();
        assert_eq!((decoded.gaps, gaps[0]), (1, 4));
        assert!((0..32).all(|row| row == 4 || back[row].to_bits() == values[row].to_bits()));
        let short = RowsMut {
            timestamps: &mut times,
            values: ValuesMut::Float(&mut back[..31]),
            gaps: &mut gaps,
            scratch: &mut lengths,
        };
        let error = decode_into(&bytes[..len], 32, 0, short).unwrap_err();
        assert_eq!(error, CodecError::Memory { needed: 32 });
    }
}
