// Copies and fills are intrinsics when the analysis sees them: an entry of the function that they are written as holds,
// but not of copies of structures, nor of memory that is the function's own.
// RUN: echo 'version = 1' > %t.toml
// RUN: echo '[functions]' >> %t.toml
// RUN: echo 'irrevocable = ["memcpy", "memset"]' >> %t.toml
// RUN: %cc %s > %t.in.ll
// RUN: env TANDEM_ENFORCE=none TANDEM_CATALOGUE=%t.toml %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
// RUN: echo 'version = 1' > %t.unsafe.toml
// RUN: echo '[functions]' >> %t.unsafe.toml
// RUN: echo 'unsafe = ["memcpy", "memset"]' >> %t.unsafe.toml
// RUN: env TANDEM_ENFORCE=none TANDEM_CATALOGUE=%t.unsafe.toml %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
// RUN: env TANDEM_ENFORCE=none TANDEM_CATALOGUE=papers %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json --check-prefix=PAPERS
// RUN: env TANDEM_ENFORCE=none %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json --check-prefix=BUILTIN
// BUILTIN-NOT: "callee"
#include <string.h>
#include <strings.h>
struct record {
  long words[9];
} one, other;
char a[64], b[64];
__attribute__((atomic)) void fill(int n) { memset(a, 1, n); }
__attribute__((atomic)) void clear(int n) { bzero(a, n); }
__attribute__((atomic)) void copy(int n) { memcpy(a, b, n); }
__attribute__((atomic)) void word(void) { memcpy(a, b, 8); }
__attribute__((atomic)) void move(int n) { memmove(a, b, n); }
__attribute__((atomic)) void structure(void) { one = other; }
__attribute__((atomic)) int own(int n) {
  char local[64] = {0};
  memset(local, n, n & 63);
  return local[n & 63];
}
int main(int count, char **names) {
  (void)names;
  fill(count);
  clear(count);
  copy(count);
  word();
  move(count);
  structure();
  return own(count);
}
// CHECK: "name": "fill"
// CHECK: "class": "non-revocable"
// CHECK: "callee": "memset"
// CHECK: "name": "clear"
// CHECK: "callee": "memset"
// CHECK: "name": "copy"
// CHECK: "callee": "memcpy"
// CHECK: "name": "word"
// CHECK: "callee": "memcpy"
// CHECK: "name": "move"
// CHECK-NOT: "callee"
// PAPERS: "name": "move"
// PAPERS: "callee": "memmove"
// PAPERS: "name": "structure"
// PAPERS-NOT: "callee"
