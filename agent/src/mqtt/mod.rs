//! The broker: one persistent session, kept through everything that happens to its connections.
//!
//! Left end of the flow inside the agent. Messages go out over a bounded channel with the epoch of
//! the connection they came by; acknowledgements come back with that epoch and are dropped when it
//! is over, since packet ids belong to one connection's session. A message is acknowledged only
//! when somebody says so: this room never does by itself.
//!
//! ```text
//!            ┌ reader task: polls, nothing else ── Intake ──► decode, journal
//! connection ┤                                                     │
//!            └ sender task: SUBSCRIBE, PUBACK ◄── AckQueue ◄── after the flush
//! ```
//!
//! | file | idea |
//! | --- | --- |
//! | `link` | the narrow trait of a client library, in our own words |
//! | `rumqtt` | the library behind it |
//! | `client` | the session: connect, read, send, back off, again |
//! | `reader` | the task that polls |
//! | `sender` | the task that subscribes and acknowledges |
//! | `intake` | the bounded way to the pipeline |
//! | `acks` | acknowledgements on their way back, by epoch |
//! | `subscriptions` | which filters the broker holds and which it should |
//! | `session_file` | client id and acknowledged filters, kept beside the data |
//! | `versions` | which protocol version to try next |
//! | `backoff` | waits between attempts |
//! | `status` | what the session is doing, for people |

mod acks;
mod backoff;
mod client;
mod intake;
mod link;
mod reader;
mod rumqtt;
mod sender;
mod session_file;
mod status;
mod subscriptions;
#[cfg(test)]
mod test_broker;
mod versions;

pub use acks::{AckQueue, AckToken};
pub use client::{Client, ClientOptions, Phase};
pub use intake::{Intake, Received, Receiver, intake};
pub use link::{
    ConnectFault, ConnectOptions, Connected, Connector, Grant, Incoming, LinkReader, LinkSender, Lost,
    Publish, SendClosed,
};
pub use rumqtt::Rumqtt;
pub use session_file::{SessionFile, SessionState};
pub use status::{ConnectionState, MqttStatus, StatusCell};
