//! The index room.
