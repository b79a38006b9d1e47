# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds as programs have them, in C++: guards of every sort, classes with threads, tasks, pools.

As `cases` has them; the text begins with `cxx_threads.HEAD`.
"""

# Two threads of `work`, then `use_both`.
BOTH = """int main() {
  std::thread s(work), t(work);
  s.join();
  t.join();
  use_both();
  return static_cast<int>(x);
}
"""

CXX = {
    # --- guards
    "lock-deferred": """static void work() {
  std::unique_lock<std::mutex> hold(m, std::defer_lock);
  @|hold.lock();@
  ++x;
}
"""
    + BOTH,
    "two-locks-deferred": """static void work() {
  std::unique_lock<std::mutex> one(m, std::defer_lock), two(n, std::defer_lock);
  std::lock(one, two);
  @two.unlock(); one.unlock();|@
  ++x;
}
"""
    + BOTH,
    "lock-adopted": """static void work() {
  m.lock();
  std::lock_guard<std::mutex> hold(m, std::adopt_lock);
  @|++x;@
}
static void both() { work(); @++x;|@ }
int main() {
  std::thread s(both), t(both);
  s.join();
  t.join();
  use_both();
  return static_cast<int>(x);
}
""",
    "lock-tried": """static void work() {
  std::unique_lock<std::mutex> hold(m, std::try_to_lock);
  if (@!hold.owns_lock()|hold.owns_lock()@)
    ++x;
}
"""
    + BOTH,
    "guard-that-ends-at-once": """static void work() {
  std::lock_guard<std::mutex>@{m}| hold(m)@;
  ++x;
}
"""
    + BOTH,
    "lock-that-is-returned": """using Lock = std::unique_lock<std::mutex>;
static Lock acquire() { return Lock(m); }
static void work() {
  @acquire();|const auto hold = acquire();@
  ++x;
}
"""
    + BOTH,
    "lock-that-is-moved": """#include <utility>
static void add(std::unique_lock<std::mutex> hold) { @hold.unlock();|@ ++x; }
static void work() {
  std::unique_lock<std::mutex> hold(m);
  add(std::move(hold));
}
"""
    + BOTH,
    "guard-of-the-programs": """class Guard {
public:
  explicit Guard(std::mutex &of) : of_(of) { of_.lock(); }
  ~Guard() { of_.unlock(); }
private:
  std::mutex &of_;
};
static void work() {
  { Guard hold(m); @|++x;@ }
  @++x;|@
}
"""
    + BOTH,
    "guard-and-an-exception": """#include <stdexcept>
static void step() {
  std::lock_guard<std::mutex> hold(m);
  if (x > 3)
    throw std::runtime_error("too many");
  ++x;
}
static void work() {
  try {
    for (int i = 0; i < 9; ++i)
      step();
  } catch (const std::runtime_error &) {
    @|std::lock_guard<std::mutex> hold(m);@
    x = 0;
  }
}
int main() {
  std::thread s(work), t(work);
  s.join();
  t.join();
  return static_cast<int>(x);
}
""",
    "recursive-mutex": """static std::recursive_mutex r;
static void add() { std::lock_guard<std::recursive_mutex> hold(r); ++x; }
static void work() {
  std::lock_guard<std::recursive_mutex> hold(r);
  add();
}
static void other() { @|std::lock_guard<std::recursive_mutex> hold(r);@ --x; }
int main() {
  std::thread s(work), t(other);
  s.join();
  t.join();
  use_both();
  return static_cast<int>(x);
}
""",
    "timed-mutex": """#include <chrono>
static std::timed_mutex slow;
static void work() {
  if (slow.try_lock_for(std::chrono::seconds(1))) {
    @|++x;@
    slow.unlock();
  }
  @++x;|@
}
"""
    + BOTH,
    "readers-of-a-cache": """#include <map>
#include <shared_mutex>
class Cache {
public:
  long get(long key) {
    {
      std::shared_lock hold(own_);
      @++asked_;|@
      const auto found = values_.find(key);
      if (found != values_.end())
        return found->second;
    }
    std::unique_lock hold(own_);
    @|++asked_;@
    return values_[key] = key * 2;
  }
private:
  std::shared_mutex own_;
  std::map<long, long> values_;
  long asked_ = 0;
};
static Cache cache;
static void work() { for (long i = 0; i < 9; ++i) cache.get(i); }
"""
    + BOTH,
    # --- classes
    "mutex-of-the-base": """class Base {
protected:
  std::mutex own_, second_;
  long count_ = 0;
};
class Derived : public Base {
public:
  void up() { std::lock_guard<std::mutex> hold(own_); ++count_; }
  void down() { std::lock_guard<std::mutex> hold(@second_|own_@); --count_; }
};
static Derived one;
int main() {
  std::thread s([] { one.up(); }), t([] { one.down(); });
  s.join();
  t.join();
  return 0;
}
""",
    "value-with-its-lock": """template <typename T> class Guarded {
public:
  template <typename F> auto with(F f) { std::lock_guard<std::mutex> hold(own_); return f(value_); }
  T &bare() { return value_; }
private:
  std::mutex own_;
  T value_{};
};
static Guarded<long> total;
static void work() { @++total.bare()|total.with([](long &v) { return ++v; })@; }
static void other() { total.with([](long &v) { return --v; }); }
int main() {
  std::thread s(work), t(other);
  s.join();
  t.join();
  use_both();
  return static_cast<int>(total.bare());
}
""",
    "jobs-by-interface": """#include <memory>
#include <vector>
struct Job {
  virtual ~Job() = default;
  virtual void run() = 0;
};
struct Locked : Job { void run() override { std::lock_guard<std::mutex> hold(m); ++x; } };
struct Other : Job { void run() override { @|std::lock_guard<std::mutex> hold(m);@ --x; } };
int main() {
  std::vector<std::unique_ptr<Job>> jobs;
  jobs.push_back(std::make_unique<Locked>());
  jobs.push_back(std::make_unique<Other>());
  std::thread s([&] { jobs[0]->run(); }), t([&] { jobs[1]->run(); });
  s.join();
  t.join();
  use_both();
  return static_cast<int>(x);
}
""",
    "object-of-one-field": """struct Counter {
  long n = 0;
  void add() { ++n; }
};
int main() {
  Counter counter;
  std::thread s(&Counter::add, &counter);
  @counter.add();|@
  s.join();
  @|counter.add();@
  return static_cast<int>(counter.n);
}
""",
    "pool-started-twice": """#include <vector>
class Pool {
public:
  void start() { threads_.emplace_back([this] { run(); }); }
  void join() { for (std::thread &t : threads_) t.join(); }
private:
  void run() { @|std::lock_guard<std::mutex> hold(own_);@ ++count_; }
  std::mutex own_;
  long count_ = 0;
  std::vector<std::thread> threads_;
};
int main() {
  Pool pool;
  pool.start();
  pool.start();
  pool.join();
  return 0;
}
""",
    "threads-of-an-object": """class Pair {
public:
  void start() {
    first_ = std::thread(&Pair::run, this);
    second_ = std::thread(&Pair::run, this);
  }
  void stop() { first_.join(); second_.join(); }
  long count() { return count_; }
private:
  void run() { std::lock_guard<std::mutex> hold(own_); ++count_; }
  std::mutex own_;
  long count_ = 0;
  std::thread first_, second_;
};
int main() {
  Pair pair;
  pair.start();
  @const long seen = pair.count();|@
  pair.stop();
  @|const long seen = pair.count();@
  return static_cast<int>(seen);
}
""",
    "object-joins-when-it-ends": """class Worker {
public:
  explicit Worker(long &to) : thread_([&to] { ++to; }) {}
  ~Worker() { thread_.join(); }
private:
  std::thread thread_;
};
int main() {
  long count = 0;
  {
    Worker one(count);
    @++count;|@
  }
  @|++count;@
  return static_cast<int>(count);
}
""",
    "static-member": """class Registry {
public:
  static void add() { @|std::lock_guard<std::mutex> hold(guard);@ ++entries; }
  static std::mutex guard;
  static long entries;
};
std::mutex Registry::guard;
long Registry::entries = 0;
int main() {
  std::thread s(&Registry::add), t(&Registry::add);
  s.join();
  t.join();
  return static_cast<int>(Registry::entries);
}
""",
    # --- tasks
    "std-function": """#include <functional>
static void twice(const std::function<void()> &f) { f(); f(); }
int main() {
  const std::function<void()> add = [] { @|std::lock_guard<std::mutex> hold(m);@ ++x; };
  std::thread s([&] { twice(add); }), t([&] { twice(add); });
  s.join();
  t.join();
  use_both();
  return static_cast<int>(x);
}
""",
    "state-of-several-owners": """#include <memory>
struct State { std::mutex own; long n = 0; };
int main() {
  const auto state = std::make_shared<State>();
  const auto add = [state] { @|std::lock_guard<std::mutex> hold(state->own);@ ++state->n; };
  std::thread s(add), t(add);
  s.join();
  t.join();
  return static_cast<int>(state->n);
}
""",
    "task-of-the-caller": """#include <future>
int main() {
  auto later = std::async(std::launch::@async|deferred@, [] { ++x; });
  ++x;
  later.get();
  return static_cast<int>(x);
}
""",
    "packaged-task": """#include <future>
#include <utility>
int main() {
  std::packaged_task<long()> task([] { return ++x; });
  auto result = task.get_future();
  std::thread t(std::move(task));
  @++x;|@
  t.join();
  @|++x;@
  return static_cast<int>(result.get());
}
""",
    "thread-that-is-moved": """#include <utility>
int main() {
  std::thread t([] { ++x; });
  std::thread same = std::move(t);
  @++x;|@
  same.join();
  @|++x;@
  return static_cast<int>(x);
}
""",
    "array-of-threads": """#include <array>
int main() {
  std::array<std::thread, 3> all;
  for (std::thread &t : all)
    t = std::thread([] { std::lock_guard<std::mutex> hold(m); ++x; });
  @++x;|@
  for (std::thread &t : all)
    t.join();
  @|++x;@
  return static_cast<int>(x);
}
""",
    "thread-of-a-pointer": """#include <memory>
int main() {
  const auto t = std::make_unique<std::thread>([] { ++x; });
  @++x;|@
  t->join();
  @|++x;@
  return static_cast<int>(x);
}
""",
    "vector-of-jthreads": """#include <vector>
int main() {
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 3; ++i)
      all.emplace_back([] { std::lock_guard<std::mutex> hold(m); ++x; });
    @++x;|@
  }
  @|++x;@
  return static_cast<int>(x);
}
""",
    "part-of-a-vector": """#include <vector>
int main() {
  std::vector<long> parts(2);
  std::thread s([&] { parts[0]++; }), t([&] { parts[@0|1@]++; });
  s.join();
  t.join();
  return static_cast<int>(parts[0]);
}
""",
    "captured-by-value": """int main() {
  long count = 1;
  std::thread t([@&|@count]() mutable { ++count; });
  ++count;
  t.join();
  return static_cast<int>(count);
}
""",
    # --- without a mutex
    "thread-local-object": """struct Statistics { long hits = 0; };
static @|thread_local@ Statistics statistics;
static void work() { ++statistics.hits; }
"""
    + BOTH,
    "flag-that-is-spun-on": """#include <atomic>
static std::atomic_flag busy;
static void work() {
  @|while (busy.test_and_set(std::memory_order_acquire)) {}@
  ++x;
  @|busy.clear(std::memory_order_release);@
}
int main() {
  std::thread s(work), t(work);
  s.join();
  t.join();
  busy.clear();
  return static_cast<int>(x);
}
""",
    "atomic-reference": """#include <atomic>
static void work() { @++x|std::atomic_ref<long>(x).fetch_add(1)@; }
int main() {
  std::thread s(work), t(work);
  s.join();
  t.join();
  return static_cast<int>(x);
}
""",
    "published-by-an-atomic": """#include <atomic>
struct Message { long n = 0; };
static std::atomic<Message *> slot;
int main() {
  std::thread s([] {
    auto *own = new Message;
    @|own->n = 3;@
    slot.store(own, std::memory_order_release);
    @own->n = 3;|@
  });
  std::thread t([] {
    if (const Message *one = slot.load(std::memory_order_acquire))
      y = one->n;
  });
  s.join();
  t.join();
  return static_cast<int>(y);
}
""",
    "binary-semaphore": """#include <semaphore>
static std::binary_semaphore one(1);
static void work() {
  @|one.acquire();@
  ++x;
  @|one.release();@
}
int main() {
  std::thread s(work), t(work);
  s.join();
  t.join();
  one.acquire();
  return static_cast<int>(x);
}
""",
    "queue-with-a-condition": """#include <condition_variable>
#include <queue>
class Queue {
public:
  void push(long v) {
    {
      std::lock_guard<std::mutex> hold(own_);
      values_.push(v);
    }
    some_.notify_one();
  }
  long pop() {
    std::unique_lock<std::mutex> hold(own_);
    some_.wait(hold, [this] { return !values_.empty(); });
    const long v = values_.front();
    values_.pop();
    return v;
  }
  bool empty() { @|std::lock_guard<std::mutex> hold(own_);@ return values_.empty(); }
private:
  std::mutex own_;
  std::condition_variable some_;
  std::queue<long> values_;
};
static Queue queue;
int main() {
  std::thread s([] { for (long i = 0; i < 9; ++i) queue.push(i); });
  std::thread t([] { if (!queue.empty()) y = queue.pop(); });
  s.join();
  t.join();
  return static_cast<int>(y);
}
""",
}
