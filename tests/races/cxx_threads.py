# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds whose threads and locks are C++'s, as `cases` has them.

std::thread, std::jthread and std::async with functions, lambdas and members; latches, barriers,
promises, condition variables.
"""

HEAD = """#include <mutex>
#include <thread>
static std::mutex m, n;
static long x, y;
static void use_both() { std::scoped_lock hold(m, n); ++y; }
"""

CXX = {
    "lambda-that-captures": """int main() {
  long count = 0;
  std::thread t([&count] { count++; });
  @count++;|@
  t.join();
  @|count++;@
  return static_cast<int>(count);
}
""",
    "two-lambdas": """int main() {
  std::thread s([] { @|std::lock_guard hold(m);@ ++x; });
  std::thread t([] { std::lock_guard hold(m); ++x; });
  s.join();
  t.join();
  use_both();
  return static_cast<int>(x);
}
""",
    "lambda-of-a-local-mutex": """int main() {
  std::mutex own, another;
  long count = 0;
  std::thread t([&] { std::lock_guard hold(own); ++count; });
  { std::lock_guard hold(@another|own@); ++count; }
  t.join();
  return static_cast<int>(count);
}
""",
    "jthread-of-a-scope": """int main() {
  {
    std::jthread t([] { ++x; });
    @++x;|@
  }
  @|++x;@
  return static_cast<int>(x);
}
""",
    "two-jthreads": """static void work() { @|std::lock_guard hold(m);@ ++x; }
int main() {
  std::jthread s(work), t(work);
  return 0;
}
""",
    "async-and-get": """#include <future>
int main() {
  auto f = std::async(std::launch::async, [] { ++x; });
  @++x;|@
  f.get();
  @|++x;@
  return static_cast<int>(x);
}
""",
    "two-asyncs": """#include <future>
static void work() { @|std::lock_guard hold(m);@ ++x; }
int main() {
  auto f = std::async(std::launch::async, work);
  auto g = std::async(std::launch::async, work);
  f.wait();
  g.wait();
  return static_cast<int>(x);
}
""",
    "joins-what-is-joinable": """static void end(std::thread &one) {
  if (one.joinable())
    one.join();
}
int main(int argc, char **) {
  std::thread t;
  if (argc > 1)
    t = std::thread([] { ++x; });
  @++x;|@
  end(t);
  @|++x;@
  return static_cast<int>(x);
}
""",
    "vector-of-joinable-threads": """#include <vector>
int main() {
  std::vector<std::thread> all;
  for (int i = 0; i < 4; i++)
    all.emplace_back([] { std::lock_guard hold(m); ++x; });
  @++x;|@
  for (std::thread &t : all)
    if (t.joinable())
      t.join();
  @|++x;@
  return static_cast<int>(x);
}
""",
    "guard-of-a-field": """struct counter {
  std::mutex lock;
  long n = 0;
  long once = 0;
  void add() {
    { std::lock_guard<std::mutex> hold(lock); ++n; @|++once;@ }
    @++once;|@
  }
};
static counter all;
int main() {
  std::thread s([] { all.add(); }), t([] { all.add(); });
  s.join();
  t.join();
  return static_cast<int>(all.n);
}
""",
    "vector-of-threads": """#include <vector>
static void work() { std::lock_guard hold(m); ++x; }
int main() {
  std::vector<std::thread> all;
  for (int i = 0; i < 4; i++)
    all.emplace_back(work);
  @++x;|@
  for (std::thread &t : all)
    t.join();
  @|++x;@
  return static_cast<int>(x);
}
""",
    "vector-of-lambdas": """#include <vector>
int main() {
  std::vector<std::thread> all;
  for (int i = 0; i < 4; i++)
    all.emplace_back([] { @|std::lock_guard hold(m);@ ++x; });
  for (std::thread &t : all)
    t.join();
  return 0;
}
""",
    "member-function": """class Counter {
public:
  void run() { @|std::lock_guard hold(own_);@ ++count_; }
private:
  std::mutex own_;
  long count_ = 0;
};
static Counter counter;
int main() {
  std::thread s(&Counter::run, &counter), t(&Counter::run, &counter);
  s.join();
  t.join();
  return 0;
}
""",
    "function-object": """struct Work {
  void operator()() const { @|std::lock_guard hold(m);@ ++x; }
};
int main() {
  std::thread s{Work()}, t{Work()};
  s.join();
  t.join();
  return 0;
}
""",
    "argument-by-reference": """#include <functional>
static void add(long &to) { @|std::lock_guard hold(m);@ ++to; }
int main() {
  long count = 0;
  std::thread s(add, std::ref(count)), t(add, std::ref(count));
  s.join();
  t.join();
  return static_cast<int>(count);
}
""",
    "detached": """int main() {
  std::thread([] { std::lock_guard hold(m); ++x; }).detach();
  @|std::lock_guard hold(m);@
  ++x;
  return 0;
}
""",
    "std-barrier": """#include <barrier>
static std::barrier<> together(2);
int main() {
  std::thread s([] { x = 1; together.arrive_and_wait(); });
  std::thread t([] { @y = x;|@ together.arrive_and_wait(); @|y = x;@ });
  s.join();
  t.join();
  return static_cast<int>(y);
}
""",
    "std-latch": """#include <latch>
static std::latch ready(1);
int main() {
  std::thread s([] { @|x = 1;@ ready.count_down(); @x = 1;|@ });
  std::thread t([] { ready.wait(); y = x; });
  s.join();
  t.join();
  return static_cast<int>(y);
}
""",
    "call-once-of-a-lambda": """static std::once_flag made;
static void init() { std::call_once(made, [] { x = 42; }); }
int main() {
  std::thread s([] { init(); y = x; });
  std::thread t([] { @x = 1;|init();@ });
  s.join();
  t.join();
  return static_cast<int>(x);
}
""",
    "call-once-makes-one": """#include <memory>
struct Thing { long value = 3; };
static std::once_flag made;
static std::unique_ptr<Thing> thing;
static void make() { thing = std::make_unique<Thing>(); }
static Thing &get() {
  @if (!thing) make();|std::call_once(made, make);@
  return *thing;
}
int main() {
  std::thread s([] { if (get().value == 4) std::terminate(); });
  std::thread t([] { if (get().value == 5) std::terminate(); });
  s.join();
  t.join();
  return 0;
}
""",
    "static-of-a-function": """static long &one() { static long value = x + 1; return value; }
int main() {
  std::thread s([] { @one()++;|if (one() == 3) std::terminate();@ });
  std::thread t([] { if (one() == 4) std::terminate(); });
  s.join();
  t.join();
  return 0;
}
""",
    "shared-mutex": """#include <shared_mutex>
static std::shared_mutex rw;
static void look() { std::shared_lock hold(rw); if (x == 7) std::terminate(); }
static void change() { std::@shared|unique@_lock hold(rw); ++x; }
int main() {
  std::thread s(look), t(change);
  s.join();
  t.join();
  return 0;
}
""",
    "array-of-mutexes": """static std::mutex locks[4];
int main() {
  std::thread s([] { std::lock_guard hold(locks[1]); ++x; });
  std::thread t([] { std::lock_guard hold(locks[@2|1@]); ++x; });
  s.join();
  t.join();
  return 0;
}
""",
    "std-array-of-mutexes": """#include <array>
static std::array<std::mutex, 4> locks;
int main() {
  std::thread s([] { std::lock_guard hold(locks[1]); ++x; });
  std::thread t([] { std::lock_guard hold(locks[@2|1@]); ++x; });
  s.join();
  t.join();
  return 0;
}
""",
    "scoped-lock-of-two": """static std::mutex o;
int main() {
  std::thread s([] { std::scoped_lock hold(m, n); ++x; });
  std::thread t([] { std::lock_guard hold(@o|n@); ++x; });
  s.join();
  t.join();
  return 0;
}
""",
    "unlocked-early": """static void work() {
  std::unique_lock hold(m);
  @hold.unlock(); ++x;|++x; hold.unlock();@
}
int main() {
  std::thread s(work), t(work);
  s.join();
  t.join();
  return 0;
}
""",
    "std-atomic": """#include <atomic>
static @long|std::atomic<long>@ hits;
static void work() { hits++; }
int main() {
  std::thread s(work), t(work);
  s.join();
  t.join();
  return static_cast<int>(hits);
}
""",
    "method-without-a-guard": """class Account {
public:
  void add() { std::lock_guard hold(own_); ++balance_; }
  long get() { @|std::lock_guard hold(own_);@ return balance_; }
private:
  std::mutex own_;
  long balance_ = 0;
};
int main() {
  Account account;
  std::thread t([&] { account.add(); });
  const long seen = account.get();
  t.join();
  return static_cast<int>(seen);
}
""",
    "waits-for-a-flag": """#include <condition_variable>
static std::condition_variable ready;
static bool done;
int main() {
  std::thread t([] {
    @|x = 5;@
    { std::lock_guard hold(m); done = true; }
    ready.notify_one();
    @x = 5;|@
  });
  { std::unique_lock hold(m); ready.wait(hold, [] { return done; }); }
  y = x;
  t.join();
  return static_cast<int>(y);
}
""",
    "promise-and-future": """#include <future>
int main() {
  std::promise<void> said;
  auto heard = said.get_future();
  std::thread t([&] { @|x = 5;@ said.set_value(); @x = 5;|@ });
  heard.wait();
  y = x;
  t.join();
  return static_cast<int>(y);
}
""",
}
