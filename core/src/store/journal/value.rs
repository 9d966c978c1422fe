//! The values of points in a record: the shortest form that says the same to the last bit.
//!
//! Forms: `docs/format-journal.md`, chapter 3. What a sensor sends as text mostly has few decimals, and is shorter as a
//! whole number of them.

use alloc::vec::Vec;

use super::entry::{BadEntry, put_text, put_zigzag, text};
use crate::block::Cursor;
use crate::codec::{from_decimal, to_decimal};
use crate::point::Value;
use crate::store::limits::STATE_BYTES_MAX;

const FORM_FLOAT: u8 = 0;
const FORM_INTEGER: u8 = 2;
const FORM_FALSE: u8 = 3;
const FORM_TRUE: u8 = 4;
const FORM_STATE: u8 = 5;
const FORM_GAP: u8 = 6;
/// With none to fifteen decimals.
const FORM_DECIMAL: u8 = 16;

/// Decimals that the writer looks for.
const DECIMALS_TRIED: u8 = 6;
/// From this magnitude on a varint is as long as the float.
const DECIMAL_END: u64 = 1 << 48;

/// A float as a whole number of decimals; `guess` is tried first, and becomes what was found.
fn decimal(float: f64, guess: &mut u8) -> Option<i64> {
    let on_grid = |decimals: u8| to_decimal(float, decimals).filter(|m| m.unsigned_abs() < DECIMAL_END);
    if let Some(integer) = on_grid(*guess) {
        return Some(integer);
    }
    let (decimals, integer) =
        (0..=DECIMALS_TRIED).find_map(|decimals| Some((decimals, on_grid(decimals)?)))?;
    *guess = decimals;
    Some(integer)
}

/// Appends a value and gives its form; `decimals` is those of the last float that had some.
pub(super) fn put_value(out: &mut Vec<u8>, value: &Value<'_>, decimals: &mut u8) -> u8 {
    match value {
        Value::Float(float) => {
            if let Some(integer) = decimal(*float, decimals) {
                put_zigzag(out, integer);
                return FORM_DECIMAL + *decimals;
            }
            out.extend_from_slice(&float.to_bits().to_le_bytes());
            FORM_FLOAT
        }
        Value::Integer(integer) => {
            put_zigzag(out, *integer);
            FORM_INTEGER
        }
        Value::Boolean(false) => FORM_FALSE,
        Value::Boolean(true) => FORM_TRUE,
        Value::State(text) => {
            put_text(out, text);
            FORM_STATE
        }
        Value::Gap => FORM_GAP,
    }
}

/// The value of a form.
pub(super) fn value<'a>(cursor: &mut Cursor<'a>, form: u8) -> Result<Value<'a>, BadEntry> {
    Ok(match form {
        FORM_FLOAT => Value::Float(f64::from_bits(cursor.u64()?)),
        FORM_INTEGER => Value::Integer(cursor.zigzag()?),
        FORM_FALSE => Value::Boolean(false),
        FORM_TRUE => Value::Boolean(true),
        FORM_STATE => Value::State(text(cursor, STATE_BYTES_MAX)?),
        FORM_GAP => Value::Gap,
        FORM_DECIMAL.. => Value::Float(from_decimal(cursor.zigzag()?, form - FORM_DECIMAL)),
        _ => return Err(BadEntry),
    })
}
