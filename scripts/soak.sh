#!/usr/bin/env bash
# The kill loop, longer than in `make test`: SOAK_KILLS kills of the agent under load (50).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh test
export SOAK_KILLS=${SOAK_KILLS:-50}
exec cargo test --locked --release -p siltstone-tests --test mqtt_end_to_end -- --ignored --nocapture soak
