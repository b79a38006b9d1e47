// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of transactions beside sections with exclusive colours share: sections as the
// compiler's and gcc's wrappers run them, and a fixture that finds all colours free at the end.
#pragma once

#include "runtime/transaction/guarded.h"

#include "runtime/abi/itm.h"
#include "runtime/irrevocable/barrier.h"
#include "runtime/irrevocable/test_output.h"
#include "runtime/settings/settings.h"

#include <gtest/gtest.h>
#include <tandem/transaction.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <latch>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
std::uint32_t _ITM_beginTransaction(std::uint32_t properties, ...) __attribute__((returns_twice));
void _ITM_commitTransaction();
[[noreturn]] void _ITM_abortTransaction(std::uint32_t reason);
void _ITM_changeTransactionMode(std::uint32_t state);
std::uint32_t _ITM_inTransaction();
std::uint64_t _ITM_RU8(const std::uint64_t *address);
void _ITM_WU8(std::uint64_t *address, std::uint64_t value);
}

namespace tandem {

inline constexpr std::uint32_t kBoth =
    itm::kInstrumentedCode | itm::kUninstrumentedCode | itm::kHasNoAbort;

// As the compiler's wrapper: the body is told whether it is the plain one. False: cancelled.
template <class Body>
[[gnu::noinline]] bool run(const tandem_section &section, const Body &body,
                           std::uint32_t properties = kBoth) {
  const std::uint32_t actions = _TANDEM_begin(properties, &section);
  if ((actions & itm::kAbort) != 0)
    return false;
  body((actions & itm::kRunUninstrumented) != 0);
  _ITM_commitTransaction();
  return true;
}

// As gcc's: no descriptor.
template <class Body> [[gnu::noinline]] void run_gcc(const Body &body) {
  _ITM_beginTransaction(kBoth);
  body();
  _ITM_commitTransaction();
}

template <class Body> void run_exclusively(const tandem_section &section, const Body &body) {
  _TANDEM_colours_enter(&section);
  body();
  _TANDEM_colours_leave(&section);
}

[[gnu::noinline]] inline void add(std::uint64_t &cell, std::uint64_t by) {
  _ITM_WU8(&cell, _ITM_RU8(&cell) + by);
}
[[gnu::noinline]] inline void add_plainly(std::uint64_t &cell, std::uint64_t by) { cell += by; }

void in_threads(int count, const auto &body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(body, i);
  for (std::thread &thread : threads)
    thread.join();
}

struct Guarded : testing::Test {
  Guarded() {
    std::thread([] {}).join();
  } // the process has had several threads
  void TearDown() override {
    EXPECT_EQ(colours::depth(), 0U);
    EXPECT_EQ(_ITM_inTransaction(), itm::kOutside);
    for (const colours::Mark &mark : _TANDEM_colours_shared.marks)
      for (const auto &held : mark.held)
        ASSERT_EQ(held.load(), nullptr);
  }
};

} // namespace tandem
