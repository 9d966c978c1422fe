//! Kills of the agent and the broker while readings come in with QoS 1.
//!
//! Question of this suite: is a message that the agent acknowledged ever lost, one that was published
//! never stored, or one stored twice? A kill is no power cut, since the page cache survives it; what a
//! power cut does is asked in core, on a simulated medium.
//!
//! `SILTSTONE_KILLS` and `SILTSTONE_KILL_SEED` set how many and which; `make soak` does, and reads the report
//! from the file that `SILTSTONE_KILL_REPORT` names.

use std::io::Write;

use siltstone_tests::kill_loop::{Plan, run};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a whole number"))
}

#[test]
fn what_is_acknowledged_is_stored_and_stored_once() {
    let kills = setting("SILTSTONE_KILLS", 50) as u32;
    let seed = setting("SILTSTONE_KILL_SEED", 1);
    // Every second seed with acknowledgements held so long that most lives end before.
    let ingest =
        if seed.is_multiple_of(2) { "commit_interval = \"5s\"" } else { "commit_interval = \"250ms\"" };
    let plan = Plan { seed, kills, acknowledges_early: false, ingest };
    let report = run(&plan);
    eprintln!("{report}");
    eprintln!(
        "with no loss in {kills} kills, it happens in less than {:.2} % of them (95 %)",
        300.0 / f64::from(kills)
    );
    if let Some(path) = std::env::var_os("SILTSTONE_KILL_REPORT") {
        let mut file =
            std::fs::File::options().create(true).append(true).open(path).expect("a report can be written");
        writeln!(file, "{report}").expect("a report can be written");
    }
    assert_eq!(report.account.acknowledged_but_lost, 0, "{report}");
    assert_eq!(report.account.published_not_stored, 0, "{report}");
    assert_eq!(report.account.stored_twice, 0, "{report}");
    assert_eq!(report.account.strange_acks, 0, "{report}");
    // What was to happen did.
    assert!(report.kills == kills && report.kills_near > 0 && report.broken_lines > 0, "{report}");
    assert!(kills < 10 || (report.broker_kills > 0 && report.pauses > 0), "{report}");
    assert!(
        report.account.twice_on_wire > 0
            && report.account.acknowledged > 0
            && !report.recoveries_ms.is_empty(),
        "{report}"
    );
}

#[test]
fn an_agent_that_acknowledges_before_it_writes_is_found_out() {
    let plan = Plan { seed: 7, kills: 5, acknowledges_early: true, ingest: "commit_interval = \"250ms\"" };
    let report = run(&plan);
    eprintln!("{report}");
    assert!(report.account.acknowledged_but_lost > 0, "{report}");
}
