#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh WORK BENCHMARK ALGORITHM LIBRARY: one thread of a micro-benchmark on WORK/LIBRARY, while a second one lives, idle.
# Prints what one operation takes: {"cpu_ns": ..., "instructions": ...}, the latter counted by callgrind.
set -eu
work=$1 benchmark=$2 library=$4
export TANDEM_HARDWARE=off TANDEM_ALGORITHM="$3" LD_LIBRARY_PATH="$work/$library"
time=$("$work/gnu-tm" "$benchmark" 0 100 | sed -E 's/.*"cpu_ns": ([0-9.]+).*/\1/')
function=do_$(printf %s "$benchmark" | tr - _)
counted=$(valgrind --tool=callgrind --fair-sched=yes --callgrind-out-file=/dev/null --toggle-collect="$function" \
  "$work/gnu-tm" "$benchmark" 0 200 2>&1)
operations=$(printf '%s\n' "$counted" | sed -nE 's/.*"operations": ([0-9]+).*/\1/p')
instructions=$(printf '%s\n' "$counted" | sed -nE 's/.*Collected : ([0-9]+).*/\1/p')
if [ -z "$operations" ] || [ -z "$instructions" ]; then
  printf '%s\n' "$counted" >&2
  exit 1
fi
awk -v time="$time" -v instructions="$instructions" -v operations="$operations" \
  'BEGIN { printf "{\"cpu_ns\": %s, \"instructions\": %.3f}\n", time, instructions / operations }'
