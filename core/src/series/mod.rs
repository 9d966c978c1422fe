//! The series room.
