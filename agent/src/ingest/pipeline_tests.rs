//! The pipeline over a real store: what is acknowledged is stored, and ending is a path like others.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use siltstone_core::store::{Identity, StoreError};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::{Pending, Pipeline, PipelineOptions};
use crate::api::{Cell, Question};
use crate::config::{DataConfig, IngestConfig};
use crate::decode::{DecodeOptions, Decoder, Message, SampleValue};
use crate::engine::{Engine, StoreCatalog};
use crate::ingest::{CommitHandle, IngestStatus, Mode};
use crate::mqtt::{AckQueue, AckToken, Intake, Phase, Received, intake};
use crate::shelf::ParsedSelector;
use crate::test_dir::TestDir;

const ARRIVAL_NS: i64 = 1_796_022_845_000_000_000;

struct Bench {
    engine: Arc<Engine>,
    way: Intake,
    acks: Arc<AckQueue>,
    phase: watch::Sender<Phase>,
    status: Arc<IngestStatus>,
    commits: CommitHandle,
    running: JoinHandle<()>,
    dir: TestDir,
}

fn config(dir: &TestDir) -> DataConfig {
    DataConfig { dir: dir.path().join("store"), ..DataConfig::default() }
}

fn decoder() -> Decoder {
    let ingest = IngestConfig::default();
    Decoder::new(DecodeOptions {
        exclude: Vec::new(),
        max_age_ns: ingest.max_age_ns,
        max_ahead_ns: ingest.max_ahead_ns,
        max_series: 100,
        max_series_per_topic: 100,
        max_series_in: Vec::new(),
        max_depth: 6,
    })
}

impl Bench {
    fn start(commit_messages: usize, commit_interval: Duration) -> Self {
        let dir = TestDir::new("pipeline");
        let (engine, recovery) = Engine::open(&config(&dir)).unwrap();
        assert!(recovery.is_new);
        let engine = Arc::new(engine);
        let (way, receiver) = intake(4096, 32 << 20);
        let acks = Arc::new(AckQueue::new());
        acks.begin(1);
        let (phase, phase_seen) = watch::channel(Phase::Run);
        let pipeline = Pipeline::new(PipelineOptions {
            engine: Arc::clone(&engine),
            decoder: decoder(),
            acks: Arc::clone(&acks),
            commit_messages,
            commit_interval,
            clock: Arc::new(crate::trusted_clock::TrustedClock::open(dir.path(), false)),
            phase: phase_seen,
        });
        let (status, commits) = (pipeline.status(), pipeline.commits());
        let handle = Handle::current();
        let running = tokio::task::spawn_blocking(move || pipeline.run(receiver, &handle));
        Self { engine, way, acks, phase, status, commits, running, dir }
    }

    async fn send(&self, topic: &'static [u8], payload: &str, packet_id: u16) {
        self.send_by(1, topic, payload, packet_id).await;
    }

    /// A message by the connection `epoch`.
    async fn send_by(&self, epoch: u64, topic: &'static [u8], payload: &str, packet_id: u16) {
        let ack = AckToken { epoch, session: 1, packet_id };
        let payload = Bytes::from(payload.to_owned());
        let message = Received::new(Bytes::from_static(topic), payload, false, Some(ack), ARRIVAL_NS);
        self.way.offer(message, Duration::from_secs(5)).await;
    }

    async fn acknowledged(&self, count: usize) -> Vec<u16> {
        self.acknowledged_by(1, count).await
    }

    async fn acknowledged_by(&self, epoch: u64, count: usize) -> Vec<u16> {
        let mut ids = Vec::new();
        while ids.len() < count {
            match self.acks.pop(epoch) {
                Some(id) => ids.push(id),
                None => {
                    timeout(Duration::from_secs(20), self.acks.filled()).await.expect("an acknowledgement")
                }
            }
        }
        ids
    }

    /// Every value of `select`, in the order of time.
    fn stored(&self, select: &str) -> Vec<Cell> {
        let mut shelf = self.engine.shelf(&ParsedSelector::parse(select).unwrap()).unwrap();
        let answer = shelf.ask(&Question { limit: 100_000, ..Question::all(select) }).unwrap();
        assert!(answer.warnings.is_empty(), "{:?}", answer.warnings);
        answer.rows.into_iter().map(|mut row| row.remove(2)).collect()
    }

    async fn end(self) -> (Arc<Engine>, TestDir) {
        self.phase.send(Phase::Drain).unwrap();
        timeout(Duration::from_secs(20), self.running).await.expect("it ends").unwrap();
        (self.engine, self.dir)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_messages_or_the_interval_force_a_commit() {
    let bench = Bench::start(16, Duration::from_secs(3600));
    for packet_id in 1..=16 {
        bench.send(b"t/x", &packet_id.to_string(), packet_id).await;
    }
    assert_eq!(bench.acknowledged(16).await, (1..=16).collect::<Vec<_>>());
    bench.send(b"t/x", "17", 17).await;
    assert_eq!(bench.acknowledged(1).await, [17], "where the window is small no interval is long");
    bench.end().await;
    let bench = Bench::start(16, Duration::from_millis(50));
    bench.send(b"t/x", "1", 1).await;
    assert_eq!(bench.acknowledged(1).await, [1]);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledgements_are_held_where_the_broker_goes_on_sending() {
    let bench = Bench::start(16, Duration::from_secs(3600));
    bench.acks.hold(true);
    for packet_id in 1..=1000 {
        bench.send(b"t/x", &packet_id.to_string(), packet_id).await;
    }
    sleep(Duration::from_millis(300)).await;
    assert!(bench.acks.is_empty(), "nothing is acknowledged before it is flushed");
    assert_eq!(bench.stored("x").len(), 1000, "but seen it is");
    let status = bench.status.to_json();
    assert_eq!((&status["acknowledging"], &status["unacknowledged"]), (&"held".into(), &1000.into()));
    assert!(status["next_commit_ms"].as_u64().is_some_and(|ms| ms > 3_000_000), "{status}");
    // Somebody who wrote over HTTP wants to know: that is a commit for all.
    let (commits, epoch) = (bench.commits.clone(), bench.engine.store().epoch());
    let begin = std::time::Instant::now();
    assert!(tokio::task::spawn_blocking(move || commits.commit(epoch)).await.unwrap());
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert_eq!(bench.acknowledged(1000).await.len(), 1000);
    let (commits, epoch) = (bench.commits.clone(), bench.engine.store().epoch());
    bench.engine.reopen(0).unwrap();
    let answered = tokio::task::spawn_blocking(move || commits.commit(epoch)).await.unwrap();
    assert!(!answered, "a store that was opened again may not have what was written to it");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_medium_that_flushes_slowly_means_late_acknowledgements_and_nothing_else() {
    let bench = Bench::start(16, Duration::from_millis(100));
    bench.acks.hold(true);
    bench.engine.faults().slow_down(Duration::from_millis(400));
    for packet_id in 1..=30_000 {
        bench.send(b"t/x", &packet_id.to_string(), packet_id).await;
        // What waits is bounded: in the queue, and for its flush.
        assert!(bench.way.len() <= 4096);
    }
    let acknowledged = bench.acknowledged(30_000).await;
    assert!(acknowledged.iter().copied().eq(1..=30_000), "each once, in the order in which they came");
    assert_eq!(bench.stored("x").len(), 30_000);
    let status = bench.status.to_json();
    assert!(status["commits"].as_u64().is_some_and(|commits| commits < 300), "{status}");
    bench.engine.faults().slow_down(Duration::ZERO);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_takes_nothing_stops_acknowledgements_and_no_answers() {
    for is_flush in [false, true] {
        let bench = Bench::start(1, Duration::from_millis(20));
        bench.send(b"t/x", "1", 1).await;
        bench.acknowledged(1).await;
        let faults = bench.engine.faults();
        if is_flush {
            faults.fail_flushes(true)
        } else {
            faults.fail_writes(true)
        }
        for packet_id in 2..=50 {
            bench.send(b"t/x", &packet_id.to_string(), packet_id).await;
        }
        sleep(Duration::from_millis(900)).await;
        assert!(bench.acks.is_empty(), "nothing is acknowledged that is not flushed");
        assert_eq!(bench.status.mode(), Mode::Slow);
        assert!(bench.status.to_json()["problem"].is_string());
        assert!(bench.stored("x").contains(&Cell::Float(1.0)), "questions are answered");
        let (commits, epoch) = (bench.commits.clone(), bench.engine.store().epoch());
        let asked = tokio::task::spawn_blocking(move || commits.commit(epoch));
        let answered = timeout(Duration::from_secs(5), asked).await.expect("nobody waits for the disk");
        assert!(!answered.unwrap(), "nothing is durable");
        let faults = bench.engine.faults();
        if is_flush {
            faults.fail_flushes(false)
        } else {
            faults.fail_writes(false)
        }
        assert!(bench.acknowledged(49).await.iter().copied().eq(2..=50));
        let expected: Vec<_> = (1..=50).map(|n| Cell::Float(f64::from(n))).collect();
        assert_eq!(bench.stored("x"), expected, "each once");
        assert!(bench.status.to_json()["problem"].is_null());
        bench.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_gives_no_reading_is_acknowledged_as_well() {
    let bench = Bench::start(4, Duration::from_millis(50));
    for packet_id in 1..=200 {
        bench.send(b"t/noise", "\u{1b}[0m", packet_id).await;
    }
    bench.send(b"t/\xff", "1", 201).await;
    bench.send(b"t/x", "5", 202).await;
    assert_eq!(bench.acknowledged(202).await.len(), 202);
    assert_eq!(bench.stored("x"), [Cell::Float(5.0)]);
    let status = bench.status.to_json();
    assert_eq!((&status["rejected"]["control_text"], &status["bad_topics"]), (&200.into(), &1.into()));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_comes_again_is_stored_once() {
    let bench = Bench::start(1, Duration::from_millis(50));
    bench.send(b"t/x", "5", 1).await;
    assert_eq!(bench.acknowledged(1).await, [1]);
    // The connection is lost, and the acknowledgement with it.
    bench.acks.begin(2);
    bench.send_by(2, b"t/x", "5", 1).await;
    assert_eq!(bench.acknowledged_by(2, 1).await, [1], "it is acknowledged again");
    assert_eq!(bench.stored("x"), [Cell::Float(5.0)]);
    // The same packet id once more on one connection is a new message, though it says the same.
    bench.send_by(2, b"t/x", "5", 1).await;
    assert_eq!(bench.acknowledged_by(2, 1).await, [1]);
    assert_eq!(bench.stored("x"), [Cell::Float(5.0), Cell::Float(5.0)]);
    assert_eq!(bench.status.to_json()["repeated"], 1);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_queue_that_comes_again_is_stored_once() {
    let bench = Bench::start(16, Duration::from_millis(20));
    for packet_id in 1..=4000 {
        bench.send(b"t/x", &packet_id.to_string(), packet_id).await;
    }
    bench.acknowledged(4000).await;
    bench.acks.begin(2);
    for packet_id in 1..=4000 {
        bench.send_by(2, b"t/x", &packet_id.to_string(), packet_id).await;
    }
    bench.acknowledged_by(2, 4000).await;
    assert_eq!(bench.stored("x").len(), 4000);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_acknowledgements_than_usual_that_are_lost_cost_no_second_storing() {
    const MESSAGES: u16 = 20_000;
    let bench = Bench::start(16, Duration::from_millis(20));
    bench.acks.hold(true);
    for packet_id in 1..=MESSAGES {
        bench.send(b"t/x", &packet_id.to_string(), packet_id).await;
        // Sent, and lost with the connection.
        while bench.acks.pop(1).is_some() {}
    }
    while bench.status.to_json()["unacknowledged"] != 0 {
        while bench.acks.pop(1).is_some() {}
        sleep(Duration::from_millis(5)).await;
    }
    // The store fails and is opened again in between.
    bench.engine.faults().fail_writes(true);
    bench.send(b"t/y", "1", MESSAGES + 1).await;
    while bench.status.mode() != Mode::Slow {
        sleep(Duration::from_millis(5)).await;
    }
    bench.engine.faults().fail_writes(false);
    bench.acks.begin(2);
    for packet_id in 1..=MESSAGES {
        bench.send_by(2, b"t/x", &packet_id.to_string(), packet_id).await;
    }
    bench.acknowledged_by(2, usize::from(MESSAGES)).await;
    assert_eq!(bench.stored("x").len(), usize::from(MESSAGES));
    assert_eq!(bench.status.to_json()["repeated"], MESSAGES);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ending_takes_what_is_in_the_queue() {
    let bench = Bench::start(1000, Duration::from_secs(3600));
    for packet_id in 1..=500 {
        bench.send(b"t/x", &packet_id.to_string(), packet_id).await;
    }
    let acks = Arc::clone(&bench.acks);
    let (engine, _dir) = bench.end().await;
    assert_eq!(acks.len(), 500);
    let mut shelf = engine.shelf(&ParsedSelector::parse("x").unwrap()).unwrap();
    assert_eq!(shelf.ask(&Question::all("x")).unwrap().rows.len(), 500);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_was_opened_again_goes_on() {
    let bench = Bench::start(1, Duration::from_millis(50));
    bench.send(b"t/x", "1", 1).await;
    bench.acknowledged(1).await;
    // As after a failure of the disk: the numbers of series are new.
    bench.engine.reopen(0).unwrap();
    bench.send(b"t/x", "2", 2).await;
    bench.send(b"t/y", "3", 3).await;
    bench.acknowledged(2).await;
    assert_eq!(bench.stored("x"), [Cell::Float(1.0), Cell::Float(2.0)]);
    assert_eq!(bench.stored("y"), [Cell::Float(3.0)]);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_refused_series_are_acknowledged_and_counted() {
    let bench = Bench::start(16, Duration::from_millis(50));
    for packet_id in 1..=110 {
        let topic: &'static str = format!("flood/{packet_id}/x").leak();
        bench.send(topic.as_bytes(), "1", packet_id).await;
    }
    assert_eq!(bench.acknowledged(110).await, (1..=110).collect::<Vec<_>>());
    let health = bench.status.to_json();
    assert_eq!((&health["series"], &health["series_refused"]), (&100.into(), &10.into()));
    assert_eq!(health["rejected"]["series_cap"], 10);
    let sentence = health["series_refusal"].as_str().unwrap_or_default().to_owned();
    assert!(sentence.contains("ingest.max_series") && sentence.contains("`flood/`"), "{sentence}");
    // One that is there goes on.
    bench.send(b"flood/7/x", "2", 200).await;
    assert_eq!(bench.acknowledged(1).await, [200]);
    assert_eq!(bench.stored(r#"x{device="flood/7"}"#).len(), 2);
    bench.end().await;
}

/// Every file and directory below a directory.
fn everything_in(directory: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    let below: Vec<PathBuf> = found.iter().filter(|path| path.is_dir()).cloned().collect();
    below.iter().for_each(|path| found.extend(everything_in(path)));
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_medium_that_goes_away_is_waited_for_and_nothing_takes_its_place() {
    let bench = Bench::start(1, Duration::from_millis(20));
    bench.send(b"t/x", "1", 1).await;
    bench.acknowledged(1).await;
    let (here, away, other) =
        (bench.dir.path().join("store"), bench.dir.path().join("away"), bench.dir.path().join("other"));
    drop(Engine::open(&DataConfig { dir: other.clone(), ..DataConfig::default() }).unwrap());
    // The card drops out: writes fail, and where it was mounted is an empty directory.
    bench.engine.faults().fail_writes(true);
    bench.send(b"t/x", "2", 2).await;
    while bench.status.mode() != Mode::Slow {
        sleep(Duration::from_millis(5)).await;
    }
    std::fs::rename(&here, &away).unwrap();
    std::fs::create_dir(&here).unwrap();
    bench.engine.faults().fail_writes(false);
    let says = async |part: &str| {
        let said = async {
            while !bench.status.to_json()["problem"].as_str().is_some_and(|problem| problem.contains(part)) {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(Duration::from_secs(20), said).await.expect(part);
        assert!(bench.engine.failure().is_some_and(|failure| failure.contains(part)));
        assert!(bench.acks.is_empty(), "nothing is acknowledged");
    };
    says("holds no store any more; was it unmounted?").await;
    assert_eq!(everything_in(&here), Vec::<PathBuf>::new(), "nothing is made in its place");
    // Another card comes.
    std::fs::remove_dir(&here).unwrap();
    std::fs::rename(&other, &here).unwrap();
    let before = everything_in(&here);
    says("holds another store").await;
    assert_eq!(everything_in(&here), before);
    // And the right one.
    std::fs::rename(&here, &other).unwrap();
    std::fs::rename(&away, &here).unwrap();
    assert_eq!(bench.acknowledged(1).await, [2]);
    assert_eq!(bench.stored("x"), [Cell::Float(1.0), Cell::Float(2.0)]);
    assert!(bench.engine.failure().is_none() && bench.status.to_json()["problem"].is_null());
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_can_not_be_stored_is_refused_once() {
    let dir = TestDir::new("pipeline-refused");
    let engine = Arc::new(Engine::open(&config(&dir)).unwrap().0);
    let acks = Arc::new(AckQueue::new());
    acks.begin(1);
    let mut pipeline = Pipeline::new(PipelineOptions {
        engine: Arc::clone(&engine),
        decoder: decoder(),
        acks: Arc::clone(&acks),
        commit_messages: 1,
        commit_interval: Duration::from_secs(1),
        clock: Arc::new(crate::trusted_clock::TrustedClock::open(dir.path(), false)),
        phase: watch::channel(Phase::Run).1,
    });
    let pending = |pipeline: &Pipeline, packet_id: u16| {
        let (topic, payload) = ("t", &br#"{"x": 1, "y": 2}"#[..]);
        let message = Message { topic, payload, retain: false, arrival_ns: ARRIVAL_NS };
        let mut samples = Vec::new();
        pipeline.decoder().decode(&message, &StoreCatalog(&engine.store()), &mut samples);
        assert_eq!(samples.len(), 2);
        let identity = Some(Identity { session: 1, packet: packet_id, hash: [0; 5] });
        Pending { ack: Some(AckToken { epoch: 1, session: 1, packet_id }), identity, bytes: 1, samples }
    };
    // One of two readings can't be stored: nothing of the message is.
    let mut refused = pending(&pipeline, 1);
    refused.samples[1].value = SampleValue::State("x".repeat(300).into());
    for _ in 0..2 {
        pipeline.append(&mut refused).unwrap();
        assert_eq!(pipeline.status.refused.load(Ordering::Relaxed), 2, "counted once");
    }
    // One that failed of itself on a store opened for it.
    let mut poison = pending(&pipeline, 2);
    pipeline.refuse(&mut poison, &StoreError::JournalFull);
    let good = pending(&pipeline, 3);
    pipeline.pending = vec![refused, poison, good];
    // The store is opened again, and what waits is stored and acknowledged, and nothing is refused twice.
    pipeline.try_again().unwrap();
    pipeline.acknowledge();
    assert_eq!(pipeline.status.refused.load(Ordering::Relaxed), 4);
    assert_eq!((0..3).map(|_| acks.pop(1).unwrap()).collect::<Vec<_>>(), [1, 2, 3]);
    let mut shelf = engine.shelf(&ParsedSelector::everything().unwrap()).unwrap();
    assert_eq!(shelf.ask(&Question::all("{}")).unwrap().rows.len(), 2);
    for (error, is_own) in [
        (StoreError::JournalFull, true),
        (StoreError::TooManySeries, true),
        (StoreError::UnknownSeries, true),
        (StoreError::Failed, false),
    ] {
        assert_eq!(super::is_own_fault(&error), is_own, "{error}");
    }
}
