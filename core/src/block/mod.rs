//! The block room.
