#!/usr/bin/env bash
# Every check and test of the project, in the order in which a mistake shows soonest.
# `scripts/test.sh NAME...` runs the named steps only; the names are the step_* functions below.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-auto} CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}

step_setup() { bash scripts/setup.sh test; }
step_format() { cargo fmt --all --check; }
step_lint() { cargo clippy --locked --workspace --all-targets -- -D warnings; }
# What `make demo` and `make bench` build beside the rest.
step_lint_extras() { cargo clippy --locked -p siltstone-tests --features demo,figures --all-targets -- -D warnings; }
step_docs() { RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --no-deps --document-private-items; }
# The engine without a heap on a microcontroller, and with one in a browser.
step_firmware() { cargo build --locked -p siltstone-core --no-default-features --target thumbv7em-none-eabihf; }
step_browser_core() {
  cargo build --locked -p siltstone-core --no-default-features --features alloc --target wasm32-unknown-unknown
}
step_dashboard() { bash scripts/build-web.sh; }
step_dashboard_checks() {
  cd web
  npm run --silent check
}
# The glue tool has no tests, and scripts/build-web.sh builds it in its own way: not once more here. Cargo
# builds the agent for its own tests; the end to end tests take that one and build no other.
step_tests() {
  SILTSTONE_BIN=${CARGO_TARGET_DIR:-target}/debug/siltstone cargo test --locked --workspace --exclude siltstone-glue
}
# The demo as a person sees it: started, watched for a while, interrupted.
step_demo() {
  local data status=0 target=${CARGO_TARGET_DIR:-target}
  # The tests have built it; alone, this step does.
  [ -x "$target/debug/siltstone" ] || cargo build --locked -p siltstone --bin siltstone
  cargo build --locked -p siltstone-tests --features demo --bin demo
  data=$(mktemp -d)
  SILTSTONE_BIN="$target/debug/siltstone" timeout --preserve-status --signal INT 20 \
    "$target/debug/demo" --data "$data/demo" || status=$?
  rm -r "$data"
  return $status
}

steps=("$@")
[ $# -gt 0 ] || steps=(setup format lint docs firmware browser_core dashboard dashboard_checks tests lint_extras demo)
started=$SECONDS
for step in "${steps[@]}"; do
  declare -F "step_$step" >/dev/null || { echo "test: there is no step '$step'" >&2; exit 2; }
  printf '\n== %s\n' "$step"
  from=$SECONDS
  # In a subshell, so that a step can't change the folder of the next one; and outside of any
  # condition, because inside one bash would ignore `set -e` and only the last command would count.
  set +e
  (set -e; "step_$step")
  status=$?
  set -e
  if [ $status != 0 ]; then
    printf '\n== %s FAILED after %d s; again alone: bash scripts/test.sh %s\n' "$step" $((SECONDS - from)) "$step" >&2
    exit 1
  fi
  printf '== %s passed in %d s\n' "$step" $((SECONDS - from))
done
printf '\nall steps passed in %d s: %s\n' $((SECONDS - started)) "${steps[*]}"
