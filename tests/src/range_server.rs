//! A static web server on loopback, as simple as those that block files may lie on: GET and HEAD of
//! files below given folders, single Range requests, cross-origin reads. It counts what it serves.
//!
//! One thread a connection, kept alive; no limit on connections, so it is for tests, the demo's end
//! and benchmarks only.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The longest request line or header, bytes.
const LINE_BYTES_MAX: u64 = 16 << 10;

/// One file served, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// The path that was asked for.
    pub path: String,
    /// First byte.
    pub begin: u64,
    /// How many bytes went out.
    pub bytes: u64,
}

/// A running server; its threads end with the process.
pub struct RangeServer {
    /// Its port on 127.0.0.1.
    pub port: u16,
    served: Arc<Mutex<Vec<Served>>>,
}

impl RangeServer {
    /// Serves folders: `("/", folder)` is the page, `("/data/", other)` lies below it. The longest
    /// matching prefix decides. `port` 0 takes any that is free.
    pub fn start(port: u16, folders: &[(&str, &Path)]) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let mut folders: Vec<(String, PathBuf)> =
            folders.iter().map(|(prefix, folder)| ((*prefix).to_owned(), folder.to_path_buf())).collect();
        folders.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        let served = Arc::new(Mutex::new(Vec::new()));
        let (folders, log) = (Arc::new(folders), Arc::clone(&served));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (folders, log) = (Arc::clone(&folders), Arc::clone(&log));
                // A client that goes away is no fault of the server.
                std::thread::spawn(move || _ = converse(stream, &folders, &log));
            }
        });
        Ok(Self { port, served })
    }

    /// The address of `path`.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What was served since the last call.
    pub fn take_served(&self) -> Vec<Served> {
        std::mem::take(&mut *self.served.lock().expect("no thread dies while it holds this"))
    }
}

/// What a request asks for.
struct Request {
    method: String,
    path: String,
    range: Option<(u64, Option<u64>)>,
    close: bool,
}

fn converse(
    stream: TcpStream,
    folders: &[(String, PathBuf)],
    log: &Mutex<Vec<Served>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    while let Some(request) = read_request(&mut reader)? {
        respond(&mut stream, &request, folders, log)?;
        if request.close {
            break;
        }
    }
    Ok(())
}

fn read_line(reader: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut line = String::new();
    reader.by_ref().take(LINE_BYTES_MAX).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn read_request(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Request>> {
    let first = read_line(reader)?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let mut request =
        Request { method: method.to_owned(), path: percent_decoded(path), range: None, close: false };
    loop {
        let line = read_line(reader)?;
        if line.is_empty() {
            return Ok(Some(request));
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        match name.to_ascii_lowercase().as_str() {
            "range" => request.range = parse_range(value.trim()),
            "connection" => request.close = value.trim().eq_ignore_ascii_case("close"),
            _ => {}
        }
    }
}

/// `bytes=a-b` or `bytes=a-`; anything else is answered with the whole file, as the standard allows.
fn parse_range(value: &str) -> Option<(u64, Option<u64>)> {
    let (begin, last) = value.strip_prefix("bytes=")?.split_once('-')?;
    let last = if last.is_empty() { None } else { Some(last.parse().ok()?) };
    Some((begin.parse().ok()?, last))
}

fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'%')
            .then(|| after.get(..2))
            .flatten()
            .and_then(|hex| std::str::from_utf8(hex).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok()));
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The file of a path; `None` where the path leaves its folder or nothing is there.
fn find(path: &str, folders: &[(String, PathBuf)]) -> Option<PathBuf> {
    let (prefix, folder) = folders.iter().find(|(prefix, _)| path.starts_with(prefix.as_str()))?;
    let inside = Path::new(&path[prefix.len()..]);
    if inside.components().any(|part| !matches!(part, Component::Normal(_))) {
        return None;
    }
    let mut file = folder.join(inside);
    if file.is_dir() {
        file = file.join("index.html");
    }
    file.is_file().then_some(file)
}

fn respond(
    stream: &mut TcpStream,
    request: &Request,
    folders: &[(String, PathBuf)],
    log: &Mutex<Vec<Served>>,
) -> std::io::Result<()> {
    let Some(path) = find(&request.path, folders) else {
        return head(stream, "404 Not Found", "text/plain", 0, "");
    };
    if request.method != "GET" && request.method != "HEAD" {
        return head(stream, "405 Method Not Allowed", "text/plain", 0, "");
    }
    let mut file = File::open(&path)?;
    let size = file.metadata()?.len();
    let (begin, end) = match request.range {
        Some((begin, _)) if begin >= size => {
            let range = format!("content-range: bytes */{size}\r\n");
            return head(stream, "416 Range Not Satisfiable", "text/plain", 0, &range);
        }
        Some((begin, last)) => (begin, last.map_or(size, |last| (last + 1).min(size)).max(begin)),
        None => (0, size),
    };
    let (status, range) = if request.range.is_some() {
        ("206 Partial Content", format!("content-range: bytes {begin}-{}/{size}\r\n", end.max(1) - 1))
    } else {
        ("200 OK", String::new())
    };
    head(stream, status, mime(&path), end - begin, &range)?;
    if request.method == "HEAD" {
        return Ok(());
    }
    file.seek(SeekFrom::Start(begin))?;
    // Logged before the last byte is out, so that a client that has its answer finds it in the log.
    log.lock().expect("no thread dies while it holds this").push(Served {
        path: request.path.clone(),
        begin,
        bytes: end - begin,
    });
    std::io::copy(&mut file.take(end - begin), stream)?;
    Ok(())
}

fn head(stream: &mut TcpStream, status: &str, mime: &str, length: u64, more: &str) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {mime}\r\ncontent-length: {length}\r\naccept-ranges: bytes\r\n\
         access-control-allow-origin: *\r\naccess-control-expose-headers: content-range, content-length\r\n\
         cache-control: no-store\r\n{more}\r\n"
    );
    stream.write_all(head.as_bytes())
}

fn mime(path: &Path) -> &'static str {
    match path.extension().and_then(|e| e.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript",
        "css" => "text/css",
        "wasm" => "application/wasm",
        "json" | "webmanifest" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Http;
    use crate::scratch::Scratch;

    #[test]
    fn serves_files_parts_and_nothing_else() {
        let scratch = Scratch::new("range-server");
        std::fs::create_dir(scratch.join("page")).unwrap();
        std::fs::write(scratch.join("page/a b.txt"), b"0123456789").unwrap();
        std::fs::write(scratch.join("secret"), b"x").unwrap();
        let server = RangeServer::start(0, &[("/", &scratch.join("page"))]).unwrap();
        let http = Http::new(server.port);

        assert_eq!(http.get("/a%20b.txt").body, b"0123456789");
        let part = http.get_range("/a%20b.txt", 2, 5);
        assert_eq!((part.status, part.body.as_slice()), (206, b"234".as_slice()));
        assert_eq!(part.content_range.as_deref(), Some("bytes 2-4/10"));
        assert_eq!(http.get_range("/a%20b.txt", 8, 50).body, b"89");
        assert_eq!(http.get_range("/a%20b.txt", 10, 11).status, 416);
        assert_eq!(http.get("/../secret").status, 404);
        assert_eq!(http.get("/%2e%2e/secret").status, 404);
        let served = server.take_served();
        assert_eq!(served.iter().map(|s| s.bytes).collect::<Vec<_>>(), [10, 3, 2]);
        assert!(server.take_served().is_empty());
    }
}
