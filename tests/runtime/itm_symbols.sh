#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# itm_symbols.sh OURS STOCK HEADER: our libitm.so.1 exports the symbols of GCC's, with the same versions, and what
# HEADER declares; it needs libtandem.so and the C library only.
set -eu
ours=$1 stock=$2 header=$3
# Some linkers list the versions themselves as absolute symbols (A).
exports() { nm -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" { print $3 }' | sort; }
expected=$(exports "$stock")
actual=$(exports "$ours" | grep -v "@@TANDEM_")
count=$(printf '%s\n' "$expected" | wc -l)
if [ "$count" -ne 173 ] || [ "$expected" != "$actual" ]; then
  printf '%s (%s symbols):\n%s\n%s:\n%s\n' "$stock" "$count" "$expected" "$ours" "$actual" >&2
  exit 1
fi
declared=$(sed -n 's/.*\b\(tandem_[a-z0-9_]*\)(.*);.*/\1/p; s/^enum tandem_[a-z]* \(tandem_[a-z_]*\)(.*/\1/p' "$header" | sort -u)
own=$(exports "$ours" | sed -n "s/^\(tandem_.*\)@@TANDEM_1.0$/\1/p")
if [ "$declared" != "$own" ]; then
  printf '%s declares:\n%s\n%s exports:\n%s\n' "$header" "$declared" "$ours" "$own" >&2
  exit 1
fi
needed=$(readelf -d "$ours" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' ' | sed 's/ $//')
soname=$(readelf -d "$ours" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
if [ "$needed" != "libtandem.so.0 libc.so.6" ] || [ "$soname" != libitm.so.1 ]; then
  printf '%s: SONAME %s, needs: %s\n' "$ours" "$soname" "$needed" >&2
  exit 1
fi
