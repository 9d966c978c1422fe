//! Tests of the store: how points find their places, and what a power cut, a failing or a rotten medium may not do
//! to them.
//!
//! | file | question |
//! | --- | --- |
//! | `reader`, `aggregates` | what does the store hold? Read the plain way, block by block; are the summaries right? |
//! | `asked` | what do questions see? Through library and queries, as the agent asks |
//! | `workload`, `sequence` | what a gateway does to a store, from a seed or a word, beside the oracle |
//! | `trace` | a workload played once, with every moment at which the power could go, and their names |
//! | `check`, `campaign` | what must hold after a crash; which crashes are tried |
//! | `placement` | where does a point go? |
//! | `disorder` | what is there after a fleet's disorder, backfill and duplicates? |
//! | `merging` | what becomes of the files? |
//! | `quota` | does what is kept stay within its quota? |
//! | `heads` | are the heads of a start those of all segments, and does it read few of them? |
//! | `time` | what does the time decide: seals in steps, points ahead, drops? |
//! | `clocks` | what does a wrong clock do? |
//! | `far_times` | what of times at which counters end, and of a second that is there twice? |
//! | `opening` | what does a start find? |
//! | `versions` | what becomes of a store that a newer program wrote into? |
//! | `power` | what is left after a power cut at any operation, and after one more during recovery? |
//! | `verified` | what does the verifier say of a medium? |
//! | `damage` | what does a flipped bit cost, a block in a wrong place, a bad one? |
//! | `failing` | what if a call fails, the medium is full, or a write goes astray? |
//! | `lying` | what if a flush says that it was done and was not, or is slow? |
//! | `soak` | all of that, without end |
//! | `amplification` | how much is written and kept for what comes in? |
//! | `written` | are the blocks written counted by their cause? |
//! | `controls` | do the tests fail where the store is made to? |

mod aggregates;
mod amplification;
mod asked;
mod campaign;
mod check;
mod clocks;
mod controls;
mod damage;
mod disorder;
mod failing;
mod far_times;
mod heads;
mod lying;
mod merging;
mod opening;
mod placement;
mod power;
mod quota;
mod reader;
mod sequence;
mod soak;
mod time;
mod trace;
mod verified;
mod versions;
mod workload;
mod written;
