//! The tree room.
