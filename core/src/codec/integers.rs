//! Columns of integers.
//!
//! ```text
//! raw        value (8) for each row
//! constant   value (8)
//! integers   a divided column
//! ```

use super::{
    CodecError, Defect, Model, Predictor, ValuePlan,
    bytes::{Sink, Source},
    numbers,
    plan::ValueCodec,
};

/// Writes `values`, which are in disorder afterwards, and gives the plan that was followed in the end.
pub(super) fn write(values: &mut [i64], plan: ValuePlan, sink: &mut Sink) -> ValuePlan {
    match plan.model {
        Model::Raw => {
            for &value in values.iter() {
                sink.u64(value as u64);
            }
            plan
        }
        Model::Constant if values.iter().all(|value| Some(value) == values.first()) => {
            sink.u64(values.first().copied().unwrap_or_default() as u64);
            plan
        }
        _ => {
            numbers::write_divided(values, plan.predictor, sink);
            ValuePlan { model: Model::Integers, ..plan }
        }
    }
}

/// Reads a column of `out.len()` values.
pub(super) fn read(
    source: &mut Source,
    codec: ValueCodec,
    predictor: Predictor,
    out: &mut [i64],
) -> Result<(), CodecError> {
    match codec {
        ValueCodec::Raw => {
            let bytes = source.take(out.len().saturating_mul(8))?;
            for (out, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                *out = i64::from_le_bytes(*bytes);
            }
            Ok(())
        }
        ValueCodec::Constant => {
            out.fill(source.u64()? as i64);
            Ok(())
        }
        ValueCodec::Integers => numbers::read_divided(source, predictor, out, |number| number),
        _ => Err(source.defect(Defect::Reserved)),
    }
}
