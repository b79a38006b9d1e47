# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds whose threads are kept apart by something else than one mutex, or are C++'s.

Once-functions, barriers, latches, semaphores, readers' and writers' locks, arrays of locks; and
std::thread, std::jthread and std::async with functions, lambdas and members. As `cases` has them.
"""

# Two threads of `work` with the arguments 0 and 1.
EACH = """int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, work, (void *)0);
  pthread_create(&t, 0, work, (void *)1);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)(x + y);
}
"""
OTHER = """int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, other, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)(x + y);
}
"""
# The same with a barrier for two.
AT_A_BARRIER = """int main(void) {
  pthread_t s, t;
  pthread_barrier_init(&together, 0, 2);
  pthread_create(&s, 0, work, (void *)0);
  pthread_create(&t, 0, other, (void *)1);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)(x + y);
}
"""

C = {
    # --- once
    "once-makes-a-table": """
static pthread_once_t made = PTHREAD_ONCE_INIT;
static long *table;
static void make(void) { table = calloc(4, sizeof(*table)); table[1] = 7; }
static void *work(void *p) {
  pthread_once(&made, make);
  @table[1]++;|y = 0;@
  return (void *)(table[1] + (long)p);
}
static void *other(void *p) {
  pthread_once(&made, make);
  return (void *)(table[1] + (long)p);
}
"""
    + OTHER,
    "once-and-a-plain-write": """
static pthread_once_t made = PTHREAD_ONCE_INIT;
static void make(void) { x = 42; }
static void *work(void *p) { pthread_once(&made, make); return (void *)(x + (long)p); }
static void *other(void *p) { @|pthread_once(&made, make);@ return (void *)(x + (long)p); }
"""
    + OTHER,
    "once-makes-the-lock": """
static pthread_once_t made = PTHREAD_ONCE_INIT;
static pthread_mutex_t *guard;
static void make(void) {
  guard = malloc(sizeof(*guard));
  pthread_mutex_init(guard, 0);
}
static void *work(void *p) {
  pthread_once(&made, make);
  lock(guard);
  x++;
  unlock(guard);
  return p;
}
static void *other(void *p) {
  pthread_once(&made, make);
  @|lock(guard);@
  x++;
  @|unlock(guard);@
  return p;
}
"""
    + OTHER,
    "once-or-by-hand": """
static pthread_once_t made = PTHREAD_ONCE_INIT;
static int ready;
static void make(void) { x = 42; ready = 1; }
static void init(void) { @if (!ready) make();|pthread_once(&made, make);@ }
static void *work(void *p) { init(); @(void)made;|@ return (void *)(x + (long)p); }
static void *other(void *p) { init(); return (void *)(x + (long)p); }
"""
    + OTHER,
    # --- barriers
    "barrier-in-a-wrapper": """
static pthread_barrier_t together;
static void meet(void) { pthread_barrier_wait(&together); }
static void *work(void *p) { @meet();|@ x = 1; @|meet();@ return p; }
static void *other(void *p) { meet(); y = x; return p; }
"""
    + AT_A_BARRIER,
    "barrier-twice": """
static pthread_barrier_t together;
static void *work(void *p) {
  x = 1;
  pthread_barrier_wait(&together);
  pthread_barrier_wait(&together);
  y = x;
  return p;
}
static void *other(void *p) {
  pthread_barrier_wait(&together);
  @|x = 2;@
  pthread_barrier_wait(&together);
  @x = 2;|@
  return p;
}
"""
    + AT_A_BARRIER,
    "barrier-of-one": """
static pthread_barrier_t together;
static void *work(void *p) { x = 1; pthread_barrier_wait(&together); return p; }
static void *other(void *p) { pthread_barrier_wait(&together); y = x; return p; }
int main(void) {
  pthread_t s, t;
  pthread_barrier_init(&together, 0, @1|2@);
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, other, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)y;
}
""",
    "barriers-of-two-objects": """
static pthread_barrier_t together, elsewhere;
static void *work(void *p) { x = 1; pthread_barrier_wait(&together); return p; }
static void *other(void *p) { pthread_barrier_wait(&@elsewhere|together@); y = x; return p; }
static void *third(void *p) { pthread_barrier_wait(&@together|elsewhere@); return p; }
static void *fourth(void *p) { pthread_barrier_wait(&elsewhere); return p; }
int main(void) {
  pthread_t threads[4];
  pthread_barrier_init(&together, 0, 2);
  pthread_barrier_init(&elsewhere, 0, 2);
  pthread_create(&threads[0], 0, work, 0);
  pthread_create(&threads[1], 0, other, 0);
  pthread_create(&threads[2], 0, third, 0);
  pthread_create(&threads[3], 0, fourth, 0);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
  return (int)y;
}
""",
    "barrier-and-a-serial-thread": """
static pthread_barrier_t together;
static void *work(void *p) {
  const int one = pthread_barrier_wait(&together) == PTHREAD_BARRIER_SERIAL_THREAD;
  if (@one < 2|one@)
    x++;
  pthread_barrier_wait(&together);
  return (void *)(x + (long)p);
}
int main(void) {
  pthread_t s, t;
  pthread_barrier_init(&together, 0, 2);
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, work, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)x;
}
""",
    "barrier-in-rounds": """
static pthread_barrier_t together;
static void *work(void *p) {
  for (int i = 0; i < 3; i++) {
    x = i;
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
  }
  return p;
}
static void *other(void *p) {
  for (int i = 0; i < 3; i++) {
    pthread_barrier_wait(&together);
    @|y += x;@
    pthread_barrier_wait(&together);
    @y += x;|@
  }
  return p;
}
"""
    + AT_A_BARRIER,
    # --- semaphores
    "joined-unless-it-is-itself": """static pthread_t thread;
static void *work(void *p) { x++; return p; }
static void stop(void) {
  if (!pthread_equal(thread, pthread_self()))
    pthread_join(thread, 0);
}
int main(void) {
  pthread_create(&thread, 0, work, 0);
  @x++;|@
  stop();
  @|x++;@
  return (int)x;
}
""",
    "semaphore-with-two": """#include <semaphore.h>
static sem_t some;
static void *work(void *p) { sem_wait(&some); x++; sem_post(&some); return p; }
int main(void) {
  pthread_t s, t;
  sem_init(&some, 0, @2|1@);
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, work, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)x;
}
""",
    "object-of-each-turn": """struct job { struct job *next; long n; };
static struct job *first;
static void *work(void *p) {
  for (int i = 0; i < 4; i++) {
    struct job *j = malloc(sizeof(*j));
    @|j->n = 1;@
    lock(&a);
    j->next = first;
    first = j;
    if (first->next)
      first->next->n++;
    unlock(&a);
    @j->n = 1;|@
  }
  return p;
}
"""
    + EACH,
    "semaphore-as-a-lock": """#include <semaphore.h>
static sem_t one;
static void *work(void *p) { sem_wait(&one); x++; sem_post(&one); return p; }
static void *other(void *p) { @|sem_wait(&one);@ x++; @|sem_post(&one);@ return p; }
int main(void) {
  pthread_t s, t;
  sem_init(&one, 0, 1);
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, other, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)x;
}
""",
    # --- readers and writers
    "readers-that-count": """
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static void *work(void *p) {
  pthread_rwlock_rdlock(&rw);
  @x++|__atomic_fetch_add(&x, 1, __ATOMIC_RELAXED)@;
  pthread_rwlock_unlock(&rw);
  return p;
}
"""
    + EACH,
    "writers-in-a-wrapper": """
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static void read_lock(pthread_rwlock_t *l) { if (pthread_rwlock_rdlock(l) != 0) abort(); }
static void write_lock(pthread_rwlock_t *l) { if (pthread_rwlock_wrlock(l) != 0) abort(); }
static void *work(void *p) {
  read_lock(&rw);
  y = x;
  pthread_rwlock_unlock(&rw);
  return p;
}
static void *other(void *p) {
  @read|write@_lock(&rw);
  x = 3;
  pthread_rwlock_unlock(&rw);
  (void)read_lock, (void)write_lock;
  return p;
}
"""
    + OTHER,
    "read-then-write": """
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static void *work(void *p) {
  pthread_rwlock_rdlock(&rw);
  const int missing = x == 0;
  @|pthread_rwlock_unlock(&rw);@
  @|pthread_rwlock_wrlock(&rw);@
  if (missing)
    x = 5;
  pthread_rwlock_unlock(&rw);
  return p;
}
"""
    + EACH,
    "tried-by-readers": """
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static void *work(void *p) {
  if (pthread_rwlock_try@rd|wr@lock(&rw) == 0) {
    x++;
    pthread_rwlock_unlock(&rw);
  }
  return p;
}
"""
    + EACH,
    "readers-of-an-object": """
struct cache { pthread_rwlock_t rw; long hits, entries[8]; } *cache;
static long find(struct cache *c, long i) {
  pthread_rwlock_rdlock(&c->rw);
  @c->hits++;|@
  const long found = c->entries[i & 7];
  pthread_rwlock_unlock(&c->rw);
  return found;
}
static void put(struct cache *c, long i) {
  pthread_rwlock_wrlock(&c->rw);
  c->entries[i & 7] = i;
  pthread_rwlock_unlock(&c->rw);
}
static void *work(void *p) { put(cache, (long)p); return (void *)find(cache, (long)p); }
int main(void) {
  pthread_t s, t;
  cache = calloc(1, sizeof(*cache));
  pthread_rwlock_init(&cache->rw, 0);
  pthread_create(&s, 0, work, (void *)1);
  pthread_create(&t, 0, work, (void *)2);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)cache->hits;
}
""",
    # --- arrays of locks
    "lock-number": """
static pthread_mutex_t locks[4];
static void enter(int i) { pthread_mutex_lock(&locks[i]); }
static void leave(int i) { pthread_mutex_unlock(&locks[i]); }
static void *work(void *p) { enter(1); x++; leave(1); return p; }
static void *other(void *p) { enter(@2|1@); x++; leave(@2|1@); return p; }
"""
    + OTHER,
    "lock-of-the-argument": """
static pthread_mutex_t locks[4];
static void *work(void *p) {
  const long i = @(long)p|0 * (long)p@;
  lock(&locks[i]);
  x++;
  unlock(&locks[i]);
  return p;
}
"""
    + EACH,
    "bucket-and-its-lock": """
struct bucket { pthread_mutex_t m; long n; } table[8];
static unsigned hash(long key) { return (unsigned)(key * 31) % 8; }
static void *work(void *p) {
  struct bucket *b = &table[hash((long)p)];
  struct bucket *c = @&table[0]|b@;
  lock(&b->m);
  c->n++;
  unlock(&b->m);
  return p;
}
"""
    + EACH,
    "stripes": """
static pthread_mutex_t stripes[4];
static long slots[4], total;
static void *work(void *p) {
  for (unsigned i = 0; i < 8; i++) {
    lock(&stripes[i % 4]);
    @total|slots[i % 4]@++;
    unlock(&stripes[i % 4]);
  }
  x = 0 * (p == &total);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  for (unsigned i = 0; i < 8; i++) {
    lock(&stripes[i % 4]);
    @total|slots[i % 4]@++;
    unlock(&stripes[i % 4]);
  }
  pthread_join(t, 0);
  return (int)(total + slots[0]);
}
""",
    "lock-handed-to-a-thread": """
struct job { pthread_mutex_t *m; };
static void *work(void *p) {
  struct job *j = p;
  lock(j->m);
  x++;
  unlock(j->m);
  return 0;
}
static struct job one = {&a}, two = {&@b|a@};
int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, work, &one);
  pthread_create(&t, 0, work, &two);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)x + (&b == one.m);
}
""",
    "slot-of-the-argument": """
static long slots[2];
static void *work(void *p) { slots[@0 * (long)p|(long)p@]++; return p; }
"""
    + EACH,
    "slots-of-a-loop": """
static long slots[4];
static void *work(void *p) { slots[@0 * (long)p|(long)p@]++; return p; }
int main(void) {
  pthread_t threads[4];
  for (long i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
  return (int)slots[0];
}
""",
    "c11-call-once": """#include <threads.h>
static once_flag made = ONCE_FLAG_INIT;
static void make(void) { x = 42; }
static void *work(void *p) { call_once(&made, make); return (void *)(x + (long)p); }
static void *other(void *p) { @x = 1|call_once(&made, make)@; return (void *)(x + (long)p); }
"""
    + OTHER,
}

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
