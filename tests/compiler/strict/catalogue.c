// A catalogue that knows better makes a strict section possible; the paper's makes malloc too much.
// RUN: echo 'version = 1' > %t.toml
// RUN: echo 'functions.pure = ["checksum"]' >> %t.toml
// RUN: %cc %s > %t.before.ll
// RUN: not %tandem < %t.before.ll > %t.ll 2> %t.err
// RUN: %FileCheck %s --input-file=%t.err
// CHECK: error: strict atomic section 'count' reaches 'checksum': count
// RUN: env TANDEM_CATALOGUE=%t.toml %tandem < %t.before.ll > %t.ll
// RUN: not env TANDEM_CATALOGUE=papers %tandem < %t.before.ll > %t.ll 2> %t.papers
// RUN: %FileCheck %s --check-prefix=PAPERS --input-file=%t.papers
// PAPERS-DAG: reaches 'checksum'
// PAPERS-DAG: reaches 'free'
// PAPERS-DAG: reaches 'malloc'
#include <stdlib.h>
#include <tandem/tandem.h>
int checksum(int value);
static int counter;
TANDEM_ATOMIC_STRICT void count(void) {
  int *copy = malloc(sizeof *copy);
  counter = checksum(counter);
  free(copy);
}
int main(void) { count(); }
