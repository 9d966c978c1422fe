//! A block file with Range and ETag.
//!
//! The ETag of a sealed file is its id; that of one that still grows holds its length too, so that
//! a reader notices that it has changed.

use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode, header};

use super::body::FileBody;
use super::range::{Ranged, parse};
use super::service::SegmentBytes;

/// The response for the part of the file `id` that `headers` ask for.
pub(super) fn respond(id: &str, segment: SegmentBytes, headers: &HeaderMap) -> Response<Body> {
    let SegmentBytes { file, length, sealed } = segment;
    let etag = if sealed { format!("\"{id}\"") } else { format!("\"{id}-{length}\"") };
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let response = Response::builder()
        .header(header::ACCEPT_RANGES, "bytes")
        .header(header::ETAG, &etag)
        .header(header::CONTENT_TYPE, "application/octet-stream")
        .header(
            header::CACHE_CONTROL,
            if sealed { "private, max-age=31536000, immutable" } else { "no-store" },
        );
    if text(header::IF_NONE_MATCH).is_some_and(|known| known.split(',').any(|known| known.trim() == etag)) {
        return finish(response.status(StatusCode::NOT_MODIFIED), Body::empty());
    }
    // A range of another state of the file would not fit what the asker has.
    let ranged = match text(header::IF_RANGE) {
        Some(known) if known.trim() != etag => Ranged::Whole,
        _ => parse(text(header::RANGE), length),
    };
    match ranged {
        Ranged::Whole => finish(
            response.status(StatusCode::OK).header(header::CONTENT_LENGTH, length),
            Body::new(FileBody::new(file, 0, length)),
        ),
        Ranged::Part(begin, end) => finish(
            response
                .status(StatusCode::PARTIAL_CONTENT)
                .header(header::CONTENT_LENGTH, end - begin)
                .header(header::CONTENT_RANGE, format!("bytes {begin}-{}/{length}", end - 1)),
            Body::new(FileBody::new(file, begin, end)),
        ),
        Ranged::Outside => finish(
            response
                .status(StatusCode::RANGE_NOT_SATISFIABLE)
                .header(header::CONTENT_RANGE, format!("bytes */{length}")),
            Body::empty(),
        ),
    }
}

fn finish(response: axum::http::response::Builder, body: Body) -> Response<Body> {
    // The headers above are all valid; a builder fails on nothing else.
    response.body(body).unwrap_or_default()
}
