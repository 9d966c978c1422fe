//! From a real broker to blocks on disk: everything the broker took is stored once, to the last bit,
//! through kills of the agent.
//!
//! Question of this suite: is a reading that was published with QoS 1 lost, doubled or changed?

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value as Json, json};
use siltstone_tests::agent::{Agent, siltstone};
use siltstone_tests::dataset::{Dataset, Readings};
use siltstone_tests::http::Http;
use siltstone_tests::mosquitto::Mosquitto;
use siltstone_tests::publisher::Publisher;
use siltstone_tests::scratch::Scratch;
use siltstone_tests::{wait, workspace};

/// Readings of 2017 are replayed, so that the window for a payload's own time must be wide.
const WIDE_WINDOW: &str = "max_age = \"20y\"";
/// How long the agent may take to store what the broker holds.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(180);
/// A question about everything.
const EVER: (&str, &str) = ("1971-01-01T00:00:00Z", "2200-01-01T00:00:00Z");

#[test]
fn every_reading_of_a_home_is_stored_once_through_kill_and_restart() {
    let Some(path) = workspace::shared_data("home_climate.csv.gz") else { return };
    let home = Dataset::read(&path);
    let scratch = Scratch::new("home-climate");
    let broker = Mosquitto::start(&scratch);
    let mut agent = Agent::configure(&scratch, &broker.url(), WIDE_WINDOW);
    agent.start();
    wait_subscribed(&agent);

    let mut publisher = Publisher::connect(broker.port, "home");
    let (third, two_thirds) = (home.rows.len() / 3, 2 * home.rows.len() / 3);
    for (at, row) in home.rows.iter().enumerate() {
        if at == third || at == two_thirds {
            // In the middle of it: messages are under way, received, journalled and acknowledged.
            let stored = stored_count(&agent.http());
            assert!(stored > 0, "it is killed before it stored anything");
            agent.kill();
            agent.start();
        }
        for (topic, payload) in messages(&home, row) {
            publisher.publish(&topic, payload);
        }
    }
    publisher.flush();

    let expected = expected(&home);
    let total: usize = expected.values().map(BTreeMap::len).sum();
    let http = agent.http();
    wait::until("every reading is stored", DRAIN_TIMEOUT, || {
        let counted = stored_count(&http);
        assert!(counted <= total as u64, "{counted} readings are stored, {total} were published");
        (counted == total as u64).then_some(())
    });
    same(&stored(&http), &expected);

    // Once more from the files alone: stop in good order, seal, export.
    agent.stop();
    siltstone(&["seal", agent.data.to_str().unwrap()]).success();
    let verified = siltstone(&["verify", agent.data.to_str().unwrap()]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.stdout, verified.stderr);
    agent.start();
    same(&stored(&agent.http()), &expected);
}

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
        stored_count(&agent.http()) >= MESSAGES as u64
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
        stored_count(&http) == (floats.len() + integers.len()) as u64
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
    wait::for_true("both halves are stored", DRAIN_TIMEOUT, || stored_count(&agent.http()) == 400);
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
    wait::for_true("everything is stored", DRAIN_TIMEOUT, || stored_count(&agent.http()) == counter as u64);
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

/// The messages of one row: one a room, `home/<room>` with the fields that have a reading.
fn messages(home: &Dataset, row: &siltstone_tests::dataset::Row) -> Vec<(String, String)> {
    let mut rooms: BTreeMap<&str, String> = BTreeMap::new();
    for (column, text) in &row.cells {
        let (room, field) = split(&home.columns[*column]);
        let payload = rooms.entry(room).or_insert_with(|| format!("{{\"ts\":{}", row.timestamp_ms));
        payload.push_str(&format!(",\"{field}\":{text}"));
    }
    rooms.into_iter().map(|(room, payload)| (format!("home/{room}"), payload + "}")).collect()
}

fn split(column: &str) -> (&str, &str) {
    column.split_once('_').expect("columns are named room_field")
}

/// What must be stored: series name to readings.
fn expected(home: &Dataset) -> BTreeMap<String, Readings> {
    let name = |column: &String| {
        let (room, field) = split(column);
        format!("{field}{{device=\"home/{room}\"}}")
    };
    home.columns.iter().map(name).zip(home.readings()).collect()
}

fn question(select: &str) -> Json {
    json!({ "select": select, "from": EVER.0, "to": EVER.1, "limit": 10_000 })
}

/// How many readings are stored in all, one series a row.
fn stored_count(http: &Http) -> u64 {
    let mut question = question("{__name__=~\".+\"}");
    question["fn"] = json!(["count"]);
    http.query_all(&question).iter().map(|row| number(&row[row.len() - 1]) as u64).sum()
}

/// Everything that is stored, by series.
fn stored(http: &Http) -> BTreeMap<String, Readings> {
    let mut found: BTreeMap<String, Readings> = BTreeMap::new();
    for row in http.query_all(&question("{__name__=~\".+\"}")) {
        let at: i64 = text(&row[1]).parse().expect("a time is nanoseconds as text");
        let series = found.entry(text(&row[0])).or_default();
        assert!(series.insert(at, number(&row[2]).to_bits()).is_none(), "{} has {at} twice", row[0]);
    }
    found
}

fn same(stored: &BTreeMap<String, Readings>, expected: &BTreeMap<String, Readings>) {
    let names: Vec<_> = stored.keys().collect();
    assert_eq!(names, expected.keys().collect::<Vec<_>>());
    for (name, readings) in expected {
        let found = &stored[name];
        let missing: Vec<_> = readings.iter().filter(|(at, _)| !found.contains_key(at)).take(5).collect();
        assert!(missing.is_empty(), "{name}: missing {missing:?} and perhaps more");
        let wrong: Vec<_> =
            found.iter().filter(|(at, bits)| readings.get(at) != Some(bits)).take(5).collect();
        assert!(wrong.is_empty(), "{name}: stored {wrong:?}, and perhaps more, which was not published");
    }
}

fn number(cell: &Json) -> f64 {
    match cell {
        Json::Number(number) => number.to_string().parse().expect("a number"),
        Json::String(text) => text.parse().expect("a number as text"),
        other => panic!("{other} is no number"),
    }
}

fn text(cell: &Json) -> String {
    cell.as_str().map_or_else(|| cell.to_string(), str::to_owned)
}

/// Until the agent has its subscription, what is published goes nowhere: the broker knows no session.
fn wait_subscribed(agent: &Agent) {
    agent.wait_for_log("subscribed", Duration::from_secs(20));
}
