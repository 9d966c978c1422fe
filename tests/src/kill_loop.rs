//! Kills of agent and broker under load, and the reckoning afterwards: what was published, delivered,
//! acknowledged and stored.
//!
//! Messages are numbered; each carries the counter of its series as its value. Most carry it in a time
//! of their own, too. Those of the last two series have none: they are stamped on arrival, so that one
//! that is stored twice is stored at two times and seen.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::agent::Agent;
use crate::http::Http;
use crate::load::Load;
use crate::mosquitto::Mosquitto;
use crate::scratch::Scratch;
use crate::stored::{number, question, text};
use crate::tap::{Record, Tap};
use crate::wait;

/// Series in all, and those whose messages say their time.
const SERIES: u64 = 8;
const SERIES_WITH_TIME: u64 = 6;
/// Messages a second.
const RATE: u32 = 200;
/// The shortest and the longest life of an agent.
const LIFE_MS: (f64, f64) = (50.0, 5_000.0);
/// Kills nearer than this to the one before are counted.
const NEAR: Duration = Duration::from_secs(3);
/// A broker that is killed may forget what it took for this long: its own interval of 1 s, and some time to write.
const BROKER_FORGETS: Duration = Duration::from_secs(4);
/// How long the end may take: everything the broker holds is stored.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(120);
/// Nothing new for this long is the end of the drain.
const DRAIN_QUIET: Duration = Duration::from_secs(8);

/// What a run does.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where chance begins.
    pub seed: u64,
    /// Kills of the agent.
    pub kills: u32,
    /// Whether the tap plays an agent that acknowledges before it writes.
    pub acknowledges_early: bool,
    /// Further lines of the agent's `[ingest]`.
    pub ingest: &'static str,
}

/// What came of it; written as `name=figure` in one line.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The plan's seed.
    pub seed: u64,
    /// Kills of the agent, and how many of them followed another within three seconds.
    pub kills: u32,
    /// See above.
    pub kills_near: u32,
    /// Kills of the broker, pauses of the agent, lines broken silently.
    pub broker_kills: u32,
    /// See above.
    pub pauses: u32,
    /// See above.
    pub broken_lines: u32,
    /// Messages published, all of them acknowledged by the broker.
    pub published: u64,
    /// Messages that the agent acknowledged.
    pub acknowledged: u64,
    /// Messages that are stored.
    pub stored: u64,
    /// Messages that the agent acknowledged and that are not stored.
    pub acknowledged_but_lost: u64,
    /// Messages that are not stored, those that the broker forgot not counted.
    pub published_not_stored: u64,
    /// Messages that are stored more often than the broker had them, or at a time that is not theirs.
    pub stored_twice: u64,
    /// Messages that came to the agent more than once.
    pub twice_on_wire: u64,
    /// Messages that the broker acknowledged just before it was killed, and never delivered.
    pub forgotten_by_broker: u64,
    /// Acknowledgements of what was not delivered.
    pub strange_acks: u64,
    /// From the start of an agent to its first answer, milliseconds, sorted.
    pub recoveries_ms: Vec<u64>,
}

impl Report {
    /// The share `of_hundred` of recoveries took at most this long, milliseconds.
    pub fn recovery_ms(&self, of_hundred: usize) -> u64 {
        let last = self.recoveries_ms.len().saturating_sub(1);
        self.recoveries_ms.get(last * of_hundred / 100).copied().unwrap_or(0)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures = [
            ("seed", self.seed),
            ("kills", self.kills.into()),
            ("kills_near", self.kills_near.into()),
            ("broker_kills", self.broker_kills.into()),
            ("pauses", self.pauses.into()),
            ("broken_lines", self.broken_lines.into()),
            ("published", self.published),
            ("acknowledged", self.acknowledged),
            ("stored", self.stored),
            ("acknowledged_but_lost", self.acknowledged_but_lost),
            ("published_not_stored", self.published_not_stored),
            ("stored_twice", self.stored_twice),
            ("twice_on_wire", self.twice_on_wire),
            ("forgotten_by_broker", self.forgotten_by_broker),
            ("strange_acks", self.strange_acks),
            ("recovery_p50_ms", self.recovery_ms(50)),
            ("recovery_p99_ms", self.recovery_ms(99)),
        ];
        figures.iter().try_for_each(|(name, figure)| write!(f, "{name}={figure} "))
    }
}

/// Chance from a seed: splitmix64 of S. Vigna.
struct Chance(u64);

impl Chance {
    /// Uniform in `[0, 1)`.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between_ms(&mut self, begin: f64, end: f64) -> Duration {
        Duration::from_micros(((begin + (end - begin) * self.next()) * 1_000.0) as u64)
    }

    /// Spread over the exponents, so that starts and recoveries are hit as often as a long run.
    fn life(&mut self) -> Duration {
        let (shortest, longest) = LIFE_MS;
        Duration::from_micros((shortest * (longest / shortest).powf(self.next()) * 1_000.0) as u64)
    }
}

fn has_time(message: u64) -> bool {
    message % SERIES < SERIES_WITH_TIME
}

/// The message that a topic and a payload are.
fn recognise(topic: &[u8], payload: &[u8]) -> Option<u64> {
    let series: u64 = std::str::from_utf8(topic).ok()?.strip_prefix("kill/")?.parse().ok()?;
    let payload = std::str::from_utf8(payload).ok()?;
    let (_, counter) = payload.strip_suffix('}')?.split_once("\"n\":")?;
    Some(counter.parse::<u64>().ok()? * SERIES + series)
}

/// One run: a broker, a tap, an agent, a load.
struct Run {
    begin_ms: u64,
    chance: Chance,
    broker: Mosquitto,
    tap: Tap,
    agent: Agent,
    load: Load,
    launched: Instant,
    killed: Option<Instant>,
    broker_killed: Vec<Instant>,
    report: Report,
    _scratch: Scratch,
}

/// Plays a plan to its end.
pub fn run(plan: &Plan) -> Report {
    let mut run = Run::start(plan);
    for kill in 0..plan.kills {
        run.live_and_die(kill);
    }
    run.break_line_and_wait();
    run.drain();
    run.reckon()
}

impl Run {
    fn start(plan: &Plan) -> Self {
        let scratch = Scratch::new("kills");
        let broker = Mosquitto::start(&scratch);
        let start = if plan.acknowledges_early { Tap::start_early } else { Tap::start };
        let tap = start(broker.port, recognise);
        let mut agent = Agent::configure_mqtt(&scratch, &tap.url(), "keep_alive = \"5s\"", plan.ingest);
        agent.start();
        agent.wait_for_log("subscribed", Duration::from_secs(20));
        // The broker writes the session down, which it must know after its own death.
        std::thread::sleep(Duration::from_millis(2_500));
        let since_epoch = std::time::UNIX_EPOCH.elapsed().expect("the clock is past 1970");
        let begin_ms = since_epoch.as_millis() as u64 - 86_400_000;
        let compose = Arc::new(move |message: u64| {
            let (series, counter) = (message % SERIES, message / SERIES);
            let payload = if has_time(message) {
                format!("{{\"ts\":{},\"n\":{counter}}}", begin_ms + counter)
            } else {
                format!("{{\"n\":{counter}}}")
            };
            (format!("kill/{series}"), payload)
        });
        let load = Load::start(broker.port, RATE, compose);
        Self {
            begin_ms,
            chance: Chance(plan.seed),
            broker,
            tap,
            agent,
            load,
            launched: Instant::now(),
            killed: None,
            broker_killed: Vec::new(),
            report: Report { seed: plan.seed, ..Report::default() },
            _scratch: scratch,
        }
    }

    /// One life of the agent: something happens in it or not, and then it is killed and started again.
    fn live_and_die(&mut self, kill: u32) {
        let (begin, life) = (Instant::now(), self.chance.life());
        let end = begin + life;
        let event = begin + life.mul_f64(self.chance.next() / 2.0);
        self.live_until(event);
        match kill % 10 {
            3 => self.kill_broker(),
            5 => self.pause(),
            8 => {
                self.tap.break_silently();
                self.report.broken_lines += 1;
            }
            _ => {}
        }
        self.live_until(end);
        assert!(self.agent.is_running(), "the agent ended by itself");
        self.agent.kill();
        let now = Instant::now();
        self.report.kills += 1;
        self.report.kills_near += u32::from(self.killed.is_some_and(|before| now - before < NEAR));
        self.killed = Some(now);
        self.agent.launch();
        self.launched = Instant::now();
    }

    /// Waits, and sees when the agent answers first.
    fn live_until(&mut self, end: Instant) {
        // One that is paused does not answer.
        let http = Http::with_timeout(self.agent.port, Duration::from_millis(200));
        while Instant::now() < end {
            // The first life began with the answer.
            if self.killed.is_some_and(|killed| killed < self.launched)
                && http.try_get("/api/health").is_some_and(|answer| answer.status == 200)
            {
                self.report.recoveries_ms.push(self.launched.elapsed().as_millis() as u64);
                std::thread::sleep(end.saturating_duration_since(Instant::now()));
            }
            let left = end.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(Duration::from_millis(5)));
        }
    }

    fn kill_broker(&mut self) {
        std::thread::sleep(self.chance.between_ms(0.0, 500.0));
        let begin = Instant::now();
        self.broker.kill();
        // It may have acknowledged up to its last moment.
        self.broker_killed.push(Instant::now());
        self.report.broker_kills += 1;
        std::thread::sleep(self.chance.between_ms(0.0, 300.0));
        self.broker.start_again();
        if let Some(since) = begin.checked_sub(BROKER_FORGETS) {
            self.load.repeat_since(since, has_time);
        }
    }

    fn pause(&mut self) {
        self.agent.signal("STOP");
        std::thread::sleep(self.chance.between_ms(100.0, 1_500.0));
        // Half of them are killed where they stand.
        if self.chance.next() < 0.5 {
            self.agent.signal("CONT");
        }
        self.report.pauses += 1;
    }

    /// A line that breaks without a word while nobody kills the agent: it must notice by itself.
    fn break_line_and_wait(&mut self) {
        let stands = |run: &Self| {
            let health = run.agent.http().try_get("/api/health")?;
            (health.json()["mqtt"]["state"] == "connected").then_some(())
        };
        wait::until("the agent is connected", Duration::from_secs(60), || stands(self));
        let before = self.tap.record().connections;
        self.tap.break_silently();
        self.report.broken_lines += 1;
        wait::for_true("the agent notices a line that broke silently", Duration::from_secs(60), || {
            self.tap.record().connections > before
        });
    }

    /// No more load, everything delivered and stored; then a last kill, so that what is counted is what
    /// a start finds.
    fn drain(&mut self) {
        self.load.finish(Duration::from_secs(60));
        let published = self.load.begun();
        let (begin, mut last, mut last_change) = (Instant::now(), (0, 0), Instant::now());
        while begin.elapsed() < DRAIN_TIMEOUT && last_change.elapsed() < DRAIN_QUIET {
            let stored = crate::stored::count(&self.agent.http());
            let (mut delivered, mut waiting) = (0, 0);
            for seen in self.tap.record().messages.values() {
                delivered += seen.deliveries;
                waiting += u32::from(!seen.is_acknowledged);
            }
            if (stored, delivered) != last {
                (last, last_change) = ((stored, delivered), Instant::now());
            }
            if stored >= published && waiting == 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(300));
        }
        self.agent.kill();
        self.agent.start();
    }

    /// How often each message is stored; one at a time that is not its own counts as a stranger.
    fn stored(&self) -> (HashMap<u64, u32>, u64) {
        let (mut times, mut strangers) = (HashMap::new(), 0);
        for row in self.agent.http().query_all(&question("n")) {
            let name = text(&row[0]);
            let series = name.split("kill/").nth(1).and_then(|rest| rest.split('"').next()?.parse().ok());
            let (series, counter): (u64, u64) = (series.expect("a series of ours"), number(&row[2]) as u64);
            let message = counter * SERIES + series;
            let own = (self.begin_ms + counter) * 1_000_000;
            if has_time(message) && text(&row[1]) != own.to_string() {
                strangers += 1;
            } else {
                *times.entry(message).or_default() += 1;
            }
        }
        (times, strangers)
    }

    fn reckon(mut self) -> Report {
        let (stored, strangers) = self.stored();
        let acknowledged = self.load.acknowledged();
        let record: &Record = &self.tap.record();
        let report = &mut self.report;
        report.published = acknowledged.len() as u64;
        report.stored = stored.len() as u64;
        report.stored_twice = strangers;
        report.strange_acks = record.strange_acks;
        report.recoveries_ms.sort_unstable();
        let nothing = crate::tap::Seen::default();
        for (message, at) in (0..).zip(&acknowledged) {
            let seen = record.messages.get(&message).unwrap_or(&nothing);
            let times = stored.get(&message).copied().unwrap_or(0);
            report.acknowledged += u64::from(seen.is_acknowledged);
            report.twice_on_wire += u64::from(seen.deliveries > 1);
            if times > seen.packet_ids.len().max(1) as u32 {
                report.stored_twice += 1;
                if report.stored_twice < 5 {
                    eprintln!("stored {times} times: message {message}, {seen:?}");
                }
            }
            if times > 0 {
                continue;
            }
            let is_forgotten = !has_time(message)
                && at.is_some_and(|at| {
                    self.broker_killed.iter().any(|killed| at <= *killed && *killed - at < BROKER_FORGETS)
                });
            match (seen.is_acknowledged, is_forgotten) {
                (true, _) => {
                    report.acknowledged_but_lost += 1;
                    if report.acknowledged_but_lost < 5 {
                        eprintln!("acknowledged and not stored: message {message}, {seen:?}");
                    }
                }
                (false, true) => report.forgotten_by_broker += 1,
                (false, false) => {
                    report.published_not_stored += 1;
                    if report.published_not_stored < 5 {
                        eprintln!("published and not stored: message {message}, {seen:?}");
                    }
                }
            }
        }
        let unknown = stored.keys().filter(|message| **message >= report.published).count();
        report.stored_twice += unknown as u64;
        report.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{Chance, recognise};

    #[test]
    fn messages_are_recognised_and_lives_spread_over_the_exponents() {
        assert_eq!(recognise(b"kill/3", b"{\"ts\":1,\"n\":2}"), Some(19));
        assert_eq!(recognise(b"other/3", b"{\"n\":2}"), None);
        let mut chance = Chance(1);
        let lives: Vec<u128> = (0..1_000).map(|_| chance.life().as_millis()).collect();
        let below = |bound| lives.iter().filter(|life| **life < bound).count();
        assert!((400..600).contains(&below(500)) && below(50) == 0 && below(5_000) == 1_000);
    }
}
