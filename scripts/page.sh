#!/usr/bin/env bash
# The static page without any agent: serves web/dist on loopback, and a folder of block files at /data/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ ! -e web/dist/index.html ]; then
  bash scripts/setup.sh build
  bash scripts/build-web.sh
fi
exec cargo run --quiet --locked -p siltstone-tests --bin serve -- "${2:-8643}" "${1:-demo-data}"
