//! A disk that is full, and is not any more; one that is full at the start; one that becomes read-only; a quota that
//! is lower than what comes in.
//!
//! Question of this suite: does the agent stop acknowledging, go on answering, say what is wrong, and go on by itself
//! once it can? `SILTSTONE_DISK_CYCLES` sets how often the disk is filled; `make soak` does, and reads the report from the
//! file that `SILTSTONE_DISK_REPORT` names.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;
use siltstone_tests::agent::{Agent, segments};
use siltstone_tests::disk::{Bench, NOTICE_TIMEOUT, SEGMENT_MAX_BYTES, assert_tidy, files_below, setup_on};
use siltstone_tests::scratch::Scratch;
use siltstone_tests::stored::question;
use siltstone_tests::volume::Volume;
use siltstone_tests::wait;

const MIB: u64 = 1 << 20;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a whole number"))
}

#[test]
fn a_full_disk_stops_ingest_and_nothing_else() {
    let cycles = setting("SILTSTONE_DISK_CYCLES", 20);
    let quota = 64 + 8 * cycles;
    let Some(mut bench) = Bench::start("full disk", (quota + 96) * MIB, quota) else { return };
    let (begin, mut outages) = (Instant::now(), Vec::new());
    for cycle in 0..cycles {
        let filled = Instant::now();
        // From nothing at all to enough for the beginning of a segment.
        bench.fill(if cycle.is_multiple_of(4) { 0 } else { cycle % 24 }, !cycle.is_multiple_of(5));
        bench.assert_failing("No space left on device");
        let longer_ms = match cycle % 25 {
            // So long that the queue fills and the broker is let go.
            24 => 15_000,
            // So long that the store is opened in vain in between.
            4 | 14 => 1_000,
            _ => 0,
        };
        if longer_ms > 0 {
            std::thread::sleep(Duration::from_millis(longer_ms));
            bench.assert_failing("No space left on device");
        }
        bench.volume.release();
        let released = Instant::now();
        bench.wait_resumed();
        outages.push((released - filled, released.elapsed()));
    }
    bench.drain();
    let account = bench.reckon();
    outages.sort_by_key(|(_, resumed)| *resumed);
    let resumed_ms = outages.last().map_or(0, |(_, resumed)| resumed.as_millis());
    let report = format!(
        "cycles={cycles} seconds={} resumed_max_ms={resumed_ms} published={} acknowledged={} stored={} \
         acknowledged_but_lost={} published_not_stored={} stored_twice={}",
        begin.elapsed().as_secs(),
        account.published,
        account.acknowledged,
        account.stored,
        account.acknowledged_but_lost,
        account.published_not_stored,
        account.stored_twice,
    );
    eprintln!("{report}");
    if let Some(path) = std::env::var_os("SILTSTONE_DISK_REPORT") {
        let mut file =
            std::fs::File::options().create(true).append(true).open(path).expect("a report can be written");
        writeln!(file, "{report}").expect("a report can be written");
    }
}

#[test]
fn a_start_on_a_full_disk_waits_for_room_and_answers() {
    let Some(mut bench) = Bench::start("full at the start", 160 * MIB, 32) else {
        return;
    };
    bench.seal_something();
    for is_killed in [true, false, true] {
        bench.fill(0, false);
        bench.assert_failing("No space left on device");
        if is_killed {
            bench.agent.kill();
        } else {
            let (code, sentence) = bench.agent.end();
            assert_eq!(code, Some(1), "{sentence}");
            assert!(sentence.starts_with("siltstone: ") && sentence.contains("No space left"), "{sentence}");
        }
        // What the end gave back.
        bench.volume.fill(0);
        bench.agent.start();
        let health = bench.health();
        assert_eq!(health["status"], "failing", "{health}");
        let problem = health["store"]["problem"].as_str().unwrap_or_default();
        assert!(problem.contains("No space left on device"), "{health}");
        let answer = bench.agent.http().query(&question("n"));
        assert!(answer["rows"].as_array().is_some_and(|rows| !rows.is_empty()), "{answer}");
        let warning = answer["warnings"][0].as_str().unwrap_or_default();
        assert!(warning.contains("journal"), "what is missing is said: {answer}");
        for (path, body) in [("/api/seal", json!({})), ("/api/delete", json!({ "select": "n" }))] {
            let answer = bench.agent.http().post(path, &body);
            assert_eq!((answer.status, &answer.json()["error"]["code"]), (503, &json!("unavailable")));
        }
        bench.volume.release();
        bench.wait_resumed();
    }
    bench.drain();
    bench.reckon();
}

#[test]
fn a_first_start_on_a_full_disk_waits_for_room() {
    let scratch = Scratch::new("first start");
    let Some(volume) = Volume::or_say(&scratch, 160 * MIB) else { return };
    volume.fill(2);
    // Nobody listens on the discard port.
    let mut agent = Agent::with(&scratch, "mqtt://127.0.0.1:9", setup_on(&volume));
    agent.start();
    assert_eq!(agent.http().get("/api/health").json()["status"], "failing");
    volume.release();
    wait::for_true("the store is made", NOTICE_TIMEOUT, || {
        agent.http().get("/api/health").json()["store"]["segments"] == 0
    });
    agent.stop();
    assert_tidy(&agent.data);
}

#[test]
fn a_disk_that_becomes_read_only_is_waited_for() {
    let Some(mut bench) = Bench::start("read-only", 160 * MIB, 32) else { return };
    bench.seal_something();
    for _ in 0..2 {
        bench.volume.set_read_only(true);
        bench.wait_failing(true);
        bench.assert_failing("Read-only file system");
        // To look at it nothing is written, and no lock is needed.
        let looked = bench.agent.on_store("inspect", &[]).success();
        assert!(
            looked.contains(" in order, sealed") && looked.contains("written since the store was made"),
            "{looked}"
        );
        bench.volume.set_read_only(false);
        bench.wait_resumed();
    }
    bench.drain();
    bench.reckon();
}

#[test]
fn a_quota_is_kept_and_retention_frees_space_where_no_block_is_left() {
    const QUOTA_MIB: u64 = 4;
    let Some(mut bench) = Bench::start_with("quota", 160 * MIB, 32, 64) else { return };
    wait::for_true("some segments are stored", NOTICE_TIMEOUT, || {
        bytes_of(&segments(&bench.agent.data)) > 6 * MIB
    });
    // What came since the last checkpoint is not dropped before the next one, which needs room: here a start makes
    // one; elsewhere it comes with every 16 MiB of the journal.
    bench.agent.stop();
    bench.agent.start();
    bench.fill(0, false);
    bench.agent.kill();
    bench.volume.fill(0);
    let before = bench.acknowledged();
    // The owner has heard of it and gives the store less; nobody gives the disk more room.
    bench.set_quota(QUOTA_MIB);
    bench.agent.start();
    wait::for_true("ingest goes on in the room of what was dropped", NOTICE_TIMEOUT, || {
        bench.health()["status"] == "ok" && bench.acknowledged() > before
    });
    let (begin, mut most_bytes) = (Instant::now(), 0);
    while begin.elapsed() < Duration::from_secs(10) {
        // Whatever lies there, unfinished files too.
        most_bytes = most_bytes.max(bytes_of(&files_below(&bench.agent.data.join("segments"))));
        assert_eq!(bench.health()["status"], "ok", "{}", bench.health());
        std::thread::sleep(Duration::from_millis(20));
    }
    let quota = QUOTA_MIB * MIB;
    eprintln!("quota={quota} segment_max={SEGMENT_MAX_BYTES} most_bytes={most_bytes}");
    assert!(most_bytes > quota - MIB && most_bytes <= quota + SEGMENT_MAX_BYTES, "{most_bytes}");
    bench.drain();
    let stored = bench.count("n");
    assert!(stored > 0 && stored < bench.load.begun(), "the newest are there, the oldest gone: {stored}");
    assert_tidy(&bench.agent.data);
}

#[test]
fn with_its_defaults_the_agent_keeps_a_small_disk_from_filling_up() {
    const SIZE: u64 = 100_000_000;
    // So much that the quota is reached in half a minute.
    let Some(mut bench) = Bench::start_lines("small disk", SIZE, String::new(), 200) else { return };
    let kept = std::fs::read_to_string(bench.agent.data.join("state/max_bytes")).expect("the first answer");
    let quota: u64 = kept.trim().parse().expect("a number");
    assert!((22_000_000..27_000_000).contains(&quota), "80 % of what the journal leaves: {quota}");
    let segment_max = quota / 8;
    let lying = |bench: &Bench| bytes_of(&files_below(&bench.agent.data.join("segments")));
    let oldest = |bench: &Bench| segments(&bench.agent.data).into_iter().next();
    wait::for_true("a first segment is there", NOTICE_TIMEOUT, || oldest(&bench).is_some());
    let (first, mut most_bytes, mut dropped_at) = (oldest(&bench), 0, None::<Instant>);
    let begin = Instant::now();
    while dropped_at.is_none_or(|at| at.elapsed() < Duration::from_secs(5)) {
        assert!(
            begin.elapsed() < Duration::from_secs(240),
            "retention never begins: {most_bytes} of {quota}"
        );
        let health = bench.health();
        assert_eq!(health["status"], "ok", "{health}");
        most_bytes = most_bytes.max(lying(&bench));
        if dropped_at.is_none() && oldest(&bench) != first {
            dropped_at = Some(Instant::now());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    eprintln!("quota={quota} segment_max={segment_max} most_bytes={most_bytes} after {:?}", begin.elapsed());
    assert!(most_bytes > quota - segment_max && most_bytes <= quota + segment_max, "{most_bytes}");
    bench.drain();
    assert_tidy(&bench.agent.data);
}

#[test]
fn a_disk_too_small_for_any_store_is_refused_in_one_sentence() {
    let scratch = Scratch::new("too small");
    let Some(volume) = Volume::or_say(&scratch, 50_000_000) else { return };
    let mut agent = Agent::with(&scratch, "mqtt://127.0.0.1:9", setup_on(&volume));
    agent.launch();
    assert_eq!(agent.wait(NOTICE_TIMEOUT).code(), Some(1));
    let log = agent.log();
    assert!(log.contains("its volume has 50 MB in all, and a store needs 75 MB"), "{log}");
}

/// What files take, ahead included.
fn bytes_of(files: &[PathBuf]) -> u64 {
    use std::os::unix::fs::MetadataExt;
    // One that went in between takes nothing.
    files.iter().filter_map(|path| std::fs::metadata(path).ok()).map(|metadata| metadata.blocks() * 512).sum()
}
