//! Deleting series, in a store that nobody uses or by a running agent.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::arguments::DeleteOptions;
use super::dispatch::{Failure, print};
use super::input::is_store;
use crate::api::{Deletion, format_instant};
use crate::config::DataConfig;
use crate::engine::{AgentService, Engine};
use crate::http::Service;
use crate::shelf::ParsedSelector;

/// How long an agent may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

pub(super) fn run(options: &DeleteOptions) -> Result<(), Failure> {
    ParsedSelector::parse(&options.select).map_err(|error| Failure(error.to_string()))?;
    let deletion = Deletion {
        select: options.select.clone(),
        begin_ns: options.span.begin_ns(),
        end_ns: options.span.end_ns(),
    };
    if deletion.begin_ns >= deletion.end_ns {
        return Err(Failure("`--from` must be before `--to`".to_owned()));
    }
    if !options.yes {
        confirm(options)?;
    }
    let series: u64 = match (&options.url, &options.dir) {
        (Some(url), _) => ask(url, &deletion)?,
        (None, Some(dir)) if is_store(dir) => {
            let config = DataConfig { dir: dir.clone(), ..DataConfig::default() };
            let (engine, _) = Engine::open(&config)?;
            let service = AgentService::new(Arc::new(engine));
            service.delete(&deletion).map_err(|error| Failure(error.to_string()))? as u64
        }
        (None, dir) => {
            let dir = dir.as_deref().map(|dir| dir.display().to_string()).unwrap_or_default();
            return Err(Failure(format!("{dir}: there is no store in it")));
        }
    };
    print(&format!("deleted from {series} series\n"))
}

/// Asks on a terminal; elsewhere nothing is deleted unasked.
fn confirm(options: &DeleteOptions) -> Result<(), Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure("nothing was deleted: say --yes where nobody can be asked".to_owned()));
    }
    let edge = |at: Option<i64>, word: &str| at.map(|at| format!(" {word} {}", format_instant(at)));
    let (from, to) = (edge(options.span.from, "from"), edge(options.span.to, "to"));
    let range = format!("{}{}", from.unwrap_or_default(), to.unwrap_or_default());
    let mut error = io::stderr();
    write!(error, "Delete everything of {}{range}, for ever? [y/N] ", options.select)?;
    error.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure("nothing was deleted".to_owned())),
    }
}

/// Asks a running agent.
fn ask(url: &str, deletion: &Deletion) -> Result<u64, Failure> {
    let address = format!("{}/api/delete", url.trim_end_matches('/'));
    let config =
        ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(ANSWER_LIMIT)).build();
    let mut response = ureq::Agent::new_with_config(config)
        .post(&address)
        .header("Content-Type", "application/json")
        .send(deletion.to_json())
        .map_err(|error| Failure(format!("{address}: {error}")))?;
    let body =
        response.body_mut().read_to_string().map_err(|error| Failure(format!("{address}: {error}")))?;
    let document: Value = serde_json::from_str(&body).unwrap_or_default();
    let series = document.get("series").and_then(Value::as_u64);
    series.ok_or_else(|| {
        let message = document.pointer("/error/message").and_then(Value::as_str);
        Failure(format!("{address}: {}", message.unwrap_or("it is no agent that can delete")))
    })
}
