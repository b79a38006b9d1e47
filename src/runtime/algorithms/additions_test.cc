// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inlined accesses, and updates that are put off to the commit, against plain bytes. One process
// has one algorithm, so ctest runs this program once for each (runtime/CMakeLists.txt).
#include "runtime/abi/itm.h"
#include "runtime/algorithms/additions.h"
#include "runtime/algorithms/norec.h"
#include "runtime/algorithms/orec.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/memory/cell.h"
#include "runtime/settings/settings.h"
#include "runtime/wait/wait.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <pthread.h>
#include <random>
#include <thread>
#include <vector>

extern "C" {
std::uint32_t _ITM_beginTransaction(std::uint32_t properties, ...) __attribute__((returns_twice));
void _ITM_commitTransaction();
[[noreturn]] void _ITM_abortTransaction(std::uint32_t reason);
void _ITM_changeTransactionMode(std::uint32_t state);
std::uint64_t _ITM_RU8(const std::uint64_t *address);
void _ITM_memcpyRtWn(void *to, const void *from, std::size_t bytes);
void _ITM_memcpyRnWt(void *to, const void *from, std::size_t bytes);
// abi/inline_barriers.cc, as a program has it after the pass.
#define TANDEM_WIDTH(NAME, TYPE)                                                                   \
  TYPE _TANDEM_inline_R##NAME(const TYPE *address, void *thread);                                  \
  TYPE _TANDEM_inline_RfW##NAME(const TYPE *address, void *thread);                                \
  void _TANDEM_inline_W##NAME(TYPE *address, TYPE value, void *thread)
TANDEM_WIDTH(U1, std::uint8_t);
TANDEM_WIDTH(U2, std::uint16_t);
TANDEM_WIDTH(U4, std::uint32_t);
TANDEM_WIDTH(U8, std::uint64_t);
void _TANDEM_inline_add_4(std::uint32_t *address, std::uint32_t by, void *thread);
void _TANDEM_inline_add_8(std::uint64_t *address, std::uint64_t by, void *thread);
}

namespace tandem {
namespace {

constexpr std::size_t kBytes = 64; // two stripes, so that accesses meet
alignas(32) std::array<std::uint8_t, kBytes> bytes;

// False if the body cancelled it. The body's locals are in a frame below the begin.
template <class Body> [[gnu::noinline]] bool atomically(const Body &body, bool may_cancel = false) {
  const std::uint32_t actions =
      _ITM_beginTransaction(itm::kInstrumentedCode | (may_cancel ? 0 : itm::kHasNoAbort));
  if ((actions & itm::kAbort) != 0)
    return false;
  body();
  _ITM_commitTransaction();
  return true;
}

// Whether the transaction that runs puts off.
bool buffers() {
  const Mode mode = current_thread->mode;
  return mode == Mode::norec || mode == Mode::lazy || mode == Mode::eager;
}

// As after a conflict.
void put_off() { additions::meet_conflict(*current_thread); }

template <class U> U *place(std::array<std::uint8_t, kBytes> &in, std::size_t offset) {
  return reinterpret_cast<U *>(in.data() + offset);
}
template <class U> U plain(const std::array<std::uint8_t, kBytes> &in, std::size_t offset) {
  U value;
  std::memcpy(&value, in.data() + offset, sizeof value);
  return value;
}
template <class U> void set(std::array<std::uint8_t, kBytes> &in, std::size_t offset, U value) {
  std::memcpy(in.data() + offset, &value, sizeof value);
}

struct Calls {
  std::uint64_t (*read)(std::size_t offset);
  void (*write)(std::size_t offset, std::uint64_t value);
};
#define TANDEM_CALLS(NAME, TYPE)                                                                   \
  Calls {                                                                                          \
    [](std::size_t offset) {                                                                       \
      return static_cast<std::uint64_t>(                                                           \
          offset % 2 == 0 ? _TANDEM_inline_R##NAME(place<TYPE>(bytes, offset), current_thread)     \
                          : _TANDEM_inline_RfW##NAME(place<TYPE>(bytes, offset), current_thread)); \
    },                                                                                             \
        [](std::size_t offset, std::uint64_t value) {                                              \
          _TANDEM_inline_W##NAME(place<TYPE>(bytes, offset), static_cast<TYPE>(value),             \
                                 current_thread);                                                  \
        }                                                                                          \
  }
const std::array kCalls{TANDEM_CALLS(U1, std::uint8_t), TANDEM_CALLS(U2, std::uint16_t),
                        TANDEM_CALLS(U4, std::uint32_t), TANDEM_CALLS(U8, std::uint64_t)};

// One access, to the memory and to `model`, which they must agree on.
void step(std::mt19937_64 &random, std::array<std::uint8_t, kBytes> &model) {
  const std::size_t width_log2 = random() % 4;
  const std::size_t width = std::size_t{1} << width_log2;
  std::size_t offset = random() % (kBytes - width + 1);
  if (random() % 8 != 0)
    offset -= offset % width;
  const std::uint64_t value = random();
  switch (random() % 6) {
  case 0: {
    const std::uint64_t seen = kCalls[width_log2].read(offset);
    std::uint64_t expected = 0;
    std::memcpy(&expected, model.data() + offset, width);
    ASSERT_EQ(seen, expected) << width << " bytes at " << offset;
    return;
  }
  case 1:
    kCalls[width_log2].write(offset, value);
    std::memcpy(model.data() + offset, &value, width);
    return;
  case 2: {
    std::array<std::uint8_t, 16> copy;
    const std::size_t from = random() % (kBytes - copy.size());
    _ITM_memcpyRtWn(copy.data(), bytes.data() + from, copy.size());
    ASSERT_EQ(std::memcmp(copy.data(), model.data() + from, copy.size()), 0) << from;
    return;
  }
  default:
    if (offset + 8 > kBytes)
      return;
    if (random() % 2 == 0) {
      _TANDEM_inline_add_8(place<std::uint64_t>(bytes, offset), value, current_thread);
      set(model, offset, plain<std::uint64_t>(model, offset) + value);
    } else {
      const auto less = static_cast<std::uint32_t>(value);
      _TANDEM_inline_add_4(place<std::uint32_t>(bytes, offset), less, current_thread);
      set(model, offset, plain<std::uint32_t>(model, offset) + less);
    }
  }
}

class InTransaction : public ::testing::Test {
protected:
  // A second thread lives: with one alone nothing would be buffered.
  void SetUp() override {
    other_ = std::thread([this] {
      while (!stop_)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    atomically([] {}); // makes current_thread
    bytes.fill(0);
  }
  void TearDown() override {
    stop_ = true;
    other_.join();
  }

private:
  std::atomic<bool> stop_{false};
  std::thread other_;
};

TEST_F(InTransaction, AnySequenceIsAsInPlainMemory) {
  std::array<std::uint8_t, kBytes> model{};
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    std::array<std::uint8_t, kBytes> after{};
    if (seed % 4 != 0)
      put_off();
    atomically([&] {
      std::mt19937_64 random(seed);
      after = model;
      for (std::uint64_t i = 0; i < 1 + seed % 24; ++i)
        step(random, after);
      if (seed % 16 == 0) {
        _ITM_changeTransactionMode(0);
        step(random, after);
      }
    });
    model = after;
    ASSERT_EQ(bytes, model) << "seed " << seed;
    ASSERT_EQ(current_thread->quick_end, nullptr) << "seed " << seed; // the next may be another's
  }
}

// The algorithm changes while a transaction waits, at its begin, for one that is serial.
TEST_F(InTransaction, TheAlgorithmMayChangeAtTheBegin) {
  const Algorithm first = settings.algorithm.load();
  if (first != Algorithm::norec && first != Algorithm::two_phase)
    return; // no other one does
  constexpr std::uint64_t kSeen = 7;
  auto *word = place<std::uint64_t>(bytes, 8);
  std::uint64_t seen = 0;
  std::uint64_t in_memory = 0;
  serial::acquire(nullptr);
  std::thread other([&] {
    atomically([&] {
      _TANDEM_inline_WU8(word, kSeen, current_thread);
      seen = _TANDEM_inline_RU8(word, current_thread);
    });
    in_memory = *word;
  });
  while (serial::word.value.load() != serial::kHeldWithWaiters)
    std::this_thread::yield();
  settings.algorithm = first == Algorithm::two_phase ? Algorithm::norec : Algorithm::two_phase;
  serial::release();
  other.join();
  settings.algorithm = first;
  EXPECT_EQ(seen, kSeen);
  EXPECT_EQ(in_memory, kSeen);
}

// What a transaction waits for is all that it has read, also where that spans two stripes.
TEST_F(InTransaction, WaitsForBothStripesOfAReadThatSpansThem) {
  constexpr std::size_t kSpanning = 29; // of stripes of 32 bytes
  std::uint64_t interest = 0;
  std::uint64_t both = 0;
  atomically([&] {
    const auto *word = place<std::uint64_t>(bytes, kSpanning);
    _TANDEM_inline_RU8(word, current_thread);
    if (current_thread->mode != Mode::norec)
      return; // others read by words
    interest = norec::interest(*current_thread);
    const auto at = reinterpret_cast<std::uintptr_t>(word);
    both = wait::bit_of(orec::stripe_of(at)) | wait::bit_of(orec::stripe_of(at + 7));
  });
  EXPECT_EQ(interest, both);
}

// A thread's stack may end anywhere: a frame and an address that is not aligned are told all the
// same.
TEST_F(InTransaction, AStackMayEndAnywhere) {
  struct alignas(32) Memory {
    std::array<std::uint8_t, std::size_t{1} << 20> stack;
  };
  const auto memory = std::make_unique<Memory>();
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstack(&attributes, memory->stack.data(), memory->stack.size() - 27), 0);
  const auto run = [](void *) -> void * {
    for (std::size_t offset = 8; offset < 24; ++offset) {
      bytes.fill(0xee);
      std::array<std::uint8_t, kBytes> after = bytes;
      const std::uint64_t value = 0x0807060504030201;
      atomically([&] {
        _TANDEM_inline_WU8(place<std::uint64_t>(bytes, offset), value, current_thread);
        _TANDEM_inline_WU4(place<std::uint32_t>(bytes, offset + 16), 5, current_thread);
      });
      set(after, offset, value);
      set(after, offset + 16, std::uint32_t{5});
      EXPECT_EQ(bytes, after) << "offset " << offset;
    }
    return nullptr;
  };
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, &attributes, run, nullptr), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// More than a log has room for at first, before and after a write.
TEST_F(InTransaction, AnyNumberOfReads) {
  constexpr std::size_t kMany = 5'000;
  std::vector<std::uint64_t> words(kMany);
  std::iota(words.begin(), words.end(), std::uint64_t{1});
  std::uint64_t sum = 0;
  atomically([&] {
    for (const std::uint64_t &word : words)
      sum += _TANDEM_inline_RU8(&word, current_thread);
    _TANDEM_inline_WU8(&words[7], 0, current_thread);
    for (const std::uint64_t &word : words)
      sum += _TANDEM_inline_RU8(&word, current_thread);
  });
  EXPECT_EQ(sum, kMany * (kMany + 1) - 8);
  EXPECT_EQ(words[7], 0);
}

// More than the write set has room for at first, some of them twice, and a nested transaction's.
TEST_F(InTransaction, AnyNumberOfWrites) {
  constexpr std::size_t kMany = 5'000;
  std::vector<std::uint64_t> words(kMany);
  std::uint64_t wrong = 0;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    atomically([&] {
      for (std::size_t i = 0; i < kMany; ++i) {
        _TANDEM_inline_WU8(&words[i], round, current_thread);
        if (i % 3 == 0)
          _TANDEM_inline_add_8(&words[i / 2], round, current_thread);
      }
      atomically([&] { _TANDEM_inline_WU8(&words[1], 0, current_thread); }, true);
      _TANDEM_inline_add_8(&words[1], round, current_thread);
    });
    for (std::size_t i = 0; i < kMany; ++i) {
      // Added to after it was written: for each i < kMany with i / 2 == place and i % 3 == 0.
      std::uint64_t added = 0;
      for (std::size_t by = 2 * i; by <= 2 * i + 1 && by < kMany; ++by)
        added += by % 3 == 0 && by >= i ? round : 0;
      if (words[i] != (i == 1 ? round : round + added))
        ++wrong;
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(InTransaction, CancellingUndoesAnySequence) {
  std::array<std::uint8_t, kBytes> model{};
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    std::array<std::uint8_t, kBytes> after{};
    const bool outer_stays = seed % 3 != 0;
    put_off();
    atomically(
        [&] {
          std::mt19937_64 random(seed);
          after = model;
          for (int i = 0; i < 6; ++i)
            step(random, after);
          atomically(
              [&] {
                std::array<std::uint8_t, kBytes> inner = after;
                for (int i = 0; i < 6; ++i)
                  step(random, inner);
                if (seed % 2 == 0)
                  _ITM_abortTransaction(itm::kUserAbort);
                after = inner;
              },
              true);
          for (int i = 0; i < 6; ++i)
            step(random, after);
          if (!outer_stays)
            _ITM_abortTransaction(itm::kUserAbort);
        },
        true);
    if (outer_stays)
      model = after;
    ASSERT_EQ(bytes, model) << "seed " << seed;
  }
}

TEST_F(InTransaction, PutOffTheyAreInMemoryOnlyAfterTheCommit) {
  std::uint64_t during = 0;
  put_off();
  atomically([&] {
    _TANDEM_inline_add_8(place<std::uint64_t>(bytes, 8), 5, current_thread);
    _TANDEM_inline_add_8(place<std::uint64_t>(bytes, 8), 6, current_thread);
    during = buffers() ? plain<std::uint64_t>(bytes, 8) : 0;
  });
  EXPECT_EQ(during, 0);
  EXPECT_EQ(plain<std::uint64_t>(bytes, 8), 11);
}

// Where all are folded, putting off ends too, and leaves nothing.
TEST_F(InTransaction, FoldedTheyAreForgotten) {
  bool put_off_there = false;
  std::uint32_t times = 0;
  std::uint64_t seen = 0;
  put_off();
  for (std::uint32_t i = 1; i <= additions::kCommits; ++i) {
    atomically([&] {
      put_off_there = buffers();
      _TANDEM_inline_add_8(place<std::uint64_t>(bytes, 8), 1, current_thread);
      seen = _TANDEM_inline_RU8(place<std::uint64_t>(bytes, 8), current_thread);
    });
    ASSERT_EQ(seen, i);
    ASSERT_TRUE(current_thread->writes.empty());
    times += put_off_there ? 1 : 0;
  }
  EXPECT_EQ(current_thread->puts_off, additions::kCommits - times);
}

// Somebody else's addition in the middle of a transaction that adds to the same place.
TEST_F(InTransaction, PutOffTheyDoNotConflict) {
  int attempts = 0;
  bool met = false;
  std::atomic<bool> ready{false};
  std::atomic<bool> go{false};
  std::thread somebody([&] {
    atomically([] {}); // before the other one begins: in the processor it would wait for its end
    ready = true;
    while (!go)
      std::this_thread::yield();
    put_off();
    atomically([] { _TANDEM_inline_add_8(place<std::uint64_t>(bytes, 8), 100, current_thread); });
  });
  while (!ready)
    std::this_thread::yield();
  put_off();
  atomically([&] {
    ++attempts;
    _TANDEM_inline_add_8(place<std::uint64_t>(bytes, 8), 5, current_thread);
    if (!buffers() || attempts > 1)
      return;
    met = true;
    go = true;
    // It has committed; it returns when this transaction is over.
    while (memory::load(place<std::uint64_t>(bytes, 8)) != 100) {
    }
  });
  go = true;
  somebody.join();
  if (met) {
    EXPECT_EQ(attempts, 1);
  }
  EXPECT_EQ(plain<std::uint64_t>(bytes, 8), 105);
}

TEST_F(InTransaction, SumsOfManyThreadsAreExact) {
  constexpr int kThreads = 4;
  constexpr std::uint64_t kEach = 4000;
  alignas(64) static std::array<std::uint64_t, 16> cells; // 3 in a stripe's neighbourhood each
  cells.fill(0);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number)
    threads.emplace_back([&, number] {
      std::mt19937_64 random(static_cast<std::uint64_t>(number) + 1);
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const std::uint64_t from = random() % 8;
        const std::uint64_t to = random() % 8;
        const bool looks = i % 16 == 0;
        atomically([&] {
          _TANDEM_inline_add_8(&cells[from], std::uint64_t{0} - 3, current_thread);
          if (looks) { // the sum of all is 0 in every state
            std::uint64_t sum = 3;
            for (std::size_t cell = 0; cell < 8; ++cell)
              sum += _TANDEM_inline_RU8(&cells[cell], current_thread);
            if (sum != 0)
              ++wrong;
          }
          _TANDEM_inline_add_8(&cells[to], 3, current_thread);
          _TANDEM_inline_add_8(&cells[8], 1, current_thread);
        });
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  std::uint64_t sum = 0;
  for (std::size_t cell = 0; cell < 8; ++cell)
    sum += cells[cell];
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(cells[8], kThreads * kEach);
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace tandem
