//! A simulated medium that loses power, and the oracle that says what must be there afterwards.
//!
//! Everything is deterministic from one `u64` seed. A [`SimMedium`] keeps for every device what is
//! durable and what was done since, cuts power at any operation, and then lets a list of [`Fate`]s
//! decide for each unflushed operation whether it happened, was lost, or was torn at sectors of 512
//! bytes. It obeys the promises of [`super::device`] and nothing more. The negative control is
//! [`SimMedium::break_flush`]: flushes then say `Ok` and do nothing, and a suite that still passes is
//! no suite. For tests only: feature `sim`.
//!
//! | file | idea |
//! | --- | --- |
//! | `world` | devices, names, and what was done to them since they were last durable |
//! | `medium` | the store's traits over a world that several handles share |
//! | `crash` | which of the unflushed operations happened: fates, and how to enumerate them |
//! | `oracle` | a map of every point ever written, and what may be read back |
//! | `random` | the seeded numbers |

mod crash;
mod medium;
mod oracle;
mod random;
mod world;

pub use crate::store::owned_value::OwnedValue;
pub use crash::{Fate, Sector, fates};
pub use medium::{SimDevice, SimError, SimMedium};
pub use oracle::{Oracle, Violation};
pub use random::Random;

#[cfg(test)]
mod tests;
