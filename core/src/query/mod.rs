//! The query room.
