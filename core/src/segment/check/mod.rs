//! The verifier: whether a segment is whole, block by block, chunk by chunk and summary by summary.
//!
//! It does no I/O: [`Check::step`] says which blocks it wants, gives a [`Fault`], or is done. Nothing is trusted;
//! what does not open is a fault with its block, and the check goes on. Memory is bounded by
//! [`CHUNKS_MAX`] chunks, and besides by 40 bytes a series and 16 a node of the lowest level.
//!
//! | file | idea |
//! | --- | --- |
//! | `fault` | what can be wrong, and where |
//! | `facts` | a summary in a form that can be compared and kept |
//! | `chunks` | chunks that were decoded and are still to be compared |
//! | `tallies` | what is counted for each series |
//! | `machine` | the steps, from opening to the last sum |
//! | `tree_pass` | roots and inner nodes; references against chunks |
//! | `block_pass` | every block in the order of the file |
//! | `name_pass` | catalog, index, roots and definitions against each other |

mod block_pass;
mod chunks;
mod facts;
mod fault;
mod machine;
mod name_pass;
mod tallies;
mod tree_pass;

#[cfg(test)]
pub(in crate::segment) mod tests;

pub use chunks::CHUNKS_MAX;
pub use fault::{Fault, What};
pub use machine::{Check, CheckReport, CheckStep};
