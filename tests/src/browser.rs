//! A real Chromium, headless, driven by a script of `tests/browser/` through playwright-core, which
//! is among the dashboard's tools (`web/node_modules`).
//!
//! A script gets one JSON argument and prints one JSON answer as its last line.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value as Json;

use crate::agent;
use crate::workspace::root;

/// How long a script may take.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(180);

/// Runs `tests/browser/<script>` with `task` and gives its answer; panics with all it wrote when it
/// fails.
pub fn run(script: &str, task: &Json) -> Json {
    let modules = root().join("web/node_modules/playwright-core");
    assert!(modules.is_dir(), "web/node_modules is not there; 'bash scripts/setup.sh test' installs it");
    let mut command = Command::new("node");
    command.arg(root().join("tests/browser").join(script)).arg(task.to_string());
    command.env("CHROMIUM", chromium()).current_dir(root());
    let output = agent::run(&mut command, SCRIPT_TIMEOUT);
    assert_eq!(output.code, Some(0), "{script} failed:\n{}\n{}", output.stdout, output.stderr);
    let last = output.stdout.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{script}: {error}: {}", output.stdout))
}

/// `$CHROMIUM`, or the browser on the path.
fn chromium() -> PathBuf {
    if let Some(given) = std::env::var_os("CHROMIUM") {
        return PathBuf::from(given);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .flat_map(|folder| ["chromium", "google-chrome"].map(|name| folder.join(name)))
        .find(|program| program.is_file())
        .expect("chromium is not installed; 'bash scripts/setup.sh test' (part of 'make test') installs it")
}
