#!/usr/bin/env bash
# Builds what the demo needs and runs it; see tests/demo/main.rs for its arguments.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh build
# The agent carries the dashboard, so the dashboard comes first.
bash scripts/build-web.sh
cargo build --locked -p siltstone --bin siltstone
cargo build --locked -p siltstone-tests --features demo --bin demo --bin serve
target=${CARGO_TARGET_DIR:-target}
exec env SILTSTONE_BIN="$target/debug/siltstone" "$target/debug/demo" "$@"
