#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# one.sh WORK BUILD BENCHMARK RUNTIME MILLISECONDS: one of workloads/micro/pointers.c on GCC's libitm by its default
# (stock), or on ours by an algorithm (tandem-NAME).
set -eu
case $4 in
tandem-*) export TANDEM_ALGORITHM="${4#tandem-}" LD_LIBRARY_PATH="$2/lib" ;;
esac
exec "$1/gnu-tm" "$3" "$5"
