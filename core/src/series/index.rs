//! The number of a series inside one segment.

/// A dense number of a series inside one segment: its position in the segment's catalog.
///
/// It means nothing outside that segment; across segments the canonical name is the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesIndex(pub u32);
