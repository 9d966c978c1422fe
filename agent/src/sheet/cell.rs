//! One cell to a value and back.
//!
//! | cell | value |
//! | --- | --- |
//! | `21.5`, `1e3`, `NaN`, `-Infinity` | a float |
//! | `NaN:7ff8000000000001` | a NaN of these bits |
//! | `9007199254740993` | a whole number that a float can't hold |
//! | `7i` | a whole number that a float could hold, and is none |
//! | `true`, `false` | a boolean |
//! | `-` | a gap: no value from here on |
//! | `"007"`, quotes included | a state that would read as something else |
//! | anything else | a state |
//!
//! The empty cell is no reading and never comes here.

use siltstone_core::point::Value;

use crate::api::number_text;
use crate::decode::SampleValue;

/// The value of a cell that is not empty.
pub fn read_cell(text: &str) -> SampleValue {
    match text {
        "true" => return SampleValue::Boolean(true),
        "false" => return SampleValue::Boolean(false),
        "-" => return SampleValue::Gap,
        _ => {}
    }
    if let Some(state) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return SampleValue::State(state.into());
    }
    let integer = |digits: &str| digits.parse::<i64>().ok();
    if let Some(integer) = text.strip_suffix('i').and_then(integer) {
        return SampleValue::Integer(integer);
    }
    if let Some(whole) = integer(text)
        && !(whole == 0 && text.starts_with('-'))
    {
        return match Value::from_integer(whole) {
            Value::Integer(integer) => SampleValue::Integer(integer),
            Value::Float(float) => SampleValue::Float(float),
            // There is no other answer to a whole number.
            _ => SampleValue::State(text.into()),
        };
    }
    if let Some(bits) = text.strip_prefix("NaN:").and_then(|hex| u64::from_str_radix(hex, 16).ok()) {
        let float = f64::from_bits(bits);
        if float.is_nan() {
            return SampleValue::Float(float);
        }
    }
    match text.parse::<f64>() {
        Ok(float) => SampleValue::Float(float),
        Err(_) => SampleValue::State(text.into()),
    }
}

/// The cell of a value.
pub fn write_cell(value: &Value<'_>) -> String {
    match value {
        Value::Float(float) if float.is_nan() && float.to_bits() != f64::NAN.to_bits() => {
            format!("NaN:{:016x}", float.to_bits())
        }
        Value::Float(float) => number_text(*float),
        Value::Integer(integer) => match Value::from_integer(*integer) {
            Value::Integer(integer) => integer.to_string(),
            _ => format!("{integer}i"),
        },
        Value::Boolean(boolean) => boolean.to_string(),
        Value::State(text) => {
            let plain = !text.is_empty()
                && text.trim() == *text
                && matches!(read_cell(text), SampleValue::State(same) if &*same == *text);
            if plain { (*text).to_owned() } else { format!("\"{text}\"") }
        }
        Value::Gap => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use siltstone_core::point::Value;

    use super::{SampleValue, read_cell, write_cell};

    fn same(value: Value<'_>) {
        let cell = write_cell(&value);
        assert!(!cell.is_empty());
        let back = read_cell(&cell);
        let back = match &back {
            SampleValue::Float(float) => Value::Float(*float),
            SampleValue::Integer(integer) => Value::Integer(*integer),
            SampleValue::Boolean(boolean) => Value::Boolean(*boolean),
            SampleValue::State(text) => Value::State(text),
            SampleValue::Gap => Value::Gap,
        };
        assert!(back.same_bits(&value), "{value:?} as {cell:?} came back as {back:?}");
    }

    #[test]
    fn special_values_come_back() {
        for float in
            [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, f64::MAX, 1e15, 1e16]
        {
            same(Value::Float(float));
        }
        same(Value::Float(f64::from_bits(0x7ff0_0000_0000_0001)));
        for text in
            ["", "-", "007", "true", "NaN", "inf", "7i", "\"", "\"\"", " on ", "a,b", "21,5", "open", "NaN:1"]
        {
            same(Value::State(text));
        }
        same(Value::Gap);
        same(Value::Boolean(true));
        for integer in [7, 0, -1, i64::MAX, i64::MIN, (1 << 53) + 1] {
            same(Value::Integer(integer));
        }
    }

    proptest! {
        #[test]
        fn every_value_comes_back(bits in any::<u64>(), integer in any::<i64>(), text in any::<String>()) {
            same(Value::Float(f64::from_bits(bits)));
            same(Value::Integer(integer));
            same(Value::State(&text));
        }
    }
}
