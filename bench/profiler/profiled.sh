#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# profiled.sh WORK BUILD ROW ALGORITHM PROFILING SIZE: an application of the STAMP-class suite on our libitm with two
# threads, profiled (`on`) or not (`off`).
set -eu
work=$1 build=$2 row=$3 algorithm=$4 size=$6
export TANDEM_HARDWARE=off
[ "$5" = off ] || export TANDEM_PROFILE="$work/profile.json"
exec "$(dirname "$0")/../../workloads/stamp/run.sh" "$work" "$build" "$row" "tandem-$algorithm" 2 "$size"
