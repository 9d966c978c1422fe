#!/usr/bin/env bash
# Prints the figures of docs/benchmarks.md. Names of parts (density, disorder, ingest, memory, page, range, recovery, wear) limit it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh build
bash scripts/build-web.sh
cargo build --locked --release -p siltstone --bin siltstone
export SILTSTONE_BIN=${CARGO_TARGET_DIR:-target}/release/siltstone
exec cargo bench --locked --quiet -p siltstone-tests --features figures --bench figures -- "$@"
