# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small programs with known verdicts: each kind once with a race and once without.

A kind is C (or C++) text in which `@racy|race-free@` stands for the part that differs; either part
may be empty. `PRELUDE` comes before it.
"""

import re
from dataclasses import dataclass

import cxx_programs
import cxx_threads
import programs
import synchronisers
from synchronisers import OTHER

PRELUDE = """#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static long x, y;
static void lock(pthread_mutex_t *m) { pthread_mutex_lock(m); }
static void unlock(pthread_mutex_t *m) { pthread_mutex_unlock(m); }
"""

# Two threads of `work`, or one and main; `main` as most kinds have it.
TWO = """int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, work, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)(x + y);
}
"""


@dataclass(frozen=True)
class Case:
    name: str
    racy: bool
    suffix: str
    source: str


KINDS = {
    "no-lock": "static void *work(void *p) { @|lock(&a);@ x++; @|unlock(&a);@ return p; }\n" + TWO,
    "different-locks": """
static void *work(void *p) { lock(&a); x++; unlock(&a); return p; }
static void *other(void *p) { lock(&@b|a@); x++; unlock(&@b|a@); return p; }
"""
    + OTHER,
    "read-and-write": """
static void *work(void *p) { lock(&a); x = 7; unlock(&a); return p; }
static void *other(void *p) { @|lock(&a);@ y = x; @|unlock(&a);@ return p; }
"""
    + OTHER,
    "after-the-unlock": """
static void *work(void *p) { lock(&a); @|x++;@ unlock(&a); @x++;|@ return p; }
"""
    + TWO,
    "on-one-branch": """
static void *work(void *p) {
  if (@p|1@) lock(&a);
  x++;
  if (@p|1@) unlock(&a);
  return p;
}
"""
    + TWO,
    "through-a-callee": """
static void add(long *to) { (*to)++; }
static void *work(void *p) { lock(&a); @unlock(&a);|@ add(&x); @|unlock(&a);@ return p; }
"""
    + TWO,
    "by-pointer": """
static long *where = &x;
static void *work(void *p) { @|lock(&a);@ (*where)++; @|unlock(&a);@ return p; }
"""
    + TWO,
    "field-locks": """
struct thing { pthread_mutex_t m, n; long count; } one;
static void *work(void *p) { lock(&one.m); one.count++; unlock(&one.m); return p; }
static void *other(void *p) { lock(&one.@n|m@); one.count++; unlock(&one.@n|m@); return p; }
"""
    + OTHER,
    "two-fields": """
struct pair { long first, second; } both;
static void *work(void *p) { both.first++; return p; }
static void *other(void *p) { both.@first|second@++; return p; }
"""
    + OTHER,
    "elements-apart": """
static long slots[4];
static void *work(void *p) { slots[1]++; return p; }
static void *other(void *p) { slots[@1|2@]++; return p; }
"""
    + OTHER,
    "locks-by-index": """
static pthread_mutex_t locks[4];
static void *work(void *p) { lock(&locks[1]); x++; unlock(&locks[1]); return p; }
static void *other(void *p) { lock(&locks[@2|1@]); x++; unlock(&locks[@2|1@]); return p; }
"""
    + OTHER,
    "locks-by-equal-expressions": """
struct bucket { pthread_mutex_t m; long n; } table[8];
static void *work(void *p) {
  const unsigned long i = (unsigned long)p % 8;
  lock(&table[i].m);
  table[@(i + 1) % 8|i@].n++;
  unlock(&table[i].m);
  return p;
}
int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, work, (void *)1);
  pthread_create(&t, 0, work, (void *)2);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)table[1].n;
}
""",
    "lock-of-the-object": """
struct node { pthread_mutex_t m; long n; struct node *next; };
static struct node *head;
static void *work(void *p) {
  struct node *at = head;
  @|lock(&at->m);@
  at->n++;
  @|unlock(&at->m);@
  return p;
}
int main(void) {
  pthread_t s, t;
  head = calloc(1, sizeof(*head));
  pthread_mutex_init(&head->m, 0);
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, work, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)head->n;
}
""",
    "join-before": """
static void *work(void *p) { x++; return p; }
int main(void) {
  pthread_t s;
  pthread_create(&s, 0, work, 0);
  @|pthread_join(s, 0);@
  x++;
  @pthread_join(s, 0);|@
  return (int)x;
}
""",
    "join-on-every-path": """
static void *work(void *p) { x++; return p; }
int main(int argc, char **argv) {
  (void)argv;
  pthread_t s;
  pthread_create(&s, 0, work, 0);
  if (argc > 1) {
    y = 1;
    pthread_join(s, 0);
  } else {
    y = 2;
    @|pthread_join(s, 0);@
  }
  x++;
  return (int)x;
}
""",
    "joins-in-a-loop": """
static void *work(void *p) { lock(&a); x++; unlock(&a); return p; }
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < @3|4@; i++)
    pthread_join(threads[i], 0);
  x++;
  return (int)x;
}
""",
    "joins-of-counted-threads": """
static void *work(void *p) { lock(&a); x++; unlock(&a); return p; }
int main(int argc, char **argv) {
  (void)argv;
  pthread_t *threads = malloc(sizeof(*threads) * (unsigned)argc);
  for (int i = 0; i < argc; i++)
    pthread_create(&threads[i], 0, work, 0);
  @x++;|@
  for (int i = 0; i < argc; i++)
    pthread_join(threads[i], 0);
  @|x++;@
  free(threads);
  return (int)x;
}
""",
    "before-creation": """
static void *work(void *p) { x++; return p; }
int main(void) {
  pthread_t s;
  @|x = 3;@
  pthread_create(&s, 0, work, 0);
  @x = 3;|@
  pthread_join(s, 0);
  return (int)x;
}
""",
    "creation-in-a-wrapper": """
static void *work(void *p) { x++; return p; }
static pthread_t start(void *(*f)(void *)) {
  pthread_t t;
  if (pthread_create(&t, 0, f, 0) != 0)
    abort();
  return t;
}
static void finish(pthread_t t) { pthread_join(t, 0); }
int main(void) {
  const pthread_t s = start(work);
  @|finish(s);@
  const pthread_t t = start(work);
  @finish(s);|@
  finish(t);
  return (int)x;
}
""",
    "creation-on-some-paths": """
static void *work(void *p) { x++; return p; }
int main(int argc, char **argv) {
  (void)argv;
  pthread_t s;
  const int many = argc > 1;
  if (many)
    pthread_create(&s, 0, work, 0);
  @x++;|@
  if (many)
    pthread_join(s, 0);
  @|x++;@
  return (int)x;
}
""",
    "one-thread-after-another": """
static void *work(void *p) { x++; return p; }
int main(void) {
  pthread_t s;
  for (int i = 0; i < 3; i++) {
    pthread_create(&s, 0, work, 0);
    @|pthread_join(s, 0);@
  }
  return (int)x;
}
""",
    "unique-threads": """
static void *other(void *p) { y++; return p; }
static void *work(void *p) { x++; return p; }
int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, @work|other@, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)(x + y);
}
""",
    "argument-of-its-own": """
struct job { long n; } jobs[2];
static void *work(void *p) { ((struct job *)p)->n++; return p; }
int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, work, &jobs[0]);
  pthread_create(&t, 0, work, &jobs[@0|1@]);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)jobs[0].n;
}
""",
    "arguments-of-an-array": """
struct job { long n; } jobs[4];
static void *work(void *p) { ((struct job *)p)->n++; return p; }
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, work, &jobs[@0|i@]);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
  return (int)jobs[0].n;
}
""",
    "array-of-main": """
static void *work(void *p) { long *n = p; (*n)++; return p; }
int main(void) {
  long counts[2] = {0, 0};
  pthread_t t;
  pthread_create(&t, 0, work, &counts[1]);
  counts[@1|0@]++;
  pthread_join(t, 0);
  return (int)counts[0];
}
""",
    "member-of-main": """
struct state { pthread_mutex_t m; long n; };
static void *work(void *p) {
  long *n = p;
  (*n)++;
  return p;
}
int main(void) {
  struct state state = {PTHREAD_MUTEX_INITIALIZER, 0};
  pthread_t t;
  pthread_create(&t, 0, work, &state.n);
  @state.n++;|@
  pthread_join(t, 0);
  @|state.n++;@
  return (int)state.n;
}
""",
    "handle-in-a-struct": """
struct worker { pthread_t thread; long n; };
static void *work(void *p) { struct worker *w = p; w->n++; return p; }
int main(void) {
  struct worker *w = calloc(1, sizeof(*w));
  pthread_create(&w->thread, 0, work, w);
  @w->n++;|@
  pthread_join(w->thread, 0);
  @|w->n++;@
  return (int)w->n;
}
""",
    "heap-before-it-is-shown": """
struct job { long n; };
static void *work(void *p) { struct job *j = p; j->n++; return p; }
int main(void) {
  pthread_t t;
  struct job *j = malloc(sizeof(*j));
  @|j->n = 0;@
  pthread_create(&t, 0, work, j);
  @j->n = 0;|@
  pthread_join(t, 0);
  return (int)j->n;
}
""",
    "heap-of-each-thread": """
static long *shared;
static void *work(void *p) {
  long *n = @shared|calloc(1, sizeof(*n))@;
  (*n)++;
  return p;
}
int main(void) {
  pthread_t s, t;
  shared = calloc(1, sizeof(*shared));
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, work, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)*shared;
}
""",
    "thread-local": "static @|_Thread_local@ long own;\n"
    "static void *work(void *p) { own++; return p; }\n" + TWO,
    "once": """
static pthread_once_t made = PTHREAD_ONCE_INIT;
static void make(void) { x = 42; }
static void *work(void *p) {
  @make();|pthread_once(&made, make);@
  return (void *)(x + (long)p);
}
"""
    + TWO,
    "once-in-a-wrapper": """
static pthread_once_t made = PTHREAD_ONCE_INIT;
static long *table;
static void make(void) { table = calloc(4, sizeof(*table)); }
static long *get(void) { @|pthread_once(&made, make);@ return table; }
static void *work(void *p) { @pthread_once(&made, make);|@ return get() ? p : 0; }
static void *other(void *p) { return get() ? p : 0; }
"""
    + OTHER,
    "once-per-control": """
static pthread_once_t made = PTHREAD_ONCE_INIT, again = PTHREAD_ONCE_INIT;
static void make(void) { x++; }
static void *work(void *p) { pthread_once(&made, make); return p; }
static void *other(void *p) { pthread_once(&@again|made@, make); return p; }
"""
    + OTHER,
    "barrier": """
static pthread_barrier_t together;
static void *work(void *p) { x = 1; pthread_barrier_wait(&together); return p; }
static void *other(void *p) {
  @y = x;|@
  pthread_barrier_wait(&together);
  @|y = x;@
  return p;
}
int main(void) {
  pthread_t s, t;
  pthread_barrier_init(&together, 0, 2);
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, other, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)y;
}
""",
    "barrier-and-main": """
static pthread_barrier_t together;
static void *work(void *p) {
  @|x = 1;@
  pthread_barrier_wait(&together);
  @x = 1;|@
  return p;
}
int main(void) {
  pthread_t s;
  pthread_barrier_init(&together, 0, 2);
  pthread_create(&s, 0, work, 0);
  pthread_barrier_wait(&together);
  x++;
  pthread_join(s, 0);
  return (int)x;
}
""",
    "handed-over": """
static pthread_cond_t full = PTHREAD_COND_INITIALIZER;
static long *slot;
static void *work(void *p) {
  long *item = calloc(1, sizeof(*item));
  @|*item = 3;@
  lock(&a);
  slot = item;
  pthread_cond_signal(&full);
  unlock(&a);
  @*item = 3;|@
  return p;
}
static void *other(void *p) {
  lock(&a);
  while (slot == 0)
    pthread_cond_wait(&full, &a);
  long *item = slot;
  unlock(&a);
  y = *item;
  return p;
}
"""
    + OTHER,
    "callback": """
static void each(void (*f)(long *)) { f(&x); }
static void plain(long *n) { (*n)++; }
static void guarded(long *n) { lock(&a); (*n)++; unlock(&a); }
static void *work(void *p) { each(@plain|guarded@); return p; }
static void *other(void *p) { each(guarded); (void)plain; return p; }
"""
    + OTHER,
    "table-of-callbacks": """
struct ops { void (*begin)(void); void (*end)(void); };
static void take(void) { lock(&a); }
static void give(void) { unlock(&a); }
static void none(void) { y = y; }
static const struct ops real = {take, give}, nothing = {none, none};
static const struct ops *const use = &@nothing|real@;
static void *work(void *p) { use->begin(); x++; use->end(); return (void *)(p == &nothing); }
"""
    + TWO,
    "trylock": """
static void *work(void *p) {
  if (pthread_mutex_trylock(&a) @!=|==@ 0) {
    x++;
    @|unlock(&a);@
  } @else unlock(&a);|@
  return p;
}
"""
    + TWO,
    "atomic": """
static void *work(void *p) { @x++|__atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST)@; return p; }
"""
    + TWO,
    "readers-and-writers": """
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static void *work(void *p) {
  pthread_rwlock_rdlock(&rw);
  y = x;
  pthread_rwlock_unlock(&rw);
  return p;
}
static void *other(void *p) {
  pthread_rwlock_@rd|wr@lock(&rw);
  x++;
  pthread_rwlock_unlock(&rw);
  return p;
}
"""
    + OTHER,
    "conditional-lock": """
static int many;
static void *work(void *p) {
  if (@p != 0|many@) lock(&a);
  x++;
  if (@p != 0|many@) unlock(&a);
  return p;
}
int main(int argc, char **argv) {
  (void)argv;
  many = 1 + (argc > 100);
  pthread_t s, t;
  pthread_create(&s, 0, work, &s);
  pthread_create(&t, 0, work, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  return (int)x;
}
""",
}

CXX = {
    "std-thread": """#include <mutex>
#include <thread>
static std::mutex m, n;
static long x;
int main() {
  std::thread s([] { std::lock_guard<std::mutex> hold(m); ++x; });
  std::thread t([] { std::lock_guard<std::mutex> hold(@n|m@); ++x; });
  s.join();
  t.join();
  return static_cast<int>(x);
}
""",
    "std-thread-joined": """#include <thread>
static long x;
int main() {
  std::thread s([] { ++x; });
  @|s.join();@
  ++x;
  @s.join();|@
  return static_cast<int>(x);
}
""",
    "std-thread-captures": """#include <mutex>
#include <thread>
int main() {
  long x = 0;
  std::mutex m;
  std::thread t([&] { std::lock_guard<std::mutex> hold(m); ++x; });
  { @|std::lock_guard<std::mutex> hold(m);@ ++x; }
  t.join();
  return static_cast<int>(x);
}
""",
    "std-call-once": """#include <mutex>
#include <thread>
static std::once_flag made;
static long x, y;
static void make() { x = 42; }
static void work() { @make();|std::call_once(made, make);@ y += 0 * x; }
static void use() { std::call_once(made, make); if (x == 1) throw x; }
int main() {
  std::thread s(use), t(@work|use@);
  s.join();
  t.join();
  return static_cast<int>(x);
}
""",
}


def side_of(text: str, racy: bool) -> str:
    """The program that `text` is with a race, or without."""

    def chosen(part: re.Match[str]) -> str:
        return part[1] if racy else part[2]

    return re.sub(r"@([^@|]*)\|([^@]*)@", chosen, text)


def cases() -> list[Case]:
    """All programs, the racy one of a kind first."""
    return [
        Case(name, racy, suffix, prelude + side_of(text, racy))
        for texts, suffix, prelude in (
            (KINDS, "c", PRELUDE),
            (synchronisers.C, "c", PRELUDE),
            (programs.C, "c", PRELUDE),
            (CXX, "cc", ""),
            (cxx_threads.CXX, "cc", cxx_threads.HEAD),
            (cxx_programs.CXX, "cc", cxx_threads.HEAD),
        )
        for name, text in texts.items()
        for racy in (True, False)
    ]
