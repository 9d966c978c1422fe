#!/usr/bin/env bash
# Longer than in `make test`. First the store on the simulated medium, for SOAK_MINUTES (30): every short sequence of
# operations with every subset of what was not flushed, every bit, every failing call, then random workloads. It goes on where
# it stopped: what is done stands in target/soak/store.progress, which SOAK_FRESH=1 forgets.
# Then the kill loop, SOAK_KILLS kills of the agent under load (50).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh test
mkdir -p target/soak
progress=$PWD/target/soak/store.progress
[ "${SOAK_FRESH:-0}" = 0 ] || rm -f "$progress"
SILTSTONE_SOAK=${SOAK_MINUTES:-30} SILTSTONE_SOAK_PROGRESS=$progress \
  cargo test --locked --release -p siltstone-core --lib store::tests::soak -- --nocapture
export SOAK_KILLS=${SOAK_KILLS:-50}
exec cargo test --locked --release -p siltstone-tests --test mqtt_end_to_end -- --ignored --nocapture soak
