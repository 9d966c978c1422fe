//! Which filters the broker holds and which it should: a state machine without I/O.
//!
//! What the broker has acknowledged is remembered across restarts, because a session that is
//! present does not prove that our filters are in it. After a CONNACK without session nothing is
//! held; with one, only the difference is asked for, since a repeated SUBSCRIBE replays every
//! retained message. A filter counts only after its SUBACK. Refused ones are asked for again, each
//! time later.

use std::collections::BTreeSet;
use std::time::Duration;

use super::link::Grant;

/// A SUBSCRIBE without answer, or with a refusal, is repeated after this long.
const RETRY_FIRST: Duration = Duration::from_secs(5);
/// The wait doubles up to this.
const RETRY_LAST: Duration = Duration::from_secs(300);

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Write the acknowledged filters down before anything else.
    Persist,
    /// Ask for these filters.
    Subscribe(Vec<String>),
    /// Give these up.
    Unsubscribe(Vec<String>),
    /// Call [`Subscriptions::retry`] after this long.
    RetryAfter(Duration),
    /// Tell people that a filter was refused, and why.
    Report(String),
}

/// The state of one session's filters.
#[derive(Clone, Debug)]
pub(super) struct Subscriptions {
    wanted: Vec<String>,
    acknowledged: BTreeSet<String>,
    /// Filters of the SUBSCRIBE that is on its way, with its packet id once it went out.
    asked: Option<(Vec<String>, Option<u16>)>,
    /// Filters of UNSUBSCRIBEs on their way, likewise.
    given_up: Vec<(String, Option<u16>)>,
    wait: Duration,
}

impl Subscriptions {
    pub(super) fn new(wanted: Vec<String>, acknowledged: impl IntoIterator<Item = String>) -> Self {
        Self {
            wanted,
            acknowledged: acknowledged.into_iter().collect(),
            asked: None,
            given_up: Vec::new(),
            wait: RETRY_FIRST,
        }
    }

    /// The same, believing only in what was written down.
    pub(super) fn restarted(&self, acknowledged: BTreeSet<String>) -> Self {
        Self::new(self.wanted.clone(), acknowledged)
    }

    /// The filters that the broker holds for us.
    pub(super) fn acknowledged(&self) -> &BTreeSet<String> {
        &self.acknowledged
    }

    /// The same, for people.
    pub(super) fn acknowledged_words(&self) -> String {
        self.acknowledged.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// Whether the broker has acknowledged every filter.
    pub(super) fn is_complete(&self) -> bool {
        self.wanted.iter().all(|filter| self.acknowledged.contains(filter))
    }

    /// A connection stands.
    pub(super) fn connected(&mut self, session_present: bool) -> Vec<Action> {
        self.asked = None;
        self.wait = RETRY_FIRST;
        let mut actions = Vec::new();
        if !session_present {
            self.acknowledged.clear();
        }
        let removed: Vec<_> =
            self.acknowledged.iter().filter(|filter| !self.wanted.contains(filter)).cloned().collect();
        // Held until their UNSUBACK: if that is lost, the next connection asks again.
        self.given_up = removed.iter().map(|filter| (filter.clone(), None)).collect();
        if !removed.is_empty() {
            actions.push(Action::Unsubscribe(removed));
        }
        actions.extend(self.ask());
        actions
    }

    /// Asks for what is missing.
    fn ask(&mut self) -> Vec<Action> {
        let missing: Vec<_> =
            self.wanted.iter().filter(|filter| !self.acknowledged.contains(*filter)).cloned().collect();
        if missing.is_empty() {
            return Vec::new();
        }
        self.asked = Some((missing.clone(), None));
        let wait = self.wait;
        self.wait = (wait * 2).min(RETRY_LAST);
        vec![Action::Subscribe(missing), Action::RetryAfter(wait)]
    }

    /// The SUBSCRIBE went out.
    pub(super) fn sent(&mut self, packet_id: u16) {
        if let Some((_, id @ None)) = &mut self.asked {
            *id = Some(packet_id);
        }
    }

    /// A SUBACK came.
    pub(super) fn answered(&mut self, packet_id: u16, grants: &[Grant]) -> Vec<Action> {
        let Some((filters, _)) = self.asked.take_if(|(_, id)| *id == Some(packet_id)) else {
            return Vec::new();
        };
        let mut actions = Vec::new();
        let mut news = false;
        for (filter, grant) in filters.into_iter().zip(grants) {
            match grant {
                Grant::Qos(_) => news |= self.acknowledged.insert(filter),
                Grant::Refused(reason) => {
                    actions
                        .push(Action::Report(format!("the broker refuses the filter `{filter}`: {reason}")));
                }
            }
        }
        if news {
            actions.insert(0, Action::Persist);
        }
        actions
    }

    /// The next UNSUBSCRIBE went out.
    pub(super) fn unsubscribe_sent(&mut self, packet_id: u16) {
        if let Some((_, id)) = self.given_up.iter_mut().find(|(_, id)| id.is_none()) {
            *id = Some(packet_id);
        }
    }

    /// An UNSUBACK came.
    pub(super) fn unsubscribe_answered(&mut self, packet_id: u16) -> Vec<Action> {
        let Some(index) = self.given_up.iter().position(|(_, id)| *id == Some(packet_id)) else {
            return Vec::new();
        };
        let (filter, _) = self.given_up.remove(index);
        self.acknowledged.remove(&filter);
        vec![Action::Persist]
    }

    /// The time of a [`Action::RetryAfter`] is over.
    pub(super) fn retry(&mut self) -> Vec<Action> {
        self.ask()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Action, Subscriptions};
    use crate::mqtt::Grant;

    fn texts(filters: &[&str]) -> Vec<String> {
        filters.iter().map(|filter| (*filter).to_owned()).collect()
    }

    #[test]
    fn a_new_session_gets_all_filters_and_believes_only_the_suback() {
        let mut subscriptions = Subscriptions::new(texts(&["a/#", "b"]), []);
        assert_eq!(
            subscriptions.connected(false),
            [Action::Subscribe(texts(&["a/#", "b"])), Action::RetryAfter(Duration::from_secs(5))]
        );
        subscriptions.sent(7);
        assert!(subscriptions.acknowledged().is_empty());
        assert_eq!(subscriptions.answered(6, &[Grant::Qos(1), Grant::Qos(1)]), [], "another packet's answer");
        assert_eq!(subscriptions.answered(7, &[Grant::Qos(1), Grant::Qos(0)]), [Action::Persist]);
        assert_eq!(subscriptions.acknowledged().len(), 2);
        assert_eq!(subscriptions.retry(), []);
    }

    #[test]
    fn a_present_session_is_asked_only_for_the_difference() {
        let mut same = Subscriptions::new(texts(&["a"]), texts(&["a"]));
        assert_eq!(same.connected(true), []);
        let mut changed = Subscriptions::new(texts(&["a", "c"]), texts(&["a", "b"]));
        assert_eq!(
            changed.connected(true),
            [
                Action::Unsubscribe(texts(&["b"])),
                Action::Subscribe(texts(&["c"])),
                Action::RetryAfter(Duration::from_secs(5))
            ]
        );
        changed.unsubscribe_sent(4);
        assert!(changed.acknowledged().contains("b"), "held until the UNSUBACK");
        assert_eq!(changed.unsubscribe_answered(5), []);
        assert_eq!(changed.unsubscribe_answered(4), [Action::Persist]);
        assert!(!changed.acknowledged().contains("b"));
        // A present session whose SUBACK was never seen proves nothing.
        let mut unproven = Subscriptions::new(texts(&["a"]), []);
        assert!(unproven.connected(true).contains(&Action::Subscribe(texts(&["a"]))));
    }

    #[test]
    fn a_lost_session_holds_nothing() {
        let mut subscriptions = Subscriptions::new(texts(&["a"]), texts(&["a"]));
        let actions = subscriptions.connected(false);
        assert!(subscriptions.acknowledged().is_empty());
        assert!(actions.contains(&Action::Subscribe(texts(&["a"]))));
    }

    #[test]
    fn refused_and_unanswered_filters_are_asked_for_again_later_and_later() {
        let mut subscriptions = Subscriptions::new(texts(&["a", "secret"]), []);
        subscriptions.connected(false);
        subscriptions.sent(1);
        let actions = subscriptions.answered(1, &[Grant::Qos(1), Grant::Refused("code 0x80".to_owned())]);
        assert_eq!(
            actions,
            [Action::Persist, Action::Report("the broker refuses the filter `secret`: code 0x80".to_owned())]
        );
        for seconds in [10, 20, 40, 80, 160, 300, 300] {
            assert_eq!(
                subscriptions.retry(),
                [Action::Subscribe(texts(&["secret"])), Action::RetryAfter(Duration::from_secs(seconds))]
            );
        }
    }
}
