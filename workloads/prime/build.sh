#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# build.sh WORKDIR: builds prime-sequential, and prime-MODE for each way to enforce sections, in WORKDIR. What is
# newer than the source and the compiler stays. TANDEM_CC: the compiler (default: the one of build/release);
# CLANG: clang 19 for the sequential variant.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

if [ $# -ne 1 ]; then
  echo 'build.sh: give the folder to build in: build.sh WORKDIR' >&2
  exit 2
fi
work=$1
tandem_cc=${TANDEM_CC:-$here/../../build/release/bin/tandem-cc}
clang=${CLANG:-clang-19}
if ! command -v "$tandem_cc" >/dev/null; then
  echo "build.sh: $tandem_cc: not found; run 'make build', or set TANDEM_CC" >&2
  exit 2
fi
if ! command -v "$clang" >/dev/null; then
  echo "build.sh: $clang: not found; install clang-19, or set CLANG" >&2
  exit 2
fi
tandem_cc=$(command -v "$tandem_cc")
if ! mkdir -p "$work"; then
  exit 2 # mkdir has said why
fi
lib=$(dirname -- "$tandem_cc")/../lib

# build NAME COMMAND...: runs COMMAND, which gets the source and the output, unless NAME is newer than all that
# it is made from.
build() {
  output=$work/$1
  shift
  if [ -e "$output" ]; then
    stale=
    for input in "$here/prime.c" "$here/build.sh" "$tandem_cc" "$lib/libtandem.so" "$lib/libitm.so.1" "$lib"/tandem/*; do
      if [ -n "$(find "$input" -newer "$output" 2>/dev/null)" ]; then
        stale=1
      fi
    done
    [ -n "$stale" ] || return 0
  fi
  if ! "$@" "$here/prime.c" -o "$output.part"; then
    rm -f "$output.part"
    echo "build.sh: $output: cannot be built; see above" >&2
    exit 1
  fi
  mv -f "$output.part" "$output"
}

build prime-sequential "$clang" -std=gnu17 -O2 -g -flto=full -fuse-ld=lld -DPRIME_SEQUENTIAL
for mode in global-lock locks stm hybrid htm; do
  build "prime-$mode" "$tandem_cc" -std=gnu17 -O2 -g -pthread "-ftandem-enforce=$mode"
done
