//! The engine against naive twins: every point in a map, every answer recomputed from it.

mod answers;
mod cost;
mod damage;
mod library;
pub(crate) mod naive;
mod world;
mod written;
