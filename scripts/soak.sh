#!/usr/bin/env bash
# Longer than in `make test`, part by part; names of parts (store, fuzz, bits, kills, disk, faults) limit it.
#
#   store   the store on the simulated medium, for SOAK_MINUTES (30): every short sequence of operations with
#           every subset of what was not flushed, every bit, every failing call, then random workloads
#   fuzz    every decoder under changed inputs for SOAK_FUZZ_MINUTES in all (100), at most ten minutes each
#   bits    every single bit of two small segments, sealed and not, under the verifier
#   kills   SOAK_KILLS kills of the agent under load (1000), in rounds of 50 with a seed each
#   disk    SOAK_CYCLES times a full disk and back under load (100), in rounds of 25
#   faults  SOAK_FAULTS failing calls of each kind under the running agent (100), kind by kind
#
# Each part goes on where it stopped: what is done stands in target/soak/, which SOAK_FRESH=1 forgets.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kept=${CARGO_TARGET_DIR:-target}/soak
round_kills=50
round_cycles=25

part_store() {
  SILTSTONE_SOAK=${SOAK_MINUTES:-30} SILTSTONE_SOAK_PROGRESS=$kept/store.progress \
    cargo test --locked --profile soak -p siltstone-core --lib store::tests::soak -- --nocapture
}

part_fuzz() {
  cargo test --locked --profile soak -p siltstone-fuzz --test replay -- --ignored
  cargo run --locked --profile soak -p siltstone-fuzz -- --minutes "${SOAK_FUZZ_MINUTES:-100}" --progress "$kept/fuzz.progress"
}

part_bits() {
  cargo test --locked --profile soak -p siltstone-core --lib segment::check -- --ignored --nocapture
}

# A figure of each round of a part, the smallest first; and its sum.
each_of() { tr ' ' '\n' <"$1" | awk -F = -v name="$2" '$1 == name { print $2 }' | sort -n; }
sum_of() { each_of "$1" "$2" | awk '{ s += $1 } END { print s + 0 }'; }
sum() { sum_of "$kept/kills.txt" "$1"; }

part_kills() {
  local kills=${SOAK_KILLS:-1000} seed
  touch "$kept/kills.txt"
  cargo build --locked --release -p siltstone --bin siltstone
  for ((seed = 1; seed <= (kills + round_kills - 1) / round_kills; seed++)); do
    grep -q "^seed=$seed " "$kept/kills.txt" && continue
    SILTSTONE_KILLS=$round_kills SILTSTONE_KILL_SEED=$seed SILTSTONE_KILL_REPORT=$kept/kills.txt \
      SILTSTONE_BIN=${CARGO_TARGET_DIR:-target}/release/siltstone \
      cargo test --locked --profile soak -p siltstone-tests --test kill_loop -- --nocapture what_is_acknowledged
  done
  local name
  printf '\n'
  for name in kills kills_near broker_kills pauses broken_lines published acknowledged stored acknowledged_but_lost \
    published_not_stored stored_twice twice_on_wire forgotten_by_broker; do
    printf '%-24s %d\n' "$name" "$(sum "$name")"
  done
  awk -v n="$(sum kills)" 'BEGIN { printf "with no loss in %d kills, it happens in less than %.2f %% of them (95 %%)\n", n, 300 / n }'
  # Of a round that failed the figures are kept, too, and no later round makes up for them.
  [ "$(($(sum acknowledged_but_lost) + $(sum published_not_stored) + $(sum stored_twice)))" = 0 ]
}

part_disk() {
  local cycles=${SOAK_CYCLES:-100} name
  touch "$kept/disk.txt"
  cargo build --locked --release -p siltstone --bin siltstone
  while [ "$(sum_of "$kept/disk.txt" cycles)" -lt "$cycles" ]; do
    SILTSTONE_DISK_CYCLES=$round_cycles SILTSTONE_DISK_REPORT=$kept/disk.txt \
      SILTSTONE_BIN=${CARGO_TARGET_DIR:-target}/release/siltstone \
      cargo test --locked --profile soak -p siltstone-tests --test full_disk -- --nocapture a_full_disk_stops
    # Where no disk can be mounted the test has said so, and there is nothing to count.
    [ -s "$kept/disk.txt" ] || return 1
  done
  printf '\n'
  for name in cycles seconds published acknowledged stored acknowledged_but_lost published_not_stored stored_twice; do
    printf '%-24s %d\n' "$name" "$(sum_of "$kept/disk.txt" "$name")"
  done
}

part_faults() {
  local kind
  touch "$kept/faults.txt"
  cargo build --locked --release -p siltstone --bin siltstone
  for kind in Read:reads Write:writes Flush:flushes Name:changes; do
    grep -q "^call=${kind%:*} " "$kept/faults.txt" && continue
    SILTSTONE_FAULT_RUNS=${SOAK_FAULTS:-100} SILTSTONE_FAULT_REPORT=$kept/faults.txt \
      SILTSTONE_BIN=${CARGO_TARGET_DIR:-target}/release/siltstone \
      cargo test --locked --profile soak -p siltstone-tests --test failing_disk -- --nocapture "${kind#*:}"
  done
  cat "$kept/faults.txt"
}

bash scripts/setup.sh test
[ "${SOAK_FRESH:-0}" = 0 ] || rm -rf "$kept"
mkdir -p "$kept"
kept=$(realpath "$kept")
parts=("$@")
[ $# -gt 0 ] || parts=(store fuzz bits kills disk faults)
for part in "${parts[@]}"; do
  declare -F "part_$part" >/dev/null || { echo "soak: there is no part '$part'" >&2; exit 2; }
  "part_$part"
done
