# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the scripts of this folder share. Source it after `set -euo pipefail`.

# The checkout, whatever the current directory is.
TANDEM_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What scripts make and fetch; elsewhere for a checkout that must not be written to.
TANDEM_WORK=${TANDEM_WORK:-$TANDEM_ROOT/build}

# say TEXT...: what is being done now, on standard error, so that standard output stays data.
say() { printf '==> %s\n' "$*" >&2; }

# die TEXT...: the user's mistake, or something missing that the user must supply.
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 2
}

# hash_of FILE...: one number for the contents of all of them.
hash_of() { cat -- "$@" | sha256sum | cut -c1-32; }

# quietly LOG COMMAND...: runs the command with its output in LOG, which is shown if it fails.
quietly() {
  local log=$1 status=0
  shift
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    cat "$log" >&2
    printf '%s: failed with status %d: %s\n' "$(basename "$0")" "$status" "$*" >&2
  fi
  return "$status"
}

# only_one_at_a_time NAME: waits until no other process holds the lock NAME of this checkout. The lock
# ends with the process, or with the subshell that called this.
only_one_at_a_time() {
  mkdir -p "$TANDEM_WORK"
  exec 9>"$TANDEM_WORK/.$1.lock"
  flock 9
}
