//! A simulated medium that loses power and does wrong, and the oracle that says what must be there afterwards.
//!
//! Everything is deterministic from one `u64` seed. A [`SimMedium`] keeps for every device what is
//! durable and what was done since, cuts power at any operation, and then lets a list of [`Fate`]s
//! decide for each unflushed operation whether it happened, was lost, or was torn at sectors of 512
//! bytes. Beyond the promises of `device` it does wrong only where a [`Fault`] says so. The
//! negative controls are [`Control`]s: each makes one of the store's defences void, and a suite that
//! still passes is no suite. For tests only: feature `sim`.
//!
//! | file | idea |
//! | --- | --- |
//! | `world` | devices, names, and what was done to them since they were last durable |
//! | `fault` | what goes wrong, and when |
//! | `damage` | what goes wrong with single blocks |
//! | `medium` | the handle of a test: power, faults, counters |
//! | `device` | the store's traits over a world that several handles share |
//! | `crash` | which of the unflushed operations happened: fates, and how to enumerate them |
//! | `mask` | fates as text |
//! | `oracle` | a map of every point ever written, and what may be read back |
//! | `random` | the seeded numbers |
//! | `trucks`, `delivery` | readings of a fleet, and the disorder in which they arrive |

mod crash;
mod damage;
mod delivery;
mod device;
mod fault;
mod mask;
mod medium;
mod oracle;
mod random;
mod trucks;
mod world;

pub use crate::store::owned_value::OwnedValue;
pub use crash::{Fate, Sector, fates};
pub use delivery::{Delivery, Disorder};
pub use device::SimDevice;
pub use fault::{Call, Control, Fault, Rot, View};
pub use mask::{fates_of, mask_of};
pub use medium::{SimError, SimMedium};
pub use oracle::{Oracle, Violation};
pub use random::Random;
pub use trucks::{Entry, INTERVAL_NS, SERIES_A_TRUCK, Trucks};

#[cfg(test)]
mod faults_tests;
#[cfg(test)]
mod tests;
