#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh WORK BUILD ROW VARIANT THREADS SIZE [OPTION...]: runs an application that the Makefile has built in WORK.
# ROW is its name, or NAME-INPUT (kmeans-high). BUILD is Tandem's build tree. VARIANT:
#
#   sequential, sequential-clang, mutex   as built
#   libitm-default, libitm-METHOD         gcc -fgnu-tm on GCC's library (ml_wt, gl_wt, htm, serialirr)
#   tandem-ALGORITHM                      the same program on our library (auto, eager, lazy, norec, two-phase,
#                                         serial)
#   cc-ENFORCEMENT                        tandem-cc (global-lock, locks, stm, hybrid, htm)
#   cc-hybrid-malloc                      with allocations counted as irrevocable
#
# With STAMP_ON it runs on the simulated machine, on as many harts as it has threads: words for
# `tandem machine exec`. With STAMP_ATTEMPTS=1 the program is the one that counts the executions of sections.
set -eu
if [ $# -lt 6 ]; then
  echo 'run.sh: give WORK BUILD ROW VARIANT THREADS SIZE' >&2
  exit 2
fi
work=$1 build=$2 row=$3 variant=$4 threads=$5 size=$6
shift 6
unset ITM_DEFAULT_METHOD
case $variant in
libitm-*)
  program=gnu-tm
  unset LD_LIBRARY_PATH
  method=${variant#libitm-}
  [ "$method" = default ] || export ITM_DEFAULT_METHOD="$method"
  ;;
tandem-*)
  program=gnu-tm
  export TANDEM_ALGORITHM="${variant#tandem-}" LD_LIBRARY_PATH="$build/lib"
  ;;
*) program=$variant ;;
esac
[ "${STAMP_ATTEMPTS:-0}" = 0 ] || program=$program-attempts
if [ -n "${STAMP_ON-}" ]; then
  # shellcheck disable=SC2086 # words
  on() { exec "$build/bin/tandem" machine exec --quiet --harts "$threads" $STAMP_ON "$@"; }
else
  on() { exec "$@"; }
fi
case $row in
*-*) on "$work/$program/${row%%-*}" --input "${row#*-}" --threads "$threads" --size "$size" "$@" ;;
*) on "$work/$program/$row" --threads "$threads" --size "$size" "$@" ;;
esac
