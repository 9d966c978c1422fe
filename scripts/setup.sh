#!/usr/bin/env bash
# Installs what this machine lacks for a purpose, and nothing else.
#
#   scripts/setup.sh build   to build the agent and the dashboard (also what the demo needs)
#   scripts/setup.sh test    the same, and what the tests run: Mosquitto, Chromium, the firmware target
#
# Debian packages come through apt-get, as root or by sudo; Rust targets through rustup; the
# dashboard's tools through npm. What is there already is left alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
purpose=${1:-build}

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
# Debian keeps servers in sbin, which is not on everybody's PATH.
have() { PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v "$1" >/dev/null 2>&1; }

packages() {
  have cc || echo gcc libc6-dev
  have cmp || echo diffutils
  [ "$purpose" = test ] || return 0
  have "${MOSQUITTO:-mosquitto}" || echo mosquitto
  have mosquitto_pub || echo mosquitto-clients
  have "${CHROMIUM:-chromium}" || have google-chrome || echo chromium
  compgen -G '/usr/share/fonts/*/*' >/dev/null || echo fonts-dejavu-core
}

install_packages() {
  local missing root=()
  missing=$(packages | tr '\n' ' ')
  [ -n "${missing// /}" ] || return 0
  have apt-get || fail "this machine has no apt-get; please install by hand: $missing"
  if [ "$(id -u)" != 0 ]; then
    have sudo || fail "not root and no sudo here; please install by hand: apt-get install $missing"
    root=(sudo)
  fi
  say "installing $missing"
  local options=(-q -y -o DPkg::Lock::Timeout=300)
  "${root[@]}" apt-get "${options[@]}" update >&2 || say "apt-get update failed; trying with the lists that are here"
  # shellcheck disable=SC2086
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install --no-install-recommends $missing >&2 ||
    fail "apt-get could not install: $missing"
}

target_installed() { compgen -G "$(rustc --print sysroot)/lib/rustlib/$1/lib/libcore-*.rlib" >/dev/null; }

install_target() {
  target_installed "$1" && return 0
  have rustup || fail "the Rust target $1 is missing and there is no rustup to add it; please install it as your Rust was installed"
  say "adding the Rust target $1"
  timeout "${SILTSTONE_RUSTUP_TIMEOUT:-180}" rustup target add "$1" >&2 && target_installed "$1" ||
    fail "rustup could not add the target $1 (no network, or its server did not answer); run 'rustup target add $1' where it can"
}

install_node_modules() {
  [ -e web/package-lock.json ] || return 0
  have npm || fail "npm is missing: the dashboard is built with Node 20 or newer (Debian: apt-get install nodejs npm)"
  # npm leaves its own copy of the lock file; as long as ours is not newer, the folder is up to date.
  [ web/node_modules/.package-lock.json -nt web/package-lock.json ] && return 0
  say "installing the dashboard's tools (npm ci)"
  (cd web && npm ci --no-audit --no-fund --loglevel=error >&2) || fail "npm ci failed in web/"
}

case $purpose in build | test) ;; *) fail "usage: scripts/setup.sh build|test" ;; esac
have cargo || fail "cargo is missing: install Rust 1.90 or newer first"
install_packages
install_target wasm32-unknown-unknown
[ "$purpose" != test ] || install_target thumbv7em-none-eabihf
install_node_modules
