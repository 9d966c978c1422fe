//! What is to be deleted, from its JSON document and to it.

use serde_json::{Value, json};

use super::error::ApiError;
use super::instant::parse_instant;

/// Series and a range of time that are to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// Which series.
    pub select: String,
    /// The first instant inside, nanoseconds.
    pub begin_ns: i64,
    /// The first instant behind, nanoseconds.
    pub end_ns: i64,
}

impl Deletion {
    /// The deletion in a document of the API.
    ///
    /// # Errors
    ///
    /// One sentence on the first key that is wrong.
    pub fn from_json(bytes: &[u8]) -> Result<Self, ApiError> {
        let document: Value = serde_json::from_slice(bytes)
            .map_err(|error| ApiError::bad(format!("the body is no JSON: {error}")))?;
        let Value::Object(fields) = document else {
            return Err(ApiError::bad("the body must be a JSON object with the key `select`"));
        };
        let mut deletion = Self { select: String::new(), begin_ns: i64::MIN, end_ns: i64::MAX };
        for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            let text = value.as_str().ok_or_else(|| ApiError::bad(format!("`{key}` must be a string")))?;
            let instant = || parse_instant(text).map_err(|error| ApiError::bad(format!("`{key}`: {error}")));
            match key.as_str() {
                "select" => text.clone_into(&mut deletion.select),
                "from" => deletion.begin_ns = instant()?,
                "to" => deletion.end_ns = instant()?,
                other => {
                    let sentence = format!("there is no key `{other}`; there are select, from, to");
                    return Err(ApiError::bad(sentence));
                }
            }
        }
        if deletion.select.is_empty() {
            return Err(ApiError::bad("the key `select` is missing: a selector such as `temperature`"));
        }
        if deletion.begin_ns >= deletion.end_ns {
            return Err(ApiError::bad("`from` must be before `to`"));
        }
        Ok(deletion)
    }

    /// The document of the API.
    pub fn to_json(&self) -> String {
        let (from, to) = (self.begin_ns.to_string(), self.end_ns.to_string());
        json!({ "select": self.select, "from": from, "to": to }).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::Deletion;

    #[test]
    fn a_deletion_comes_back_from_its_document() {
        let deletion = Deletion { select: "a{b=~\"c\"}".to_owned(), begin_ns: -5, end_ns: 7 };
        assert_eq!(Deletion::from_json(deletion.to_json().as_bytes()).unwrap(), deletion);
        let all = Deletion::from_json(br#"{"select":"a"}"#).unwrap();
        assert_eq!((all.begin_ns, all.end_ns), (i64::MIN, i64::MAX));
        for wrong in [
            "",
            "[]",
            "{}",
            r#"{"select":1}"#,
            r#"{"select":"a","form":"1"}"#,
            r#"{"select":"a","from":"x"}"#,
        ] {
            assert!(Deletion::from_json(wrong.as_bytes()).is_err(), "{wrong}");
        }
        assert!(Deletion::from_json(br#"{"select":"a","from":"7","to":"7"}"#).is_err());
    }
}
