//! The agent of the demo: its binary, as a process of its own, with a configuration beside its data.
//!
//! It runs in a process group of its own, so that Ctrl-C reaches the demo alone and the agent is
//! stopped in order: sensors first, then seal, then stop.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use siltstone_tests::http::Http;
use siltstone_tests::{agent, workspace};

/// How long the agent may take to answer, or to stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running agent.
pub(crate) struct Gateway {
    child: Child,
    http: Http,
    data: PathBuf,
}

impl Gateway {
    /// Starts the agent and waits until it answers.
    pub(crate) fn start(data: &Path, http_port: u16, broker_port: u16) -> Result<Self, String> {
        std::fs::create_dir_all(data).map_err(|error| format!("{}: {error}", data.display()))?;
        let config = data.join("demo.toml");
        let text = format!(
            "# Written by the demo at each start.\n[data]\ndir = {:?}\n\n[mqtt]\nurl = \"mqtt://127.0.0.1:{broker_port}\"\n\
             protocol = 4\n\n[http]\nlisten = \"127.0.0.1:{http_port}\"\n",
            data.join("store")
        );
        std::fs::write(&config, text).map_err(|error| format!("{}: {error}", config.display()))?;
        let child = Command::new(workspace::agent_binary())
            .arg("run")
            .arg("--config")
            .arg(&config)
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| format!("the agent can't be started: {error}"))?;
        let mut gateway = Self { child, http: Http::new(http_port), data: data.to_path_buf() };
        let begin = Instant::now();
        while gateway.http.try_get("/api/health").is_none_or(|answer| answer.status != 200) {
            gateway.check()?;
            if begin.elapsed() > PATIENCE {
                return Err(format!("the agent does not answer on port {http_port}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(gateway)
    }

    /// Whether the agent still runs; a sentence where it does not.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(format!("the agent ended ({status}); what it said is above")),
            Err(error) => Err(format!("the agent can't be watched: {error}")),
        }
    }

    /// Seals what is open, stops the agent, and gives the block files.
    pub(crate) fn seal_and_stop(mut self) -> Result<Vec<PathBuf>, String> {
        let answer = self.http.post("/api/seal", &json!({}));
        if answer.status != 200 {
            return Err(format!("sealing failed: {}", answer.text()));
        }
        let id = self.child.id().to_string();
        // It ends by SIGTERM, or has ended already.
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let begin = Instant::now();
        while self.check().is_ok() {
            if begin.elapsed() > PATIENCE {
                return Err(format!("the agent (process {id}) does not stop"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(agent::segments(&self.data))
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
