#!/usr/bin/env bash
# Builds the dashboard with its engine into web/dist.
#
# What is slow (the engine's dependencies, the glue tool) is kept outside the clone, so that a fresh
# clone takes seconds. `npm ci` in web/ and the target wasm32-unknown-unknown come from scripts/setup.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What the page may weigh, gzip, bytes: the engine, and all that the browser loads.
module_max=130000
total_max=200000

cache=${XDG_CACHE_HOME:-$HOME/.cache}/siltstone/web
pkg=web/src/pkg
mkdir -p "$cache" "$pkg"
# One build at a time in the shared target folder.
exec 9>"$cache/lock"
flock 9

say() { printf 'build-web: %s\n' "$*" >&2; }
gzipped() { gzip -9 -c "$1" | wc -c; }

[ -x web/node_modules/.bin/vite ] || { say "the dashboard's tools are missing: run scripts/setup.sh build"; exit 1; }

export CARGO_TARGET_DIR=$cache/target CARGO_INCREMENTAL=0
cargo build --locked -q -p siltstone-wasm --target wasm32-unknown-unknown --profile wasm
# The tool runs for a blink; optimising its dependencies would take minutes.
cargo build --locked -q -p siltstone-glue --config 'profile.dev.package."*".opt-level=0'

built=$CARGO_TARGET_DIR/wasm32-unknown-unknown/wasm/siltstone_wasm.wasm
tool=$CARGO_TARGET_DIR/debug/siltstone-glue
stamp=$(cat "$built" "$tool" web/package-lock.json | sha256sum)
if [ "$(cat "$pkg/stamp" 2>/dev/null)" != "$stamp" ] || [ ! -s "$pkg/siltstone_wasm_bg.wasm" ]; then
  rm -rf "$pkg"
  mkdir -p "$pkg"
  "$tool" "$built" "$pkg"
  # Only features that the module already uses: a newer one might need a newer browser.
  web/node_modules/.bin/wasm-opt -Oz --strip-producers "$pkg/siltstone_wasm_bg.wasm" -o "$pkg/module.wasm"
  mv "$pkg/module.wasm" "$pkg/siltstone_wasm_bg.wasm"
  printf '%s\n' "$stamp" >"$pkg/stamp"
fi

(cd web && ./node_modules/.bin/vite build --logLevel warn)

module=$(gzipped "$pkg/siltstone_wasm_bg.wasm")
total=0
while IFS= read -r file; do total=$((total + $(gzipped "$file"))); done < <(find web/dist -type f)
say "gzip -9: engine $module bytes of $module_max, everything $total bytes of $total_max"
if [ "$module" -gt "$module_max" ] || [ "$total" -gt "$total_max" ]; then
  say "the page has become too heavy"
  exit 1
fi
