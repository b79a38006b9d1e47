// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sections with exclusive colours in transactions, and the reverse; serial ones that others wait
// for. Part of runtime_guarded_test.
#include "runtime/transaction/guarded_fixture.h"

namespace tandem {
namespace {

TEST_F(Guarded, NestedSectionsAreHeldToTheEnd) {
  TestOutput output("test", {"A!"});
  TestOutput plugin("plugin", {"B!"});
  const tandem_section &a = output.hybrid("a", {0});
  const tandem_section &b = plugin.hybrid("b", {0});
  const tandem_section &exclusive_a = output.exclusive("exclusive_a", {0});
  const tandem_section &exclusive_b = plugin.exclusive("exclusive_b", {0});
  static std::uint64_t pairs[2][2];
  static std::atomic<int> wrong;
  pairs[0][0] = pairs[0][1] = pairs[1][0] = pairs[1][1] = 0;
  wrong = 0;
  const auto both = [&](std::uint64_t(&pair)[2], const tandem_section &section) {
    run(section, [&](bool) {
      add(pair[0], 1);
      add(pair[1], 1);
    });
  };
  in_threads(4, [&](int number) {
    for (int i = 0; i < 400; ++i)
      switch (number) {
      case 0:
        run(a, [&](bool) {
          both(pairs[0], a);
          both(pairs[1], b);
        });
        break;
      case 1:
        run_gcc([&] { both(pairs[i % 2], i % 2 == 0 ? a : b); });
        break;
      default:
        run_exclusively(number == 2 ? exclusive_a : exclusive_b, [&] {
          std::uint64_t(&pair)[2] = pairs[number - 2];
          if (pair[0] != pair[1])
            ++wrong;
          add_plainly(pair[0], 1);
          add_plainly(pair[1], 1);
        });
      }
  });
  EXPECT_EQ(wrong, 0);
  for (const auto &pair : pairs) {
    EXPECT_EQ(pair[0], 1000U);
    EXPECT_EQ(pair[1], 1000U);
  }
}

TEST_F(Guarded, TransactionsInsideExclusiveSections) {
  TestOutput output("test", {"A!"});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  const tandem_section &hybrid = output.hybrid("hybrid", {0});
  static std::uint64_t coloured;
  static std::uint64_t gcc;
  coloured = gcc = 0;
  in_threads(4, [&](int number) {
    for (int i = 0; i < 300; ++i)
      if (number == 0)
        run_gcc([] { add(gcc, 1); });
      else if (number == 1)
        run(hybrid, [](bool) { add(coloured, 1); });
      else
        run_exclusively(exclusive, [&] {
          run(hybrid, [](bool plain) {
            EXPECT_TRUE(plain);
            add_plainly(coloured, 1);
          });
          run_gcc([] { add(gcc, 1); });
        });
  });
  EXPECT_EQ(gcc, 900U);
  EXPECT_EQ(coloured, 900U);
}

// What gcc's code touches no colour tells.
TEST_F(Guarded, NoTransactionOfGccsIsBesideOneInsideAnExclusiveSection) {
  TestOutput output("test", {"A"});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  static std::atomic<bool> inside;
  static std::atomic<bool> enough;
  static std::atomic<int> seen;
  static std::atomic<int> begun;
  static std::uint64_t cell;
  inside = enough = false;
  seen = begun = 0;
  std::thread other([] {
    while (!enough)
      run_gcc([] {
        add(cell, 1); // under NOrec one that has accessed nothing is in nobody's way
        ++begun;
        seen += inside ? 1 : 0;
      });
  });
  while (begun == 0)
    std::this_thread::yield();
  for (int i = 0; i < 5; ++i)
    run_exclusively(exclusive, [] {
      run_gcc([] {
        inside = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        inside = false;
      });
    });
  enough = true;
  other.join();
  EXPECT_EQ(seen, 0);
}

TEST_F(Guarded, ExclusiveSectionsInsideTransactions) {
  TestOutput output("test", {"A!"});
  const tandem_section &reach = output.reach("reach", {0});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  static std::uint64_t coloured;
  static std::uint64_t gcc;
  coloured = gcc = 0;
  in_threads(3, [&](int number) {
    for (int i = 0; i < 200; ++i)
      if (number == 0)
        run_gcc([&] {
          add(gcc, 1);
          run_exclusively(exclusive, [] { add_plainly(coloured, 1); });
          add(gcc, 1);
        });
      else if (number == 1)
        run(reach, [&](bool plain) {
          if (plain)
            add_plainly(coloured, 1);
          else
            add(coloured, 1);
          run_exclusively(exclusive, [] { add_plainly(coloured, 1); });
        });
      else
        run_exclusively(exclusive, [] { add_plainly(coloured, 1); });
  });
  EXPECT_EQ(gcc, 400U);
  EXPECT_EQ(coloured, 800U);
}

// A thread holds the colours of a section and waits for the mark of a transaction that shares one
// of them; that one becomes serial and enters such a section too. `sleeps`: the thread has gone to
// sleep.
void enter_what_a_waiter_holds(const tandem_section &outer, const tandem_section &exclusive,
                               const auto &begin_and_enter, bool sleeps) {
  const colours::Colour &colour = *colours::plan_of(exclusive).colours[0];
  static std::atomic<bool> inside;
  static std::atomic<bool> waited;
  static std::uint64_t entered;
  inside = waited = false;
  entered = 0;
  std::thread other([&] {
    while (!inside)
      std::this_thread::yield();
    run_exclusively(exclusive, [] { add_plainly(entered, 1); });
  });
  begin_and_enter(
      outer,
      [&] {
        inside = true;
        if (waited.exchange(true))
          return; // the second attempt
        while (colour.word.load() == colours::kFree)
          std::this_thread::yield();
        if (sleeps)
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
      },
      [&] { run_exclusively(exclusive, [] { add_plainly(entered, 1); }); });
  other.join();
  EXPECT_EQ(entered, 2U);
}

TEST_F(Guarded, SerialTransactionsEnterWhatOthersHoldForThem) {
  TestOutput output("test", {"A!", "B!"});
  const tandem_section &reach = output.reach("reach", {0});
  const tandem_section &hybrid = output.hybrid("hybrid", {0});
  const tandem_section &one = output.exclusive("one", {0});
  const tandem_section &both = output.exclusive("both", {0, 1});
  for (const bool sleeps : {false, true}) {
    enter_what_a_waiter_holds(
        reach, one,
        [](const tandem_section &outer, const auto &wait, const auto &enter) {
          run(outer, [&](bool) {
            wait();
            enter();
          });
        },
        sleeps);
    enter_what_a_waiter_holds(
        hybrid, both,
        [](const tandem_section &nested, const auto &wait, const auto &enter) {
          run_gcc([&] {
            run(nested, [](bool) {});
            wait();
            enter();
          });
        },
        sleeps);
  }
}

// The same where it is a transaction that begins in it, beside one whose colours it has already.
TEST_F(Guarded, SerialTransactionsShareWhatOthersHoldForThem) {
  TestOutput output("test", {"A!", "B!"});
  const tandem_section &first = output.hybrid("first", {0});
  const tandem_section &second = output.hybrid("second", {1});
  const tandem_section &both = output.exclusive("both", {0, 1});
  const colours::Colour &last = *colours::plan_of(both).colours[1];
  for (const bool sleeps : {false, true}) {
    std::atomic<bool> inside{false};
    std::thread other([&] {
      while (!inside)
        std::this_thread::yield();
      run_exclusively(both, [] {});
    });
    run_gcc([&] {
      _ITM_changeTransactionMode(0);
      run(first, [](bool) {});
      inside = true;
      while (last.word.load() == colours::kFree)
        std::this_thread::yield();
      if (sleeps)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      run(second, [](bool) {});
    });
    other.join();
  }
}

// Who gave way has the colours again before the transaction has ended: the thread cannot share them
// once more.
TEST_F(Guarded, WhoGaveWayIsPreferred) {
  TestOutput output("test", {"A!"});
  const tandem_section &hybrid = output.hybrid("hybrid", {0});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  const colours::Colour &colour = *colours::plan_of(exclusive).colours[0];
  std::atomic<bool> inside{false};
  std::atomic<bool> entered{false};
  std::thread other([&] {
    while (!inside)
      std::this_thread::yield();
    run_exclusively(exclusive, [&] { entered = true; });
  });
  const auto wait_for_other = [&] {
    while (colour.word.load() == colours::kFree)
      std::this_thread::yield();
  };
  run_gcc([&] {
    _ITM_changeTransactionMode(0);
    run(hybrid, [](bool) {});
    inside = true;
    wait_for_other();
    run_exclusively(exclusive, [] {});
    wait_for_other(); // it holds the colour, and waits for the mark
  });
  run(hybrid, [&](bool) { EXPECT_TRUE(entered); });
  other.join();
}

TEST_F(Guarded, TransactionsInsideExclusiveSectionsInsideTransactions) {
  TestOutput output("test", {"A!"});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  const tandem_section &hybrid = output.hybrid("hybrid", {0});
  int times = 0;
  run_gcc([&] {
    _ITM_changeTransactionMode(0);
    run_exclusively(exclusive, [&] { run(hybrid, [&](bool) { ++times; }); });
  });
  EXPECT_EQ(times, 1);
}

} // namespace
} // namespace tandem
