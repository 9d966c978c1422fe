//! The harness of the end-to-end tests: real processes on loopback, in folders of their own.
//!
//! | file | idea |
//! | --- | --- |
//! | `workspace` | where the repository, the data sets, the artefacts and the agent's binary are |
//! | `scratch` | a folder for one test, kept when it fails |
//! | `process` | a child process with its log, killed at the latest when the test ends |
//! | `wait` | waiting for a condition, with a bound and a name |
//! | `port` | free ports of the loopback interface |
//! | `mosquitto` | a real Mosquitto with a configuration of its own |
//! | `publisher` | a QoS 1 publisher that knows what the broker has taken |
//! | `agent` | the agent as a process: start, kill -9, restart, stop, and its command line |
//! | `http` | questions to the agent over HTTP |
//! | `dataset` | the sensor data sets as columns and as messages |
//! | `range_server` | a static web server with Range requests, which counts what it served |
//! | `browser` | a real Chromium, driven by a script of `tests/browser/` |
//! | `home` | the home whose readings are replayed, real or generated |
//! | `stored` | what an agent has stored, compared with what was published |
//! | `wire` | MQTT frames, as far as the next two need them |
//! | `tap` | a proxy between agent and broker that keeps an account of what was delivered and acknowledged |
//! | `load` | numbered messages at a fixed rate, and which of them the broker has taken |
//! | `reckoning` | what those messages are, and what became of each: published, acknowledged, stored |
//! | `chance` | chance from a seed |
//! | `volume` | a small disk that can be filled and made read-only |
//! | `failing` | a medium whose n-th call fails, under the real agent (with `failing.c`) |
//! | `disk` | an agent under load on such a disk |
//! | `kill_loop` | kills of agent and broker under load, and the reckoning afterwards |
//! | `offline` | what the command line says of block files, and what the static page shows |
//!
//! Nothing here is used by the product. Everything panics with a sentence on failure: it is test code.

pub mod agent;
pub mod browser;
pub mod chance;
pub mod dataset;
pub mod disk;
pub mod failing;
pub mod home;
pub mod http;
pub mod kill_loop;
pub mod load;
pub mod mosquitto;
pub mod offline;
pub mod port;
pub mod process;
pub mod publisher;
pub mod range_server;
pub mod reckoning;
pub mod scratch;
pub mod stored;
pub mod tap;
pub mod volume;
pub mod wait;
pub mod wire;
pub mod workspace;
