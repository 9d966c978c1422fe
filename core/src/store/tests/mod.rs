//! Tests of the store: how points find their places, and what a power cut may not do to them.
//!
//! | file | question |
//! | --- | --- |
//! | `reader` | what does the store hold? Read the plain way, block by block |
//! | `workload` | what a gateway does to a store, from a seed, beside the oracle |
//! | `placement` | where does a point go? |
//! | `opening` | what does a start find? |
//! | `power` | what is left after a power cut at any operation, and after one more during recovery? |

mod opening;
mod placement;
mod power;
mod reader;
mod workload;
