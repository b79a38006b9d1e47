// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sections of tandem-c++ beside those of a plain compiler, on the same data: mixed COUNT. LIBRARY:
// transactions of the library instead, by a plain compiler too.
#include "mixed.h"

#include <cstdio>
#include <cstdlib>
#include <thread>

#ifdef LIBRARY
#include <tandem/transaction.hpp>
#else
#include <tandem/tandem.hpp>
#endif

long total;
long halves[2];

namespace {

#ifdef LIBRARY
long read(const long &place) {
  return static_cast<long>(tandem_read_u64(reinterpret_cast<const std::uint64_t *>(&place)));
}
void add_one(long &place) {
  tandem_write_u64(reinterpret_cast<std::uint64_t *>(&place),
                   static_cast<std::uint64_t>(read(place) + 1));
}
void step() {
  tandem::transaction([] {
    add_one(total);
    add_one(halves[0]);
    add_one(halves[1]);
  });
}
bool is_alike() {
  bool alike = false;
  tandem::transaction([&] { alike = read(halves[0]) == read(halves[1]); });
  return alike;
}
#else
void step() {
  tandem::atomic([] { ++total; });
  tandem_atomic {
    ++halves[0];
    ++halves[1];
  }
}
bool is_alike() {
  return tandem::atomic([] { return halves[0] == halves[1]; });
}
#endif

} // namespace

int main(int count, char **arguments) {
  const int rounds = count == 2 ? std::atoi(arguments[1]) : 1;
  bool alike = true;
  std::thread plain(add_plainly, rounds);
  std::thread other([&] {
    for (int i = 0; i < rounds; ++i) {
      step();
      alike = is_alike() && alike;
    }
  });
  plain.join();
  other.join();
  if (alike && total == 2L * rounds && halves[0] == total && halves[1] == total)
    return 0;
  std::printf("alike %d, total %ld of %ld, halves %ld and %ld\n", alike, total, 2L * rounds,
              halves[0], halves[1]);
  return 1;
}
