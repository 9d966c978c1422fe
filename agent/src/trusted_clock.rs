//! The time as far as it can be trusted, and what was stored while it could not.
//!
//! The wall clock counts only while the system says that it is synchronised. Else the time is the last that was trusted, kept
//! in `state/clock.json`, plus what passed since by the monotonic clock; where there is none, nothing is known. It decides
//! when partitions end and what is too old, never what is stored.
//!
//! Whether the clock is synchronised is asked without system calls of ours: systemd-timesyncd leaves
//! `/run/systemd/timesync/synchronized` once it set the clock; for any other time service (chrony, ntpd, PTP) `timedatectl`
//! tells what the kernel says. Readings that were stamped on arrival before that are counted, and the spans of their stamps are kept: they are
//! not dated anew.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use siltstone_core::store::TrustedTime;

use crate::api::format_instant;
use crate::clock;
use crate::files::replace_file;

/// The time is saved once in this while.
const SAVE_INTERVAL: Duration = Duration::from_secs(600);
/// Spans of doubtful stamps that are kept; the last one grows when there are more.
const SPANS_MAX: usize = 64;
/// What systemd-timesyncd leaves once it set the clock.
const TIMESYNC_MARK: &str = "/run/systemd/timesync/synchronized";
/// Where systemd runs.
const SYSTEMD_MARK: &str = "/run/systemd/system";

/// What is remembered.
#[derive(Debug)]
struct State {
    time: TrustedTime,
    /// Stamps of readings that came before the clock was right, nanoseconds: first and last of each time.
    doubtful: Vec<(i64, i64)>,
    /// Whether the last of those is of this run and goes on.
    is_doubting: bool,
    saved_at: Option<Instant>,
}

/// The clock of an agent.
#[derive(Debug)]
pub struct TrustedClock {
    path: PathBuf,
    started: Instant,
    /// Says whether the wall clock is right.
    ask: fn() -> bool,
    is_synchronised: AtomicBool,
    doubtful_readings: AtomicU64,
    state: Mutex<State>,
}

impl TrustedClock {
    /// A clock that remembers in the directory `state`; where `is_always`, the wall clock counts as right.
    pub fn open(state: &Path, is_always: bool) -> Self {
        Self::asking(state, if is_always { || true } else { is_synchronised })
    }

    fn asking(state: &Path, ask: fn() -> bool) -> Self {
        let path = state.join("clock.json");
        let saved: Value = std::fs::read(&path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let instant = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
        let spans = saved.get("doubtful").and_then(Value::as_array);
        let doubtful = spans
            .into_iter()
            .flatten()
            .filter_map(|span| Some((instant(span.get("first")?)?, instant(span.get("last")?)?)));
        let state = State {
            time: TrustedTime::saved(saved.get("trusted").and_then(instant)),
            doubtful: doubtful.take(SPANS_MAX).collect(),
            is_doubting: false,
            saved_at: None,
        };
        let clock = Self {
            path,
            started: Instant::now(),
            ask,
            is_synchronised: AtomicBool::new(false),
            doubtful_readings: AtomicU64::new(0),
            state: Mutex::new(state),
        };
        clock.look();
        clock
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks whether the clock is synchronised. May take seconds: not for a thread that others wait for.
    pub fn look(&self) {
        let is_synchronised = (self.ask)();
        if self.is_synchronised.swap(is_synchronised, Ordering::Relaxed) != is_synchronised {
            let what = if is_synchronised { "is synchronised" } else { "is not synchronised any more" };
            tracing::info!("the clock {what}");
        }
    }

    /// Whether the wall clock is right.
    pub fn is_synchronised(&self) -> bool {
        self.is_synchronised.load(Ordering::Relaxed)
    }

    /// The time, where it can be trusted.
    pub fn now(&self) -> Option<i64> {
        let running = i64::try_from(self.started.elapsed().as_nanos()).unwrap_or(i64::MAX);
        let is_synchronised = self.is_synchronised.load(Ordering::Relaxed);
        let mut state = self.state();
        let now = state.time.now(clock::now_ns(), running, is_synchronised);
        if let Some(now) = now
            && state.saved_at.is_none_or(|at| at.elapsed() >= SAVE_INTERVAL)
        {
            state.saved_at = Some(Instant::now());
            self.save(&state, Some(now));
        }
        now
    }

    /// Readings were stamped with their time of arrival, which is this.
    pub fn note_arrivals(&self, count: u64, arrival_ns: i64) {
        if count == 0 || self.is_synchronised.load(Ordering::Relaxed) {
            return;
        }
        let before = self.doubtful_readings.fetch_add(count, Ordering::Relaxed);
        let mut state = self.state();
        if state.is_doubting || state.doubtful.len() >= SPANS_MAX {
            if let Some((first, last)) = state.doubtful.last_mut() {
                (*first, *last) = ((*first).min(arrival_ns), (*last).max(arrival_ns));
            }
        } else {
            state.doubtful.push((arrival_ns, arrival_ns));
        }
        state.is_doubting = true;
        if before == 0 {
            tracing::warn!(
                "the clock is not synchronised: readings without a time of their own may get a wrong one"
            );
            self.save(&state, None);
        }
    }

    /// Saves what is known, at the end.
    pub fn close(&self) {
        let now = self.now();
        self.save(&self.state(), now);
    }

    fn save(&self, state: &State, now: Option<i64>) {
        let trusted = now.or(state.time.last()).map(|now| now.to_string());
        let document = json!({ "trusted": trusted, "doubtful": spans(&state.doubtful, i64::to_string) });
        if let Err(error) = replace_file(&self.path, document.to_string().as_bytes()) {
            tracing::warn!("{}: can't keep the time: {error}", self.path.display());
        }
    }

    /// The part of the health document.
    pub fn to_json(&self) -> Value {
        let now = self.now();
        let state = self.state();
        json!({
            "synchronised": self.is_synchronised.load(Ordering::Relaxed),
            "trusted_time": now.map(format_instant),
            "doubtful_readings": self.doubtful_readings.load(Ordering::Relaxed),
            "doubtful": spans(&state.doubtful, |at| format_instant(*at)),
        })
    }
}

fn spans(spans: &[(i64, i64)], text: impl Fn(&i64) -> String) -> Vec<Value> {
    spans.iter().map(|(first, last)| json!({ "first": text(first), "last": text(last) })).collect()
}

/// Whether the system says that its clock is synchronised.
fn is_synchronised() -> bool {
    if Path::new(TIMESYNC_MARK).exists() {
        return true;
    }
    if !Path::new(SYSTEMD_MARK).exists() {
        return false;
    }
    let asked = Command::new("timedatectl")
        .args(["show", "--property=NTPSynchronized", "--value"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    asked.is_ok_and(|output| output.stdout.trim_ascii() == b"yes")
}

#[cfg(test)]
mod tests {
    use super::TrustedClock;
    use crate::clock::now_ns;
    use crate::test_dir::TestDir;

    #[test]
    fn what_was_trusted_goes_on_without_synchronisation() {
        let dir = TestDir::new("trusted");
        let clock = TrustedClock::asking(dir.path(), || false);
        assert_eq!(clock.now(), None);
        clock.note_arrivals(2, 1_000);
        clock.note_arrivals(1, 3_000);
        let right = TrustedClock::open(dir.path(), true);
        let now = right.now().unwrap();
        assert!((now - now_ns()).abs() < 1_000_000_000);
        right.note_arrivals(5, 9_000);
        right.close();
        let again = TrustedClock::asking(dir.path(), || false);
        let later = again.now().unwrap();
        assert!(later >= now && later - now < 60_000_000_000, "{now} {later}");
        let document = again.to_json();
        assert_eq!(document["doubtful"].as_array().unwrap().len(), 1, "{document}");
        assert_eq!(document["doubtful_readings"], 0);
    }
}
