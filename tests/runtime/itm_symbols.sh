#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# itm_symbols.sh OURS STOCK: our libitm.so.1 exports the symbols of GCC's, with the same versions, and needs the
# C library only.
set -eu
ours=$1 stock=$2
# Some linkers list the versions themselves as absolute symbols (A).
exports() { nm -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" { print $3 }' | sort; }
expected=$(exports "$stock")
actual=$(exports "$ours")
count=$(printf '%s\n' "$expected" | wc -l)
if [ "$count" -ne 173 ] || [ "$expected" != "$actual" ]; then
  printf '%s (%s symbols):\n%s\n%s:\n%s\n' "$stock" "$count" "$expected" "$ours" "$actual" >&2
  exit 1
fi
needed=$(readelf -d "$ours" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
soname=$(readelf -d "$ours" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
if [ "$needed" != libc.so.6 ] || [ "$soname" != libitm.so.1 ]; then
  printf '%s: SONAME %s, needs: %s\n' "$ours" "$soname" "$needed" >&2
  exit 1
fi
