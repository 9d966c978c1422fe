//! The browser engine: a skin over `siltstone-core` for the dashboard's worker.
//!
//! It turns types of the engine into types of JavaScript and back, and computes nothing. Like the engine
//! it never reads: a [`Engine`] runs *jobs* in steps, each step says which blocks it needs, and whoever
//! calls fetches and feeds them. Jobs open a segment, list the series of all open segments, or ask one
//! question of them.
//!
//! | file | idea |
//! | --- | --- |
//! | `engine` | the class that JavaScript sees: jobs by number |
//! | `shelf` | the open segments, by device |
//! | `opening` | a job that opens a segment, sealed or not |
//! | `listing` | a job that lists series |
//! | `asking` | a job that answers a question |
//! | `table` | rows as columns of typed arrays |
//! | `fault` | what went wrong, as the page tells it apart |
//! | `pattern` | the browser's regular expressions |

mod asking;
mod engine;
mod fault;
mod listing;
mod opening;
mod pattern;
mod shelf;
mod table;

pub use engine::{Engine, Series};
pub use table::Table;
