//! The routes, limits and headers.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use axum::routing::{get, post};
use serde::Deserialize;
use tokio::sync::Semaphore;

use super::service::{Service, SuggestWhat};
use super::{dashboard, segment};
use crate::api::{ApiError, Code, Deletion, Question};

/// Bytes of the largest question.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Questions answered at a time; others wait in line.
const QUESTIONS_MAX: usize = 2;
/// Questions that may wait.
const WAITING_MAX: usize = 64;
/// Entries of a list, where the request doesn't say.
const LIMIT_DEFAULT: usize = 100;
/// Entries of the longest list.
const LIMIT_MAX: usize = 100_000;

struct Shared<S> {
    service: Arc<S>,
    questions: Arc<Semaphore>,
    line: Arc<Semaphore>,
}

impl<S> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self {
            service: Arc::clone(&self.service),
            questions: Arc::clone(&self.questions),
            line: Arc::clone(&self.line),
        }
    }
}

/// Every route.
pub fn router<S: Service>(service: Arc<S>) -> Router {
    let shared = Shared {
        service,
        questions: Arc::new(Semaphore::new(QUESTIONS_MAX)),
        line: Arc::new(Semaphore::new(WAITING_MAX + QUESTIONS_MAX)),
    };
    Router::new()
        .route("/api/query", post(query::<S>))
        .route("/api/series", get(series::<S>))
        .route("/api/suggest", get(suggest::<S>))
        .route("/api/segments", get(segments::<S>))
        .route("/api/segments/{id}", get(segment_bytes::<S>))
        .route("/api/seal", post(seal::<S>))
        .route("/api/delete", post(delete::<S>))
        .route("/api/health", get(health::<S>))
        .fallback(page)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(shared)
}

/// A JSON document.
fn json(status: u16, document: String) -> Response<Body> {
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .body(Body::from(document))
        .unwrap_or_default()
}

fn failure(error: &ApiError) -> Response<Body> {
    if matches!(error.code, Code::Internal | Code::Damaged) {
        tracing::error!("{error}");
    }
    json(error.code.status(), error.to_json())
}

fn respond(result: Result<String, ApiError>) -> Response<Body> {
    match result {
        Ok(document) => json(200, document),
        Err(error) => failure(&error),
    }
}

/// Runs a call that may block; a panic in it is our fault and ends nothing else.
async fn call<S: Service, T: Send + 'static>(
    shared: &Shared<S>,
    work: impl FnOnce(&S) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let service = Arc::clone(&shared.service);
    let done = tokio::task::spawn_blocking(move || work(&service)).await;
    done.unwrap_or_else(|_| {
        Err(ApiError::new(Code::Internal, "the agent failed on this request; please report it"))
    })
}

fn to_document(value: &impl serde::Serialize) -> Result<String, ApiError> {
    serde_json::to_string(value).map_err(|error| ApiError::new(Code::Internal, error.to_string()))
}

/// A body as it came, or why it did not.
type Taken = Result<Bytes, axum::extract::rejection::BytesRejection>;

fn taken(body: Taken) -> Result<Bytes, ApiError> {
    body.map_err(|rejection| {
        if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            return ApiError::new(Code::TooLarge, "the body may have 1 MiB at most");
        }
        ApiError::bad(rejection.body_text())
    })
}

async fn query<S: Service>(State(shared): State<Shared<S>>, body: Taken) -> Response<Body> {
    let question = match taken(body).and_then(|body| Question::from_json(&body)) {
        Ok(question) => question,
        Err(error) => return failure(&error),
    };
    let Ok(_place) = shared.line.try_acquire() else {
        return failure(&ApiError::new(Code::Busy, "too many questions at once; ask again later"));
    };
    // The semaphore is never closed.
    let _turn = shared.questions.acquire().await;
    respond(call(&shared, move |service| service.query(&question).map(|answer| answer.to_json())).await)
}

#[derive(Deserialize)]
struct ListParameters {
    #[serde(default)]
    search: String,
    limit: Option<usize>,
}

#[derive(Deserialize)]
struct SuggestParameters {
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    what: String,
    #[serde(default)]
    tag: String,
    limit: Option<usize>,
}

type Parameters<T> = Result<Query<T>, axum::extract::rejection::QueryRejection>;

fn parameters<T>(parameters: Parameters<T>) -> Result<T, ApiError> {
    parameters.map(|Query(parameters)| parameters).map_err(|rejection| ApiError::bad(rejection.body_text()))
}

async fn series<S: Service>(
    State(shared): State<Shared<S>>,
    asked: Parameters<ListParameters>,
) -> Response<Body> {
    let asked = match parameters(asked) {
        Ok(asked) => asked,
        Err(error) => return failure(&error),
    };
    let limit = asked.limit.unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX);
    let list = call(&shared, move |service| service.series(&asked.search, limit)).await;
    respond(list.and_then(|list| to_document(&list)))
}

async fn suggest<S: Service>(
    State(shared): State<Shared<S>>,
    asked: Parameters<SuggestParameters>,
) -> Response<Body> {
    let asked = match parameters(asked) {
        Ok(asked) => asked,
        Err(error) => return failure(&error),
    };
    let what = match asked.what.as_str() {
        "" | "metric" => SuggestWhat::Metric,
        "tag" => SuggestWhat::Tag,
        "value" if asked.tag.is_empty() => return failure(&ApiError::bad("`what=value` needs `tag`")),
        "value" => SuggestWhat::Value(asked.tag),
        other => {
            return failure(&ApiError::bad(format!("`what` must be metric, tag or value, not `{other}`")));
        }
    };
    let limit = asked.limit.unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX);
    let words = call(&shared, move |service| service.suggest(&what, &asked.prefix, limit)).await;
    respond(words.and_then(|words| to_document(&serde_json::json!({ "suggestions": words }))))
}

async fn segments<S: Service>(State(shared): State<Shared<S>>) -> Response<Body> {
    let list = call(&shared, Service::segments).await;
    respond(list.and_then(|list| to_document(&serde_json::json!({ "segments": list }))))
}

async fn segment_bytes<S: Service>(
    State(shared): State<Shared<S>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response<Body> {
    let id = id.strip_suffix(".silt").unwrap_or(&id).to_owned();
    // An id is hexadecimal: nothing else ever reaches a file name.
    if id.is_empty() || id.len() > 64 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return failure(&ApiError::new(Code::NotFound, "there is no such segment"));
    }
    let wanted = id.clone();
    match call(&shared, move |service| service.segment(&wanted)).await {
        Ok(bytes) => segment::respond(&id, bytes, &headers),
        Err(error) => failure(&error),
    }
}

async fn seal<S: Service>(State(shared): State<Shared<S>>) -> Response<Body> {
    let sealed = call(&shared, Service::seal).await;
    respond(sealed.and_then(|ids| to_document(&serde_json::json!({ "sealed": ids }))))
}

/// Deletes. The body must be declared as JSON: pages of other origins can't send that unasked.
async fn delete<S: Service>(
    State(shared): State<Shared<S>>,
    headers: HeaderMap,
    body: Taken,
) -> Response<Body> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        return failure(&ApiError::bad("the request needs the header `Content-Type: application/json`"));
    }
    let deletion = match taken(body).and_then(|body| Deletion::from_json(&body)) {
        Ok(deletion) => deletion,
        Err(error) => return failure(&error),
    };
    let deleted = call(&shared, move |service| service.delete(&deletion)).await;
    respond(deleted.and_then(|series| to_document(&serde_json::json!({ "series": series }))))
}

async fn health<S: Service>(State(shared): State<Shared<S>>) -> Response<Body> {
    respond(call(&shared, |service| Ok(service.health().to_string())).await)
}

async fn page(uri: Uri, method: axum::http::Method, headers: HeaderMap) -> Response<Body> {
    if uri.path() == "/api" || uri.path().starts_with("/api/") {
        return failure(&ApiError::new(Code::NotFound, "there is no such part of the API"));
    }
    if method != axum::http::Method::GET && method != axum::http::Method::HEAD {
        return wrong_method().await;
    }
    dashboard::respond(uri.path(), &headers)
}

async fn wrong_method() -> Response<Body> {
    let error = ApiError::bad("this address takes another method");
    json(405, error.to_json())
}

#[cfg(test)]
#[path = "routes_tests.rs"]
mod tests;
