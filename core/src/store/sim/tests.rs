//! The simulated medium keeps its promises, breaks everything else, and the oracle notices.

use super::{Control, Fate, Oracle, OwnedValue, Random, Sector, SimError, SimMedium, Violation, fates};
use crate::block::{BLOCK_LEN, Block};
use crate::point::Value;
use crate::store::device::{Device, Medium};

fn block(byte: u8) -> Block {
    [byte; BLOCK_LEN]
}

fn first_byte(medium: &SimMedium, path: &str, at: u32) -> Option<u8> {
    let device = medium.open(path).expect("power is on")?;
    let mut out = block(0);
    device.read(at, &mut out).ok()?;
    Some(out[0])
}

/// A device `a` with block 0 durable as 1, then overwritten with 2 and extended by a block of 3.
fn sample() -> SimMedium {
    let mut medium = SimMedium::new();
    let mut device = medium.create("a").expect("create");
    device.write(0, &block(1)).expect("write");
    device.flush().expect("flush");
    medium.sync_directory("").expect("sync");
    device.write(0, &block(2)).expect("write");
    device.write(1, &block(3)).expect("write");
    medium
}

#[test]
fn flushed_blocks_survive_and_unflushed_ones_may_not() {
    let medium = sample();
    let mut random = Random::new(1);
    assert_eq!(medium.pending(), 2);
    let lost = medium.after_crash(&[], &mut random);
    assert_eq!((first_byte(&lost, "a", 0), first_byte(&lost, "a", 1)), (Some(1), None));
    // Reordered: the later write is there, the earlier is not.
    let reordered = medium.after_crash(&[Fate::Lost, Fate::Applied], &mut random);
    assert_eq!((first_byte(&reordered, "a", 0), first_byte(&reordered, "a", 1)), (Some(1), Some(3)));
    // The world that crashed is left as it was.
    assert_eq!(first_byte(&medium, "a", 0), Some(2));
}

#[test]
fn sectors_are_torn_one_by_one() {
    let medium = sample();
    use Sector::{New, Old, Random as Noise, Zero};
    let fate = Fate::Torn([Old, New, Zero, Noise, Old, New, Zero, Noise]);
    let torn = medium.after_crash(&[fate, Fate::Lost], &mut Random::new(7));
    let mut out = block(0);
    torn.open("a").expect("on").expect("there").read(0, &mut out).expect("read");
    assert_eq!([out[0], out[512], out[1024], out[2048], out[2560]], [1, 2, 0, 1, 2]);
    assert!(out[1536..2048].iter().any(|byte| *byte > 2), "random sector");
}

#[test]
fn names_need_their_directory_synced() {
    let mut medium = SimMedium::new();
    medium.create_directory("d").expect("directory");
    medium.sync_directory("").expect("sync");
    let mut device = medium.create("d/x.part").expect("create");
    device.write(0, &block(9)).expect("write");
    device.flush().expect("flush");
    medium.rename("d/x.part", "d/x").expect("rename");
    let mut random = Random::new(3);
    assert!(medium.after_crash(&[], &mut random).files().is_empty());
    let only_rename = medium.after_crash(&[Fate::Lost, Fate::Applied], &mut random);
    assert_eq!(first_byte(&only_rename, "d/x", 0), Some(9));
    medium.sync_directory("d").expect("sync");
    let synced = medium.after_crash(&[], &mut random);
    assert_eq!((first_byte(&synced, "d/x", 0), first_byte(&synced, "d/x.part", 0)), (Some(9), None));
}

#[test]
fn the_power_goes_where_it_was_told_to() {
    let mut medium = SimMedium::new();
    medium.cut_power_at(2);
    let mut device = medium.create("a").expect("operation 0");
    device.write(0, &block(1)).expect("operation 1");
    assert_eq!(device.flush(), Err(SimError::PowerCut));
    assert_eq!(device.write(0, &block(2)), Err(SimError::PowerCut));
    assert_eq!(medium.open("a").err(), Some(SimError::PowerCut));
    assert_eq!(medium.pending(), 2, "the flush did not happen");
    let back = medium.after_crash(&[Fate::Applied, Fate::Applied], &mut Random::new(0));
    assert_eq!(first_byte(&back, "a", 0), Some(1));
}

#[test]
fn a_broken_flush_keeps_nothing() {
    let mut medium = SimMedium::new();
    medium.control(Control::NoFlush);
    let mut device = medium.create("a").expect("create");
    device.write(0, &block(1)).expect("write");
    device.flush().expect("it lies");
    medium.sync_directory("").expect("sync");
    let back = medium.after_crash(&[], &mut Random::new(0));
    assert_eq!((first_byte(&back, "a", 0), back.files().len()), (None, 1));
}

#[test]
fn few_operations_are_enumerated_and_many_sampled() {
    let mut random = Random::new(5);
    let all = fates(3, 4, 8, &mut random);
    let untorn = all.iter().filter(|f| f.iter().all(|x| !matches!(x, Fate::Torn(_)))).count();
    assert!(untorn >= 8, "{untorn}");
    assert!(all.len() >= 8 + 14 + 3);
    assert!(fates(200, 4, 8, &mut random).len() < 100);
    assert_eq!(fates(0, 4, 8, &mut random).len(), 1);
}

#[test]
fn the_last_write_tears_after_each_sector_from_either_side_and_into_everything() {
    let mut random = Random::new(6);
    let torn: Vec<_> = fates(3, 12, 32, &mut random)
        .into_iter()
        .filter_map(|fates| match (fates[0], fates[1], fates[2]) {
            (Fate::Applied, Fate::Applied, Fate::Torn(sectors)) => Some(sectors),
            _ => None,
        })
        .collect();
    for cut in 1..=8 {
        let front = core::array::from_fn(|at| if at < cut { Sector::New } else { Sector::Old });
        let back = core::array::from_fn(|at| if at < 8 - cut { Sector::Old } else { Sector::New });
        assert!(torn.contains(&front) && torn.contains(&back), "{cut}");
    }
    assert!(torn.len() >= 16 + 32, "{}", torn.len());
    for kind in [Sector::Old, Sector::New, Sector::Zero, Sector::Ones, Sector::Random] {
        assert!(torn.iter().skip(16).filter(|sectors| sectors.contains(&kind)).count() > 8, "{kind:?}");
    }
    let ones = crate::block::BLOCK_LEN / 8;
    let mut medium = SimMedium::new();
    medium.create("a").expect("create").write(0, &block(1)).expect("write");
    let mut sectors = [Sector::New; 8];
    sectors[3] = Sector::Ones;
    let back =
        medium.after_crash(&[Fate::Applied, Fate::Torn(sectors)], &mut random).raw("a", 0).expect("there");
    assert_eq!(back.iter().position(|byte| *byte == 0xFF), Some(3 * ones));
    assert_eq!(back.iter().filter(|byte| **byte == 0xFF).count(), ones);
}

#[test]
fn the_oracle_notices_every_kind_of_fault() {
    let mut oracle = Oracle::new();
    oracle.write("s", 1, Value::Float(0.0));
    oracle.write("s", 1, Value::Float(1.0));
    oracle.acknowledge();
    oracle.write("s", 1, Value::Float(2.0));
    oracle.write("s", 2, Value::Gap);
    let float = |f: f64| OwnedValue::Float(f.to_bits());
    let check = |points: &[(i64, OwnedValue)]| {
        oracle.check(points.iter().map(|(at, value)| ("s".into(), *at, value.clone())))
    };
    assert_eq!(check(&[(1, float(1.0))]), Ok(()));
    assert_eq!(check(&[(1, float(2.0)), (2, OwnedValue::Gap)]), Ok(()));
    assert_eq!(check(&[]), Err(Violation::Lost("s".into(), 1)));
    assert_eq!(check(&[(1, float(0.0))]), Err(Violation::Wrong("s".into(), 1, float(0.0))));
    assert_eq!(check(&[(1, float(-0.0))]), Err(Violation::Wrong("s".into(), 1, float(-0.0))));
    assert_eq!(check(&[(1, float(1.0)), (1, float(1.0))]), Err(Violation::Twice("s".into(), 1)));
    assert_eq!(
        check(&[(1, float(1.0)), (3, OwnedValue::Gap)]),
        Err(Violation::Invented("s".into(), 3, OwnedValue::Gap))
    );
    // What a killed process did not acknowledge is never acknowledged by the next one.
    oracle.restart();
    oracle.acknowledge();
    let check = |points: &[(i64, OwnedValue)]| {
        oracle.check(points.iter().map(|(at, value)| ("s".into(), *at, value.clone())))
    };
    assert_eq!(check(&[(1, float(1.0))]), Ok(()));
    assert_eq!(check(&[(1, float(2.0)), (2, OwnedValue::Gap)]), Ok(()));
}
