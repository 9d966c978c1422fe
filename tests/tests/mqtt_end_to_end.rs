//! From a real broker to blocks on disk: everything the broker took is stored once, to the last bit,
//! through kills of the agent. (The readings of a whole home are replayed in `home_end_to_end.rs`.)
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

#[test]
#[ignore = "a soak: run by 'make soak', SOAK_KILLS kills"]
fn soak_many_kills_under_load() {
    let kills: u64 = std::env::var("SOAK_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let scratch = Scratch::new("soak");
    let broker = Mosquitto::start(&scratch);
    let mut agent = Agent::configure(&scratch, &broker.url(), WIDE_WINDOW);
    agent.start();
    wait_subscribed(&agent);
    let mut publisher = Publisher::connect(broker.port, "soak");
    let mut counter = 0i64;
    for kill in 0..kills {
        // From 50 ms to 3 s, spread over the exponents, so that starts and recoveries are hit too.
        let pause_ms = (50.0 * 60f64.powf((kill * 7 % 16) as f64 / 15.0)) as u64;
        let until = std::time::Instant::now() + Duration::from_millis(pause_ms);
        while std::time::Instant::now() < until {
            for _ in 0..20 {
                let payload = format!("{{\"ts\":{},\"n\":{counter}}}", 1_600_000_000_000i64 + counter);
                publisher.publish(&format!("soak/{}", counter % 10), payload);
                counter += 1;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        agent.kill();
        agent.launch();
        eprintln!("kill {} of {kills}, {counter} published", kill + 1);
    }
    publisher.flush();
    wait::for_true("the agent answers", DRAIN_TIMEOUT, || agent.http().try_get("/api/health").is_some());
    wait::for_true("everything is stored", DRAIN_TIMEOUT, || stored::count(&agent.http()) == counter as u64);
    let mut seen = vec![false; counter as usize];
    for row in agent.http().query_all(&question("n")) {
        let at = number(&row[2]) as usize;
        assert!(!std::mem::replace(&mut seen[at], true), "{at} is stored twice");
    }
    assert!(seen.iter().all(|seen| *seen));
    eprintln!(
        "{kills} kills, {counter} published, 0 lost, 0 doubled (95 % bound {:.3} a kill)",
        3.0 / kills as f64
    );
}

/// Until the agent has its subscription, what is published goes nowhere: the broker knows no session.
fn wait_subscribed(agent: &Agent) {
    agent.wait_for_log("subscribed", Duration::from_secs(20));
}
