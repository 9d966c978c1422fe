//! The command line: what can be said, and one file a command.
//!
//! Answers go to standard output, everything else to standard error; a failure is one sentence there
//! and exit code 1 (2 for a command that can't be understood).
//!
//! | file | idea |
//! | --- | --- |
//! | `arguments` | commands and options |
//! | `dispatch` | from a command to its file, and from a failure to an exit code |
//! | `input` | what is to be read: a store, files, addresses |
//! | `import` | CSV into a store |
//! | `query` | one question |
//! | `export` | readings as CSV |
//! | `seal` | complete files |
//! | `delete` | series, for ever |
//! | `inspect` | what a file is made of |
//! | `verify` | whether files and stores are whole |
//! | `repair` | a good copy of a damaged file |
//! | `new_id` | a device id of its own for a cloned store |
//! | `walk` | block files block by block, for `inspect` |
//! | `progress` | how far a long command has got |

mod arguments;
mod delete;
mod dispatch;
mod export;
mod import;
mod input;
mod inspect;
mod new_id;
mod progress;
mod query;
mod repair;
mod seal;
mod verify;
mod walk;

pub use arguments::Arguments;
pub use dispatch::run;
