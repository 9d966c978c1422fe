//! The journal alone under a medium that loses power: what was committed is there, whatever happens.
//!
//! Instead of segments there is an archive in memory: what a checkpoint of rank n covers is its nth
//! entry. Everything is deterministic from the seed that a failing test prints.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{
    Checkpoint, Found, Journal, JournalConfig, JournalDamage, JournalPoint, Names, PutError, Visitor,
};
use crate::block::{BLOCK_LEN, DeviceId};
use crate::point::{Point, Value, ValueKind};
use crate::store::device::{Device, Medium};
use crate::store::identity::{Identity, Window};
use crate::store::sim::{
    Control, Oracle, OwnedValue, Random, SimDevice, SimError, SimMedium, Violation, fates,
};

const DEVICE: DeviceId = *b"sixteen bytes id";
const CONFIG: JournalConfig = JournalConfig { files: 3, file_blocks: 16 };

type Points = BTreeMap<(String, i64), OwnedValue>;

/// Series `s0{x="…"}` and so on, with names long enough to fill records.
struct Series;

impl Series {
    fn name(series: u32) -> &'static str {
        const LONG: &str = "abcdefghijklmnopqrstuvwxyz";
        &LONG[series as usize % 10..]
    }
}

impl Names for Series {
    fn definition(&self, series: u32) -> (&str, ValueKind, &str) {
        (Self::name(series), ValueKind::Float, "W")
    }
}

#[derive(Default)]
struct Collected {
    names: Vec<String>,
    points: Points,
    window: Window,
}

impl Visitor for Collected {
    type Error = SimError;

    fn series(&mut self, name: &str, _: ValueKind, _: &str) -> Result<Option<u32>, SimError> {
        self.names.push(name.to_string());
        Ok(Some(self.names.len() as u32 - 1))
    }

    fn point(&mut self, _: u64, series: u32, is_late: bool, point: Point<'_>) -> Result<(), SimError> {
        assert_eq!(is_late, point.timestamp.0 % 3 == 0, "marked as it was written");
        let name = self.names[series as usize].clone();
        self.points.insert((name, point.timestamp.0), point.value.into());
        Ok(())
    }

    fn identity(&mut self, identity: Identity, is_carried: bool) {
        if is_carried { self.window.keep(identity) } else { self.window.note(identity) }
    }

    fn flushed(&mut self) {
        self.window.flushed();
    }
}

/// A journal, the archive that stands for its segments, and what is in neither yet.
struct Run {
    medium: SimMedium,
    journal: Journal<SimDevice>,
    archive: Vec<Rc<Points>>,
    points: Points,
    window: Window,
    damage: JournalDamage,
}

impl Run {
    /// Opens what is there, with the recovery's own checkpoint.
    fn open(medium: &SimMedium, archive: &mut Vec<Rc<Points>>) -> Result<Self, SimError> {
        let mut medium = medium.clone();
        medium.create_directory("journal")?;
        medium.sync_directory("")?;
        let found = Found::find(&medium, &DEVICE)?;
        let mut collected = Collected::default();
        let rank = found.checkpoint().map_or(0, |(_, checkpoint)| checkpoint.rank);
        if let Some((_, checkpoint)) = found.checkpoint() {
            collected.window.widen(checkpoint.window as usize);
        }
        let damage = found.replay(&mut collected)?;
        let mut points = if rank > 0 { Points::clone(&archive[rank as usize - 1]) } else { Points::new() };
        points.append(&mut collected.points);
        let (epoch, base) = (found.epoch_max() + 1, found.lsn_above());
        let journal = found.begin(&mut medium, CONFIG, epoch, base)?;
        let window = collected.window;
        let mut run = Self { medium, journal, archive: archive.clone(), points, window, damage };
        run.window.flushed();
        let checkpointed = run.checkpoint(false);
        archive.clone_from(&run.archive);
        checkpointed.map(|()| run)
    }

    fn checkpoint(&mut self, is_file_done: bool) -> Result<(), SimError> {
        self.archive.push(Rc::new(self.points.clone()));
        let checkpoint = Checkpoint { rank: self.archive.len() as u64, ..Checkpoint::default() };
        self.journal.checkpoint(&mut self.medium, checkpoint, &self.window, is_file_done)
    }

    fn put(&mut self, readings: &[JournalPoint<'_>], identity: Identity) -> Result<(), SimError> {
        let mut result = self.journal.put(readings, Some(identity), &Series);
        if matches!(result, Err(PutError::Full)) {
            self.checkpoint(true)?;
            result = self.journal.put(readings, Some(identity), &Series);
        }
        match result {
            Ok(()) => {}
            Err(PutError::Full) => panic!("no room in an empty file"),
            Err(PutError::Device(error)) => return Err(error),
        }
        self.window.note(identity);
        for reading in readings {
            let key = (Series::name(reading.series).to_string(), reading.timestamp);
            self.points.insert(key, reading.value.into());
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), SimError> {
        self.journal.commit()?;
        self.window.flushed();
        Ok(())
    }

    fn read(&self) -> Vec<(String, i64, OwnedValue)> {
        self.points.iter().map(|((name, at), value)| (name.clone(), *at, value.clone())).collect()
    }
}

/// A message: its identity and its points.
type Message = (Identity, Vec<(u32, i64, f64)>);

/// Messages of 1 to 3 points, now and then one of several records.
fn messages(random: &mut Random, count: usize, from: i64) -> Vec<Message> {
    let mut at = from;
    (0..count)
        .map(|n| {
            let len = if random.one_in(12) { 400 } else { 1 + random.below(3) as usize };
            let points = (0..len).map(|_| {
                at += 1;
                (random.below(10) as u32, at, random.next_u64() as f64 / 7.0)
            });
            (Identity { session: 1, packet: n as u16, hash: [from as u8; 5] }, points.collect())
        })
        .collect()
}

/// Gives the messages to `run`, committing every few of them, until the power goes.
fn play(run: &mut Run, messages: &[Message], oracle: &mut Oracle) -> Result<(), SimError> {
    for (n, (identity, points)) in messages.iter().enumerate() {
        let readings: Vec<_> = points
            .iter()
            .map(|(series, timestamp, value)| {
                let value = Value::Float(*value);
                JournalPoint { series: *series, is_late: timestamp % 3 == 0, timestamp: *timestamp, value }
            })
            .collect();
        for reading in &readings {
            oracle.write(Series::name(reading.series), reading.timestamp, reading.value);
        }
        run.put(&readings, *identity)?;
        if n % 3 == 2 {
            run.commit()?;
            oracle.acknowledge();
        }
    }
    Ok(())
}

/// Every message that is known to be stored has all of its points.
fn check_identities(run: &Run, messages: &[Message]) -> Result<(), Violation> {
    for (identity, points) in messages.iter().filter(|(identity, _)| run.window.holds(identity)) {
        for (series, at, _) in points {
            let key = (Series::name(*series).to_string(), *at);
            if !run.points.contains_key(&key) {
                return Err(Violation::Lost(format!("{} of {identity:?}", key.0), *at));
            }
        }
    }
    Ok(())
}

/// Cuts the power at every operation of a workload and again while recovering; gives the number of
/// states tried, or the first violation.
fn campaign(seed: u64, count: usize, samples: usize, break_flush: bool) -> Result<u64, Violation> {
    let mut states = 0;
    let messages = messages(&mut Random::new(seed), count, 1);
    for cut in 0.. {
        let mut random = Random::new(seed ^ cut << 20);
        let medium = SimMedium::new();
        if break_flush {
            medium.control(Control::NoFlush);
        }
        let (mut archive, mut oracle) = (Vec::new(), Oracle::new());
        medium.cut_power_at(cut);
        let played = Run::open(&medium, &mut archive).and_then(|mut run| {
            let played = play(&mut run, &messages, &mut oracle);
            archive.clone_from(&run.archive);
            played
        });
        for fates in fates(medium.pending(), 6, samples, &mut random) {
            states += 1;
            let after = medium.after_crash(&fates, &mut random);
            recover(&after, &archive, &oracle, &messages, &mut random)?;
        }
        if played.is_ok() {
            break;
        }
    }
    Ok(states)
}

/// Recovers, perhaps interrupted once, and checks; then goes on writing and recovers again.
fn recover(
    medium: &SimMedium,
    archive: &[Rc<Points>],
    oracle: &Oracle,
    messages: &[Message],
    random: &mut Random,
) -> Result<(), Violation> {
    let mut medium = medium.clone();
    let mut archive = archive.to_vec();
    if random.one_in(2) {
        medium.cut_power_at(random.below(12));
        if Run::open(&medium, &mut archive).is_err() {
            let all = fates(medium.pending(), 0, 2, random);
            let some = &all[random.below(all.len() as u64) as usize];
            medium = medium.after_crash(some, random);
        } else {
            medium = medium.after_kill();
        }
    }
    let mut run = Run::open(&medium, &mut archive).expect("a recovery on a good medium");
    oracle.check(run.read())?;
    check_identities(&run, messages)?;
    let mut oracle = Oracle::new();
    oracle.adopt(run.read());
    let more = self::messages(random, 4, 1_000_000);
    play(&mut run, &more, &mut oracle).expect("the power is on");
    let all = fates(medium.pending(), 0, 1, random);
    let some = &all[random.below(all.len() as u64) as usize];
    let medium = medium.after_crash(some, random);
    let run = Run::open(&medium, &mut run.archive).expect("a recovery on a good medium");
    oracle.check(run.read())?;
    check_identities(&run, &more)
}

#[test]
fn committed_messages_survive_a_power_cut_at_any_operation() {
    for seed in [1, 2] {
        match campaign(seed, 20, 6, false) {
            Ok(states) => assert!(states > 1_000, "only {states} states"),
            Err(violation) => panic!("seed {seed}: {violation:?}"),
        }
    }
}

#[test]
fn without_flush_the_same_suite_fails() {
    assert!(campaign(1, 20, 6, true).is_err());
}

/// A run of `count` messages, committed and killed.
fn written(seed: u64, count: usize) -> (SimMedium, Vec<Rc<Points>>, Run) {
    let (medium, mut archive, mut oracle) = (SimMedium::new(), Vec::new(), Oracle::new());
    let mut run = Run::open(&medium, &mut archive).expect("open");
    play(&mut run, &messages(&mut Random::new(seed), count, 1), &mut oracle).expect("play");
    run.commit().expect("commit");
    (medium.after_kill(), run.archive.clone(), run)
}

#[test]
fn a_damaged_record_costs_only_its_own_points() {
    let (medium, archive, run) = written(3, 6);
    let before = run.points.len();
    let path = medium.files().into_iter().map(|(path, _)| path).find(|path| {
        let mut bytes = vec![0; BLOCK_LEN];
        let device = medium.open(path).expect("on").expect("there");
        device.read(3, &mut bytes).expect("read");
        bytes[0] == 8
    });
    let path = path.expect("the active file");
    for block in 1..4 {
        let damaged = medium.after_kill();
        assert!(damaged.flip(&path, block, 2_000, 4));
        let reopened = Run::open(&damaged, &mut archive.clone()).expect("open");
        if block == 1 {
            // The checkpoint of the start; without it nothing is lost, for nothing was before it.
            assert_eq!(reopened.points.len(), before);
            continue;
        }
        let lost = before - reopened.points.len();
        assert!(lost > 0 && lost < before, "block {block}: {lost} of {before}");
        assert_eq!(reopened.damage.records_damaged + reopened.damage.tears, 1, "block {block}");
    }
}

#[test]
fn a_damaged_file_header_costs_nothing() {
    let (medium, archive, run) = written(4, 12);
    for (path, _) in medium.files() {
        let damaged = medium.after_kill();
        assert!(damaged.flip(&path, 0, 100, 1));
        let reopened = Run::open(&damaged, &mut archive.clone()).expect("open");
        assert_eq!(reopened.points, run.points, "{path}");
    }
}

#[test]
fn interrupted_recoveries_never_reuse_an_epoch() {
    let (mut medium, mut archive, run) = written(5, 8);
    let mut epoch = Found::find(&medium, &DEVICE).expect("find").epoch_max();
    for _ in 0..12 {
        // The power goes when the header of the new epoch is flushed and nothing else is: a sync, the
        // header, its flush, and then the first record.
        medium.cut_power_at(3);
        assert!(Run::open(&medium, &mut archive).is_err());
        medium = medium.after_crash(&[], &mut Random::new(0));
        let found = Found::find(&medium, &DEVICE).expect("find");
        assert!(found.epoch_max() > epoch, "{} after {epoch}", found.epoch_max());
        epoch = found.epoch_max();
    }
    let reopened = Run::open(&medium, &mut archive).expect("open");
    assert_eq!(reopened.points, run.points);
}

/// What is in the files, each of them read to its end.
fn read_all(medium: &SimMedium) -> Found<SimDevice> {
    let file = |number| {
        let device = medium.open(&super::ring::path(number)).expect("medium").expect("a file");
        let block_count = device.block_count().expect("a length");
        let scan = super::scan::scan(&device, block_count, number, &DEVICE).expect("readable");
        super::ring::FoundFile { number, device, block_count, scan }
    };
    Found { files: (0..3).map(file).collect(), device: DEVICE }
}

#[test]
fn what_lies_below_a_checkpoint_is_not_read_and_not_missed() {
    let mut skipped = 0;
    for seed in 0..60 {
        let (medium, ..) = written(seed, seed as usize * 5);
        let damaged = medium.after_kill();
        if seed % 2 == 1 {
            // Any block: a header, the first record, the checkpoint's own.
            damaged.flip(&super::ring::path(seed as u32 / 2 % 3), seed as u32 % 16, 40, 1);
        }
        let (found, all) = (Found::find(&damaged, &DEVICE).expect("find"), read_all(&damaged));
        assert_eq!((found.checkpoint(), found.epoch_max()), (all.checkpoint(), all.epoch_max()), "{seed}");
        assert!(found.lsn_above() >= all.lsn_above(), "{seed}");
        let replay = |found: &Found<SimDevice>| {
            let mut collected = Collected::default();
            let damage = found.replay(&mut collected).expect("replay");
            let identities: Vec<Identity> = collected.window.iter().copied().collect();
            (damage, collected.points, identities)
        };
        assert_eq!(replay(&found), replay(&all), "{seed}");
        let is_left_out =
            |at: &usize| found.files[*at].scan.records.len() < all.files[*at].scan.records.len();
        skipped += (0..3).filter(is_left_out).count();
    }
    assert!(skipped > 30, "{skipped} files were not read to their end");
}

#[test]
fn the_ring_comes_round_many_times() {
    let (medium, archive, run) = written(6, 400);
    assert!(archive.len() > 10, "{}", archive.len());
    assert_eq!(medium.files().len(), 3, "{:?}", medium.files());
    let reopened = Run::open(&medium, &mut archive.clone()).expect("open");
    assert_eq!(reopened.points, run.points);
    assert_eq!(reopened.damage, JournalDamage::default());
}

#[test]
fn the_worked_example_of_the_format() {
    use super::entry::Entry;
    use super::record::{Place, Record};
    let mut record = Record::new();
    record.begin(1);
    let name = "t{device=\"a\"}";
    let identity = Identity { session: 1, packet: 7, hash: [1, 2, 3, 4, 5] };
    let point =
        |timestamp, is_late, float| Entry::Point { id: 0, is_late, timestamp, value: Value::Float(float) };
    assert!(record.put(&Entry::Series { id: 0, kind: ValueKind::Float, unit: "", name }));
    assert!(record.put(&point(1_000_000, false, 21.5)) && record.put(&point(2_000_000, true, 22.0)));
    assert!(record.put(&Entry::Identity(identity)));
    let place = Place { number: 1, epoch: 3, block: 2, lsn: 18 };
    let block = record.finish(place, false, &DEVICE);
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x} ")).collect::<String>();
    let document = include_str!("../../../../docs/format-journal.md");
    assert!(document.contains("08 00 2e 00  02 00 00 00  01 00 00 00  03 00 00 00  03 00 00 00  12 00"));
    assert_eq!(hex(&block[..20]), "08 00 2e 00 02 00 00 00 01 00 00 00 03 00 00 00 03 00 00 00 ");
    let mut payload = hex(&block[32..32 + 0x2e]);
    for line in [
        "01 00 ",
        "01 00 00 00 0d 74 7b 64 65 76 69 63 65 3d 22 61 22 7d ",
        "b1 00 02 ae 03 ",
        "f1 00 02 b8 03 ",
        "02 01 00 00 00 00 00 00 00 07 00 01 02 03 04 05 ",
    ] {
        assert!(document.contains(line.trim_end()), "{line}");
        payload = payload.strip_prefix(line).expect(line).to_string();
    }
    assert!(payload.is_empty(), "{payload}");
}

#[test]
fn the_journal_knows_whose_it_is() {
    let device = |medium: &_| super::stated(medium).map(|stated| stated.device);
    let (medium, ..) = written(7, 3);
    assert_eq!(device(&medium), Ok(Some(DEVICE)));
    let paths: Vec<String> = medium.files().into_iter().map(|(path, _)| path).collect();
    assert!(paths.iter().all(|path| medium.flip(path, 0, 50, 1)));
    assert_eq!(device(&medium), Ok(None), "a damaged id is not believed");
}
