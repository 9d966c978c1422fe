//! Bytes that nobody meant, for every decoder: each gives an answer or an error, in bounded time and memory.
//!
//! A target is a function over any bytes; it panics where a decoder's promise is broken. Inputs come from the
//! corpus in `fuzz/corpus/` (made by [`seeds`], plus what was found) and a seeded mutator, so that a run is
//! repeated by its seed. `cargo test -p siltstone-fuzz` replays the corpus and some changes of it in seconds;
//! `cargo run --release -p siltstone-fuzz -- --minutes 100` goes on for longer, and where it stopped.
//!
//! | file | idea |
//! | --- | --- |
//! | `targets` | what is tried, one file a kind |
//! | `mutator` | from an input of the corpus to another one |
//! | `corpus` | the inputs kept in files |
//! | `seeds` | the inputs that the corpus began with |
//! | `trial` | one input under one target: panics and memory |

pub mod corpus;
pub mod mutator;
pub mod seeds;
pub mod targets;
pub mod trial;
