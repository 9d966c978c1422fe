//! A filter by value: a comparison and a number, such as `> 30`.

use siltstone_core::query::{Comparison, Filter};

/// The filter that `text` writes.
///
/// # Errors
///
/// The reason in words.
pub fn parse_condition(text: &str) -> Result<Filter, String> {
    let wrong =
        || format!("`{text}` is no condition; write one of > >= < <= = != and a number, such as `> 30`");
    let text = text.trim();
    let number = text.trim_start_matches(['<', '>', '=', '!']);
    let sign = text.get(..text.len() - number.len()).unwrap_or("");
    let comparison = Comparison::parse(sign).ok_or_else(wrong)?;
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    if number.is_nan() {
        return Err(wrong());
    }
    Ok(Filter { comparison, number })
}

#[cfg(test)]
mod tests {
    use siltstone_core::query::{Comparison, Filter};

    use super::parse_condition;

    #[test]
    fn comparisons() {
        assert_eq!(parse_condition("> 30"), Ok(Filter { comparison: Comparison::Above, number: 30.0 }));
        assert_eq!(parse_condition(" <=-1.5 "), Ok(Filter { comparison: Comparison::AtMost, number: -1.5 }));
        for wrong in ["", "30", "> x", "=> 3", "> NaN", "> 1 and < 2"] {
            assert!(parse_condition(wrong).is_err(), "{wrong}");
        }
    }
}
