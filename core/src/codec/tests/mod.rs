//! Suites over whole chunks, by question.

mod corruption;
mod examples;
mod generate;
mod round_trip;
