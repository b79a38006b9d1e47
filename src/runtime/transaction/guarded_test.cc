// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transactions beside sections with exclusive colours. Runs once for each algorithm, with the tests
// of guarded_nesting_test.cc. In this order:
//
//     atomicity   threads with sections of all kinds at once
//     waiting     for who holds a colour or shares it; who becomes irrevocable; fairness
//     begin, end  colours of the process, uninstrumented code, actions, retry, fork, misuse
#include "runtime/algorithms/automatic.h"
#include "runtime/transaction/guarded_fixture.h"

namespace tandem {
namespace {

// --- atomicity

// The pairs (a, b) are equal outside sections. Kinds of sections: hybrid transactions, plain ones
// with exclusive colours, and ones that become irrevocable now and then. Beside them pure ones.
void mix(int threads, int rounds) {
  TestOutput output("test", {"A!", "B!"});
  const tandem_section &hybrid = output.hybrid("hybrid", {0, 1});
  const tandem_section &first = output.exclusive("first", {0});
  const tandem_section &second = output.reach("second", {1});
  const tandem_section &pure = output.pure("pure");
  static std::uint64_t pairs[2][2];
  static std::uint64_t apart;
  static std::atomic<int> wrong;
  pairs[0][0] = pairs[0][1] = pairs[1][0] = pairs[1][1] = apart = 0;
  wrong = 0;
  in_threads(threads, [&](int number) {
    contention::Xorshift random(static_cast<std::uint64_t>(number) + 1);
    for (int i = 0; i < rounds; ++i) {
      const std::uint64_t what = random() % 8;
      if (what == 0)
        run_exclusively(first, [&] {
          if (pairs[0][0] != pairs[0][1])
            ++wrong;
          add_plainly(pairs[0][0], 1);
          add_plainly(pairs[0][1], 1);
        });
      else if (what == 1)
        run(second, [&](bool plain) {
          if (plain) {
            if (pairs[1][0] != pairs[1][1])
              ++wrong;
            add_plainly(pairs[1][0], 1);
            add_plainly(pairs[1][1], 1);
            return;
          }
          add(pairs[1][0], 1);
          if (random() % 2 == 0) {
            _ITM_changeTransactionMode(0);
            add_plainly(pairs[1][1], 1); // only where it went on in place
          } else {
            add(pairs[1][1], 1);
          }
        });
      else if (what == 2)
        run(pure, [&](bool) { add(apart, 1); });
      else
        run(hybrid, [&](bool) {
          for (auto &pair : pairs) {
            if (_ITM_RU8(&pair[0]) != _ITM_RU8(&pair[1]))
              ++wrong;
            add(pair[0], 1);
            add(pair[1], 1);
          }
        });
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(pairs[0][0], pairs[0][1]);
  EXPECT_EQ(pairs[1][0], pairs[1][1]);
}

TEST_F(Guarded, SectionsOfAllKindsAreAtomic) { mix(4, 1500); }

TEST_F(Guarded, SectionsOfAllKindsAreAtomicWithoutMembarrier) {
  const barrier::Kernel before = barrier::kernel.exchange(barrier::Kernel::unable);
  mix(4, 700);
  barrier::kernel = before;
}

TEST_F(Guarded, SectionsOfAllKindsAreAtomicInManyThreads) { mix(64, 60); }

TEST_F(Guarded, SectionsOfAllKindsAreAtomicWhenTheyGiveUpAtOnce) {
  const std::uint32_t before = settings.serialise_after;
  settings.serialise_after = 1;
  mix(4, 700);
  settings.serialise_after = before;
}

// Writing back, or undoing, takes long: it is over before the colour can be taken.
TEST_F(Guarded, LargeCommitsAreWholeToExclusiveSections) {
  TestOutput output("test", {"A!"});
  const tandem_section &hybrid = output.hybrid("hybrid", {0});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  static std::array<std::uint64_t, 4096> words;
  static std::atomic<int> wrong;
  words.fill(0);
  wrong = 0;
  in_threads(3, [&](int number) {
    for (int i = 0; i < 150; ++i)
      if (number == 0)
        run(hybrid, [](bool) {
          for (std::uint64_t &word : words)
            add(word, 1);
        });
      else
        run_exclusively(exclusive, [] {
          for (const std::uint64_t &word : words)
            if (word != words[0])
              ++wrong;
        });
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(words[4095], 150U);
}

// --- waiting

TEST_F(Guarded, WaitsForWhoHoldsItsColour) {
  TestOutput output("test", {"A!", "B!"});
  const tandem_section &hybrid = output.hybrid("hybrid", {0});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  static std::uint64_t word;
  word = 0;
  std::atomic<bool> ran = false;
  _TANDEM_colours_enter(&exclusive);
  std::latch started(1);
  std::thread other([&] {
    started.count_down();
    run(hybrid, [&](bool) { ran = _ITM_RU8(&word) == 2; });
  });
  started.wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(5)); // it may be asleep by now; or not
  add_plainly(word, 1);
  EXPECT_FALSE(ran);
  add_plainly(word, 1);
  _TANDEM_colours_leave(&exclusive);
  other.join();
  EXPECT_TRUE(ran);
}

TEST_F(Guarded, IsWaitedFor) {
  TestOutput output("test", {"A!"});
  const tandem_section &hybrid = output.hybrid("hybrid", {0});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  static std::atomic<bool> entered;
  static std::atomic<bool> inside;
  entered = inside = false;
  std::thread other;
  run(hybrid, [&](bool) {
    if (!other.joinable()) // a restart may run this again
      other = std::thread([&] {
        inside = true;
        run_exclusively(exclusive, [&] { entered = true; });
      });
    while (!inside)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // it sleeps for the mark by now
    EXPECT_FALSE(entered);
  });
  other.join();
  EXPECT_TRUE(entered);
}

// The section that becomes irrevocable does not stop others: it waits inside for their commits.
TEST_F(Guarded, BecomesIrrevocableBesidePureTransactions) {
  // `auto` may run one at a time just now, without colours, and nobody beside it. It does not go on
  // like that.
  const bool adapts = (settings.special & kSpecialAdapt) != 0;
  automatic::found_section_of_lock();
  TestOutput output("test", {"A!"});
  const tandem_section &reach = output.reach("reach", {0});
  const tandem_section &pure = output.pure("pure");
  static std::uint64_t word;
  static std::atomic<int> commits;
  static std::atomic<bool> stop;
  commits = 0;
  stop = false;
  std::thread other([&] {
    while (!stop) {
      run(pure, [&](bool) { add(word, 1); });
      ++commits;
    }
  });
  bool beside = false;
  while (!beside)
    run(reach, [&](bool plain) {
      if (!plain) {
        _ITM_changeTransactionMode(0);
        ADD_FAILURE() << "a section with colours went on in place";
      }
      EXPECT_EQ(_ITM_inTransaction(), itm::kIrrevocable);
      beside = !adapts || colours::depth() != 0;
      if (beside)
        EXPECT_EQ(colours::depth(), 1U);
      const int before = commits;
      while (beside && commits < before + 10)
        std::this_thread::yield();
    });
  stop = true;
  other.join();
}

TEST_F(Guarded, HybridSectionsThatBecomeIrrevocableAreAlone) {
  TestOutput output("test", {"A!"});
  const tandem_section &hybrid = output.hybrid("hybrid", {0});
  static std::uint64_t pair[2];
  static std::atomic<int> wrong;
  pair[0] = pair[1] = 0;
  wrong = 0;
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  in_threads(3, [&](int number) {
    for (int i = 0; i < 300; ++i)
      if (number == 0)
        run_exclusively(exclusive, [&] {
          add_plainly(pair[0], 1);
          add_plainly(pair[1], 1);
        });
      else
        run(
            hybrid,
            [&](bool) {
              add(pair[0], 1);
              _ITM_changeTransactionMode(0);
              if (pair[0] != pair[1] + 1)
                ++wrong;
              add_plainly(pair[1], 1);
            },
            itm::kInstrumentedCode | itm::kHasNoAbort);
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(pair[0], 900U);
  EXPECT_EQ(pair[1], 900U);
}

// Readers that overlap all the time do not keep a writer out.
TEST_F(Guarded, WritersAreNotStarved) {
  TestOutput output("test", {"A!"});
  const tandem_section &hybrid = output.hybrid("hybrid", {0});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  static std::uint64_t word;
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&] {
      while (!stop)
        run(hybrid, [](bool) { _ITM_RU8(&word); });
    });
  for (int i = 0; i < 200; ++i)
    run_exclusively(exclusive, [] { add_plainly(word, 1); });
  stop = true;
  for (std::thread &reader : readers)
    reader.join();
}

TEST_F(Guarded, CancelsGiveTheColoursBack) {
  TestOutput output("test", {"A!"});
  const tandem_section &hybrid = output.hybrid("hybrid", {0});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  static std::uint64_t word;
  word = 0;
  EXPECT_FALSE(run(
      hybrid,
      [](bool) {
        add(word, 1);
        _ITM_abortTransaction(itm::kUserAbort);
      },
      itm::kInstrumentedCode));
  run_exclusively(exclusive, [] { add_plainly(word, 1); });
  EXPECT_EQ(word, 1U);
}
// --- begin and end

// What a colour of the whole process guards may be accessed by transactions that have no colours.
TEST_F(Guarded, ProcessColoursExcludeGccsTransactions) {
  TestOutput output("test", {"tandem.process*", "A!"});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  const tandem_section &reach = output.reach("reach", {0, 1});
  static std::uint64_t pair[2];
  static std::atomic<int> wrong;
  pair[0] = pair[1] = 0;
  wrong = 0;
  in_threads(3, [&](int number) {
    for (int i = 0; i < 300; ++i)
      if (number == 0)
        run_gcc([] {
          if (_ITM_RU8(&pair[0]) != _ITM_RU8(&pair[1]))
            ++wrong;
          add(pair[0], 1);
          add(pair[1], 1);
        });
      else if (number == 1)
        run_exclusively(exclusive, [] {
          add_plainly(pair[0], 1);
          add_plainly(pair[1], 1);
        });
      else
        run(reach, [](bool plain) {
          if (!plain)
            _ITM_changeTransactionMode(0);
          add_plainly(pair[0], 1);
          add_plainly(pair[1], 1);
        });
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(pair[0], 900U);
}

TEST_F(Guarded, AnUninstrumentedBeginTakesTheColours) {
  TestOutput output("test", {"A!"});
  const tandem_section &reach = output.reach("reach", {0});
  const tandem_section &hybrid = output.hybrid("hybrid", {0});
  static std::uint64_t word;
  word = 0;
  in_threads(3, [&](int number) {
    for (int i = 0; i < 300; ++i)
      run(
          number == 0 ? reach : hybrid,
          [&](bool plain) {
            if (number == 2) {
              add(word, 1);
              return;
            }
            EXPECT_TRUE(plain);
            add_plainly(word, 1);
          },
          number == 2 ? kBoth : itm::kUninstrumentedCode | itm::kDoesGoIrrevocable);
  });
  EXPECT_EQ(word, 900U);
}

TEST_F(Guarded, ActionsRunAtTheEndOfAnExclusiveSection) {
  TestOutput output("test", {"A!"});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  static std::uint32_t depth;
  depth = 9;
  run_exclusively(exclusive, [] {
    EXPECT_EQ(tandem_in_transaction(), TANDEM_IRREVOCABLE);
    tandem_on_commit([](void *) { depth = colours::depth(); }, nullptr, 0);
    EXPECT_EQ(depth, 9U);
  });
  EXPECT_EQ(depth, 0U);
}

TEST_F(Guarded, RetrySleepsUntilAnExclusiveSectionChangesWhatItRead) {
  TestOutput output("test", {"A!"});
  const tandem_section &hybrid = output.hybrid("hybrid", {0});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  static std::uint64_t word;
  word = 0;
  std::thread other([&] {
    run(
        hybrid,
        [](bool) {
          if (_ITM_RU8(&word) == 0)
            tandem_retry();
        },
        itm::kInstrumentedCode);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  run_exclusively(exclusive, [] { add_plainly(word, 1); });
  other.join();
}

TEST_F(Guarded, ForksBesideSectionsOfAllKinds) {
  TestOutput output("test", {"A!"});
  const tandem_section &hybrid = output.hybrid("hybrid", {0});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  static std::uint64_t pair[2];
  pair[0] = pair[1] = 0;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int number = 0; number < 2; ++number)
    threads.emplace_back([&, number] {
      while (!stop)
        if (number == 0)
          run(hybrid, [](bool) {
            add(pair[0], 1);
            add(pair[1], 1);
          });
        else
          run_exclusively(exclusive, [] {
            add_plainly(pair[0], 1);
            add_plainly(pair[1], 1);
          });
    });
  const auto fork_once = [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      std::uint64_t seen[2];
      run(hybrid, [&](bool) {
        seen[0] = _ITM_RU8(&pair[0]);
        seen[1] = _ITM_RU8(&pair[1]);
      });
      run_exclusively(exclusive, [] { add_plainly(pair[0], 1); });
      ::_exit(seen[0] == seen[1] ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  };
  for (int i = 0; i < 25; ++i) {
    fork_once();
    run_exclusively(exclusive, fork_once);
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
}

using GuardedDeath = Guarded;

TEST_F(GuardedDeath, CancellingAnExclusiveSection) {
  TestOutput output("test", {"A!"});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  EXPECT_DEATH(run_exclusively(exclusive, [] { tandem_cancel(); }),
               "cancelled after it became irrevocable");
}

TEST_F(GuardedDeath, LeavingASectionInsideATransaction) {
  TestOutput output("test", {"A!"});
  const tandem_section &exclusive = output.exclusive("exclusive", {0});
  EXPECT_DEATH(run_exclusively(exclusive, [] { _ITM_beginTransaction(kBoth); }),
               "is left inside a transaction that began in it");
}

} // namespace
} // namespace tandem
