//! The routes against a service that is made up: status, headers, documents.

use std::fs::File;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, header};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::router;
use crate::api::{Answer, ApiError, Cell, Code, Column, Question};
use crate::http::{SegmentBytes, SegmentInfo, SeriesInfo, SeriesList, Service, SuggestWhat};
use crate::test_dir::TestDir;

struct Made {
    dir: TestDir,
    sealed: bool,
}

impl Made {
    fn new(sealed: bool) -> Arc<Self> {
        let dir = TestDir::new("routes");
        let bytes: Vec<u8> = (0..600_000_u32).map(|n| n as u8).collect();
        std::fs::write(dir.path().join("file"), bytes).unwrap();
        Arc::new(Self { dir, sealed })
    }
}

impl Service for Made {
    fn query(&self, question: &Question) -> Result<Answer, ApiError> {
        match question.select.as_str() {
            "bad{" => Err(ApiError::bad("a tag is missing").at(4)),
            "panic" => panic!("a fault of ours"),
            "damaged" => Err(ApiError::new(Code::Damaged, "block 7 can't be read")),
            select => Ok(Answer {
                columns: vec![Column::new("series", "series")],
                rows: vec![vec![Cell::Text(select.to_owned())]],
                ..Answer::default()
            }),
        }
    }

    fn series(&self, search: &str, limit: usize) -> Result<SeriesList, ApiError> {
        let one = SeriesInfo { name: search.to_owned(), kind: "float", unit: Some("V".to_owned()) };
        Ok(SeriesList { series: vec![one; limit.min(2)], total: 2, begin: Some("5".to_owned()), end: None })
    }

    fn suggest(&self, what: &SuggestWhat, prefix: &str, limit: usize) -> Result<Vec<String>, ApiError> {
        Ok(vec![format!("{what:?} {prefix} {limit}")])
    }

    fn segments(&self) -> Result<Vec<SegmentInfo>, ApiError> {
        Ok(vec![SegmentInfo {
            id: "00ff".to_owned(),
            length: 600_000,
            sealed: self.sealed,
            partition: "2026-11".to_owned(),
            begin: None,
            end: None,
        }])
    }

    fn segment(&self, id: &str) -> Result<SegmentBytes, ApiError> {
        if id != "00ff" {
            return Err(ApiError::new(Code::NotFound, "there is no such segment"));
        }
        let file = Arc::new(File::open(self.dir.path().join("file")).unwrap());
        Ok(SegmentBytes { file, length: 600_000, sealed: self.sealed })
    }

    fn seal(&self) -> Result<Vec<String>, ApiError> {
        Ok(vec!["00ff".to_owned()])
    }

    fn delete(&self, deletion: &crate::api::Deletion) -> Result<usize, ApiError> {
        Ok(deletion.select.len())
    }

    fn health(&self) -> Value {
        json!({ "status": "ok" })
    }
}

async fn ask(request: Request<Body>) -> Response<Body> {
    router(Made::new(true)).oneshot(request).await.unwrap()
}

fn get(path: &str) -> Request<Body> {
    Request::get(path).body(Body::empty()).unwrap()
}

async fn bytes(response: Response<Body>) -> Vec<u8> {
    to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()
}

async fn document(response: Response<Body>) -> Value {
    serde_json::from_slice(&bytes(response).await).unwrap()
}

#[tokio::test]
async fn questions_and_their_errors() {
    for (body, status, code, at) in [
        (r#"{"select":"a"}"#.to_owned(), 200, None, None),
        (r#"{"select":"bad{"}"#.to_owned(), 400, Some("bad_request"), Some(4)),
        ("nonsense".to_owned(), 400, Some("bad_request"), None),
        (r#"{"select":"damaged"}"#.to_owned(), 500, Some("damaged"), None),
        (r#"{"select":"panic"}"#.to_owned(), 500, Some("internal"), None),
        (format!("{{\"select\":\"{}\"}}", "a".repeat(2 << 20)), 413, Some("too_large"), None),
    ] {
        let response = ask(Request::post("/api/query").body(Body::from(body.clone())).unwrap()).await;
        assert_eq!(response.status(), status, "{:.60}", body);
        let document = document(response).await;
        match code {
            None => assert_eq!(document["rows"], json!([["a"]])),
            Some(code) => {
                assert_eq!(document["error"]["code"], code, "{document}");
                assert_eq!(document["error"]["at"].as_u64(), at);
                assert!(document["error"]["message"].as_str().unwrap().len() > 10);
            }
        }
    }
}

#[tokio::test]
async fn deletions_must_be_declared_as_json_and_small() {
    let large = format!("{{\"select\":\"{}\"}}", "a".repeat(2 << 20));
    for (kind, body, status) in [
        ("application/json", r#"{"select":"a"}"#, 200),
        ("application/json; charset=utf-8", r#"{"select":"a"}"#, 200),
        ("text/plain", r#"{"select":"a"}"#, 400),
        ("application/json", "nonsense", 400),
        ("application/json", &large, 413),
    ] {
        let request = Request::post("/api/delete").header("content-type", kind);
        let response = ask(request.body(Body::from(body.to_owned())).unwrap()).await;
        assert_eq!(response.status(), status, "{kind} {body:.40}");
        assert_eq!(document(response).await.get("error").is_none(), status == 200);
    }
}

#[tokio::test]
async fn lists() {
    assert_eq!(
        document(ask(get("/api/series?search=x%20y&limit=1")).await).await,
        json!({"series": [{"name": "x y", "kind": "float", "unit": "V"}], "total": 2, "begin": "5"})
    );
    assert_eq!(document(ask(get("/api/series?limit=0")).await).await["total"], 2);
    assert_eq!(ask(get("/api/series?limit=-1")).await.status(), 400);
    let value = document(ask(get("/api/suggest?what=value&tag=device&prefix=at&limit=3")).await).await;
    assert_eq!(value, json!({"suggestions": ["Value(\"device\") at 3"]}));
    assert_eq!(ask(get("/api/suggest?what=value")).await.status(), 400);
    assert_eq!(ask(get("/api/suggest?what=colour")).await.status(), 400);
    let manifest = document(ask(get("/api/segments")).await).await;
    assert_eq!(
        manifest,
        json!({"segments": [{"id": "00ff", "length": 600_000, "sealed": true, "partition": "2026-11"}]})
    );
    let sealed = ask(Request::post("/api/seal").body(Body::empty()).unwrap()).await;
    assert_eq!(document(sealed).await, json!({"sealed": ["00ff"]}));
    assert_eq!(document(ask(get("/api/health")).await).await["status"], "ok");
}

#[tokio::test]
async fn what_is_not_there() {
    for path in [
        "/api/nonsense",
        "/api",
        "/api/segments/nonsense",
        "/api/segments/00fe",
        "/api/segments/..%2f..%2fstore.id",
        "/api/segments/%00",
        "/nothing.js",
        "/..%2f..%2fetc%2fpasswd",
    ] {
        assert_eq!(ask(get(path)).await.status(), 404, "{path}");
    }
    assert_eq!(ask(get("/api/query")).await.status(), 405);
    assert_eq!(ask(get("/api/seal")).await.status(), 405, "no GET changes anything");
}

#[tokio::test]
async fn the_page_comes_with_its_policy() {
    let response = ask(get("/")).await;
    assert_eq!(response.status(), 200);
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
    assert!(policy.contains("script-src 'self' 'wasm-unsafe-eval'"));
    assert!(String::from_utf8(bytes(response).await).unwrap().contains("Siltstone"));
}

#[tokio::test]
async fn block_files_by_range() {
    let response = ask(get("/api/segments/00ff.silt")).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()[header::CONTENT_LENGTH], "600000");
    let whole = bytes(response).await;
    assert_eq!(whole.len(), 600_000);
    let ranged =
        |range: &str| Request::get("/api/segments/00ff").header("range", range).body(Body::empty()).unwrap();
    let response = ask(ranged("bytes=4096-8191")).await;
    assert_eq!(response.status(), 206);
    assert_eq!(response.headers()[header::CONTENT_RANGE], "bytes 4096-8191/600000");
    assert_eq!(response.headers()[header::ETAG], "\"00ff\"");
    assert_eq!(bytes(response).await, whole[4096..8192]);
    let response = ask(ranged("bytes=600000-")).await;
    assert_eq!(response.status(), 416);
    assert_eq!(response.headers()[header::CONTENT_RANGE], "bytes */600000");
    let known =
        Request::get("/api/segments/00ff").header("if-none-match", "\"00ff\"").body(Body::empty()).unwrap();
    assert_eq!(ask(known).await.status(), 304);
    let stale = Request::get("/api/segments/00ff").header("if-range", "\"old\"").header("range", "bytes=0-1");
    assert_eq!(ask(stale.body(Body::empty()).unwrap()).await.status(), 200);
    let open = router(Made::new(false)).oneshot(get("/api/segments/00ff")).await.unwrap();
    assert_eq!(open.headers()[header::ETAG], "\"00ff-600000\"", "one that grows is another each time");
    let head = Request::head("/api/segments/00ff").body(Body::empty()).unwrap();
    assert_eq!(ask(head).await.headers()[header::CONTENT_LENGTH], "600000");
}
