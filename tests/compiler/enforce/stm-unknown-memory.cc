// What accesses memory and has no barrier makes the section irrevocable before it, and the report names it. What LLVM
// says accesses none, or none that others see, does not.
// RUN: %cxx -std=c++20 -mavx2 -mfxsr %s | env TANDEM_ENFORCE=stm %tandem > %t.ll
// RUN: %FileCheck --input-file=%t.ll %s
// RUN: %FileCheck --check-prefix=REPORT --input-file=%t.json %s
#include <immintrin.h>
static int cells[8];
static char image[512] __attribute__((aligned(16)));
static long total, offset;
__attribute__((atomic)) void masked(int mask) {
  total += 1;
  if (mask > 3)
    __builtin_ia32_maskstored256((__v8si *)cells, (__v8si)_mm256_set1_epi32(1),
                                 (__v8si)_mm256_set1_epi32(1));
}
__attribute__((atomic)) void saves() { _fxsave(image); }
__attribute__((atomic)) void segment() {
  if (total != 7)
    total += *(long __attribute__((address_space(256))) *)offset;
}
__attribute__((atomic)) void assembly(long k) {
  asm volatile("movq %1, %0" : "=m"(total) : "r"(k));
}
__attribute__((atomic)) void streams(long k) { __builtin_nontemporal_store(k, &total); offset = k; }
__attribute__((atomic)) void computes(long k) {
  total += __builtin_popcountl(k) + (long)__builtin_bitreverse64(k);
  __builtin_prefetch(&total);
  total = __builtin_expect(total, 7);
}
int main() {
  masked(1);
  saves();
  segment();
  assembly(1);
  streams(2);
  computes(3);
}
// CHECK: define {{.*}} @_Z6maskedi{{.*}}.tandem.tm(
// CHECK: call void @_ITM_changeTransactionMode(i32 0)
// CHECK-NEXT: call void @llvm.x86.avx2.maskstore.d.256(
// CHECK: define {{.*}} @_Z7segmentv{{.*}}.tandem.tm(
// CHECK: call void @_ITM_changeTransactionMode(i32 0)
// CHECK-NEXT: load i64, ptr addrspace(256)
// CHECK: define {{.*}} @_Z7streamsl{{.*}}.tandem.tm(
// CHECK-NOT: changeTransactionMode
// CHECK: {{(_ITM_|_TANDEM_inline_)}}WU8
// CHECK: define {{.*}} @_Z8computesl{{.*}}.tandem.tm(
// CHECK-NOT: changeTransactionMode
// CHECK: ret void
// REPORT: "name": "masked
// REPORT: "callee": "llvm.x86.avx2.maskstore.d.256"
// REPORT: "name": "saves
// REPORT: "callee": "llvm.x86.fxsave"
// REPORT: "name": "segment
// REPORT: "callee": "(other address space)"
// REPORT: "name": "assembly
// REPORT: "callee": "(inline assembly)"
// REPORT: "name": "streams
// REPORT: "irrevocable": [],
// REPORT: "name": "computes
// REPORT: "irrevocable": [],
