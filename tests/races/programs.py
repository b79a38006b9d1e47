# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds as programs have them, in C: objects with their locks, workers, queues, callbacks.

As `cases` has them.
"""

from synchronisers import EACH, OTHER

JOIN = """  pthread_join(s, 0);
  pthread_join(t, 0);
"""

# What one thread has done, main goes on with.
AFTERWARDS = """int main(void) {
  pthread_t s;
  pthread_create(&s, 0, work, 0);
  pthread_join(s, 0);
  x++;
  return (int)x;
}
"""

C = {
    # --- which lock it is
    "slot-kept-in-a-request": """
struct request { unsigned slot; };
static pthread_mutex_t locks[8];
static long counts[8];
static void serve(const struct request *r) {
  lock(&locks[r->slot]);
  counts[@r->slot / 2|r->slot@]++;
  unlock(&locks[r->slot]);
}
static void *work(void *p) {
  const struct request r = {(unsigned)(long)p & 7};
  serve(&r);
  return p;
}
"""
    + EACH,
    "lock-by-enumerator": """
enum which { reading, writing, count_of_locks };
static pthread_mutex_t locks[count_of_locks];
static void *work(void *p) { lock(&locks[reading]); x++; unlock(&locks[reading]); return p; }
static void *other(void *p) {
  lock(&locks[@writing|reading@]);
  x--;
  unlock(&locks[@writing|reading@]);
  return p;
}
"""
    + OTHER,
    "lock-of-the-owner": """
struct pool { pthread_mutex_t m; long unused; };
struct connection { struct pool *pool; };
static struct pool pool = {PTHREAD_MUTEX_INITIALIZER, 8};
static void take(struct connection *c) {
  lock(&c->pool->m);
  c->pool->unused--;
  unlock(&c->pool->m);
}
static void give(struct connection *c) {
  @|lock(&c->pool->m);@
  c->pool->unused++;
  @|unlock(&c->pool->m);@
}
static void *work(void *p) {
  struct connection c = {&pool};
  take(&c);
  give(&c);
  return p;
}
"""
    + EACH,
    "lock-by-a-getter": """
struct object { pthread_mutex_t m, other; long n; };
static struct object one;
static pthread_mutex_t *lock_of(struct object *o) { return &o->m; }
static void *work(void *p) {
  pthread_mutex_lock(lock_of(&one));
  one.n++;
  pthread_mutex_unlock(lock_of(&one));
  return p;
}
static void *other(void *p) {
  pthread_mutex_lock(@&one.other|lock_of(&one)@);
  one.n--;
  pthread_mutex_unlock(@&one.other|lock_of(&one)@);
  return p;
}
"""
    + OTHER,
    "found-and-locked": """
struct object { pthread_mutex_t m; int id; long n; struct object *next; };
static struct object second = {PTHREAD_MUTEX_INITIALIZER, 2, 0, 0};
static struct object first = {PTHREAD_MUTEX_INITIALIZER, 1, 0, &second};
static struct object *find_locked(int id) {
  for (struct object *o = &first; o != 0; o = o->next)
    if (o->id == id) {
      lock(&o->m);
      return o;
    }
  return 0;
}
static void put(struct object *o) { unlock(&o->m); }
static void *work(void *p) {
  struct object *o = find_locked(1);
  if (o == 0)
    return 0;
  @|o->n++;@
  put(o);
  @o->n++;|@
  return p;
}
"""
    + EACH,
    "lock-in-a-loop-macro": """
#define WITH(m) for (int once = (lock(m), 1); once; once = 0, unlock(m))
static void *work(void *p) {
  WITH(&a) { y++; @|x++;@ }
  @x++;|@
  return p;
}
"""
    + EACH,
    "leaves-by-goto": """
static int parse(long v) { return v > 5 ? -1 : 0; }
static void *work(void *p) {
  lock(&a);
  if (parse((long)p) < 0)
    goto out;
  @|x++;@
out:
  unlock(&a);
  @x++;|@
  return p;
}
"""
    + EACH,
    "spin-lock": """
static pthread_spinlock_t spin;
static void *work(void *p) { pthread_spin_lock(&spin); x++; pthread_spin_unlock(&spin); return p; }
static void *other(void *p) {
  @lock(&a)|pthread_spin_lock(&spin)@;
  x++;
  @unlock(&a)|pthread_spin_unlock(&spin)@;
  return p;
}
int main(void) {
  pthread_t s, t;
  pthread_spin_init(&spin, 0);
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, other, 0);
"""
    + JOIN
    + "  return (int)x;\n}\n",
    "timed-lock": """#include <time.h>
static void *work(void *p) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec++;
  const int got = pthread_mutex_timedlock(&a, &until);
  if (@got >= 0|got == 0@)
    x++;
  if (got == 0)
    unlock(&a);
  return p;
}
"""
    + EACH,
    "hand-made-spin-lock": """#include <stdatomic.h>
static atomic_flag busy = ATOMIC_FLAG_INIT;
static void *work(void *p) {
  @|while (atomic_flag_test_and_set(&busy)) {}@
  x++;
  @|atomic_flag_clear(&busy);@
  return p;
}
"""
    + EACH,
    "checked-twice": """
static long *table;
static long *get(void) {
  @if (table != 0) return table;|@
  lock(&a);
  if (table == 0)
    table = calloc(4, sizeof(*table));
  long *found = table;
  unlock(&a);
  return found;
}
static void *work(void *p) { return get() == 0 ? p : 0; }
"""
    + EACH.replace("x + y", "table == 0"),
    # --- when threads are there
    "joins-from-the-last": """
static void *work(void *p) { lock(&a); x++; unlock(&a); return p; }
int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, work, 0);
  @x++;|@
  for (int i = 2; i >= 0; i--)
    pthread_join(threads[i], 0);
  @|x++;@
  return (int)x;
}
""",
    "joins-in-a-function": """
static void *work(void *p) { lock(&a); x++; unlock(&a); return p; }
static void start(pthread_t *threads, int n) {
  for (int i = 0; i < n; i++)
    pthread_create(&threads[i], 0, work, 0);
}
static void finish(pthread_t *threads, int n) {
  for (int i = 0; i < n; i++)
    pthread_join(threads[i], 0);
}
int main(void) {
  pthread_t threads[3];
  start(threads, 3);
  @x++;|@
  finish(threads, 3);
  @|x++;@
  return (int)x;
}
""",
    "rounds-of-threads": """
static void *work(void *p) { lock(&a); x++; unlock(&a); return p; }
int main(void) {
  for (int round = 0; round < 3; round++) {
    pthread_t s, t;
    pthread_create(&s, 0, work, 0);
    pthread_create(&t, 0, work, 0);
    pthread_join(s, 0);
    @x += round;|@
    pthread_join(t, 0);
    @|x += round;@
  }
  return (int)x;
}
""",
    "threads-in-a-list": """
struct worker { pthread_t thread; struct worker *next; };
static void *work(void *p) { lock(&a); x++; unlock(&a); return p; }
int main(void) {
  struct worker *all = 0;
  for (int i = 0; i < 3; i++) {
    struct worker *w = malloc(sizeof(*w));
    pthread_create(&w->thread, 0, work, 0);
    w->next = all;
    all = w;
  }
  @x++;|@
  for (struct worker *w = all; w != 0; w = w->next)
    pthread_join(w->thread, 0);
  @|x++;@
  return (int)x;
}
""",
    "a-thread-of-a-thread": """
static void *inner(void *p) { x++; return p; }
static void *work(void *p) {
  pthread_t t;
  pthread_create(&t, 0, inner, 0);
  @x++;|@
  pthread_join(t, 0);
  @|x++;@
  return p;
}
"""
    + AFTERWARDS,
    "forgotten-thread": """
static void *inner(void *p) { x++; return p; }
static void *work(void *p) {
  pthread_t t;
  pthread_create(&t, 0, inner, 0);
  @pthread_detach(t)|pthread_join(t, 0)@;
  return p;
}
"""
    + AFTERWARDS,
    "no-thread-could-be-made": """
static void *work(void *p) { x++; return p; }
int main(void) {
  pthread_t s;
  const int failed = pthread_create(&s, 0, work, 0);
  if (@failed >= 0|failed != 0@)
    work(0);
  if (failed == 0)
    pthread_join(s, 0);
  return (int)x;
}
""",
    "start-through-a-trampoline": """
struct start { void (*run)(void *); void *with; };
static void *trampoline(void *p) {
  const struct start s = *(struct start *)p;
  free(p);
  s.run(s.with);
  return 0;
}
static pthread_t spawn(void (*run)(void *), void *with) {
  struct start *s = malloc(sizeof(*s));
  pthread_t t;
  s->run = run;
  s->with = with;
  pthread_create(&t, 0, trampoline, s);
  return t;
}
static void count(void *n) { @|lock(&a);@ (*(long *)n)++; @|unlock(&a);@ }
int main(void) {
  const pthread_t s = spawn(count, &x), t = spawn(count, &x);
"""
    + JOIN
    + "  return (int)x;\n}\n",
    "main-waits-for-all": """
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static int running = 2;
static void *work(void *p) {
  lock(&a);
  @|x++;@
  if (--running == 0)
    pthread_cond_signal(&ended);
  unlock(&a);
  @x++;|@
  return p;
}
int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, work, 0);
  lock(&a);
  while (running > 0)
    pthread_cond_wait(&ended, &a);
  y = x;
  unlock(&a);
"""
    + JOIN
    + "  return (int)y;\n}\n",
    # --- whose memory it is
    "item-of-a-queue": """
struct item { struct item *next; long n; };
static struct item *queue;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static void put(struct item *i) {
  lock(&a);
  i->next = queue;
  queue = i;
  pthread_cond_signal(&some);
  unlock(&a);
}
static void *work(void *p) {
  struct item *i = calloc(1, sizeof(*i));
  @|i->n = (long)p;@
  put(i);
  @i->n = (long)p;|@
  return p;
}
static void *other(void *p) {
  lock(&a);
  while (queue == 0)
    pthread_cond_wait(&some, &a);
  struct item *i = queue;
  queue = i->next;
  unlock(&a);
  y = i->n;
  free(i);
  return p;
}
"""
    + OTHER,
    "bounded-buffer": """
static pthread_cond_t full = PTHREAD_COND_INITIALIZER, empty = PTHREAD_COND_INITIALIZER;
static long ring[4], used, head;
static void put(long v) {
  lock(&a);
  while (used == 4)
    pthread_cond_wait(&full, &a);
  ring[(head + used++) & 3] = v;
  pthread_cond_signal(&empty);
  unlock(&a);
}
static long get(void) {
  lock(&a);
  while (used == 0)
    pthread_cond_wait(&empty, &a);
  const long v = ring[head++ & 3];
  used--;
  pthread_cond_signal(&full);
  unlock(&a);
  return v;
}
static void *work(void *p) { for (long i = 0; i < 9; i++) put(i); return p; }
static void *other(void *p) {
  for (long i = 0; i < 9; i++) {
    @if (used == 0) continue;|@
    y += get();
  }
  return p;
}
"""
    + OTHER,
    "bits-of-a-word": """
struct flags { unsigned open : 4; @|unsigned : 0;@ unsigned dirty : 4; };
static struct flags flags;
static void *work(void *p) { flags.open = 1; return p; }
static void *other(void *p) { flags.dirty = 1; return p; }
"""
    + OTHER,
    "halves-of-an-array": """
static long data[8];
static void fill(int from, int to) { for (int i = from; i < to; i++) data[i] = i; }
static void *work(void *p) { fill(0, 4); return p; }
static void *other(void *p) { fill(@3|4@, 8); return p; }
"""
    + OTHER,
    "value-of-a-key": """
static pthread_key_t key;
static long shared;
static void *work(void *p) {
  pthread_setspecific(key, @&shared|calloc(1, sizeof(long))@);
  long *own = pthread_getspecific(key);
  ++*own;
  return (void *)(*own + (long)p);
}
int main(void) {
  pthread_t s, t;
  pthread_key_create(&key, 0);
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, work, 0);
"""
    + JOIN
    + "  return (int)shared;\n}\n",
    "result-of-a-thread": """
static void *work(void *p) {
  long *n = malloc(sizeof(*n));
  *n = (long)p;
  @x = *n;|@
  return n;
}
int main(void) {
  pthread_t s, t;
  void *one, *two;
  pthread_create(&s, 0, work, (void *)1);
  pthread_create(&t, 0, work, (void *)2);
  pthread_join(s, &one);
  pthread_join(t, &two);
  x = *(long *)one + *(long *)two;
  return (int)x;
}
""",
    "each-its-part-of-a-struct": """
struct totals { long in, out; };
static struct totals totals;
struct job { long *to; };
static void *work(void *p) {
  const struct job *j = p;
  for (int i = 0; i < 9; i++)
    ++*j->to;
  return 0;
}
int main(void) {
  struct job one = {&totals.in}, two = {&totals.@in|out@};
  pthread_t s, t;
  pthread_create(&s, 0, work, &one);
  pthread_create(&t, 0, work, &two);
"""
    + JOIN
    + "  return (int)(totals.in + totals.out);\n}\n",
    "semaphore-hands-over": """#include <semaphore.h>
static sem_t ready;
static void *work(void *p) { @|x = 3;@ sem_post(&ready); @x = 3;|@ return p; }
static void *other(void *p) { sem_wait(&ready); y = x; return p; }
int main(void) {
  pthread_t s, t;
  sem_init(&ready, 0, 0);
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, other, 0);
"""
    + JOIN
    + "  return (int)y;\n}\n",
    # --- callbacks, signals, atomics
    "callback-with-a-context": """
struct list { long values[4]; };
static const struct list list = {{1, 2, 3, 4}};
static void each(const struct list *l, void (*f)(long, void *), void *context) {
  for (int i = 0; i < 4; i++)
    f(l->values[i], context);
}
static void add(long v, void *context) { *(long *)context += v; }
static void *work(void *p) {
  @|long sum = 0;@
  each(&list, add, &@x|sum@);
  return p;
}
"""
    + EACH,
    "operations-of-a-driver": """
struct driver { void (*open)(void); void (*close)(void); };
static void open_locked(void) { lock(&a); x++; unlock(&a); }
static void close_locked(void) { @|lock(&a);@ x--; @|unlock(&a);@ }
static const struct driver file = {open_locked, close_locked};
static const struct driver *drivers[] = {&file};
static void *work(void *p) { drivers[0]->open(); drivers[0]->close(); return p; }
"""
    + EACH,
    "comparator-that-counts": """
static int by_value(const void *l, const void *r) {
  @x++|__atomic_fetch_add(&x, 1, __ATOMIC_RELAXED)@;
  return *(const int *)l - *(const int *)r;
}
static void *work(void *p) {
  int own[4] = {3, 1, 4, 1};
  qsort(own, 4, sizeof(*own), by_value);
  return own[0] == 1 ? p : 0;
}
"""
    + EACH,
    "handler-that-counts": """#include <signal.h>
static @long|volatile sig_atomic_t@ seen;
static void on_alarm(int number) { @seen++|seen = number@; }
int main(void) {
  signal(SIGALRM, on_alarm);
  while (@seen++ < 3|!seen@)
    x++;
  return (int)x;
}
""",
    "c11-atomic-counter": """#include <stdatomic.h>
static @long|atomic_long@ hits;
static void *work(void *p) { hits++; return p; }
"""
    + EACH.replace("x + y", "hits"),
    "c11-threads": """#include <threads.h>
static mtx_t guard;
static int run(void *p) {
  @|mtx_lock(&guard);@
  x++;
  @|mtx_unlock(&guard);@
  return p == &x;
}
int main(void) {
  thrd_t s, t;
  mtx_init(&guard, mtx_plain);
  thrd_create(&s, run, 0);
  thrd_create(&t, run, 0);
  thrd_join(s, 0);
  thrd_join(t, 0);
  return (int)x;
}
""",
    "released-on-one-path-only": """
static int step(long v) {
  lock(&a);
  if (v > 0) {
    unlock(&a);
    @x++;|@
    return -1;
  }
  x++;
  unlock(&a);
  return 0;
}
static void *work(void *p) { return step((long)p) < 0 ? 0 : p; }
"""
    + EACH,
}
