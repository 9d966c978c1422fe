//! A disk that is full, and is not any more; one that is full at the start; one that becomes read-only; a quota that
//! is lower than what comes in.
//!
//! Question of this suite: does the agent stop acknowledging, go on answering, say what is wrong, and go on by itself
//! once it can? `SILTSTONE_DISK_CYCLES` sets how often the disk is filled; `make soak` does, and reads the report from the
//! file that `SILTSTONE_DISK_REPORT` names.

use std::io::Write;
use std::time::{Duration, Instant};

use siltstone_tests::disk::Bench;

const MIB: u64 = 1 << 20;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a whole number"))
}

#[test]
fn a_full_disk_stops_ingest_and_nothing_else() {
    let cycles = setting("SILTSTONE_DISK_CYCLES", 20);
    let quota = 64 + 8 * cycles;
    let Some(mut bench) =
        Bench::start("full disk", (quota + 96) * MIB, &format!("max_bytes = \"{quota}MiB\""))
    else {
        return;
    };
    let (begin, mut outages) = (Instant::now(), Vec::new());
    for cycle in 0..cycles {
        let filled = Instant::now();
        // From nothing at all to enough for the beginning of a segment.
        bench.fill(if cycle.is_multiple_of(4) { 0 } else { cycle % 24 }, !cycle.is_multiple_of(3));
        bench.assert_failing("No space left on device");
        let longer_ms = match cycle % 50 {
            // So long that the queue fills and the broker is let go.
            49 => 15_000,
            // So long that the store is opened in vain in between.
            4 | 14 | 24 | 34 | 44 => 1_000,
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
