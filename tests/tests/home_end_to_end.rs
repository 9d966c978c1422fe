//! The whole way of a home's readings: from a real broker through kills of the agent to blocks on
//! disk, and from the files alone to a chart in a real browser.
//!
//! Question of this suite: is what a person sees offline what was published, to the last reading?

use std::time::Duration;

use siltstone_tests::agent::{Agent, siltstone};
use siltstone_tests::home::Home;
use siltstone_tests::mosquitto::Mosquitto;
use siltstone_tests::publisher::Publisher;
use siltstone_tests::scratch::Scratch;
use siltstone_tests::stored;
use siltstone_tests::{offline, wait};

/// How long the agent may take to store what the broker holds.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(180);

#[test]
fn every_reading_of_a_home_is_stored_once_through_kills_and_shown_offline() {
    let home = Home::real();
    let scratch = Scratch::new("home");
    let broker = Mosquitto::start(&scratch);
    // Readings of 2017 are replayed, so that the window for a payload's own time must be wide.
    let mut agent = Agent::configure(&scratch, &broker.url(), "max_age = \"20y\"");
    agent.start();
    agent.wait_for_log("subscribed", Duration::from_secs(20));

    let expected = home.expected();
    let total = expected.values().map(|series| series.len() as u64).sum();
    replay(&home, total, &mut Publisher::connect(broker.port, "home"), &mut agent);
    wait_stored(&agent, total);
    stored::assert_same(&stored::everything(&agent.http()), &expected);

    // Once more from the files alone: stop in good order, seal, look again.
    agent.stop();
    siltstone(&["seal", agent.data.to_str().unwrap()]).success();
    let verified = siltstone(&["verify", agent.data.to_str().unwrap()]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.stdout, verified.stderr);
    agent.start();
    stored::assert_same(&stored::everything(&agent.http()), &expected);
    agent.stop();

    // And without any agent: every series of the files, in the command line and in the page.
    let files = offline::carry_away(&agent.data, &scratch.join("carried"));
    assert!(files.len() >= 3, "a segment a month: {files:?}");
    let said = offline::command_line(&files);
    let counts: Vec<_> = said.iter().map(|(name, figures)| (name.as_str(), figures[0] as usize)).collect();
    let published: Vec<_> = expected.iter().map(|(name, series)| (name.as_str(), series.len())).collect();
    assert_eq!(counts, published);
    offline::assert_page_shows(&files, &said);
}

/// Publishes all rows. The agent is killed after a third and after two thirds of them, at half of what
/// it has to store by then: messages are queued, under way, received, journalled and acknowledged.
fn replay(home: &Home, total: u64, publisher: &mut Publisher, agent: &mut Agent) {
    let rows = &home.0.rows;
    let kills = [(rows.len() / 3, total / 6), (2 * rows.len() / 3, total / 3)];
    for (at, row) in rows.iter().enumerate() {
        if let Some((_, enough)) = kills.iter().find(|(row, _)| *row == at) {
            wait::for_true("it has stored enough to be killed", DRAIN_TIMEOUT, || {
                stored::count(&agent.http()) >= *enough
            });
            agent.kill();
            agent.start();
        }
        for (topic, payload) in home.messages(row) {
            publisher.publish(&topic, payload);
        }
    }
    publisher.flush();
}

/// Waits until as many readings are stored as were published; fails at once when there are more.
fn wait_stored(agent: &Agent, total: u64) {
    wait::for_true("every reading is stored", DRAIN_TIMEOUT, || {
        let counted = stored::count(&agent.http());
        assert!(counted <= total, "{counted} readings are stored, {total} were published");
        counted == total
    });
}
