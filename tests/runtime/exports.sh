#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# exports.sh LIBTANDEM MAP: the library exports exactly the version script's symbols, all of them _TANDEM_*, each
# with the version that the script gives it, and needs the C library only.
set -eu
library=$1 map=$2
expected=$(awk '/^[A-Z].* \{/ { version = $1 }
  /^ *_TANDEM_[A-Za-z0-9_]*;/ { sub(";.*", "", $1); print $1 "@@" version }' "$map" | sort)
# The version itself is listed as an absolute symbol (A).
actual=$(nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" { print $3 }' | sort)
if [ -z "$expected" ] || [ "$expected" != "$actual" ]; then
  printf '%s: expected exports:\n%s\nactual exports:\n%s\n' "$library" "$expected" "$actual" >&2
  exit 1
fi
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if [ "$needed" != libc.so.6 ]; then
  printf '%s: needs more than the C library:\n%s\n' "$library" "$needed" >&2
  exit 1
fi
soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
if [ "$soname" != libtandem.so.0 ]; then
  printf '%s: has the SONAME %s\n' "$library" "$soname" >&2
  exit 1
fi
