//! What the agent takes of memory while it collects: a thousand series over MQTT, and everything that waits of them.
//!
//! The build of the tests is not the one that is shipped, and its code takes more room; the goal holds all the same.

use std::time::Duration;

use siltstone_tests::agent::Agent;
use siltstone_tests::mosquitto::Mosquitto;
use siltstone_tests::publisher::Publisher;
use siltstone_tests::scratch::Scratch;
use siltstone_tests::{stored, wait};

/// Devices, and fields of each: a thousand series.
const DEVICES: usize = 125;
const FIELDS: usize = 8;
/// Readings of each series: as many as wait in memory before any is coded.
const ROUNDS: usize = 255;
const RESIDENT_MAX_BYTES: u64 = 24 << 20;

#[test]
fn a_thousand_series_take_less_than_24_mib() {
    let scratch = Scratch::new("memory");
    let broker = Mosquitto::start(&scratch);
    let mut agent = Agent::configure(&scratch, &broker.url(), "");
    agent.start();
    agent.wait_for_log("subscribed", Duration::from_secs(30));
    let empty = agent.resident_bytes();
    let mut publisher = Publisher::connect(broker.port, "sensors");
    for round in 0..ROUNDS {
        for device in 0..DEVICES {
            let field = |field: usize| {
                let hundredths = 2_000 + (round * 37 + device * 11 + field * field * 101) % 997;
                format!("\"field_{field}\":{}.{:02}", hundredths / 100, hundredths % 100)
            };
            let fields: Vec<String> = (0..FIELDS).map(field).collect();
            publisher.publish(&format!("plant/{device}"), format!("{{{}}}", fields.join(",")));
        }
    }
    publisher.flush();
    let expected = (ROUNDS * DEVICES * FIELDS) as u64;
    wait::for_true("everything is stored", Duration::from_secs(120), || {
        agent.http().get("/api/health").json()["ingest"]["samples"] == expected
    });
    let resident = agent.resident_bytes();
    assert_eq!(stored::count(&agent.http()), expected);
    println!("resident: {} KiB at the start, {} KiB with a thousand series", empty >> 10, resident >> 10);
    assert!(resident <= RESIDENT_MAX_BYTES, "{resident} bytes");
    agent.stop();
}
