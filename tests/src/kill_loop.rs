//! Kills of agent and broker under load, and the reckoning afterwards: what was published, delivered,
//! acknowledged and stored. What the messages are is in `reckoning`.

use std::fmt;
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::agent::Agent;
use crate::chance::Chance;
use crate::http::Http;
use crate::load::Load;
use crate::mosquitto::Mosquitto;
use crate::reckoning::{Account, Messages, delivered_and_waiting, has_time, recognise};
use crate::scratch::Scratch;
use crate::tap::Tap;
use crate::wait;

/// Messages a second.
const RATE: u32 = 200;
/// The shortest and the longest life of an agent.
const LIFE_MS: (f64, f64) = (50.0, 5_000.0);
/// Kills nearer than this to the one before are counted.
const NEAR: Duration = Duration::from_secs(3);
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

/// What came of it; written as `name=figure` in one line, which ends with all times of recovery.
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
    /// What became of the messages.
    pub account: Account,
    /// From the start of an agent to its first answer, milliseconds, sorted; of those that lived to give one.
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
            ("published", self.account.published),
            ("acknowledged", self.account.acknowledged),
            ("stored", self.account.stored),
            ("acknowledged_but_lost", self.account.acknowledged_but_lost),
            ("published_not_stored", self.account.published_not_stored),
            ("stored_twice", self.account.stored_twice),
            ("twice_on_wire", self.account.twice_on_wire),
            ("forgotten_by_broker", self.account.forgotten_by_broker),
            ("strange_acks", self.account.strange_acks),
            ("recoveries", self.recoveries_ms.len() as u64),
            ("recovery_p50_ms", self.recovery_ms(50)),
            ("recovery_p99_ms", self.recovery_ms(99)),
        ];
        figures.iter().try_for_each(|(name, figure)| write!(f, "{name}={figure} "))?;
        let all: Vec<String> = self.recoveries_ms.iter().map(u64::to_string).collect();
        write!(f, "recoveries_ms={}", all.join(","))
    }
}

/// A time between two, milliseconds.
fn between_ms(chance: &mut Chance, begin: f64, end: f64) -> Duration {
    Duration::from_micros(((begin + (end - begin) * chance.fraction()) * 1_000.0) as u64)
}

/// Spread over the exponents, so that starts and recoveries are hit as often as a long run.
fn life(chance: &mut Chance) -> Duration {
    let (shortest, longest) = LIFE_MS;
    Duration::from_micros((shortest * (longest / shortest).powf(chance.fraction()) * 1_000.0) as u64)
}

/// One run: a broker, a tap, an agent, a load.
struct Run {
    messages: Messages,
    chance: Chance,
    broker: Mosquitto,
    tap: Tap,
    agent: Agent,
    load: Load,
    /// When the agent was started, until it answers.
    silent_since: Option<Instant>,
    killed: Option<Instant>,
    /// When a broker took what it may not know any more.
    forgotten: Vec<Range<Instant>>,
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
        let messages = Messages::new(0);
        let load = Load::start(broker.port, RATE, messages.compose());
        Self {
            messages,
            chance: Chance(plan.seed),
            broker,
            tap,
            agent,
            load,
            silent_since: None,
            killed: None,
            forgotten: Vec::new(),
            report: Report { seed: plan.seed, ..Report::default() },
            _scratch: scratch,
        }
    }

    /// One life of the agent: something happens in it or not, and then it is killed and started again.
    fn live_and_die(&mut self, kill: u32) {
        let (begin, life) = (Instant::now(), life(&mut self.chance));
        let end = begin + life;
        let event = begin + life.mul_f64(self.chance.fraction() / 2.0);
        self.live_until(event);
        if matches!(kill % 10, 3 | 5) {
            // Nobody asks while that happens, so that an answer after it says nothing about the start.
            self.silent_since = None;
        }
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
        self.silent_since = Some(Instant::now());
        self.agent.launch();
    }

    /// Waits, and sees when the agent answers first.
    fn live_until(&mut self, end: Instant) {
        // One that is paused does not answer.
        let http = Http::with_timeout(self.agent.port, Duration::from_millis(200));
        while Instant::now() < end {
            if let Some(since) = self.silent_since
                && http.try_get("/api/health").is_some_and(|answer| answer.status == 200)
            {
                self.report.recoveries_ms.push(since.elapsed().as_millis() as u64);
                self.silent_since = None;
            }
            if self.silent_since.is_none() {
                std::thread::sleep(end.saturating_duration_since(Instant::now()));
            }
            let left = end.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(Duration::from_millis(5)));
        }
    }

    fn kill_broker(&mut self) {
        std::thread::sleep(between_ms(&mut self.chance, 0.0, 500.0));
        self.broker.kill();
        // It forgets what it acknowledged since it last wrote its sessions, up to its last moment.
        let saved = self.broker.saved().expect("it has written its sessions");
        self.load.wait_disconnected();
        self.forgotten.push(saved..Instant::now());
        self.report.broker_kills += 1;
        std::thread::sleep(between_ms(&mut self.chance, 0.0, 300.0));
        self.broker.start_again();
        self.load.repeat_since(saved, has_time);
    }

    fn pause(&mut self) {
        self.agent.signal("STOP");
        std::thread::sleep(between_ms(&mut self.chance, 100.0, 1_500.0));
        // Half of them are killed where they stand.
        if self.chance.fraction() < 0.5 {
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
            let (delivered, waiting) = delivered_and_waiting(&self.tap);
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

    fn reckon(mut self) -> Report {
        let stored = self.messages.stored(&self.agent.http());
        let may_be_forgotten = |message, at: Option<Instant>| {
            !has_time(message) && at.is_some_and(|at| self.forgotten.iter().any(|span| span.contains(&at)))
        };
        self.report.account = Account::draw(&stored, &self.load, &self.tap.record(), may_be_forgotten);
        self.report.recoveries_ms.sort_unstable();
        self.report.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{Chance, life};

    #[test]
    fn lives_spread_over_the_exponents() {
        let mut chance = Chance(1);
        let lives: Vec<u128> = (0..1_000).map(|_| life(&mut chance).as_millis()).collect();
        let below = |bound| lives.iter().filter(|life| **life < bound).count();
        assert!((400..600).contains(&below(500)) && below(50) == 0 && below(5_000) == 1_000);
    }
}
