//! A question from its JSON document: every key checked, unknown ones refused.

use serde_json::Value;

use siltstone_core::query::{Filter, Function};

use super::condition::parse_condition;
use super::error::ApiError;
use super::instant::{parse_instant, parse_step};

/// Rows of a page, where the question doesn't say.
pub(super) const LIMIT_DEFAULT: u32 = 10_000;
/// Rows of the largest page.
pub(super) const LIMIT_MAX: u32 = 1_000_000;
/// Edges of the longest list.
const EDGES_MAX: usize = 20_000;
/// Steps that one series may have in one answer.
const STEPS_MAX: i64 = 1_000_000;

/// The order of rows within a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The oldest first.
    #[default]
    Ascending,
    /// The newest first.
    Descending,
}

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Which series.
    pub select: String,
    /// The first instant inside, nanoseconds.
    pub begin_ns: i64,
    /// The first instant behind, nanoseconds.
    pub end_ns: i64,
    /// Width of a bucket, nanoseconds.
    pub step_ns: Option<i64>,
    /// Edges of buckets, ascending.
    pub edges_ns: Vec<i64>,
    /// What to say of each range or bucket; none for the readings themselves.
    pub functions: Vec<Function>,
    /// Whether buckets may move to the edges of tree nodes.
    pub snap: bool,
    /// Which readings.
    pub condition: Option<Filter>,
    /// Rows of a page.
    pub limit: u32,
    /// Where a page begins: what the page before gave as `next`.
    pub cursor: Option<String>,
    /// The order within a series.
    pub order: Order,
}

impl Question {
    /// All readings of `select`, ever.
    pub fn all(select: &str) -> Self {
        Self {
            select: select.to_owned(),
            begin_ns: i64::MIN,
            end_ns: i64::MAX,
            step_ns: None,
            edges_ns: Vec::new(),
            functions: Vec::new(),
            snap: false,
            condition: None,
            limit: LIMIT_DEFAULT,
            cursor: None,
            order: Order::Ascending,
        }
    }

    /// The question in a document of the API.
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
        let mut question = Self::all("");
        for (key, value) in &fields {
            if value.is_null() {
                continue;
            }
            question.set(key, value)?;
        }
        if !fields.contains_key("select") {
            return Err(ApiError::bad(
                "the key `select` is missing: a selector such as `temperature{device=\"attic\"}`",
            ));
        }
        question.check(fields.contains_key("from") && fields.contains_key("to"))?;
        Ok(question)
    }

    fn set(&mut self, key: &str, value: &Value) -> Result<(), ApiError> {
        match key {
            "select" => text(key, value)?.clone_into(&mut self.select),
            "from" => self.begin_ns = parse(key, value, parse_instant)?,
            "to" => self.end_ns = parse(key, value, parse_instant)?,
            "step" => self.step_ns = Some(parse(key, value, parse_step)?),
            "edges" => {
                let edges = list(key, value)?;
                if edges.len() > EDGES_MAX {
                    return Err(ApiError::bad(format!("`edges` may hold {EDGES_MAX} instants at most")));
                }
                self.edges_ns =
                    edges.iter().map(|edge| parse(key, edge, parse_instant)).collect::<Result<_, _>>()?;
            }
            "fn" => {
                self.functions = match value {
                    Value::String(_) => vec![parse(key, value, parse_function)?],
                    _ => list(key, value)?
                        .iter()
                        .map(|name| parse(key, name, parse_function))
                        .collect::<Result<_, _>>()?,
                }
            }
            "snap" => {
                self.snap = value.as_bool().ok_or_else(|| ApiError::bad("`snap` must be true or false"))?
            }
            "where" => self.condition = Some(parse(key, value, parse_condition)?),
            "limit" => {
                let limit = value.as_u64().and_then(|limit| u32::try_from(limit).ok());
                self.limit = limit.filter(|limit| (1..=LIMIT_MAX).contains(limit)).ok_or_else(|| {
                    ApiError::bad(format!("`limit` must be a whole number from 1 to {LIMIT_MAX}"))
                })?;
            }
            "cursor" => self.cursor = Some(text(key, value)?.to_owned()),
            "order" => {
                self.order = match text(key, value)? {
                    "asc" => Order::Ascending,
                    "desc" => Order::Descending,
                    other => {
                        return Err(ApiError::bad(format!("`order` must be asc or desc, not `{other}`")));
                    }
                }
            }
            other => {
                return Err(ApiError::bad(format!(
                    "there is no key `{other}`; there are select, from, to, step, edges, fn, snap, where, limit, cursor, order"
                )));
            }
        }
        Ok(())
    }

    /// What only the keys together can be wrong about; `bounded` says that both ends were given.
    ///
    /// # Errors
    ///
    /// One sentence on what is wrong.
    pub fn check(&self, bounded: bool) -> Result<(), ApiError> {
        if self.end_ns <= self.begin_ns {
            return Err(ApiError::bad("`to` must be later than `from`"));
        }
        if self.step_ns.is_some() && !self.edges_ns.is_empty() {
            return Err(ApiError::bad("`step` and `edges` exclude each other"));
        }
        if !self.edges_ns.is_sorted_by(|a, b| a < b) || self.edges_ns.len() == 1 {
            return Err(ApiError::bad(
                "`edges` must be two or more instants, each later than the one before",
            ));
        }
        if (self.step_ns.is_some() || !self.edges_ns.is_empty()) && self.functions.is_empty() {
            return Err(ApiError::bad("`step` and `edges` need `fn`: what to say of each bucket"));
        }
        if let Some(step_ns) = self.step_ns {
            let steps = self.end_ns.saturating_sub(self.begin_ns) / step_ns;
            if bounded && steps > STEPS_MAX {
                return Err(ApiError::bad(format!(
                    "`step` cuts the range into {steps} buckets; {STEPS_MAX} are the most"
                )));
            }
        }
        Ok(())
    }
}

/// The function called `name`.
///
/// # Errors
///
/// A sentence that lists those there are.
pub fn parse_function(name: &str) -> Result<Function, String> {
    Function::parse(name).ok_or_else(|| {
        let names: Vec<_> = Function::all().map(Function::name).collect();
        format!("there is no function `{name}`; there are {}", names.join(", "))
    })
}

fn text<'a>(key: &str, value: &'a Value) -> Result<&'a str, ApiError> {
    value.as_str().ok_or_else(|| ApiError::bad(format!("`{key}` must be a text")))
}

fn list<'a>(key: &str, value: &'a Value) -> Result<&'a [Value], ApiError> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| ApiError::bad(format!("`{key}` must be a list")))
}

fn parse<T>(key: &str, value: &Value, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, ApiError> {
    parse(text(key, value)?).map_err(|message| ApiError::bad(format!("`{key}`: {message}")))
}

#[cfg(test)]
mod tests {
    use super::{Function, Order, Question};

    fn message(body: &str) -> String {
        Question::from_json(body.as_bytes()).unwrap_err().message
    }

    #[test]
    fn whole_questions() {
        let question = Question::from_json(
            br#"{"select":"a","from":"2026-11-30T00:00:00Z","to":"1796083200000000000","step":"10m",
                 "fn":["min","mean"],"snap":true,"where":"> 5","limit":7,"order":"desc","cursor":null}"#,
        )
        .unwrap();
        assert_eq!(
            (question.begin_ns, question.end_ns),
            (1_795_996_800_000_000_000, 1_796_083_200_000_000_000)
        );
        assert_eq!((question.step_ns, question.limit, question.snap), (Some(600_000_000_000), 7, true));
        assert_eq!(question.functions, [Function::Min, Function::Mean]);
        assert_eq!((question.order, question.cursor), (Order::Descending, None));
        assert_eq!(Question::from_json(br#"{"select":"a"}"#).unwrap(), Question::all("a"));
    }

    #[test]
    fn faults_are_one_sentence() {
        for (body, part) in [
            ("", "the body is no JSON"),
            ("[]", "must be a JSON object"),
            ("{}", "`select` is missing"),
            (r#"{"select":7}"#, "`select` must be a text"),
            (r#"{"select":"a","from":"yesterday"}"#, "`from`: `yesterday` is no time"),
            (r#"{"select":"a","from":"2020-01-02","to":"2020-01-01"}"#, "`to` must be later than `from`"),
            (
                r#"{"select":"a","fn":["median"]}"#,
                "`fn`: there is no function `median`; there are count, min",
            ),
            (r#"{"select":"a","fn":["min"],"step":"0s"}"#, "`step`: `0s` is no step"),
            (r#"{"select":"a","step":"1s"}"#, "need `fn`"),
            (r#"{"select":"a","surprise":1}"#, "there is no key `surprise`"),
            (r#"{"select":"a","limit":0}"#, "`limit` must be"),
            (r#"{"select":"a","fn":["min"],"edges":["5","5"]}"#, "`edges` must be"),
            (r#"{"select":"a","fn":["min"],"step":"1s","edges":["5","6"]}"#, "exclude each other"),
            (r#"{"select":"a","where":"hot"}"#, "`where`: `hot` is no condition"),
            (
                r#"{"select":"a","from":"2000-01-01","to":"2020-01-01","step":"1ms","fn":["min"]}"#,
                "buckets; 1000000 are the most",
            ),
        ] {
            let message = message(body);
            assert!(message.contains(part) && !message.contains('\n'), "{body}: {message}");
        }
    }
}
