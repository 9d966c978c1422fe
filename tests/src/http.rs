//! Questions to an agent over HTTP, and its answers as JSON.
//!
//! An answer with an error status is an answer: tests look at it.

use std::time::Duration;

use serde_json::Value as Json;
use ureq::Agent as Client;

/// The largest answer that is read, bytes.
const ANSWER_BYTES_MAX: u64 = 512 << 20;

/// A status and a body.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body, as it came.
    pub body: Vec<u8>,
    /// The `content-range` header, if there is one.
    pub content_range: Option<String>,
}

impl Answer {
    /// The body as JSON; panics with the body where it is none.
    pub fn json(&self) -> Json {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("{error} in an answer with status {}: {}", self.status, self.text())
        })
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A client of one server.
pub struct Http {
    base: String,
    client: Client,
}

impl Http {
    /// A client of the server on `port` of loopback.
    pub fn new(port: u16) -> Self {
        Self::with_timeout(port, Duration::from_secs(120))
    }

    /// The same with another patience.
    pub fn with_timeout(port: u16, timeout: Duration) -> Self {
        let config =
            Client::config_builder().http_status_as_error(false).timeout_global(Some(timeout)).build();
        Self { base: format!("http://127.0.0.1:{port}"), client: config.into() }
    }

    /// GET; `None` where nobody answers.
    pub fn try_get(&self, path: &str) -> Option<Answer> {
        self.client.get(format!("{}{path}", self.base)).call().ok().map(read)
    }

    /// GET.
    pub fn get(&self, path: &str) -> Answer {
        let answer = self.client.get(format!("{}{path}", self.base)).call();
        read(answer.unwrap_or_else(|error| panic!("GET {path}: {error}")))
    }

    /// GET of the bytes `begin..end`.
    pub fn get_range(&self, path: &str, begin: u64, end: u64) -> Answer {
        let request = self.client.get(format!("{}{path}", self.base));
        let answer = request.header("range", format!("bytes={begin}-{}", end - 1)).call();
        read(answer.unwrap_or_else(|error| panic!("GET {path}: {error}")))
    }

    /// POST of a JSON body.
    pub fn post(&self, path: &str, body: &Json) -> Answer {
        self.try_post(path, body).unwrap_or_else(|error| panic!("POST {path}: {error}"))
    }

    /// POST of a body that is called something else.
    pub fn post_as(&self, path: &str, kind: &str, body: &str) -> Answer {
        let request = self.client.post(format!("{}{path}", self.base)).header("content-type", kind);
        read(request.send(body).unwrap_or_else(|error| panic!("POST {path}: {error}")))
    }

    /// POST of a JSON body where it may get no answer.
    ///
    /// # Errors
    /// Why there is none.
    pub fn try_post(&self, path: &str, body: &Json) -> Result<Answer, String> {
        let request = self.client.post(format!("{}{path}", self.base));
        let answer = request.header("content-type", "application/json").send(body.to_string());
        answer.map(read).map_err(|error| error.to_string())
    }

    /// A question: `POST /api/query`, whose answer must be a good one.
    pub fn query(&self, question: &Json) -> Json {
        let answer = self.post("/api/query", question);
        assert_eq!(answer.status, 200, "{question}: {}", answer.text());
        answer.json()
    }

    /// All rows of a question, page by page.
    pub fn query_all(&self, question: &Json) -> Vec<Vec<Json>> {
        let mut question = question.clone();
        let mut rows = Vec::new();
        loop {
            let mut answer = self.query(&question);
            for row in answer["rows"].as_array_mut().expect("an answer has rows") {
                let Json::Array(cells) = row.take() else { panic!("a row is an array: {row}") };
                rows.push(cells);
            }
            match answer["next"].take() {
                Json::Null => return rows,
                next => question["cursor"] = next,
            }
        }
    }
}

fn read(mut answer: ureq::http::Response<ureq::Body>) -> Answer {
    let status = answer.status().as_u16();
    let content_range =
        answer.headers().get("content-range").and_then(|v| v.to_str().ok()).map(str::to_owned);
    let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
    Answer { status, body: body.expect("an answer can be read to its end"), content_range }
}
