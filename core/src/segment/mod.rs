//! The segment room.
