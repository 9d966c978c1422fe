//! The demo's broker: rumqttd in this process, on loopback, nothing on disk.
//!
//! It has no shutdown; it ends with the process. It proves nothing about durability: the tests use
//! Mosquitto.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rumqttd::{Broker, Config, ConnectionSettings, RouterConfig, ServerSettings};

/// Starts it on `port` of loopback and waits until it listens. MQTT 3.1.1 and 5 share no port, so the
/// agent is served MQTT 3.1.1.
pub(crate) fn start(port: u16) -> Result<u16, String> {
    let connections = ConnectionSettings {
        connection_timeout_ms: 5_000,
        max_payload_size: 1 << 20,
        max_inflight_count: 100,
        auth: None,
        external_auth: None,
        dynamic_filters: true,
    };
    let server = ServerSettings {
        name: "demo".to_owned(),
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        tls: None,
        next_connection_delay_ms: 1,
        connections,
    };
    let config = Config {
        router: RouterConfig {
            max_connections: 100,
            max_outgoing_packet_count: 200,
            max_segment_size: 1 << 20,
            max_segment_count: 10,
            ..RouterConfig::default()
        },
        v4: Some([("demo".to_owned(), server)].into_iter().collect()),
        ..Config::default()
    };
    let mut broker = Broker::new(config);
    std::thread::Builder::new()
        .name("broker".to_owned())
        .spawn(move || {
            if let Err(error) = broker.start() {
                eprintln!("demo: the broker ended: {error}");
            }
        })
        .map_err(|error| format!("the broker's thread can't be started: {error}"))?;

    let begin = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        if begin.elapsed() > Duration::from_secs(10) {
            return Err(format!("the broker does not listen on port {port}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(port)
}
