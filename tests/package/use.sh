#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# use.sh PACKAGES: installs the Debian packages of a folder, does with each what it is for, and removes them. For a
# machine that has nothing of Tandem (scripts/fresh-machine packages). Needs root.
set -eu
packages=$(realpath "$1")
cd "$(mktemp -d)"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq --yes --no-install-recommends "$packages"/*.deb >apt.log

step() { printf '  %s\n' "$*"; }

step 'every program says what it is'
tandem --version | grep -E '^tandem [0-9.]+ \(.*LLVM 19'
for name in analyze report rewrite machine experiment workload bench; do
  tandem "$name" --version >version
  tandem "$name" --summary >summary
done
tandem help limits | grep -qx '# Limits'
test -s /usr/share/man/man1/tandem-cc.1 && test -s /usr/share/bash-completion/completions/tandem

step 'a program with sections, which needs no LD_LIBRARY_PATH and knows no build tree'
cat >count.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <tandem/tandem.h>
static long count;
TANDEM_ATOMIC void add(void) { ++count; }
static void *work(void *unused) {
  for (int i = 0; i < 100000; ++i)
    add();
  return unused;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  printf("%ld\n", count);
  return 0;
}
END
for enforce in locks stm hybrid; do
  tandem-cc -O2 -pthread -ftandem-enforce=$enforce count.c -o count
  test "$(./count)" = 400000
  ldd ./count | grep -q 'not found' && exit 1
  readelf -d ./count | grep -E 'R(UN)?PATH' | grep -qF '[/usr/lib/tandem/lib]'
done
tandem analyze count.c >/dev/null

step "GCC's library stays the one that the loader finds"
ldconfig -p | grep -q 'libitm.so.1 .*/usr/lib/tandem' && exit 1
test -e /usr/lib/tandem/lib/libitm.so.1

step 'the simulated machine, experiments and the suite'
tandem machine run --protocol flask --workload oltp-like --accesses 20000 >/dev/null
tandem experiment list >/dev/null
tandem bench ssca2 --variants mutex,cc-locks --threads 1 --size test --reps 1 --warm-ups 0 --no-plots --json bench.json
test -s bench.json

step 'nothing stays when they are removed'
apt-get remove -qq --yes tandem tandem-machine tandem-experiments libtandem-dev libtandem0 >apt.log
test ! -e /usr/lib/tandem
test ! -e /usr/bin/tandem
