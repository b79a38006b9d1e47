#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh WORK BUILD BENCHMARK RUNTIME THREADS MILLISECONDS [HARDWARE]: a micro-benchmark (workloads/micro) under one way to
# write its sections: mutex, NOrec by hand (norec-by-hand), a method of GCC's libitm (ml_wt, gl_wt), an algorithm of
# ours by the same binary (tandem-NAME), or by one of tandem-cc, whose accesses are inlined (inlined-NAME); or the
# least that a library can do, or that one can which counts (least, counted: workloads/micro/least_itm.c, preloaded).
# HARDWARE: whether ours may use the processor's transactions, on or off (default).
set -eu
export TANDEM_HARDWARE="${7:-off}"
work=$1 build=$2 benchmark=$3 runtime=$4 threads=$5 milliseconds=$6
case $runtime in
sequential | mutex | norec-by-hand) program=$runtime ;;
inlined-*)
  program=inlined
  export TANDEM_ALGORITHM="${runtime#inlined-}"
  ;;
tandem-*)
  program=gnu-tm
  export TANDEM_ALGORITHM="${runtime#tandem-}" LD_LIBRARY_PATH="$build/lib"
  ;;
least | counted)
  program=gnu-tm
  export LD_PRELOAD="$work/$runtime.so"
  ;;
*)
  program=gnu-tm
  export ITM_DEFAULT_METHOD="$runtime"
  ;;
esac
exec "$work/$program" "$benchmark" "$threads" "$milliseconds"
