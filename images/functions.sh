# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the scripts share that build images in parts (docs/design/0076-parts-of-an-image.md). Sourced; `here` is the
# folder of the script that does.
# shellcheck shell=bash disable=SC2034,SC2154

say() { printf '==> %s\n' "$*" >&2; }
die() {
  printf 'image: %s\n' "$*" >&2
  exit 2
}
jobs=${TANDEM_JOBS:-$(nproc)}
cross=riscv64-linux-gnu-
# Every date in an image: the first day of 2026.
epoch=1767225600
export SOURCE_DATE_EPOCH=$epoch

# open_cache FOLDER: sets `cache`, which this script has alone until it ends.
open_cache() {
  mkdir -p "$1"
  cache=$(cd "$1" && pwd)
  exec 9>"$cache/.lock"
  flock -n 9 || {
    say "another build works in $cache; waiting for it"
    flock 9
  }
}

# What Debian has installed, and which version.
version() { dpkg-query --show --showformat='${Version}' "$1" 2>/dev/null || true; }
# hash FILE...: of names and contents.
hash() { (cd "$here" && sha256sum -- "$@" | sha256sum | cut -c1-16); }
# key TEXT...: a folder's name for what it is made from.
key() { printf '%s\n' "$@" | sha256sum | cut -c1-16; }
# recipe FUNCTION...: of how it is made.
recipe() { declare -f "$@" | sha256sum | cut -c1-16; }

# need_packages FILE...: ends where packages of these lists are missing; sets `compiler`, which compiler and library it is.
need_packages() {
  local name missing=
  while read -r name; do
    [ -n "$(version "$name")" ] || missing+=" $name"
  done < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@" | tr -d ' ')
  [ -z "$missing" ] || die "Debian packages are missing; run: apt-get install --yes --no-install-recommends$missing"
  compiler=$(version gcc-riscv64-linux-gnu)/$(${cross}gcc -dumpfullversion)/$(version libc6-dev-riscv64-cross)
}

# quietly LOG COMMAND...: the log is shown if the command fails. In a shell of its own, which ends at the first
# failure: behind || it would go on.
quietly() {
  local log=$1 status
  shift
  set +e
  (set -e && "$@") >"$log" 2>&1
  status=$?
  set -e
  [ "$status" -eq 0 ] || {
    tail -n 40 "$log" >&2
    die "failed: $*; all its messages are in $log"
  }
}

# appear PART FOLDER: what was built in PART becomes FOLDER.
appear() {
  rm -rf "$2"
  mv "$1" "$2"
}

# source_package NAME: a Debian source package, unpacked in $cache/src; prints its version.
source_package() {
  TANDEM_WORK=$cache "$here/../../scripts/fetch-source" "$1" "$cache/src/$1" 2>>"$cache/fetch.log" |
    sed -n "1s/^$1 //p"
}

# manifest FILE...: JSON of the SHA-256 of each.
manifest() {
  sha256sum -- "$@" |
    awk 'BEGIN { printf "{\n" } { printf "%s  \"%s\": \"%s\"", (NR > 1 ? ",\n" : ""), $2, $1 } END { printf "\n}\n" }'
}
