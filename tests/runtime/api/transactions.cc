// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// include/tandem/transaction.hpp with a plain compiler: checks itself, status 1 and the place where
// something is wrong.
#include <tandem/transaction.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                 \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

namespace {

using tandem::shared;

// "short" as first argument makes everything a thirtieth as long.
int part = 1;

template <class Body> void in_threads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(body, i);
  for (std::thread &thread : threads)
    thread.join();
}

struct Large {
  long values[5];
};

void test_types() {
  static shared<char> letter('a');
  static shared<short> half(1);
  static shared<float> real(1.5F);
  static shared<double> wide(2.5);
  static shared<bool> truth(false);
  static shared<const char *> text(nullptr);
  static shared<Large> large(Large{{1, 2, 3, 4, 5}});
  letter = 'a';
  half = 1;
  real = 1.5F;
  wide = 2.5;
  truth = false;
  text = nullptr;
  const auto change = [] {
    letter = 'b';
    half += 2;
    real -= 0.5F;
    wide = wide * 2;
    truth = !truth;
    text = "text";
    Large copy = large;
    copy.values[4] = 50;
    large = copy;
  };
  EXPECT(!tandem::try_transaction([&] {
    change();
    EXPECT(letter == 'b' && large.get().values[4] == 50);
    tandem_cancel();
  }));
  EXPECT(letter == 'a' && half == 1 && wide == 2.5 && !truth && text.get() == nullptr);
  tandem::transaction(change);
  EXPECT(letter == 'b' && half == 3 && real == 1.0F && wide == 5.0 && truth);
  EXPECT(std::string(text) == "text" && large.get().values[4] == 50);
}

void test_counters() {
  static shared<long> counter;
  const auto before = counter.get();
  in_threads(4, [](int) {
    for (int i = 0; i < 3000 / part; ++i)
      tandem::transaction([] { return ++counter; });
  });
  EXPECT(counter - before == 12000 / part);
}

void test_nesting() {
  static shared<long> outer;
  static shared<long> inner;
  outer = inner = 0;
  tandem::transaction([] {
    outer = 1;
    EXPECT(!tandem::try_transaction([] {
      inner = 1;
      outer = 2;
      tandem_cancel();
    }));
    EXPECT(outer == 1 && inner == 0);
    EXPECT(*tandem::try_transaction([]() -> long { return inner = 7; }) == 7);
  });
  EXPECT(outer == 1 && inner == 7);
  EXPECT(!tandem::try_transaction([] {
    outer = 5;
    tandem::transaction([] {
      inner = 5;
      tandem_cancel_all();
    });
    EXPECT(!"after tandem_cancel_all");
  }));
  EXPECT(outer == 1 && inner == 7);
}

void test_state() {
  EXPECT(tandem_in_transaction() == TANDEM_OUTSIDE);
  tandem::transaction([] {
    EXPECT(tandem_in_transaction() == TANDEM_REVOCABLE);
    tandem_become_irrevocable();
    EXPECT(tandem_in_transaction() == TANDEM_IRREVOCABLE);
  });
  tandem_options options = TANDEM_DEFAULT_OPTIONS;
  options.irrevocable = 1;
  tandem::transaction([] { EXPECT(tandem_in_transaction() == TANDEM_IRREVOCABLE); }, &options);
  EXPECT(tandem_in_transaction() == TANDEM_OUTSIDE);
}

void test_actions() {
  static std::string done;
  done.clear();
  const auto note = [](char letter) { done += letter; };
  tandem::transaction([&] {
    tandem::on_commit([note] { note('1'); });
    tandem::on_abort([note] { note('x'); });
    (void)tandem::try_transaction([&] {
      tandem::on_commit([note] { note('n'); });
      tandem::on_abort([note] { note('a'); });
      tandem::on_abort([note] { note('b'); });
      tandem_cancel();
    });
    tandem::on_commit([note] { note('2'); });
    EXPECT(done == "ba");
  });
  EXPECT(done == "ba12");
  // A commit function runs outside, and may run transactions.
  static shared<int> after;
  tandem::transaction([] { tandem::on_commit([] { tandem::transaction([] { after = 9; }); }); });
  EXPECT(after == 9);
}

void test_memory() {
  static shared<long *> list;
  tandem::transaction([] {
    auto *memory = static_cast<long *>(tandem_malloc(sizeof(long)));
    tandem_write_u64(reinterpret_cast<std::uint64_t *>(memory), 5);
    list = memory;
  });
  EXPECT(*list.get() == 5);
  EXPECT(!tandem::try_transaction([] {
    tandem_free(list);
    list = nullptr;
    tandem_cancel();
  }));
  EXPECT(*list.get() == 5);
  tandem::transaction([] {
    tandem_free(list);
    list = nullptr;
  });
  tandem_free(tandem_malloc(8));
}

void test_exceptions() {
  static shared<long> account;
  account = 100;
  bool caught = false;
  try {
    tandem::transaction_or_throw([] {
      account -= 1;
      throw std::runtime_error("empty");
    });
  } catch (const std::runtime_error &error) {
    caught = std::string(error.what()) == "empty";
  }
  EXPECT(caught && account == 99);
}

// One place that producers fill and consumers empty; both sleep meanwhile.
void test_retry() {
  static shared<long> slot;
  static shared<long> sum;
  slot = sum = 0;
  in_threads(4, [](int number) {
    for (long i = 1; i <= 500 / part; ++i) {
      if (number % 2 == 0)
        tandem::transaction([i] {
          tandem::require(slot == 0);
          slot = i;
        });
      else
        tandem::transaction([] {
          tandem::require(slot != 0);
          sum += slot;
          slot = 0;
        });
    }
  });
  const long turns = 500 / part;
  EXPECT(slot == 0 && sum == turns * (turns + 1));
}

void test_retry_sleeps() {
  static shared<int> go;
  static shared<int> other;
  go = 0;
  tandem_statistics before;
  tandem_get_statistics(&before);
  in_threads(2, [](int number) {
    if (number == 0) {
      tandem::transaction([] { tandem::require(go == 1); });
      return;
    }
    for (int i = 0; i < 50; ++i) {
      tandem::transaction([] { ++other; });
      ::usleep(1000);
    }
    tandem::transaction([] { go = 1; });
  });
  tandem_statistics after;
  tandem_get_statistics(&after);
  // Once for each change of `other`, whose line is the same, at the very most.
  EXPECT(after.retries - before.retries <= 52);
  EXPECT(after.retries > before.retries);
}

void test_condition() {
  static tandem::condition ready;
  static shared<int> jobs;
  static shared<int> finished;
  static shared<bool> closed;
  jobs = finished = 0;
  closed = false;
  in_threads(4, [](int number) {
    if (number == 0) {
      for (int i = 0; i < 300 / part; ++i)
        tandem::transaction([] {
          ++jobs;
          ready.signal();
        });
      tandem::transaction([] {
        closed = true;
        ready.signal();
      });
      return;
    }
    for (bool more = true; more;)
      more = tandem::transaction([] {
        if (jobs == 0 && !closed)
          ready.wait();
        if (jobs == 0)
          return false;
        --jobs;
        ++finished;
        return true;
      });
  });
  EXPECT(finished == 300 / part && jobs == 0);
}

void test_options_and_statistics() {
  static shared<long> counter;
  counter = 0;
  tandem_statistics before;
  tandem_get_statistics(&before);
  in_threads(3, [](int number) {
    tandem_options options = TANDEM_DEFAULT_OPTIONS;
    options.policy = number == 0 ? TANDEM_POLICY_TIMESTAMP : TANDEM_POLICY_POLITE;
    options.backoff = TANDEM_BACKOFF_LINEAR;
    options.serialise_after = 2;
    for (int i = 0; i < 990 / part; ++i)
      tandem::transaction([] { ++counter; }, &options);
    (void)tandem::try_transaction([] { tandem_cancel(); }, &options);
  });
  EXPECT(counter == 2970 / part);
  tandem_statistics after;
  tandem_get_statistics(&after);
  EXPECT(after.cancels - before.cancels == 3);
  EXPECT(after.attempts - before.attempts == 2970 / part + 3 + after.restarts - before.restarts);
}

// Mistakes, each of which ends the process.
int mistake(const std::string &name) {
  static shared<int> value;
  if (name == "cancel")
    tandem_cancel();
  if (name == "retry")
    tandem::transaction([] {
      tandem_become_irrevocable();
      tandem_retry();
    });
  if (name == "on-commit")
    tandem::on_commit([] {});
  if (name == "policy") {
    const tandem_options options = {99, TANDEM_BACKOFF_DEFAULT, 0, 0};
    tandem::transaction([] { value = 1; }, &options);
  }
  if (name == "choice") {
    const tandem_options options = {TANDEM_POLICY_DEFAULT, 99, 0, 0};
    tandem_choose(&options);
  }
  if (name == "choose")
    tandem::transaction([] { tandem_choose(nullptr); });
  if (name == "closure") {
    static char closure[70000];
    tandem::transaction([] { tandem_on_commit([](void *) {}, closure, sizeof closure); });
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && std::string(argv[1]) == "short")
    part = 30;
  else if (argc > 1)
    return mistake(argv[1]);
  for (int threads = 1; threads <= 2; ++threads) {
    test_types();
    test_nesting();
    test_state();
    test_actions();
    test_memory();
    test_exceptions();
    test_counters(); // from here on the process has had threads
  }
  test_retry();
  test_retry_sleeps();
  test_condition();
  test_options_and_statistics();
  return 0;
}
