//! From a real broker to blocks on disk: everything the broker took is stored once, to the last bit,
//! through kills of the agent. (Kills by the dozen are in `kill_loop.rs`, the readings of a whole home in
//! `home_end_to_end.rs`.)
//!
//! Question of this suite: is a reading that was published with QoS 1 lost, doubled or changed?

use std::time::Duration;

use siltstone_tests::agent::Agent;
use siltstone_tests::mosquitto::Mosquitto;
use siltstone_tests::publisher::Publisher;
use siltstone_tests::scratch::Scratch;
use siltstone_tests::stored::{self, number, question, text};
use siltstone_tests::wait;

/// Readings of past years are published, so that the window for a payload's own time must be wide.
const WIDE_WINDOW: &str = "max_age = \"20y\"";
/// How long the agent may take to store what the broker holds.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(180);

#[test]
fn readings_without_a_time_of_their_own_are_not_doubled_by_redelivery() {
    // They are stamped on arrival, so that a message that comes again has another time: only its
    // packet id and its bytes tell that it is the same.
    const MESSAGES: usize = 6_000;
    let scratch = Scratch::new("redelivery");
    let broker = Mosquitto::start(&scratch);
    let mut agent = Agent::configure(&scratch, &broker.url(), "");
    agent.start();
    wait_subscribed(&agent);
    let mut publisher = Publisher::connect(broker.port, "redelivery");
    for at in 0..MESSAGES {
        if at % 1_500 == 1_000 {
            // Not at once: so that there are readings stored, readings acknowledged and neither.
            std::thread::sleep(Duration::from_millis(150));
            agent.kill();
            agent.start();
        }
        publisher.publish(&format!("line/{}/count", at % 8), format!("{{\"n\":{at}}}"));
    }
    publisher.flush();
    wait::for_true("every message is stored", DRAIN_TIMEOUT, || {
        stored::count(&agent.http()) >= MESSAGES as u64
    });
    // What came twice would come within this time.
    std::thread::sleep(Duration::from_secs(1));
    let mut times = vec![0; MESSAGES];
    for row in agent.http().query_all(&question("n")) {
        times[number(&row[2]) as usize] += 1;
    }
    let wrong: Vec<_> = times.iter().enumerate().filter(|(_, times)| **times != 1).take(10).collect();
    assert!(wrong.is_empty(), "stored not once (message, times): {wrong:?}, and perhaps more");
}

#[test]
fn a_backlog_that_is_killed_while_it_comes_is_stored_once() {
    // After a long absence the agent stores faster than it acknowledges: what is stored and comes again
    // is far more than its queues hold.
    const MESSAGES: usize = 30_000;
    let scratch = Scratch::new("backlog");
    let broker = Mosquitto::start(&scratch);
    let mut agent = Agent::configure(&scratch, &broker.url(), "");
    agent.start();
    wait_subscribed(&agent);
    agent.kill();
    let mut publisher = Publisher::connect(broker.port, "backlog");
    (0..MESSAGES).for_each(|at| publisher.publish("line/count", format!("{{\"n\":{at}}}")));
    publisher.flush();
    for life_ms in [1_500, 800, 1_200] {
        agent.start();
        std::thread::sleep(Duration::from_millis(life_ms));
        agent.kill();
    }
    agent.start();
    wait::for_true("every message is stored", DRAIN_TIMEOUT, || {
        stored::count(&agent.http()) >= MESSAGES as u64
    });
    std::thread::sleep(Duration::from_secs(1));
    let mut times = vec![0; MESSAGES];
    for row in agent.http().query_all(&question("n")) {
        times[number(&row[2]) as usize] += 1;
    }
    let wrong: Vec<_> = times.iter().enumerate().filter(|(_, times)| **times != 1).collect();
    assert!(
        wrong.is_empty(),
        "{} stored not once (message, times): {:?}",
        wrong.len(),
        &wrong[..wrong.len().min(9)]
    );
}

#[test]
fn hard_values_come_back_to_the_last_bit() {
    // Texts whose nearest binary64 is easy to miss, the ends of the range, and whole numbers that
    // binary64 can't hold.
    let floats = [
        "0.1",
        "-0.0",
        "5e-324",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "9007199254740993.5",
        "73.967322300000006",
        "8.5e-7",
        "123456789.123456789",
        "1e23",
        "0.30000000000000004",
        "6.02214076e23",
    ];
    let integers = [9_007_199_254_740_993i64, i64::MAX, i64::MIN, -9_007_199_254_740_993];
    let scratch = Scratch::new("hard-values");
    let broker = Mosquitto::start(&scratch);
    let mut agent = Agent::configure(&scratch, &broker.url(), WIDE_WINDOW);
    agent.start();
    wait_subscribed(&agent);

    let mut publisher = Publisher::connect(broker.port, "hard");
    let begin_ms = 1_700_000_000_000i64;
    for (at, text) in floats.iter().enumerate() {
        publisher.publish("lab/meter", format!("{{\"ts\":{},\"float\":{text}}}", begin_ms + at as i64));
    }
    for (at, integer) in integers.iter().enumerate() {
        publisher.publish("lab/meter", format!("{{\"ts\":{},\"whole\":{integer}}}", begin_ms + at as i64));
    }
    publisher.flush();
    let http = agent.http();
    wait::for_true("all values are stored", DRAIN_TIMEOUT, || {
        stored::count(&http) == (floats.len() + integers.len()) as u64
    });

    for _ in 0..2 {
        let http = agent.http();
        let rows = http.query_all(&question("float{device=\"lab/meter\"}"));
        let bits: Vec<u64> = rows.iter().map(|row| number(&row[2]).to_bits()).collect();
        let wanted: Vec<u64> = floats.iter().map(|text| text.parse::<f64>().unwrap().to_bits()).collect();
        assert_eq!(bits, wanted);
        let rows = http.query_all(&question("whole{device=\"lab/meter\"}"));
        let texts: Vec<String> = rows.iter().map(|row| text(&row[2])).collect();
        assert_eq!(texts, integers.map(|integer| integer.to_string()));
        // The second look is after a kill: at what came back from the journal.
        agent.kill();
        agent.start();
    }
}

#[test]
fn a_restart_of_the_broker_costs_nothing() {
    let scratch = Scratch::new("broker-restart");
    let mut broker = Mosquitto::start(&scratch);
    let mut agent = Agent::configure(&scratch, &broker.url(), WIDE_WINDOW);
    agent.start();
    wait_subscribed(&agent);
    let send = |port: u16, begin: i64| {
        let mut publisher = Publisher::connect(port, "restart");
        for at in begin..begin + 200 {
            publisher.publish("tank/level", format!("{{\"ts\":{},\"cm\":{at}}}", 1_700_000_000_000i64 + at));
        }
        publisher.flush();
    };
    send(broker.port, 0);
    broker.restart();
    send(broker.port, 200);
    wait::for_true("both halves are stored", DRAIN_TIMEOUT, || stored::count(&agent.http()) == 400);
    let rows = agent.http().query_all(&question("cm{device=\"tank/level\"}"));
    let values: Vec<f64> = rows.iter().map(|row| number(&row[2])).collect();
    assert_eq!(values, (0..400).map(f64::from).collect::<Vec<_>>());
}

/// Until the agent has its subscription, what is published goes nowhere: the broker knows no session.
fn wait_subscribed(agent: &Agent) {
    agent.wait_for_log("subscribed", Duration::from_secs(20));
}
