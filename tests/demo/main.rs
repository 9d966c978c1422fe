//! `demo`: a broker, simulated sensors and the agent on this machine, until Ctrl-C.
//!
//! Everything is on loopback. The readings are made up, the path they take is the real one: MQTT to
//! the broker, the agent, block files in `demo-data/`. At the end the segments are sealed and their
//! places printed.
//!
//! Usage: `demo [--data FOLDER] [--port HTTP_PORT]`. Where nothing was stored it fails, so that
//! `make test` can run it and interrupt it.

mod broker;
mod gateway;
mod models;
mod sensors;

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use siltstone_tests::{port, workspace};

/// The agent's own default, so that the address is the one in the documents.
const DEFAULT_HTTP_PORT: u16 = 8642;

struct Options {
    data: PathBuf,
    /// `None`: the default, or any free one where that is taken.
    port: Option<u16>,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(sentence) => {
            eprintln!("demo: {sentence}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("demo: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { data: workspace::root().join("demo-data"), port: None };
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{name} needs a value"));
        match name.as_str() {
            "--data" => options.data = PathBuf::from(value()?),
            "--port" => {
                options.port = Some(value()?.parse().map_err(|_| "--port needs a port number".to_owned())?);
            }
            _ => return Err(format!("unknown argument {name}; there are --data and --port")),
        }
    }
    Ok(options)
}

fn run(options: &Options) -> Result<(), String> {
    let (stop, stopped) = mpsc::sync_channel::<()>(1);
    // A second Ctrl-C finds the channel full, which is as good.
    ctrlc::set_handler(move || _ = stop.try_send(()))
        .map_err(|error| format!("Ctrl-C can't be caught: {error}"))?;

    let first_time = !options.data.exists();
    let broker_port = broker::start(port::free())?;
    let http_port = options.port.unwrap_or_else(default_or_free_port);
    let mut gateway = gateway::Gateway::start(&options.data, http_port, broker_port)?;
    let sensors = sensors::Sensors::start(broker_port, first_time)?;
    println!("broker     mqtt://127.0.0.1:{broker_port}  ({} simulated devices)", sensors.device_count());
    println!("data       {}", options.data.display());
    println!("dashboard  http://127.0.0.1:{http_port}/");
    println!("           http://127.0.0.1:{http_port}/{}  (what moves most)", moving());
    println!("Ctrl-C ends it and seals the files.");

    while stopped.recv_timeout(Duration::from_millis(200)).is_err() {
        gateway.check()?;
    }
    println!("\nstopping the sensors, sealing the files");
    let published = sensors.stop();
    let files = gateway.seal_and_stop()?;
    report(&files, published);
    if files.is_empty() {
        return Err(format!("{published} messages were published, but there is no block file"));
    }
    Ok(())
}

/// The part of the dashboard's address that chooses the liveliest series and the last five minutes.
fn moving() -> String {
    let series = [
        "apower{device=\"shellyplus1pm-0a1b2c3d4e5f/status/switch:0\"}",
        "force_kn{device=\"plant/hall 1/press/telemetry\"}",
        "air_temperature{device=\"greenhouse/sensor\"}",
    ];
    let chosen: Vec<String> = series.iter().map(|name| format!("&m={}", percent_encoded(name))).collect();
    format!("#src=agent&r=last-300{}", chosen.concat())
}

fn percent_encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

fn default_or_free_port() -> u16 {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, DEFAULT_HTTP_PORT)) {
        Ok(_) => DEFAULT_HTTP_PORT,
        Err(_) => port::free(),
    }
}

fn report(files: &[PathBuf], published: u64) {
    println!("{published} messages published; block files:");
    for file in files {
        let size = std::fs::metadata(file).map_or(0, |m| m.len());
        println!("  {} ({} KiB)", file.display(), size.div_ceil(1024));
    }
    println!("open them offline, without the agent:");
    println!("  make page      serves web/dist as any static web server would; drop the files on it");
    if let Some(file) = files.first() {
        println!("  target/debug/siltstone inspect {}", file.display());
    }
}
