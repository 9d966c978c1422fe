//! Negative controls: with any of the store's defences made void the same suites fail, and with the violation that
//! this defence is there to prevent. One that passed, or failed with anything else, would prove nothing with them on.
//!
//! Whatever a control finds is right again at the same place with the defence on. A panic fails the control
//! itself: even on such media the store has no business to panic. The controls of other suites are in their
//! files: rotten blocks in `damage`, wrong acknowledgements in `failing`, ranks in `disorder`, clocks in `clocks`.

use super::campaign::{Effort, Failure, hunt, replay};
use super::check::Tried;
use super::power::SHORT;
use super::trace::Setting;
use super::workload::DEVICE;
use crate::store::sim::{Control, Violation};

/// What is played, until something is found.
const NAMES: [&str; 5] = ["short-0", "short-1", "short-2", "long-100", "long-101"];

/// What a violation is to a control.
#[derive(PartialEq, Eq)]
enum Kind {
    /// What the missing defence is there to prevent.
    Provoked,
    /// What may come with it: the suite goes on behind it.
    Besides,
    /// Something else: the control is no good.
    Foreign,
}

/// The first failure that is provoked; panics where there is none, or something else comes before it.
fn provoked(setting: &Setting, effort: Effort, kind: fn(&Violation) -> Kind) -> Box<Failure> {
    let mut besides = 0;
    for name in NAMES {
        let mut is_end = |failure: &Failure| {
            let kind = kind(&failure.violation);
            besides += u32::from(kind == Kind::Besides);
            kind != Kind::Besides
        };
        let Some(failure) = hunt(name, effort, setting, &mut Tried::default(), &mut is_end) else { continue };
        let is_provoked = kind(&failure.violation) == Kind::Provoked;
        assert!(is_provoked, "{setting:?} has nothing to do with this: {failure}");
        eprintln!("{setting:?}: {failure}, {besides} others before it");
        return failure;
    }
    panic!("{setting:?}: the suite passes, but for {besides} violations of other kinds")
}

/// The suite fails under this setting as it should, fails again where it says, and is right there without it.
fn must_fail(setting: &Setting, effort: Effort, kind: fn(&Violation) -> Kind) {
    let failure = provoked(setting, effort, kind);
    let again = replay(&failure.spec, setting);
    assert_eq!(again.err().as_ref(), Some(&failure.violation), "{}", failure.spec);
    assert_eq!(replay(&failure.spec, &Setting::default()), Ok(()), "{} with all defences", failure.spec);
}

fn control(control: Control) -> Setting {
    Setting { controls: vec![control], ..Setting::default() }
}

/// Files that the store relies on are not there, or not whole.
fn is_of_missing_files(text: &str) -> bool {
    text.contains("was set aside") || text.contains("a segment counts as it")
}

#[test]
fn without_flush_acknowledged_points_are_lost() {
    must_fail(&control(Control::NoFlush), SHORT, |violation| match violation {
        Violation::Lost(..) => Kind::Provoked,
        Violation::Refused(text) if is_of_missing_files(text) => Kind::Besides,
        Violation::Unreadable(_) => Kind::Besides,
        _ => Kind::Foreign,
    });
}

#[test]
fn with_acknowledgements_before_the_flush_acknowledged_points_are_lost() {
    let setting = Setting { acknowledges_early: true, ..Setting::default() };
    must_fail(&setting, SHORT, |violation| match violation {
        Violation::Lost(..) => Kind::Provoked,
        _ => Kind::Foreign,
    });
}

#[test]
fn without_checksums_torn_blocks_are_taken_for_good() {
    let effort = Effort { samples: 8, stride: 1, ..SHORT };
    must_fail(&control(Control::NoCrc(DEVICE)), effort, |violation| match violation {
        Violation::Wrong(..) | Violation::Invented(..) => Kind::Provoked,
        Violation::Differs(..) | Violation::Twice(..) => Kind::Foreign,
        // What a torn block says is not only wrong values.
        _ => Kind::Besides,
    });
}

#[test]
fn without_lsns_in_the_checksum_an_earlier_round_of_the_ring_is_replayed() {
    must_fail(&control(Control::NoLsn(DEVICE)), SHORT, |violation| match violation {
        Violation::Lost(..) | Violation::Wrong(..) => Kind::Provoked,
        _ => Kind::Foreign,
    });
}

#[test]
fn without_directory_syncs_acknowledged_points_are_lost() {
    must_fail(&control(Control::NoSync), SHORT, |violation| match violation {
        Violation::Lost(..) => Kind::Provoked,
        Violation::Refused(text) if is_of_missing_files(text) => Kind::Besides,
        _ => Kind::Foreign,
    });
}

#[test]
fn a_failure_is_named_as_what_it_is() {
    let setting = control(Control::NoFlush);
    let mut tried = Tried::default();
    let failure = hunt("short-0", SHORT, &setting, &mut tried, &mut |_| true).expect("a failure");
    assert!(failure.to_string().contains("SILTSTONE_REPLAY=\"short-0 "), "{failure}");
}
