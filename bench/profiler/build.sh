#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# build.sh SOURCE BUILD WORK: the micro-benchmarks, and our libitm with its profiler and without: WORK/with, WORK/without.
# Without debug information, which valgrind cannot read.
set -eu
source=$1 build=$2 work=$3
cmake --build "$build" --target tandem_itm tandem_itm_without_profiler
micro=$source/workloads/micro
gcc -O2 -DMICRO_GNU_TM -fgnu-tm -pthread "$micro/micro.c" "$micro/structures.c" -o "$work/gnu-tm"
for library in with without; do
  folder=$build/lib
  [ "$library" = with ] || folder=$build/lib/without-profiler
  mkdir -p "$work/$library"
  strip --strip-debug -o "$work/$library/libitm.so.1" "$folder/libitm.so.1"
  strip --strip-debug -o "$work/$library/libtandem.so.0" "$build/lib/libtandem.so.0"
done
