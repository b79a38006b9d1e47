// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests: a plain function and its transactional version do the same to the same memory, outside
// of transactions, inside, after writes of the same transaction, and nothing where it is undone.
#pragma once

#include "contention/backoff.h"
#include "runtime/abi/itm.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <utility>

extern "C" {
std::uint32_t _ITM_beginTransaction(std::uint32_t properties, ...) __attribute__((returns_twice));
void _ITM_commitTransaction();
[[noreturn]] void _ITM_abortTransaction(std::uint32_t reason);
void _ITM_changeTransactionMode(std::uint32_t state);
void _ITM_memcpyRnWt(void *to, const void *from, std::size_t bytes);
std::uint64_t _ITM_RU8(const std::uint64_t *address);
void _ITM_WU8(std::uint64_t *address, std::uint64_t value);
}

namespace tandem::library {

// False if the body cancelled it. The body's locals are in a frame below the begin, as gcc's are.
template <class Body> [[gnu::noinline]] bool atomically(const Body &body, bool may_cancel = false) {
  const std::uint32_t actions =
      _ITM_beginTransaction(itm::kInstrumentedCode | (may_cancel ? 0 : itm::kHasNoAbort));
  if ((actions & itm::kAbort) != 0)
    return false;
  body();
  _ITM_commitTransaction();
  return true;
}

[[noreturn]] inline void undo() { _ITM_abortTransaction(itm::kUserAbort); }

// As long as one lives, the process has several threads: transactions do not simply run serially.
class SecondThread {
public:
  SecondThread() : thread_([this] { stop_.wait(false); }) {}
  ~SecondThread() {
    stop_ = true;
    stop_.notify_all();
    thread_.join();
  }

private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// The seed of this run: TANDEM_TEST_SEED, or always the same one.
inline std::uint64_t seed() {
  const char *told = std::getenv("TANDEM_TEST_SEED");
  return told == nullptr ? 20261121 : std::strtoull(told, nullptr, 10);
}

class Random {
public:
  explicit Random(std::uint64_t start) : bits_(start * 2 + 1) {}
  std::uint64_t below(std::uint64_t bound) { return bits_() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

private:
  contention::Xorshift bits_;
};

// `kBytes` of memory; nothing may be accessed behind them.
class Region {
public:
  static constexpr std::size_t kBytes = 4096;
  Region() {
    void *pages =
        mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED ||
        mprotect(static_cast<char *>(pages) + kBytes, kBytes, PROT_NONE) != 0)
      std::abort();
    begin_ = static_cast<char *>(pages);
  }
  Region(const Region &) = delete;
  Region &operator=(const Region &) = delete;
  ~Region() { munmap(begin_, 2 * kBytes); }
  char *begin() { return begin_; }
  char *end() { return begin_ + kBytes; }
  [[nodiscard]] std::string content() const { return {begin_, kBytes}; }
  void fill(const std::string &content) { std::memcpy(begin_, content.data(), kBytes); }

private:
  char *begin_;
};

// A result in terms that do not depend on the region's place.
inline long relative(const Region &, long value) { return value; }
inline long offset(Region &region, const void *pointer) {
  return pointer == nullptr ? -1 : static_cast<const char *>(pointer) - region.begin();
}
inline long sign(long value) { return (value > 0) - (value < 0); }

struct Seen {
  long result;
  int error;
  std::string memory;
  bool operator==(const Seen &) const = default;
};

// Writes what differs, in pieces of random size.
inline void write_in_pieces(Region &region, const std::string &content, Random random) {
  for (std::size_t at = 0; at < Region::kBytes;) {
    const std::size_t part = std::min<std::size_t>(1 + random.below(24), Region::kBytes - at);
    if (std::memcmp(region.begin() + at, content.data() + at, part) != 0)
      _ITM_memcpyRnWt(region.begin() + at, content.data() + at, part);
    at += part;
  }
}

inline constexpr int kErrorBefore = 77; // no error's number

// call(function, region) -> long, for function in {plain, wrapper}. `before` is what lies there
// when the transaction begins, `content` what the function finds.
template <class Function, class Call>
void differential(const char *name, Function plain, Function wrapper, const std::string &before,
                  const std::string &content, std::uint64_t case_seed, const Call &call) {
  SCOPED_TRACE(std::string(name) + ", TANDEM_TEST_SEED=" + std::to_string(seed()) + ", case " +
               std::to_string(case_seed));
  static Region region;
  const auto seen = [&](long result) { return Seen{result, errno, region.content()}; };
  region.fill(content);
  errno = kErrorBefore;
  const long by_plain = call(plain, region);
  const Seen expected = seen(by_plain);

  region.fill(content);
  errno = kErrorBefore;
  const long outside = call(wrapper, region);
  EXPECT_TRUE(seen(outside) == expected) << "outside: " << outside << " for " << expected.result;

  region.fill(content);
  errno = kErrorBefore;
  volatile long result = 0;
  atomically([&] { result = call(wrapper, region); });
  {
    const Seen now = seen(result);
    EXPECT_TRUE(now == expected) << "inside: " << now.result << " for " << expected.result
                                 << ", errno " << now.error << " for " << expected.error;
  }

  region.fill(before);
  errno = kErrorBefore;
  atomically([&] {
    write_in_pieces(region, content, Random(case_seed));
    result = call(wrapper, region);
  });
  {
    const Seen now = seen(result);
    EXPECT_TRUE(now == expected) << "after writes: " << now.result << " for " << expected.result
                                 << ", errno " << now.error << " for " << expected.error;
  }

  region.fill(before);
  errno = kErrorBefore;
  const bool committed = atomically(
      [&] {
        write_in_pieces(region, content, Random(case_seed));
        result = call(wrapper, region);
        undo();
      },
      true);
  EXPECT_FALSE(committed);
  EXPECT_EQ(result, expected.result);
  EXPECT_TRUE(region.content() == before) << "undone";
  EXPECT_EQ(errno, kErrorBefore);
}

} // namespace tandem::library
