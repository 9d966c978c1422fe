//! Tests of the segment room: everything that was appended is there again, sealed or not, and damage shows.

mod corruption;
pub(super) mod harness;
mod round_trip;
