//! The language of questions and answers, spoken by HTTP and command line alike.
//!
//! Texts become typed questions, answers become rows; what is wrong becomes one sentence with a
//! code and a place. Nothing here reads a store or a socket.
//!
//! | file | idea |
//! | --- | --- |
//! | `error` | what was wrong with a request, and whose fault it was |
//! | `instant` | times as people and programs write them |
//! | `condition` | a filter by value |
//! | `deletion` | what is to be deleted |
//! | `question` | a question from its JSON document |
//! | `answer` | columns, rows and cost, as JSON, CSV or a table |

mod answer;
mod condition;
mod deletion;
mod error;
mod instant;
mod question;

pub use answer::{Answer, Cell, Column, Cost, csv_field, number_text};
pub use condition::parse_condition;
pub use deletion::Deletion;
pub use error::{ApiError, Code};
pub use instant::{format_instant, parse_instant, parse_step};
pub use question::{Order, Question, parse_function};
