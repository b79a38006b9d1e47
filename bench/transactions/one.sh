#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# one.sh WORK BUILD BENCHMARK RUNTIME MILLISECONDS: a program of gcc's with one of its benchmarks, on GCC's libitm by its
# default (stock) or one of its methods (stock-NAME), or on ours by an algorithm (tandem-NAME).
set -eu
case $4 in
stock-*) export ITM_DEFAULT_METHOD="${4#stock-}" ;;
tandem-*) export TANDEM_ALGORITHM="${4#tandem-}" LD_LIBRARY_PATH="$2/lib" ;;
esac
exec "$1/gnu-tm" "$3" "$5"
