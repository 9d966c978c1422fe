#!/usr/bin/env bash
# Longer than in `make test`: power cuts of the simulated medium with SOAK_SEEDS times as many seeds (20),
# then the kill loop, SOAK_KILLS kills of the agent under load (50).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh test
SILTSTONE_SOAK=${SOAK_SEEDS:-20} cargo test --locked --release -p siltstone-core store:: -- --nocapture
export SOAK_KILLS=${SOAK_KILLS:-50}
exec cargo test --locked --release -p siltstone-tests --test mqtt_end_to_end -- --ignored --nocapture soak
