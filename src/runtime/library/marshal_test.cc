// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain functions on copies of their arguments: tandem_marshal and tandem::marshal.
#include "runtime/library/differential.h"

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <tandem/library.hpp>
#include <tandem/transaction.h>
#include <vector>

namespace tandem::library {
namespace {

std::uint64_t get(const std::uint64_t &from) { return _ITM_RU8(&from); }
void put(std::uint64_t &to, std::uint64_t value) { _ITM_WU8(&to, value); }

// Where the last call found its arguments: plain, so no transaction undoes it.
std::array<void *, TANDEM_MOST_ARGUMENTS> places;

// memory: text (in), its length (in), the text turned round (out), how often (in and out).
void turn_round(void *const *memory) {
  std::copy_n(memory, 4, places.begin());
  const auto *text = static_cast<const char *>(memory[0]);
  const std::size_t length = *static_cast<const std::size_t *>(memory[1]);
  auto *turned = static_cast<char *>(memory[2]);
  for (std::size_t i = 0; i < length; ++i)
    turned[i] = text[length - 1 - i];
  ++*static_cast<std::uint64_t *>(memory[3]);
  errno = ERANGE;
}

struct Texts {
  char text[3000];
  std::size_t length;
  char turned[3000];
  std::uint64_t count;
  std::array<tandem_argument, 4> arguments() {
    return {{{text, length, TANDEM_IN},
             {&length, sizeof length, TANDEM_IN},
             {turned, length, TANDEM_OUT},
             {&count, sizeof count, TANDEM_IN_OUT}}};
  }
  void fill(std::size_t bytes) {
    std::iota(text, text + sizeof text, '\1');
    std::fill_n(turned, sizeof turned, '*');
    length = bytes;
    count = 6;
    errno = kErrorBefore;
  }
  [[nodiscard]] bool is_turned(std::uint64_t counted) const {
    return std::equal(text, text + length, std::make_reverse_iterator(turned + length)) &&
           turned[length] == '*' && count == counted;
  }
  [[nodiscard]] bool is_untouched() const { return turned[0] == '*' && count == 6; }
};
Texts texts;

void turn() {
  const auto arguments = texts.arguments();
  tandem_marshal(turn_round, arguments.data(), arguments.size());
}

// In copies of 5 bytes on the stack, and of 2500 elsewhere.
TEST(marshal, values_go_in_and_out) {
  const SecondThread second;
  for (const std::size_t bytes : {5U, 2500U}) {
    texts.fill(bytes);
    turn(); // outside of transactions: the memory itself
    EXPECT_TRUE(texts.is_turned(7));
    EXPECT_EQ(errno, ERANGE);
    EXPECT_EQ(places[0], texts.text);
    EXPECT_EQ(places[3], &texts.count);

    texts.fill(bytes);
    atomically(turn, true);
    EXPECT_TRUE(texts.is_turned(7));
    EXPECT_EQ(errno, ERANGE);
    EXPECT_NE(places[0], texts.text);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(places[i]) % alignof(std::max_align_t), 0U);
  }
}

TEST(marshal, sees_what_the_transaction_wrote_and_shows_it_what_it_writes) {
  const SecondThread second;
  texts.fill(5);
  atomically(
      [] {
        _ITM_memcpyRnWt(texts.text, "ABCDE", 5);
        put(texts.count, 40);
        turn();
        EXPECT_EQ(get(texts.count), 41U);
        char seen[6] = {};
        tandem_read_bytes(seen, texts.turned, 5);
        EXPECT_STREQ(seen, "EDCBA");
        turn(); // again
      },
      true);
  EXPECT_TRUE(texts.is_turned(42));
}

TEST(marshal, is_undone) {
  const SecondThread second;
  texts.fill(2500);
  EXPECT_FALSE(atomically(
      [] {
        turn();
        undo();
      },
      true));
  EXPECT_TRUE(texts.is_untouched());
  EXPECT_EQ(errno, kErrorBefore);
}

TEST(marshal, nested_ones_are_undone_alone) {
  const SecondThread second;
  texts.fill(5);
  atomically(
      [] {
        turn();
        EXPECT_FALSE(atomically(
            [] {
              turn();
              EXPECT_EQ(get(texts.count), 8U);
              undo();
            },
            true));
        EXPECT_EQ(get(texts.count), 7U);
        atomically(turn, true);
      },
      true);
  EXPECT_TRUE(texts.is_turned(8));
}

TEST(marshal, irrevocable_ones_use_the_memory_itself) {
  const SecondThread second;
  texts.fill(5);
  atomically([] {
    tandem_become_irrevocable();
    turn();
    EXPECT_EQ(texts.count, 7U);
  });
  EXPECT_EQ(places[2], texts.turned);
  EXPECT_TRUE(texts.is_turned(7));
  // What was marshalled before it became irrevocable stays.
  texts.fill(5);
  atomically([] {
    turn();
    tandem_become_irrevocable();
    turn();
  });
  EXPECT_TRUE(texts.is_turned(8));
}

TEST(marshal, what_is_only_read_is_not_written_back_and_what_is_only_written_begins_as_zeros) {
  const SecondThread second;
  static std::uint64_t in;
  static std::uint64_t out[2];
  in = 5;
  out[0] = out[1] = 9;
  atomically(
      [] {
        const tandem_argument arguments[] = {{&in, sizeof in, TANDEM_IN},
                                             {out, sizeof out, TANDEM_OUT}};
        tandem_marshal(
            [](void *const *memory) {
              *static_cast<std::uint64_t *>(memory[0]) = 1000;
              ++*static_cast<std::uint64_t *>(memory[1]);
            },
            arguments, 2);
      },
      true);
  EXPECT_EQ(in, 5U);
  EXPECT_EQ(out[0], 1U);
  EXPECT_EQ(out[1], 0U);
}

TEST(marshal, nothing_may_be_empty) {
  const SecondThread second;
  static char byte = 'b';
  static bool null;
  static bool called;
  const auto call = [] {
    const tandem_argument arguments[] = {{nullptr, 0, TANDEM_OUT}, {&byte, 0, TANDEM_IN_OUT}};
    tandem_marshal([](void *const *memory) { null = memory[0] == nullptr && memory[1] != nullptr; },
                   arguments, 2);
    tandem_marshal([](void *const *) { called = true; }, nullptr, 0);
  };
  for (const bool inside : {false, true}) {
    null = called = false;
    if (inside)
      atomically(call, true);
    else
      call();
    EXPECT_TRUE(null);
    EXPECT_TRUE(called);
  }
  EXPECT_EQ(byte, 'b');
}

// Two accounts whose sum a plain function must always find: its copies are of one moment.
TEST(marshal, copies_are_consistent_and_no_update_is_lost) {
  static std::uint64_t accounts[2][8]; // in different cache lines
  accounts[0][0] = 1000;
  accounts[1][0] = 1000;
  static std::atomic<int> wrong;
  wrong = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([] {
      for (int i = 0; i < 300; ++i)
        atomically(
            [] {
              const tandem_argument arguments[] = {{&accounts[0][0], 8, TANDEM_IN_OUT},
                                                   {&accounts[1][0], 8, TANDEM_IN_OUT}};
              tandem_marshal(
                  [](void *const *memory) {
                    auto &from = *static_cast<std::uint64_t *>(memory[0]);
                    auto &to = *static_cast<std::uint64_t *>(memory[1]);
                    if (from + to != 2000)
                      ++wrong;
                    --from;
                    ++to;
                  },
                  arguments, 2);
            },
            true);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(accounts[0][0], static_cast<std::uint64_t>(1000 - 1200));
  EXPECT_EQ(accounts[1][0], 2200U);
}

struct Summary {
  double mean;
  long least;
};

TEST(marshal, by_type) {
  const SecondThread second;
  static long values[200];
  static long calls;
  std::iota(std::begin(values), std::end(values), 5);
  const long shift = 100;
  const auto summarise = [&] {
    return tandem::marshal(
        [shift](const long *numbers, long *count) {
          ++*count;
          return Summary{std::accumulate(numbers, numbers + 200, 0L) / 200.0, numbers[0] + shift};
        },
        in(values, 200), in_out(calls));
  };
  for (const bool inside : {false, true}) {
    calls = 0;
    static Summary got;
    got = {};
    if (inside)
      atomically([&] { got = summarise(); }, true);
    else
      got = summarise();
    EXPECT_EQ(got.mean, 104.5);
    EXPECT_EQ(got.least, 105);
    EXPECT_EQ(calls, 1);
  }
  EXPECT_FALSE(atomically(
      [&] {
        summarise();
        undo();
      },
      true));
  EXPECT_EQ(calls, 1);
  // No result.
  static int three[3];
  atomically([] { tandem::marshal([](int *to) { std::iota(to, to + 3, 7); }, out(three, 3)); },
             true);
  EXPECT_EQ(three[2], 9);
}

TEST(marshal_death, bad_arguments_end_the_process) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  static char byte;
  static const auto nothing = [](void *const *) {};
  static const auto give = [](void *memory, std::size_t bytes, int direction) {
    const tandem_argument argument{memory, bytes, direction};
    tandem_marshal(nothing, &argument, 1);
  };
  for (const bool inside : {false, true}) {
    const auto end = [inside](const auto &call) {
      if (inside)
        atomically(call, true);
      else
        call();
    };
    EXPECT_DEATH(end([] { tandem_marshal(nullptr, nullptr, 0); }), "tandem_marshal: no function");
    EXPECT_DEATH(end([] { tandem_marshal(nothing, nullptr, 3); }),
                 "tandem_marshal: no arguments, but a count of 3");
    EXPECT_DEATH(end([] { tandem_marshal(nothing, nullptr, 17); }),
                 "tandem_marshal: 17 arguments, at most 16 are possible");
    EXPECT_DEATH(end([] { give(&byte, 1, 0); }), "argument 0: 0 is no direction");
    EXPECT_DEATH(end([] { give(&byte, 1, 4); }), "argument 0: 4 is no direction");
    EXPECT_DEATH(end([] { give(nullptr, 1, TANDEM_IN); }), "argument 0: 1 bytes at a null pointer");
    EXPECT_DEATH(end([] { give(&byte, SIZE_MAX, TANDEM_OUT); }),
                 "argument 0: no memory has 18446744073709551615 bytes");
  }
}

} // namespace
} // namespace tandem::library
