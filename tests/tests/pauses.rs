//! The agent, or the broker, stopped for longer than the keep-alive while readings come in with QoS 1, as when a
//! machine swaps or a virtual one is moved.
//!
//! Question of this suite: does everything go on by itself, with nothing lost and nothing stored twice?
//! `SILTSTONE_PAUSE_SECONDS` sets how long; the soak takes a minute.

use std::time::Duration;

use siltstone_tests::agent::Agent;
use siltstone_tests::load::Load;
use siltstone_tests::mosquitto::Mosquitto;
use siltstone_tests::reckoning::{Account, Messages, delivered_and_waiting, recognise};
use siltstone_tests::scratch::Scratch;
use siltstone_tests::tap::Tap;
use siltstone_tests::wait;

/// Messages a second.
const RATE: u32 = 200;
/// Twice and a half of it is the default pause: a broker gives up a client after one and a half.
const KEEP_ALIVE: &str = "keep_alive = \"5s\"";
const STEP_TIMEOUT: Duration = Duration::from_secs(60);

fn pause() -> Duration {
    let seconds = std::env::var("SILTSTONE_PAUSE_SECONDS").ok();
    Duration::from_secs(seconds.map_or(12, |text| text.parse().expect("a number of seconds")))
}

/// Load before, during and after `stop`, and a reckoning.
fn play(name: &str, stop: impl FnOnce(&Agent, &Mosquitto)) {
    let scratch = Scratch::new(name);
    let broker = Mosquitto::start(&scratch);
    let tap = Tap::start(broker.port, recognise);
    let mut agent = Agent::configure_mqtt(&scratch, &tap.url(), KEEP_ALIVE, "commit_interval = \"1s\"");
    agent.start();
    agent.wait_for_log("subscribed", STEP_TIMEOUT);
    let messages = Messages::new(0);
    let load = Load::start(broker.port, RATE, messages.compose());
    let acknowledged =
        |tap: &Tap| tap.record().messages.values().map(|seen| u64::from(seen.is_acknowledged)).sum::<u64>();
    let goes_on = |what: &str| {
        let target = acknowledged(&tap) + 3 * u64::from(RATE);
        wait::for_true(what, STEP_TIMEOUT, || acknowledged(&tap) >= target);
    };
    goes_on("messages are taken in");
    let connections = tap.record().connections;
    stop(&agent, &broker);
    goes_on("messages are taken in again");
    assert!(tap.record().connections > connections, "the pause was long enough to cost the connection");
    load.finish(STEP_TIMEOUT);
    let published = load.begun();
    wait::for_true("everything is acknowledged", STEP_TIMEOUT, || {
        acknowledged(&tap) == published && delivered_and_waiting(&tap).1 == 0
    });
    agent.kill();
    agent.start();
    let stored = messages.stored(&agent.http());
    Account::draw(&stored, &load, &tap.record(), |_, _| false).assert_nothing_lost();
}

#[test]
fn an_agent_that_was_stopped_goes_on() {
    play("pause-agent", |agent, _| {
        agent.signal("STOP");
        std::thread::sleep(pause());
        agent.signal("CONT");
    });
}

#[test]
fn a_broker_that_was_stopped_costs_nothing() {
    play("pause-broker", |_, broker| {
        broker.signal("STOP");
        std::thread::sleep(pause());
        broker.signal("CONT");
    });
}
