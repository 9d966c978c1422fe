//! `serve`: the static page and the block files of a folder on loopback, without any agent.
//!
//! Usage: `serve PORT FOLDER_OF_SEGMENTS`. The page is `web/dist`; the segments are at `/data/`.
//! What it shows is what any static web server with Range requests would show.

use std::path::Path;

use siltstone_tests::agent::segments;
use siltstone_tests::range_server::RangeServer;
use siltstone_tests::workspace;

/// As many as the page takes from its own address.
const LISTED_COUNT_MAX: usize = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, folder] = arguments.as_slice() else { stop("usage: serve PORT FOLDER_OF_SEGMENTS") };
    let Ok(port) = port.parse() else { stop("the port is a number from 0 (any) to 65535") };
    let folder = Path::new(folder);
    if !folder.is_dir() {
        stop(&format!("{} is no folder", folder.display()));
    }
    let page = workspace::root().join("web/dist");
    if !page.join("index.html").is_file() {
        stop("web/dist is not built; 'make web' builds it");
    }
    let server = match RangeServer::start(port, &[("/", &page), ("/data/", folder)]) {
        Ok(server) => server,
        Err(error) => stop(&format!("port {port} of loopback: {error}")),
    };
    println!("the page, to drop files on:\n  {}", server.url("/"));
    let addresses: Vec<String> = segments(folder)
        .iter()
        .take(LISTED_COUNT_MAX)
        .filter_map(|file| file.strip_prefix(folder).ok())
        .map(|inside| server.url(&format!("/data/{}", inside.display())))
        .collect();
    if !addresses.is_empty() {
        println!("the block files of {} by address:\n  {}", folder.display(), addresses.join("\n  "));
        println!("both together:\n  {}#url={}&r=all", server.url("/"), addresses.join("&url="));
    }
    println!("Ctrl-C ends it.");
    loop {
        std::thread::park();
    }
}

fn stop(sentence: &str) -> ! {
    eprintln!("serve: {sentence}");
    std::process::exit(2);
}
