//! Suites over whole chunks, by question.

mod corruption;
mod generate;
mod round_trip;
