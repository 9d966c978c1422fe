//! The matrix of clocks: whatever the clock showed at boot and does then, no acknowledged reading is lost, and what is
//! dropped by its age is old by the true time.
//!
//! The table of the answers is in `docs/reliability.md`.

use super::reader::{list, read};
use super::workload::{DEVICE, FROM, HOUR_NS, Owned, SimStore, send, tiny};
use crate::store::sim::{Oracle, SimMedium, Violation};
use crate::store::{Store, StoreConfig, TrustedTime, Work};

const MINUTE_NS: i64 = 60_000_000_000;
const YEAR_NS: i64 = 365 * 24 * HOUR_NS;
/// The true time at boot.
const BOOT: i64 = FROM + 100 * HOUR_NS;
/// The agent had ended so long before.
const OFF_NS: i64 = 2 * HOUR_NS;
/// Readings are kept for a day.
const KEEP_NS: i64 = 24 * HOUR_NS;

/// Readings of so long ago are not too old.
const YOUNG_HOURS: i64 = 3;
/// Hours ago of which readings are too old: three, of which one may go an hour; or one, behind which a young one is next.
const PASTS: [&[i64]; 2] = [&[30, 28, 26], &[30]];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Boot {
    Right,
    Epoch,
    Year2000,
    LastShutdown,
    TenYearsAhead,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Forward,
    Back,
    Slew,
    Nothing,
    Suspend,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    BeforeFirst,
    MidSegment,
    DuringExpiry,
}

/// A gateway's clocks.
struct Clocks {
    real: i64,
    monotonic: i64,
    /// How far the wall clock is wrong.
    error: i64,
    is_synchronised: bool,
    is_slewing: bool,
    time: TrustedTime,
    /// The control: whatever the wall clock says is taken for the time.
    trusts_the_wall: bool,
}

impl Clocks {
    fn at(boot: Boot) -> Self {
        let error = match boot {
            Boot::Right => 0,
            Boot::Epoch => -BOOT,
            Boot::Year2000 => 946_684_800_000_000_000 - BOOT,
            Boot::LastShutdown => -OFF_NS,
            Boot::TenYearsAhead => 10 * YEAR_NS,
        };
        let time = TrustedTime::saved(Some(BOOT - OFF_NS));
        let is_synchronised = boot == Boot::Right;
        Self {
            real: BOOT,
            monotonic: 0,
            error,
            is_synchronised,
            is_slewing: false,
            time,
            trusts_the_wall: false,
        }
    }

    fn pass(&mut self, ns: i64) {
        self.real += ns;
        self.monotonic += ns;
        if self.is_slewing {
            // As a time service does, only faster: the error shrinks, and time never runs backwards.
            self.error -= self.error.clamp(-ns / 2, ns / 2);
        }
    }

    fn meet(&mut self, event: Event) {
        match event {
            // The time service is there, and sets the clock.
            Event::Forward => (self.error, self.is_synchronised) = (0, true),
            // It had been half a day ahead of that.
            Event::Back => self.error -= 12 * HOUR_NS,
            Event::Slew => (self.is_slewing, self.is_synchronised) = (true, self.error == 0),
            Event::Nothing => {}
            Event::Suspend => self.real += 6 * HOUR_NS,
        }
    }

    fn tell(&mut self, store: &mut SimStore) -> Option<i64> {
        if self.trusts_the_wall {
            let now = Some(self.real + self.error);
            store.set_time(now, true);
            return now;
        }
        let now = self.time.now(self.real + self.error, self.monotonic, self.is_synchronised);
        store.set_time(now, self.is_synchronised);
        now
    }
}

/// A store with readings of some hours that are older than is kept, and of one that is not. The oracle knows that
/// the old ones may go.
fn with_past(medium: &SimMedium, old_hours: &[i64], oracle: &mut Oracle) {
    for (hours_ago, is_old) in old_hours.iter().map(|hours| (*hours, true)).chain([(YOUNG_HOURS, false)]) {
        let (mut store, _) = Store::open(medium.clone(), tiny(), DEVICE).expect("open");
        for n in 0..5 {
            let at = BOOT - hours_ago * HOUR_NS + n;
            send(&mut store, oracle, None, &[(0, at, Owned::Float(n as f64))]).expect("append");
        }
        store.seal().expect("seal");
        oracle.acknowledge();
        if is_old {
            oracle.expire();
        }
    }
}

/// What may have gone by its age, by the words of `docs/recovery.md`: one partition, then nothing until an hour of
/// trusted time has passed, which begins anew where that time goes back.
#[derive(Default)]
struct Allowance {
    gone: usize,
    since: Option<i64>,
}

impl Allowance {
    fn tell(&mut self, now: Option<i64>, old_hours: &[i64]) {
        let (Some(now), Some(hours_ago)) = (now, old_hours.get(self.gone)) else { return };
        self.since = self.since.map(|since| since.min(now));
        let at = BOOT - hours_ago * HOUR_NS;
        let end = at - at.rem_euclid(HOUR_NS) + HOUR_NS;
        if end + KEEP_NS <= now && self.since.is_none_or(|since| now - since >= HOUR_NS) {
            (self.gone, self.since) = (self.gone + 1, Some(now));
        }
    }
}

/// What a cell ends with.
struct Outcome {
    old_partitions: usize,
    /// How many should be there.
    kept: usize,
    late: u64,
    points: u64,
}

fn cell(
    mut clocks: Clocks,
    event: Event,
    is_arrival: bool,
    moment: Moment,
    old_hours: &[i64],
    is_killed: impl Fn(i32) -> bool,
) -> Result<Outcome, Violation> {
    let medium = SimMedium::new();
    let mut oracle = Oracle::new();
    with_past(&medium, old_hours, &mut oracle);
    let config = StoreConfig { retention_ns: Some(KEEP_NS), ..tiny() };
    let (mut store, _) = Store::open(medium.clone(), config.clone(), DEVICE).expect("open");
    let mut allowance = Allowance::default();
    let event_at = match moment {
        Moment::BeforeFirst => 0,
        Moment::MidSegment => 25,
        // The first partition went with the first work; the next may go an hour later.
        Moment::DuringExpiry => 1,
    };
    let (mut late, mut points) = (0, 0);
    for minute in 0..75 {
        if minute == event_at {
            clocks.meet(event);
        }
        allowance.tell(clocks.tell(&mut store), old_hours);
        let at = if is_arrival { clocks.real + clocks.error } else { clocks.real };
        let value = Owned::Float(f64::from(minute) * 1.5);
        let appended = send(&mut store, &mut oracle, None, &[(1, at, value)]).expect("append");
        (late, points) = (late + appended.late, points + 1);
        if minute == 30 {
            // A device with a battery of its own, ten years ahead.
            let ahead = clocks.real + 10 * YEAR_NS;
            send(&mut store, &mut oracle, None, &[(2, ahead, Owned::Boolean(true))]).expect("append");
        }
        store.commit().expect("commit");
        oracle.acknowledge();
        while store.work(500).expect("work") == Work::More {}
        clocks.pass(MINUTE_NS);
        if is_killed(minute) {
            drop(store);
            store = Store::open(medium.clone(), config.clone(), DEVICE).expect("open").0;
        }
    }
    let held = read(&mut store);
    oracle.check(list(&held))?;
    let is_there = |hours: &&i64| {
        let begin = BOOT - **hours * HOUR_NS;
        held.keys().any(|(_, at)| (begin..begin + HOUR_NS).contains(at))
    };
    let old_partitions = old_hours.iter().filter(is_there).count();
    Ok(Outcome { old_partitions, kept: old_hours.len() - allowance.gone, late, points })
}

#[test]
fn no_clock_loses_a_reading() {
    let mut cells = 0;
    for boot in [Boot::Right, Boot::Epoch, Boot::Year2000, Boot::LastShutdown, Boot::TenYearsAhead] {
        for event in [Event::Forward, Event::Back, Event::Slew, Event::Nothing, Event::Suspend] {
            for moment in [Moment::BeforeFirst, Moment::MidSegment, Moment::DuringExpiry] {
                for is_arrival in [false, true] {
                    for past in PASTS {
                        judge(boot, event, is_arrival, moment, past);
                    }
                    cells += 1;
                }
            }
        }
    }
    assert_eq!(cells, 150);
}

/// Plays a cell with a past, killed once and killed all the time.
fn judge(boot: Boot, event: Event, is_arrival: bool, moment: Moment, past: &[i64]) {
    let name = format!("{boot:?}, {event:?}, {moment:?}, arrival: {is_arrival}, old: {past:?}");
    let play = |is_killed: fn(i32) -> bool| {
        let played = cell(Clocks::at(boot), event, is_arrival, moment, past, is_killed);
        played.unwrap_or_else(|violation| panic!("{name}: {violation:?}"))
    };
    let outcome = play(|minute| minute == 50);
    // Killed all the time: that must not let anything more go by its age.
    let restless = play(|minute| minute % 5 == 0);
    // A clock that is set back and claims to be right is believed: things go later.
    let is_lying = boot == Boot::Right && event == Event::Back;
    if is_lying && moment == Moment::BeforeFirst {
        assert_eq!(outcome.old_partitions, past.len(), "{name}: by that clock nothing is a day old");
    } else {
        assert!(outcome.kept < past.len(), "{name}: nothing expires");
    }
    assert_eq!(outcome.old_partitions, outcome.kept, "{name}");
    assert_eq!(restless.old_partitions, outcome.kept, "{name}, fifteen restarts");
    if !is_arrival {
        // A wrong clock of ours does not make the readings of good ones late, but where it claims to be right.
        assert!(outcome.late <= 2 || is_lying, "{name}: {} of {} late", outcome.late, outcome.points);
    }
}

/// The control: a store that takes the wall clock for the time drops what is three hours old.
#[test]
fn with_the_wall_clock_trusted_young_readings_are_lost() {
    let play = |trusts_the_wall| {
        let clocks = Clocks { trusts_the_wall, ..Clocks::at(Boot::TenYearsAhead) };
        cell(clocks, Event::Nothing, false, Moment::BeforeFirst, PASTS[1], |minute| minute == 50)
    };
    let young = BOOT - YOUNG_HOURS * HOUR_NS;
    match play(true) {
        Err(Violation::Lost(_, at)) => assert!((young..young + HOUR_NS).contains(&at), "{at}"),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("the suite passes with every clock trusted"),
    }
    assert!(play(false).is_ok());
}
