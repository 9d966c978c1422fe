//! `serve`: the static page and the block files of a folder on loopback, without any agent.
//!
//! Usage: `serve PORT FOLDER_OF_SEGMENTS`. The page is `web/dist`; the segments are at `/data/`.
//! What it shows is what any static web server with Range requests would show.

use std::path::Path;

use siltstone_tests::range_server::RangeServer;
use siltstone_tests::workspace;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, folder] = arguments.as_slice() else { stop("usage: serve PORT FOLDER_OF_SEGMENTS") };
    let Ok(port) = port.parse() else { stop("the port is a number from 0 (any) to 65535") };
    let folder = Path::new(folder);
    if !folder.is_dir() {
        stop(&format!("{} is no folder", folder.display()));
    }
    let page = workspace::dashboard();
    let server = match RangeServer::start(port, &[("/", &page), ("/data/", folder)]) {
        Ok(server) => server,
        Err(error) => stop(&format!("port {port} of loopback: {error}")),
    };
    println!("the page: {}", server.url("/"));
    println!("the block files below {}: {}", folder.display(), server.url("/data/"));
    loop {
        std::thread::park();
    }
}

fn stop(sentence: &str) -> ! {
    eprintln!("serve: {sentence}");
    std::process::exit(2);
}
