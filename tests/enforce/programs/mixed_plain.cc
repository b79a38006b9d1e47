// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part that a plain compiler has compiled.
#include "mixed.h"

#include <tandem/tandem.hpp>

void add_plainly(int count) {
  for (int i = 0; i < count; ++i) {
    tandem::atomic([] {
      const long before = total;
      ++halves[0];
      tandem_atomic { ++halves[1]; } // nested
      total = before + 1;
    });
  }
}
