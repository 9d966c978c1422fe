//! Where things are: the repository, the data sets beside it, the artefacts of a run, and the
//! agent's binary, which is built here when nobody has built it yet.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the root")
}

/// A data set of `../shared/data` (or `$SILTSTONE_SHARED/data`); `None`, said loudly, where the
/// folder is absent. A data set that is missing in a folder that is there is a fault.
pub fn shared_data(name: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("SILTSTONE_SHARED").map_or_else(
        || root().parent().expect("the repository lies somewhere").join("shared"),
        PathBuf::from,
    );
    let folder = shared.join("data");
    if !folder.is_dir() {
        eprintln!("SKIPPED, NOT TESTED: {name} needs the data sets, and there is no ../shared/data here");
        return None;
    }
    let file = folder.join(name);
    assert!(file.is_file(), "the folder of data sets is there, but {name} is not in it");
    Some(file)
}

/// A folder for what a run leaves to be looked at, such as screenshots.
pub fn artefacts() -> PathBuf {
    let folder = root().join("artefacts");
    std::fs::create_dir_all(&folder).expect("artefacts/ can be made");
    folder
}

/// The built dashboard, `web/dist`.
pub fn dashboard() -> PathBuf {
    let folder = root().join("web/dist");
    assert!(
        folder.join("index.html").is_file(),
        "web/dist is not built; 'make web' builds it, and 'make test' does so before its tests"
    );
    folder
}

/// The agent's binary: `$SILTSTONE_BIN`, or what `cargo build -p siltstone` makes, in the profile
/// of this test.
pub fn agent_binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(given) = std::env::var_os("SILTSTONE_BIN") {
            // Cargo starts tests in their package's folder; a relative path is meant from the root.
            return root().join(given);
        }
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args(["build", "--quiet", "--package", "siltstone", "--bin", "siltstone"]).current_dir(root());
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        let status = build.status().expect("cargo can be started");
        assert!(status.success(), "the agent does not build");
        let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
        let binary = target_folder().join(profile).join("siltstone");
        assert!(binary.is_file(), "cargo built the agent, but not at {}", binary.display());
        binary
    })
}

/// Cargo's target folder: this test's own executable lies in it.
fn target_folder() -> PathBuf {
    if let Some(given) = std::env::var_os("CARGO_TARGET_DIR") {
        return root().join(given);
    }
    root().join("target")
}
