//! The page, embedded when the program is built: `web/dist` as it was then, or one sentence.
//!
//! Files whose name carries a hash of their contents may be kept by the browser for ever; the
//! others are asked for again each time.

use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode, header};

/// One file of the page.
struct Asset {
    path: &'static str,
    etag: &'static str,
    bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/dashboard.rs"));

/// What the page may do: run its own scripts and its engine, and read block files from anywhere,
/// since a person may paste any address.
const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src *; \
                      img-src 'self' data: blob:; style-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";
/// What stands there in a program that was built before the page.
const MISSING: &str = "<!doctype html><title>Siltstone</title><p>This agent was built without the dashboard; \
                       the API answers under /api/. `make web` builds the dashboard, then build the agent again.";

/// The response for the file at `path`.
pub(super) fn respond(path: &str, headers: &HeaderMap) -> Response<Body> {
    let path = path.trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let response = Response::builder()
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::REFERRER_POLICY, "no-referrer");
    let built = match ASSETS.iter().find(|asset| asset.path == path) {
        Some(asset) => {
            let known = headers.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
            let fresh = known == Some(asset.etag);
            response
                .status(if fresh { StatusCode::NOT_MODIFIED } else { StatusCode::OK })
                .header(header::CONTENT_TYPE, content_type(path))
                .header(header::ETAG, asset.etag)
                .header(
                    header::CACHE_CONTROL,
                    if path.starts_with("assets/") { "max-age=31536000, immutable" } else { "no-cache" },
                )
                .body(if fresh { Body::empty() } else { Body::from(asset.bytes) })
        }
        None if path == "index.html" => response
            .header(header::CONTENT_TYPE, content_type(path))
            .header(header::CACHE_CONTROL, "no-store")
            .body(Body::from(MISSING)),
        None => response
            .status(StatusCode::NOT_FOUND)
            .header(header::CONTENT_TYPE, "text/plain; charset=utf-8")
            .body(Body::from("There is no such file.\n")),
    };
    // The headers above are all valid; a builder fails on nothing else.
    built.unwrap_or_default()
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or("") {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
