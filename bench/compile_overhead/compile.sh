#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# compile.sh TREE OUTPUT BUILD clang-lto|none|report|hybrid: compiles memcached's sources in TREE, which has been built
# once, one after the other as its makefile does, and links them, by clang 19 or by the compilers of BUILD.
# Objects, program and report go to the folder OUTPUT, which is made anew. No make: the time is the compilers'.
set -eu
if [ $# -ne 4 ]; then
  echo 'compile.sh: give four arguments: compile.sh TREE OUTPUT BUILD clang-lto|none|report|hybrid' >&2
  exit 2
fi
tree=$1
conversions=$(cd "$(dirname "$0")/../../workloads/memcached" && pwd)
output=$2
unset TANDEM_REPORT TANDEM_CATALOGUE TANDEM_CONVERT TANDEM_POINTS_TO
case $4 in
clang-lto) set -- clang-19 -flto --start-no-unused-arguments -fuse-ld=lld --end-no-unused-arguments ;;
none) set -- "$3/bin/tandem-cc" -ftandem-enforce=none ;;
report) set -- "$3/bin/tandem-cc" -ftandem-enforce=none "-ftandem-report=$output/report.json" ;;
hybrid) set -- "$3/bin/tandem-cc" -ftandem-enforce=hybrid "-ftandem-convert=$conversions/convert.toml" \
  "-ftandem-catalogue=$conversions/catalogue-transactions.toml" ;;
*)
  echo "compile.sh: '$4' is not a way to compile; use clang-lto, none, report or hybrid" >&2
  exit 2
  ;;
esac
rm -rf "$output"
mkdir -p "$output"
cd "$tree"
for object in memcached-*.o; do
  name=${object#memcached-}
  "$@" -DHAVE_CONFIG_H -DNDEBUG -I. -g -O2 -pthread -c "${name%.o}.c" -o "$output/$object"
done
"$@" -g -O2 -pthread "$output"/memcached-*.o -levent -o "$output/memcached"
