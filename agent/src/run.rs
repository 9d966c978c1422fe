//! The running agent: every room built, joined, and ended in good order.
//!
//! ```text
//! broker ── mqtt ── Intake ── ingest thread ── engine (store) ── HTTP
//!              └──── AckQueue ◄──┘
//! ```
//!
//! Ending: no more messages are taken in, what is in the queue is committed and acknowledged, the
//! broker gets a goodbye, requests under way are answered, the store is checkpointed. Each step has a
//! bound, so that the whole does.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::clock;
use crate::config::{self, BrokerAddress, Config};
use crate::decode::{DecodeOptions, Decoder, TopicPattern};
use crate::engine::{AgentService, Engine, HealthPart, OpenStore, report};
use crate::http;
use crate::ingest::{IngestStatus, Mode, Pipeline, PipelineOptions};
use crate::mqtt::{AckQueue, Client, ClientOptions, Intake, Phase, Rumqtt, StatusCell, intake};
use crate::opening::Opened;
use crate::trusted_clock::TrustedClock;
use crate::verify::{Scrub, ScrubOptions};

/// Messages between broker and store.
const INTAKE_MESSAGES_MAX: usize = 4096;
/// Bytes of them.
const INTAKE_BYTES_MAX: u32 = 32 << 20;
/// How long the last commit may take at the end.
const DRAIN_LIMIT: Duration = Duration::from_secs(10);
/// From one question whether the clock is synchronised to the next.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// How often the log says what was written.
const WEAR_INTERVAL: Duration = Duration::from_secs(3_600);
/// How long goodbye and requests under way may take.
const GOODBYE_LIMIT: Duration = Duration::from_secs(5);

/// Runs the agent until it is told to end.
///
/// # Errors
///
/// One sentence: what keeps it from starting, or what went wrong at its end.
pub fn run(config: Option<&Path>) -> Result<(), String> {
    let config = match config {
        Some(path) => config::load(path).map_err(|error| error.to_string())?,
        None => Config::default(),
    };
    start_log(&config.log.level);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| format!("the system gives no threads: {error}"))?;
    let done = runtime.block_on(run_until(config, end_signal()));
    // Threads that hang in the file system must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    done
}

fn start_log(level: &str) {
    let filter = tracing_subscriber::EnvFilter::try_new(format!("siltstone={level},warn"))
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    // In tests several agents share one process, and the first one's subscriber.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_target(false)
        .with_ansi(false)
        .try_init();
}

/// Ctrl-C or SIGTERM.
async fn end_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminate = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => _ = signal.recv().await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminate => {}
    }
}

/// Runs the agent until `end`.
///
/// # Errors
///
/// As [`run`].
pub async fn run_until(config: Config, end: impl Future<Output = ()>) -> Result<(), String> {
    tokio::pin!(end);
    let first = Opened::first(&config)?;
    let bound = http::bind(config.http.listen).await.map_err(|error| error.to_string())?;
    let service = Arc::new(AgentService::waiting(&config.data.dir));
    let (phase, phase_seen) = watch::channel(Phase::Run);
    let doors = Arc::new(Notify::new());
    let serving = tokio::spawn(serve(bound, Arc::clone(&service), Arc::clone(&doors), phase_seen.clone()));
    let Opened { engine, recovery, session } = match first {
        Ok(opened) => opened,
        Err(fault) => {
            doors.notify_one();
            tokio::select! {
                opened = Opened::after(fault, &config, &service) => opened?,
                () = &mut end => return Err(service.closed_sentence()),
            }
        }
    };
    let clock = Arc::new(TrustedClock::open(&config.data.dir.join("state"), config.data.trusts_clock));
    report(&recovery, &config.data.dir);
    let engine = Arc::new(engine);
    let (way, receiver) = intake(INTAKE_MESSAGES_MAX, INTAKE_BYTES_MAX);
    let acks = Arc::new(AckQueue::new());
    let mqtt_status = Arc::new(StatusCell::default());
    let pipeline = Pipeline::new(PipelineOptions {
        engine: Arc::clone(&engine),
        decoder: Decoder::new(decode_options(&config)),
        acks: Arc::clone(&acks),
        commit_messages: config.ingest.commit_messages as usize,
        commit_interval: config.ingest.commit_interval,
        clock: Arc::clone(&clock),
        phase: phase_seen.clone(),
    });
    let looking = tokio::spawn(watch_clock(Arc::clone(&clock)));
    let ingest_status = pipeline.status();
    let commits = pipeline.commits();
    let scrub = scrub(&config, &engine, &ingest_status, &phase_seen);
    let scrub_status = scrub.status();
    let scrubbing = tokio::task::spawn_blocking(move || scrub.run());
    let handle = Handle::current();
    let ingesting = tokio::task::spawn_blocking(move || pipeline.run(receiver, &handle));
    let client = ClientOptions {
        config: config.mqtt.clone(),
        session,
        intake: way.clone(),
        acks: Arc::clone(&acks),
        status: Arc::clone(&mqtt_status),
        phase: phase_seen.clone(),
        clock: clock::now_ns,
    };
    let mqtt = tokio::spawn(Client::new(Rumqtt, client).run());

    let clock_status = Arc::clone(&clock);
    let parts: Vec<HealthPart> = vec![
        ("clock", Box::new(move || clock_status.to_json())),
        ("mqtt", Box::new(move || mqtt_part(&mqtt_status, &way, &acks))),
        ("ingest", Box::new(move || ingest_status.to_json())),
        ("scrub", Box::new(move || scrub_status.to_json())),
    ];
    service.take(OpenStore { engine: Arc::clone(&engine), parts, commits: Some(commits) });
    doors.notify_one();
    let BrokerAddress { host, port } = &config.mqtt.broker;
    tracing::info!("collecting from mqtt://{host}:{port} into {}", config.data.dir.display());

    tokio::select! { () = &mut end => {}, () = report_wear(Arc::clone(&engine)) => {} }
    tracing::info!("ending");
    looking.abort();
    clock.close();
    wind_up(Tasks { ingesting, mqtt, serving, scrubbing }, &phase, engine).await
}

/// Answers HTTP once there is something to answer.
async fn serve(
    bound: http::Bound,
    service: Arc<AgentService>,
    doors: Arc<Notify>,
    mut phase: watch::Receiver<Phase>,
) -> io::Result<()> {
    doors.notified().await;
    tracing::info!("the dashboard is at http://{}/", bound.address());
    let closed = async move { _ = phase.wait_for(|phase| *phase == Phase::Close).await };
    bound.serve(http::router(service), closed).await
}

/// Asks from time to time whether the clock is synchronised.
async fn watch_clock(clock: Arc<TrustedClock>) {
    loop {
        tokio::time::sleep(LOOK_INTERVAL).await;
        let clock = Arc::clone(&clock);
        // One that fails is asked again.
        let _ = tokio::task::spawn_blocking(move || clock.look()).await;
    }
}

/// Says every hour what was written to the card.
async fn report_wear(engine: Arc<Engine>) {
    loop {
        tokio::time::sleep(WEAR_INTERVAL).await;
        let of_call = Arc::clone(&engine);
        // A panic there is logged by itself.
        if let Ok(sentence) = tokio::task::spawn_blocking(move || of_call.wear_sentence()).await {
            tracing::info!("{sentence}");
        }
    }
}

/// What runs, until it is told to end.
struct Tasks {
    ingesting: JoinHandle<()>,
    mqtt: JoinHandle<()>,
    serving: JoinHandle<io::Result<()>>,
    scrubbing: JoinHandle<()>,
}

/// Ends everything in order; each step has a bound.
async fn wind_up(tasks: Tasks, phase: &watch::Sender<Phase>, engine: Arc<Engine>) -> Result<(), String> {
    let Tasks { ingesting, mut mqtt, mut serving, scrubbing } = tasks;
    phase.send_replace(Phase::Drain);
    let drained = tokio::time::timeout(DRAIN_LIMIT, ingesting).await.is_ok_and(|joined| joined.is_ok());
    phase.send_replace(Phase::Close);
    // Both end by themselves; what hangs is left behind.
    let _ = tokio::time::timeout(GOODBYE_LIMIT, &mut mqtt).await;
    let _ = tokio::time::timeout(GOODBYE_LIMIT, &mut serving).await;
    let _ = tokio::time::timeout(GOODBYE_LIMIT, scrubbing).await;
    mqtt.abort();
    serving.abort();
    if !drained {
        return Err("the store did not take the last messages in time; they will come again".to_owned());
    }
    let checkpoint =
        tokio::task::spawn_blocking(move || engine.checkpoint().map(|()| engine.wear_sentence()));
    match checkpoint.await {
        Ok(Ok(sentence)) => {
            tracing::info!("{sentence}");
            tracing::info!("ended in good order");
            Ok(())
        }
        Ok(Err(error)) => Err(format!("the last checkpoint failed: {error}; nothing acknowledged is lost")),
        Err(error) => Err(error.to_string()),
    }
}

/// The scrub of the sealed segments: it works while messages are stored as they come.
fn scrub(
    config: &Config,
    engine: &Arc<Engine>,
    ingest: &Arc<IngestStatus>,
    phase: &watch::Receiver<Phase>,
) -> Scrub {
    let (engine, ingest, phase) = (Arc::clone(engine), Arc::clone(ingest), phase.clone());
    Scrub::new(ScrubOptions {
        root: config.data.dir.clone(),
        interval: config.data.scrub_interval,
        sealed: Box::new(move || engine.sealed_files()),
        is_idle: Box::new(move || ingest.mode() == Mode::Live),
        is_ending: Box::new(move || *phase.borrow() != Phase::Run),
        clock: clock::now_ns,
    })
}

/// The broker's part of the health document, with what is counted elsewhere.
fn mqtt_part(status: &StatusCell, way: &Intake, acks: &AckQueue) -> serde_json::Value {
    let mut status = status.get();
    status.dropped_qos0 = way.dropped();
    status.stale_acks = acks.stale();
    serde_json::to_value(status).unwrap_or_default()
}

fn decode_options(config: &Config) -> DecodeOptions {
    let ingest = &config.ingest;
    DecodeOptions {
        exclude: ingest.exclude.iter().map(|pattern| TopicPattern::new(pattern)).collect(),
        max_age_ns: ingest.max_age_ns,
        max_ahead_ns: ingest.max_ahead_ns,
        max_series: ingest.max_series,
        max_series_per_topic: ingest.max_series_per_topic,
        max_series_in: ingest.max_series_in.clone(),
        max_depth: ingest.max_depth,
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
