#!/usr/bin/env bash
# Longer than in `make test`, part by part; names of parts (store, fuzz, bits, kills, pauses, disk, faults)
# limit it.
#
#   store   the store on the simulated medium, for SOAK_MINUTES (60): damage, every failing call, every short sequence
#           of operations with every subset of what was not flushed, then random workloads
#   fuzz    every decoder under changed inputs for SOAK_FUZZ_MINUTES of a processor in all (100), at most ten each
#   bits    every single bit of two small segments, sealed and not, under the verifier
#   kills   SOAK_KILLS kills of the agent under load (1000), in rounds of 50 with a seed each
#   pauses  agent and broker stopped for a minute each under load
#   disk    SOAK_CYCLES times a full disk and back under load (100), in rounds of 25
#   faults  SOAK_FAULTS failing calls of each kind under the running agent (100), kind by kind
#
# Each part goes on where it stopped. What is done stands in target/soak-progress/, in a folder for the sources it was done
# with: where they change, the part begins anew. SOAK_FRESH=1 forgets it all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && realpath "${CARGO_TARGET_DIR:-target}")
round_kills=50
round_cycles=25

# The folder of a part for the sources in these folders.
kept_for() {
  local part=$1 sources
  shift
  sources=$(find Cargo.toml Cargo.lock "$@" -type f -not -path '*/corpus/*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
  kept=$target/soak-progress/$part-${sources:0:12}
  mkdir -p "$kept"
}

# A part's test under the agent as it is shipped.
test_agent() {
  cargo build --locked --release -p siltstone --bin siltstone
  SILTSTONE_BIN=$target/release/siltstone cargo test --locked --profile soak -p siltstone-tests --test "$@"
}

# The figures called $2 in the lines of a report, the smallest first; and their sum.
each_of() { tr ' ' '\n' <"$1" | awk -F = -v name="$2" '$1 == name { print $2 }' | tr ',' '\n' | sort -n; }
sum_of() { each_of "$1" "$2" | awk '{ s += $1 } END { print s + 0 }'; }
print_sums() {
  local report=$1 name
  shift
  printf '\n'
  for name in "$@"; do printf '%-24s %d\n' "$name" "$(sum_of "$report" "$name")"; done
}

part_store() {
  kept_for store core
  SILTSTONE_SOAK=${SOAK_MINUTES:-60} SILTSTONE_SOAK_PROGRESS=$kept/jobs \
    cargo test --locked --profile soak -p siltstone-core --lib store::tests::soak -- --nocapture
}

part_fuzz() {
  kept_for fuzz core agent fuzz
  cargo test --locked --profile soak -p siltstone-fuzz --test replay -- --ignored
  cargo run --locked --profile soak -p siltstone-fuzz -- --minutes "${SOAK_FUZZ_MINUTES:-100}" --progress "$kept/targets"
}

part_bits() {
  cargo test --locked --profile soak -p siltstone-core --lib segment::check -- --ignored --nocapture
}

part_kills() {
  local kills=${SOAK_KILLS:-1000} seed report
  kept_for kills core agent tests
  report=$kept/rounds
  touch "$report"
  for ((seed = 1; seed <= (kills + round_kills - 1) / round_kills; seed++)); do
    grep -q "^seed=$seed " "$report" && continue
    SILTSTONE_KILLS=$round_kills SILTSTONE_KILL_SEED=$seed SILTSTONE_KILL_REPORT=$report \
      test_agent kill_loop -- --nocapture what_is_acknowledged
  done
  print_sums "$report" kills kills_near broker_kills pauses broken_lines published acknowledged stored \
    acknowledged_but_lost published_not_stored stored_twice twice_on_wire forgotten_by_broker recoveries
  awk -v n="$(sum_of "$report" kills)" 'BEGIN { printf "with no loss in %d kills, it happens in less than %.2f %% of them (95 %%)\n", n, 300 / n }'
  each_of "$report" recoveries_ms | awk '{ all[NR] = $1 }
    END { printf "from a start to the first answer: %d ms in the middle, %d ms for 99 of 100\n", all[int((NR + 1) / 2)], all[int(NR * 0.99 + 0.5)] }'
  # Of a round that failed the figures are kept, too, and no later round makes up for them.
  [ "$(($(sum_of "$report" acknowledged_but_lost) + $(sum_of "$report" published_not_stored) + $(sum_of "$report" stored_twice)))" = 0 ]
}

part_pauses() {
  SILTSTONE_PAUSE_SECONDS=60 test_agent pauses
}

part_disk() {
  local cycles=${SOAK_CYCLES:-100} report
  kept_for disk core agent tests
  report=$kept/rounds
  touch "$report"
  while [ "$(sum_of "$report" cycles)" -lt "$cycles" ]; do
    SILTSTONE_DISK_CYCLES=$round_cycles SILTSTONE_DISK_REPORT=$report test_agent full_disk -- --nocapture a_full_disk_stops
    # Where no disk can be mounted the test has said so, and there is nothing to count.
    [ -s "$report" ] || return 1
  done
  print_sums "$report" cycles seconds published acknowledged stored acknowledged_but_lost published_not_stored stored_twice
  [ "$(($(sum_of "$report" acknowledged_but_lost) + $(sum_of "$report" published_not_stored) + $(sum_of "$report" stored_twice)))" = 0 ]
}

part_faults() {
  local kind report
  kept_for faults core agent tests
  report=$kept/kinds
  touch "$report"
  for kind in Read:reads Write:writes Flush:flushes Name:changes; do
    grep -q "^call=${kind%:*} " "$report" && continue
    SILTSTONE_FAULT_RUNS=${SOAK_FAULTS:-100} SILTSTONE_FAULT_REPORT=$report \
      test_agent failing_disk -- --nocapture "${kind#*:}"
  done
  cat "$report"
}

bash scripts/setup.sh test
[ "${SOAK_FRESH:-0}" = 0 ] || rm -rf "$target/soak-progress"
parts=("$@")
[ $# -gt 0 ] || parts=(store fuzz bits kills pauses disk faults)
for part in "${parts[@]}"; do
  declare -F "part_$part" >/dev/null || { echo "soak: there is no part '$part'" >&2; exit 2; }
  printf '\n== %s\n' "$part"
  "part_$part"
done
