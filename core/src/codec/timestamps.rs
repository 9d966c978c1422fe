//! Timestamps: the first is known from the directory, the others are steps of a common unit.
//!
//! ```text
//! one row         nothing (codec 0)
//! constant step   step (zigzag varint)
//! steps           unit (varint, ≥ 1), then the steps / unit as a predicted column: first
//! delta of delta  the same with predictor last
//! ```
//!
//! Steps are differences modulo 2^64, so that any timestamps come back, whatever their order.

use super::{
    CodecError, Defect, TimestampPlan,
    bytes::{Sink, Source},
    divisor::{Divisor, gcd},
    numbers,
};

/// The plan that can hold `timestamps`: the given one, unless the steps are not, or all, the same.
pub(super) fn resolve(timestamps: &[i64], plan: TimestampPlan) -> TimestampPlan {
    if constant_step(timestamps).is_some() {
        TimestampPlan::ConstantStep
    } else if plan == TimestampPlan::ConstantStep {
        TimestampPlan::DeltaOfDelta
    } else {
        plan
    }
}

/// The step between any two neighbours, if it is one; 0 for a single row.
fn constant_step(timestamps: &[i64]) -> Option<i64> {
    let mut steps = steps(timestamps);
    let first = steps.next().unwrap_or_default();
    steps.all(|step| step == first).then_some(first)
}

fn steps(timestamps: &[i64]) -> impl Iterator<Item = i64> {
    let next = timestamps.get(1..).unwrap_or_default();
    timestamps.iter().zip(next).map(|(&last, &now)| now.wrapping_sub(last))
}

/// Replaces steps by steps / unit and gives the unit.
fn divide(steps: &mut [i64]) -> u64 {
    let mut unit = 0;
    let mut divisor = Divisor::new(1);
    for &step in steps.iter() {
        if step == 0 || unit != 0 && divisor.exact(step).is_some() {
            continue;
        }
        unit = gcd(unit, step.unsigned_abs());
        divisor = Divisor::new(unit);
        if divisor.get() == 1 {
            return 1;
        }
    }
    for step in steps.iter_mut() {
        *step = divisor.quotient(*step);
    }
    divisor.get()
}

/// Puts the steps / unit at the front of `scratch`, and gives the unit and how many they are.
pub(super) fn prepare(timestamps: &[i64], scratch: &mut [i64]) -> (u64, usize) {
    let step_count = timestamps.len().saturating_sub(1);
    let Some(column) = scratch.get_mut(..step_count) else { return (1, 0) };
    for (to, step) in column.iter_mut().zip(steps(timestamps)) {
        *to = step;
    }
    (divide(column), step_count)
}

/// Writes the steps; `plan` must be [resolved](resolve), `scratch` has a slot for each row.
pub(super) fn write(timestamps: &[i64], plan: TimestampPlan, scratch: &mut [i64], sink: &mut Sink) {
    if timestamps.len() < 2 {
        return;
    }
    if plan == TimestampPlan::ConstantStep {
        sink.zigzag(constant_step(timestamps).unwrap_or_default());
        return;
    }
    let (unit, step_count) = prepare(timestamps, scratch);
    sink.varint(unit);
    numbers::write_predicted(scratch.get(..step_count).unwrap_or_default(), plan.predictor(), sink);
}

/// Reads the timestamps of `out.len()` rows, of which the first is `begin`.
pub(super) fn read(
    source: &mut Source,
    plan: TimestampPlan,
    begin: i64,
    out: &mut [i64],
) -> Result<(), CodecError> {
    let Some((head, tail)) = out.split_first_mut() else { return Ok(()) };
    *head = begin;
    if tail.is_empty() {
        // One row has no step, and only one way to say so.
        return match plan {
            TimestampPlan::ConstantStep => Ok(()),
            _ => Err(CodecError::Invalid { at: 1, defect: Defect::Count }),
        };
    }
    let mut last = begin;
    if plan == TimestampPlan::ConstantStep {
        let step = source.zigzag()?;
        for out in tail {
            last = last.wrapping_add(step);
            *out = last;
        }
        return Ok(());
    }
    let wrong = source.defect(Defect::Divisor);
    let unit = source.varint()? as i64;
    if unit < 1 {
        return Err(wrong);
    }
    numbers::read_predicted(source, plan.predictor(), tail, |step| step)?;
    for out in tail {
        last = last.wrapping_add(out.wrapping_mul(unit));
        *out = last;
    }
    Ok(())
}
