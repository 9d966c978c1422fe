//! The engine of a running agent: one store, written by one thread and asked by many.
//!
//! It joins the store of core with files, and answers what HTTP asks. Questions take a snapshot
//! under the lock and read the files without it, so that a long question does not hold up a commit.
//!
//! | file | idea |
//! | --- | --- |
//! | `live` | the open store: append, commit, seal, open again after a failure |
//! | `found` | what an opening found, for the log and the health document |
//! | `shelves` | snapshots as shelves; what is kept between questions |
//! | `wear` | what is written to the card, by cause and a day |
//! | `closed` | a store that can't be opened for now: its files as they are |
//! | `service` | the answers to HTTP |

mod closed;
mod found;
mod live;
mod service;
mod shelves;
mod wear;

pub(crate) use found::report;
pub use live::{Engine, EngineError, look};
pub(crate) use live::{StoreCatalog, UNACKNOWLEDGED_MAX};
pub use service::{AgentService, HealthPart, OpenStore};
pub use wear::{measured_json, measured_words};
