//! Negative controls: with any of the store's defences made void the same suites fail. One that passed would
//! prove nothing with them on.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::campaign::{Effort, Failure, campaign, replay};
use super::power::SHORT;
use super::trace::Setting;
use super::workload::DEVICE;
use crate::store::sim::Control;

/// What comes of the power cuts under a setting: a failure, or nothing where the suite passes. A panic of the
/// store is a failure, too, but one without a name.
fn outcome(setting: &Setting, effort: Effort, names: &[&str]) -> Option<Option<Box<Failure>>> {
    names.iter().find_map(|name| {
        let played = catch_unwind(AssertUnwindSafe(|| campaign(name, effort, setting)));
        match played {
            Ok(Ok(_)) => None,
            Ok(Err(failure)) => Some(Some(failure)),
            Err(_) => Some(None),
        }
    })
}

/// The suite fails under this setting, and what it names fails again when it is played again.
fn must_fail(setting: &Setting, effort: Effort) {
    let names = ["short-0", "short-1", "short-2", "long-100", "long-101"];
    let failed = outcome(setting, effort, &names).unwrap_or_else(|| panic!("{setting:?}: the suite passes"));
    let Some(failure) = failed else { return };
    eprintln!("{setting:?}: {failure}");
    let again = catch_unwind(AssertUnwindSafe(|| replay(&failure.spec, setting)));
    assert_eq!(again.ok(), Some(Err(failure.violation)), "{}", failure.spec);
}

fn control(control: Control) -> Setting {
    Setting { controls: vec![control], acknowledges_early: false }
}

#[test]
fn without_flush_the_suite_fails() {
    must_fail(&control(Control::NoFlush), SHORT);
}

#[test]
fn with_acknowledgements_before_the_flush_the_suite_fails() {
    must_fail(&Setting { controls: Vec::new(), acknowledges_early: true }, SHORT);
}

#[test]
fn without_checksums_the_suite_fails() {
    // Torn blocks are what they are for here; rotten ones are in `damage`.
    let effort = Effort { samples: 8, stride: 1, ..SHORT };
    must_fail(&control(Control::NoCrc(DEVICE)), effort);
}

#[test]
fn without_lsns_in_the_checksum_the_suite_fails() {
    must_fail(&control(Control::NoLsn(DEVICE)), SHORT);
}

#[test]
fn without_directory_syncs_the_suite_fails() {
    must_fail(&control(Control::NoSync), SHORT);
}

#[test]
fn a_failure_is_named_as_what_it_is() {
    let setting = control(Control::NoFlush);
    let failure = outcome(&setting, SHORT, &["short-0"]).flatten().expect("a failure with a name");
    assert!(failure.to_string().contains("SILTSTONE_REPLAY=\"short-0 "), "{failure}");
}
