//! HTTP on loopback: the API and the dashboard.
//!
//! Routes turn requests into calls of a [`Service`] and its answers into documents; what is asked
//! and how it is answered is not known here. Every body has a limit, heavy questions wait in line,
//! no GET changes anything.
//!
//! | file | idea |
//! | --- | --- |
//! | `service` | what the routes ask of the rest of the agent |
//! | `routes` | the routes, limits and headers |
//! | `segment` | a block file with Range and ETag |
//! | `range` | one range of a Range header |
//! | `body` | a file as a stream of bounded pieces |
//! | `dashboard` | the page, embedded when the program is built |
//! | `server` | listening, and ending in good order |

mod body;
mod dashboard;
mod range;
mod routes;
mod segment;
mod server;
mod service;

pub use routes::router;
pub use server::{Bound, bind};
pub use service::{SegmentBytes, SegmentInfo, SeriesInfo, SeriesList, Service, SuggestWhat};
