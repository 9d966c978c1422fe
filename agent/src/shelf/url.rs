//! Blocks of a file by its address, with Range requests.
//!
//! The first request asks for block 0 and learns the length from Content-Range, as a browser does;
//! no HEAD, no suffixes, no several ranges at once. A file that changes while it is read is noticed
//! by its ETag.

use std::io::Read;
use std::time::Duration;

use siltstone_core::block::BLOCK_LEN;
use ureq::Agent;

use super::source::BlockSource;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Blocks of the largest request: what is asked for may be more than a server likes to send at once.
const REQUEST_BLOCKS_MAX: u32 = 4096;

/// Blocks behind an address.
pub struct UrlSource {
    agent: Agent,
    url: String,
    etag: Option<String>,
    length: u64,
}

/// One answer to a Range request.
struct Part {
    bytes: Vec<u8>,
    length: u64,
    etag: Option<String>,
}

impl UrlSource {
    /// Asks for the first block.
    ///
    /// # Errors
    ///
    /// One sentence with the address.
    pub fn open(url: &str) -> Result<Self, String> {
        if !url.starts_with("http://") {
            return Err(format!("{url}: only http:// addresses can be read by this version"));
        }
        let config =
            Agent::config_builder().timeout_global(Some(TIMEOUT)).http_status_as_error(false).build();
        let mut source = Self { agent: config.into(), url: url.to_owned(), etag: None, length: u64::MAX };
        let part = source.part(0, BLOCK_LEN as u64)?;
        source.length = part.length;
        source.etag = part.etag;
        Ok(source)
    }

    fn part(&self, begin: u64, end: u64) -> Result<Part, String> {
        let fail = |what: String| format!("{}: {what}", self.url);
        let range = format!("bytes={begin}-{}", end.saturating_sub(1));
        let answer = self
            .agent
            .get(&self.url)
            .header("range", &range)
            .call()
            .map_err(|error| fail(error.to_string()))?;
        match answer.status().as_u16() {
            206 => {}
            200 => return Err(fail("the server can't send parts of a file (no Range support)".to_owned())),
            404 => return Err(fail("there is no such file on the server (404)".to_owned())),
            416 => {
                return Err(fail("it is empty, or shorter than it was when it was opened (416)".to_owned()));
            }
            status => return Err(fail(format!("the server answers {status}"))),
        }
        let text =
            |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let length = text("content-range").and_then(|range| range.rsplit_once('/')?.1.parse().ok());
        let length = length.ok_or_else(|| fail("the server doesn't say how long the file is".to_owned()))?;
        let etag = text("etag");
        let wanted = end.min(length).saturating_sub(begin);
        let mut bytes = Vec::new();
        let read = answer.into_body().into_reader().take(wanted).read_to_end(&mut bytes);
        read.map_err(|error| fail(error.to_string()))?;
        if bytes.len() as u64 != wanted {
            return Err(fail(format!("the server sent {} bytes where {wanted} were asked for", bytes.len())));
        }
        Ok(Part { bytes, length, etag })
    }
}

impl BlockSource for UrlSource {
    fn label(&self) -> &str {
        &self.url
    }

    fn block_count(&self) -> u32 {
        u32::try_from(self.length / BLOCK_LEN as u64).unwrap_or(u32::MAX)
    }

    fn odd_bytes(&self) -> u32 {
        u32::try_from(self.length % BLOCK_LEN as u64).unwrap_or(0)
    }

    fn read(&self, first: u32, count: u32) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let end = first.saturating_add(count).min(self.block_count());
        let mut at = first;
        while at < end {
            let piece_end = end.min(at.saturating_add(REQUEST_BLOCKS_MAX));
            let part =
                self.part(u64::from(at) * BLOCK_LEN as u64, u64::from(piece_end) * BLOCK_LEN as u64)?;
            if part.length != self.length || part.etag != self.etag {
                return Err(format!("{}: it was replaced while it was read; ask again", self.url));
            }
            bytes.extend_from_slice(&part.bytes);
            at = piece_end;
        }
        Ok(bytes)
    }
}
