//! A disk that fails under the running agent: the n-th read, write, flush or change of a name gives EIO, once or from
//! then on; and a flush that fails can lose what was written.
//!
//! Question of this suite: does the agent go on or end with a code and a sentence, does the next start find a consistent
//! store, and is everything that was acknowledged there? Each run is short: some messages, a seal, a deletion, a question, a
//! kill and a start. In `make test` some n are taken, spread over all of them; `SILTSTONE_FAULT_RUNS` sets how many of each
//! kind, 0 for every single one, and `SILTSTONE_FAULT_REPORT` names a file for the figures.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;
use siltstone_tests::agent::{Agent, Setup};
use siltstone_tests::disk::assert_tidy;
use siltstone_tests::failing::{Call, EIO, ENOSPC, EROFS, Failing};
use siltstone_tests::http::Http;
use siltstone_tests::load::Load;
use siltstone_tests::mosquitto::Mosquitto;
use siltstone_tests::reckoning::{Account, Messages, delivered_and_waiting, recognise};
use siltstone_tests::scratch::Scratch;
use siltstone_tests::tap::Tap;
use siltstone_tests::wait;

/// By their numbers.
const CALLS: [Call; 4] = [Call::Read, Call::Write, Call::Flush, Call::Name];
/// Runs without a fault, to see how many calls there are.
const CLEAN_RUNS: u32 = 3;
/// Messages of a life.
const MESSAGES: u64 = 40;
/// Messages a second.
const RATE: u32 = 400;
/// How long the agent may take to do what it does, or to say why not.
const STEP_TIMEOUT: Duration = Duration::from_secs(60);
/// A disk that fails for ever is mended after this.
const FAILING_FOR: Duration = Duration::from_millis(300);

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a whole number"))
}

/// What fails.
#[derive(Clone, Copy, Debug)]
struct Fault {
    call: Call,
    nth: u64,
    is_for_ever: bool,
}

/// What came of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    /// Calls of each kind until the last life was over.
    calls: [u64; CALLS.len()],
    /// Calls that failed.
    failed: u64,
    /// Times that the agent ended by itself.
    ends: u64,
    published: u64,
}

struct Run {
    failing: Failing,
    agent: Agent,
    load: Option<Load>,
    tap: Tap,
    messages: Messages,
    outcome: Outcome,
    failing_since: Option<Instant>,
    broker: Mosquitto,
    _scratch: Scratch,
}

impl Run {
    fn start(fault: Option<Fault>, loses_pages: bool) -> Option<Self> {
        let scratch = Scratch::new("failing");
        let failing = Failing::or_say(&scratch)?;
        if let Some(Fault { call, nth, is_for_ever }) = fault {
            failing.fail(call, nth, if is_for_ever { u64::MAX } else { nth }, EIO);
        }
        if loses_pages {
            failing.lose_pages();
        }
        let broker = Mosquitto::start(&scratch);
        let tap = Tap::start(broker.port, recognise);
        let environment = failing.environment(&scratch.join("data"));
        let setup = Setup {
            environment,
            ingest_lines: "commit_interval = \"30ms\"".to_owned(),
            data_lines: "segment_max = \"1MiB\"\nmax_bytes = \"64MiB\"".to_owned(),
            ..Setup::default()
        };
        let agent = Agent::with(&scratch, &tap.url(), setup);
        Some(Self {
            failing,
            agent,
            load: None,
            tap,
            messages: Messages::new(2),
            outcome: Outcome::default(),
            failing_since: None,
            broker,
            _scratch: scratch,
        })
    }

    fn acknowledged(&self) -> u64 {
        self.tap.record().messages.values().map(|seen| u64::from(seen.is_acknowledged)).sum()
    }

    /// Until so many more messages are acknowledged.
    fn live(&mut self, fault: Option<Fault>) {
        let target = self.acknowledged() + MESSAGES;
        self.live_until(fault, "messages are taken in", |run| run.acknowledged() >= target);
    }

    /// An agent that ends meanwhile is started again, a disk that fails for good is mended after a while.
    fn live_until(&mut self, fault: Option<Fault>, what: &str, is_reached: impl Fn(&Self) -> bool) {
        let begin = Instant::now();
        while !is_reached(self) {
            assert!(begin.elapsed() < STEP_TIMEOUT, "{fault:?}: waited in vain: {what}");
            if !self.agent.is_running() {
                self.restart_ended(fault);
            }
            if self.failing.failed() > 0 && fault.is_some_and(|fault| fault.is_for_ever) {
                let since = *self.failing_since.get_or_insert_with(Instant::now);
                if since.elapsed() > FAILING_FOR {
                    self.failing.mend();
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// It must have said why in one sentence.
    fn restart_ended(&mut self, fault: Option<Fault>) {
        let (code, sentence) = self.agent.end();
        let is_sentence = sentence.starts_with("siltstone: ") && sentence.contains("Input/output error");
        assert!(code == Some(1) && is_sentence, "{fault:?}: ended with {code:?}: {sentence}");
        self.outcome.ends += 1;
        assert!(self.outcome.ends < 100, "{fault:?}: it ends again and again: {sentence}");
        self.agent.launch();
    }

    /// What needs the disk: it may be refused, and must be answered.
    fn ask(&self, fault: Option<Fault>) {
        let http = Http::with_timeout(self.agent.port, STEP_TIMEOUT);
        let question = siltstone_tests::stored::question("n");
        for (path, body) in
            [("/api/seal", json!({})), ("/api/delete", json!({ "select": "f0" })), ("/api/query", question)]
        {
            let answer = http.try_post(path, &body);
            let answer = answer.unwrap_or_else(|error| panic!("{fault:?}: {path}: {error}"));
            let error = answer.json()["error"].clone();
            let is_code = ["unavailable", "damaged"].iter().any(|code| error["code"] == *code);
            assert!(answer.status == 200 || is_code, "{fault:?}: {path}: {} {error}", answer.status);
        }
        assert_eq!(http.get("/api/health").status, 200, "{fault:?}");
    }

    /// A `store.id` that can't be read is set aside and written anew from what the journal says: it must be the same.
    fn take_back_identity(&self, fault: Option<Fault>) {
        let aside = self.agent.data.join("quarantine/store.id");
        if let Ok(bytes) = std::fs::read(&aside) {
            let now = std::fs::read(self.agent.data.join("store.id")).expect("a store has an identity");
            assert_eq!(bytes, now, "{fault:?}: another identity");
            std::fs::remove_file(&aside).expect("a file can be removed");
        }
    }

    fn play(&mut self, fault: Option<Fault>) {
        self.begin(fault);
        self.live(fault);
        self.ask(fault);
        self.live(fault);
        self.agent.kill();
        self.agent.launch();
        self.live(fault);
        self.outcome.calls = CALLS.map(|call| self.failing.count(call));
        self.failing.mend();
        self.reckon(fault);
    }

    fn begin(&mut self, fault: Option<Fault>) {
        self.agent.launch();
        // What is published before is nobody's.
        self.live_until(fault, "the agent subscribes", |run| run.agent.log().contains("subscribed to"));
        self.load = Some(Load::start(self.broker.port, RATE, self.messages.compose()));
    }

    /// Everything that was published is stored once, in a store that verifies clean.
    fn reckon(&mut self, fault: Option<Fault>) {
        let load = self.load.as_ref().expect("it was started");
        load.finish(STEP_TIMEOUT);
        let published = load.begun();
        wait::for_true(&format!("{fault:?}: everything is acknowledged"), STEP_TIMEOUT, || {
            self.acknowledged() == published && delivered_and_waiting(&self.tap).1 == 0
        });
        self.agent.kill();
        let verified = self.agent.on_store("verify", &[]);
        assert_eq!(verified.code, Some(0), "{fault:?}: {verified:?}");
        self.agent.start();
        let stored = self.messages.stored(&self.agent.http());
        Account::draw(&stored, load, &self.tap.record(), |_, _| false).assert_nothing_lost();
        self.take_back_identity(fault);
        assert_tidy(&self.agent.data);
        assert!(!self.agent.log().contains("panicked"), "{fault:?}: {}", self.agent.log());
        self.outcome.published = published;
        self.outcome.failed = self.failing.failed();
    }
}

/// Plays runs over the n of one kind of call.
fn campaign(call: Call, loses_pages: bool) {
    let begin = Instant::now();
    // How many there are depends on how messages fall into commits: so many as every run has.
    let mut calls = u64::MAX;
    for _ in 0..CLEAN_RUNS {
        let Some(mut clean) = Run::start(None, false) else { return };
        clean.play(None);
        calls = calls.min(clean.outcome.calls[call as usize]);
    }
    let runs = match setting("SILTSTONE_FAULT_RUNS", 6) {
        0 => calls,
        runs => runs.min(calls),
    };
    let (mut failed, mut ends, mut published) = (0, 0, 0);
    for run in 0..runs {
        // Spread over all calls, the first among them; every second for ever.
        let nth = 1 + run * calls / runs;
        let fault = Fault { call, nth, is_for_ever: run % 2 == 1 };
        let Some(mut played) = Run::start(Some(fault), loses_pages) else { return };
        played.play(Some(fault));
        failed += u64::from(played.outcome.failed > 0);
        ends += played.outcome.ends;
        published += played.outcome.published;
    }
    let report = format!(
        "call={call:?} loses_pages={loses_pages} calls={calls} runs={runs} struck={failed} ended_with_a_sentence={ends} \
         published_and_stored_once={published} seconds={}",
        begin.elapsed().as_secs()
    );
    eprintln!("{report}");
    // Before the report: what stands there has passed.
    assert!(failed * 3 > runs * 2, "too few runs met their fault: {report}");
    if let Some(path) = std::env::var_os("SILTSTONE_FAULT_REPORT") {
        let mut file =
            std::fs::File::options().create(true).append(true).open(path).expect("a report can be written");
        writeln!(file, "{report}").expect("a report can be written");
    }
}

#[test]
fn reads_that_fail() {
    campaign(Call::Read, false);
}

#[test]
fn writes_that_fail() {
    campaign(Call::Write, false);
}

#[test]
fn flushes_that_fail_and_lose_what_was_written() {
    campaign(Call::Flush, true);
}

#[test]
fn changes_of_names_that_fail() {
    campaign(Call::Name, false);
}

#[test]
fn a_disk_that_takes_nothing_more_by_any_handle() {
    for (error, words) in [(ENOSPC, "No space left on device"), (EROFS, "Read-only file system")] {
        let Some(mut run) = Run::start(None, false) else { return };
        run.begin(None);
        run.live(None);
        run.failing.fail_from_now(Call::Write, error);
        let health = wait::until("the agent says what is wrong", STEP_TIMEOUT, || {
            let health = run.agent.http().get("/api/health").json();
            (health["status"] == "failing" && !health["ingest"]["problem"].is_null()).then_some(health)
        });
        let problem = health["store"]["problem"].as_str().unwrap_or_default();
        assert!(problem.starts_with("can't write ") && problem.contains(words), "{health}");
        // What was committed before may still be on its way.
        std::thread::sleep(FAILING_FOR);
        let acknowledged = run.acknowledged();
        run.ask(None);
        std::thread::sleep(FAILING_FOR);
        assert_eq!(run.acknowledged(), acknowledged, "nothing is acknowledged");
        run.failing.mend();
        run.live(None);
        run.reckon(None);
    }
}
