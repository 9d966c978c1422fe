//! Whether what is stored is whole: core's verifier over files, once on demand or slowly in the background.
//!
//! Nothing here moves, changes or deletes a file of the store.
//!
//! | file | idea |
//! | --- | --- |
//! | `segment` | a block file |
//! | `journal` | `store.id` and the ring of journal files |
//! | `ledger` | how far the scrub got, kept in `state/` |
//! | `scrub` | one file after another, at a bounded pace |

mod journal;
mod ledger;
mod scrub;
mod segment;

pub(crate) use journal::verify_journal;
pub(crate) use scrub::{Scrub, ScrubOptions};
pub(crate) use segment::{Seen, verify_segment};
