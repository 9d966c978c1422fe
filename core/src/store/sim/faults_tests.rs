//! Each fault does what it says, once or for ever, and nothing else.

use super::{Call, Control, Fate, Fault, Random, Rot, SimError, SimMedium, View, fates_of, mask_of};
use crate::block::{BLOCK_LEN, Block, BlockHeader, BlockKind, SegmentId, open, seal};
use crate::store::device::{Device, Medium};

const ID: SegmentId = SegmentId { device: *b"sixteen bytes id", epoch: 1, number: 1 };

fn block(byte: u8) -> Block {
    [byte; BLOCK_LEN]
}

/// A medium with a device `a` of three blocks, 1, 2 and 3, durable, its name too.
fn sample() -> (SimMedium, super::SimDevice) {
    let mut medium = SimMedium::new();
    let mut device = medium.create("a").expect("create");
    for at in 0..3 {
        device.write(at, &block(at as u8 + 1)).expect("write");
    }
    device.flush().expect("flush");
    medium.sync_directory("").expect("sync");
    (medium, device)
}

fn first_byte(device: &super::SimDevice, at: u32) -> Result<u8, SimError> {
    let mut out = block(0);
    device.read(at, &mut out).map(|()| out[0])
}

/// What is there after a crash in which everything unflushed was lost.
fn durable(medium: &SimMedium) -> Vec<u8> {
    let after = medium.after_crash(&[], &mut Random::new(0));
    let blocks = after.files().iter().find(|(path, _)| path == "a").map_or(0, |(_, blocks)| *blocks);
    (0..blocks).map(|at| after.raw("a", at).expect("there")[0]).collect()
}

#[test]
fn the_nth_call_fails_once_or_for_ever() {
    for call in Call::ALL {
        for times in [1, u64::MAX] {
            let (mut medium, mut device) = sample();
            let mut run = |nth: u64| {
                let path = format!("n{nth}");
                match call {
                    Call::Read => first_byte(&device, 0).map(|_| ()),
                    Call::Look => medium.list("").map(|_| ()),
                    Call::Write => device.write(0, &block(7)),
                    Call::Length => device.set_length(3),
                    Call::Flush => device.flush(),
                    Call::Name => medium.create(&path).map(|_| ()),
                    Call::Sync => medium.sync_directory(""),
                }
            };
            run(0).expect("no fault yet");
            let medium = medium.clone();
            medium.inject(Fault::Error { call, from: medium.calls(call) + 1, times });
            let mut run = |nth: u64| {
                let mut medium = medium.clone();
                match call {
                    Call::Read => first_byte(&device, 0).map(|_| ()),
                    Call::Look => medium.list("").map(|_| ()),
                    Call::Write => device.write(0, &block(7)),
                    Call::Length => device.set_length(3),
                    Call::Flush => device.flush(),
                    Call::Name => medium.create(&format!("n{nth}")).map(|_| ()),
                    Call::Sync => medium.sync_directory(""),
                }
            };
            assert_eq!(run(1), Ok(()), "{call:?}");
            assert_eq!(run(2), Err(SimError::Io(call)));
            assert_eq!(run(3).is_ok(), times == 1, "{call:?} {times}");
            medium.mend();
            assert_eq!(run(4), Ok(()));
        }
    }
}

#[test]
fn a_bad_block_fails_alone() {
    let (medium, device) = sample();
    medium.inject(Fault::BadBlock { path: "a".into(), block: 1 });
    assert_eq!((first_byte(&device, 0), first_byte(&device, 2)), (Ok(1), Ok(3)));
    assert_eq!(first_byte(&device, 1), Err(SimError::Io(Call::Read)));
    assert_eq!(device.read(0, &mut [0; 3 * BLOCK_LEN]), Err(SimError::Io(Call::Read)));
}

#[test]
fn a_failed_flush_is_not_made_good_by_the_next() {
    for (view, seen) in [(View::Dropped, 1), (View::Kept, 9)] {
        let (medium, mut device) = sample();
        medium.inject(Fault::FlushLoses { at: medium.flushes(), view });
        device.write(0, &block(9)).expect("write");
        assert_eq!(device.flush(), Err(SimError::Io(Call::Flush)));
        assert_eq!(device.flush(), Ok(()), "the repetition says so");
        device.write(1, &block(8)).expect("write");
        device.flush().expect("flush");
        assert_eq!(first_byte(&device, 0), Ok(seen));
        assert_eq!(durable(&medium), [1, 8, 3]);
        device.write(0, &block(9)).expect("write");
        device.flush().expect("flush");
        assert_eq!(durable(&medium), [9, 8, 3], "written again it is durable");
    }
}

#[test]
fn a_full_medium_takes_nothing_more_until_there_is_room() {
    let (mut medium, mut device) = sample();
    medium.set_capacity(Some(medium.used_blocks() + 2));
    device.write(3, &block(4)).expect("the last block");
    assert_eq!(device.write(5, &block(4)), Err(SimError::NoRoom));
    device.write(0, &block(9)).expect("in place");
    medium.create("b").expect("the last name");
    assert_eq!(medium.create("c").err(), Some(SimError::NoRoom));
    assert_eq!(device.set_length(5), Err(SimError::NoRoom));
    device.set_length(3).expect("shorter");
    medium.create("c").expect("room again");
    medium.remove("b").expect("remove");
    device.set_length(4).expect("longer again");
    medium.set_capacity(None);
    medium.inject(Fault::NoRoom { from: medium.allocations() + 1, times: 1 });
    medium.create("d").expect("not yet");
    assert_eq!(medium.create("e").err(), Some(SimError::NoRoom));
    medium.create("e").expect("once only");
}

#[test]
fn a_read_only_medium_still_reads() {
    let (mut medium, mut device) = sample();
    medium.inject(Fault::ReadOnly { from: medium.operations() });
    assert_eq!(device.write(0, &block(9)), Err(SimError::ReadOnly));
    assert_eq!(medium.create("b").err(), Some(SimError::ReadOnly));
    assert_eq!(first_byte(&device, 0), Ok(1));
}

#[test]
fn flushes_and_syncs_lie_while_they_are_told_to() {
    let (mut medium, mut device) = sample();
    let flush = medium.flushes();
    medium.inject(Fault::FlushLies { flushes: flush..flush + 1 });
    medium.inject(Fault::SyncLies { syncs: 0..u64::MAX });
    device.write(0, &block(9)).expect("write");
    device.flush().expect("it lies");
    medium.remove("a").expect("remove");
    medium.sync_directory("").expect("it lies");
    assert_eq!(durable(&medium), [1, 2, 3]);
    device.flush().expect("an honest one");
    assert_eq!(durable(&medium), [9, 2, 3]);
    medium.control(Control::NoFlush);
    let after = medium.after_crash(&[], &mut Random::new(0));
    let mut again = after.open("a").expect("on").expect("there");
    again.write(0, &block(7)).expect("write");
    again.flush().expect("it lies");
    assert_eq!(durable(&after), [9, 2, 3], "a control outlives the crash");
}

#[test]
fn writes_go_astray() {
    let (medium, mut device) = sample();
    let write = medium.blocks_written();
    medium.inject(Fault::SilentWrite { at: write });
    medium.inject(Fault::MisdirectedWrite { at: write + 1 });
    device.write(0, &block(9)).expect("it says so");
    assert_eq!(medium.pending(), 0);
    device.write(0, &block(8)).expect("it says so");
    let seen: Vec<u8> = (0..3).map(|at| medium.raw("a", at).expect("there")[0]).collect();
    assert!(seen[0] == 1 && (seen == [1, 8, 3] || seen == [1, 2, 8]), "{seen:?}");
    medium.inject(Fault::NeighbourDamage { at: write + 2, erase_blocks: 2 });
    let before = medium.raw("a", 0).expect("there");
    device.write(1, &block(5)).expect("write");
    assert_eq!(medium.raw("a", 1), Some(block(5)));
    assert_ne!(medium.raw("a", 0), Some(before), "its neighbour");
    assert_eq!(medium.raw("a", 2).expect("there")[0], seen[2], "the next erase block");
}

#[test]
fn reads_go_astray_once() {
    let (medium, mut device) = sample();
    device.write(2, &block(9)).expect("write");
    let read = medium.blocks_read();
    medium.inject(Fault::MisdirectedRead { at: read });
    medium.inject(Fault::StaleRead { at: read + 2 });
    medium.inject(Fault::RotOnRead { at: read + 4, rot: Rot::Byte });
    let other = first_byte(&device, 0);
    assert!(matches!(other, Ok(2 | 9)), "{other:?}");
    assert_eq!((first_byte(&device, 0), first_byte(&device, 2)), (Ok(1), Ok(3)));
    assert_eq!(first_byte(&device, 2), Ok(9));
    let mut out = block(0);
    device.read(1, &mut out).expect("read");
    assert_eq!(out.iter().filter(|byte| **byte != 2).count(), 1);
    assert_eq!(medium.raw("a", 1), Some(block(2)));
}

#[test]
fn rot_is_as_large_as_it_says() {
    let mut random = Random::new(4);
    for (rot, bytes) in Rot::ALL.into_iter().zip([1, 1, 512, BLOCK_LEN]) {
        let (medium, _) = sample();
        assert!(medium.spoil("a", 1, rot, &mut random));
        let spoiled = medium.raw("a", 1).expect("there");
        assert_eq!(spoiled.iter().filter(|byte| **byte != 2).count(), bytes, "{rot:?}");
        assert_eq!(durable(&medium)[0], 1);
    }
}

#[test]
fn a_length_may_come_without_its_data() {
    let (medium, mut device) = sample();
    device.write(4, &block(9)).expect("write");
    let after = medium.after_crash(&[Fate::SizeOnly], &mut Random::new(0));
    assert_eq!(after.files(), [("a".into(), 5)]);
    assert_eq!(after.raw("a", 4), Some(block(0)));
}

#[test]
fn forged_checksums_pass() {
    let mut medium = SimMedium::new();
    let mut device = medium.create("a").expect("create");
    let header = BlockHeader {
        kind: BlockKind::JournalHeader,
        flags: 0,
        payload_len: 3,
        block: 0,
        number: 1,
        epoch: 1,
        write_epoch: 1,
        lsn: 70,
    };
    let mut bytes = block(5);
    seal(&mut bytes, &header, &ID.device);
    device.write(0, &bytes).expect("write");
    let record = BlockHeader { kind: BlockKind::JournalRecord, block: 1, lsn: 3, ..header };
    seal(&mut bytes, &record, &ID.device);
    device.write(1, &bytes).expect("write");
    assert!(medium.flip("a", 0, 33, 1));
    let read = |at| {
        let mut out = block(0);
        device.read(at, &mut out).expect("read");
        open(&out, &ID, at).map(|(header, payload)| (header.lsn, payload.to_vec()))
    };
    assert!(read(0).is_err());
    medium.control(Control::NoCrc(ID.device));
    assert_eq!(read(0), Ok((70, vec![5, 4, 5])));
    medium.control(Control::NoLsn(ID.device));
    assert_eq!(read(1), Ok((71, vec![5, 5, 5])));
}

#[test]
fn time_and_wear_are_counted() {
    let (medium, mut device) = sample();
    let begin_ns = medium.clock_ns();
    device.flush().expect("flush");
    let quick_ns = medium.clock_ns() - begin_ns;
    medium.inject(Fault::SlowFlush { ns: 5_000_000_000 });
    device.flush().expect("flush");
    assert!(quick_ns > 0 && medium.clock_ns() - begin_ns > 5_000_000_000);
    device.write(0, &block(1)).expect("write");
    let wear = medium.wear();
    assert_eq!(wear[&("a".into(), 1)], 2);
    assert_eq!((wear.len(), medium.blocks_written()), (3, 4));
}

#[test]
fn moments_are_what_a_cut_there_leaves() {
    let play = |medium: &SimMedium| -> Result<(), SimError> {
        let mut medium = medium.clone();
        let mut device = medium.create("a")?;
        device.write(0, &block(1))?;
        device.flush()?;
        medium.sync_directory("")?;
        device.write(0, &block(2))
    };
    let whole = SimMedium::new();
    whole.remember_moments();
    play(&whole).expect("the power is on");
    assert_eq!(whole.moments() as u64, whole.operations());
    for at in 0..whole.moments() {
        let cut = SimMedium::new();
        cut.cut_power_at(at as u64);
        assert_eq!(play(&cut), Err(SimError::PowerCut));
        let moment = whole.moment(at).expect("a moment");
        assert_eq!(moment.pending(), cut.pending(), "operation {at}");
        assert_eq!(durable(&moment), durable(&cut));
        assert_eq!(moment.open("a").err(), Some(SimError::PowerCut));
    }
    assert!(whole.moment(whole.moments()).is_none());
}

#[test]
fn masks_come_back() {
    for mask in ["-", "a", "lasl", "atonzroooolt" /* cut short */, "x"] {
        let fates = fates_of(mask);
        assert_eq!(fates.is_some(), !["atonzroooolt", "x"].contains(&mask), "{mask}");
        assert_eq!(fates.map_or(mask.into(), |fates| mask_of(&fates)), mask);
    }
    assert_eq!(fates_of("tonzrofzr").map(|fates| mask_of(&fates)), Some("tonzrofzr".into()));
}
