# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds whose threads are kept apart by something else than one mutex, as `cases` has them.

Once-functions, barriers, semaphores, readers' and writers' locks, arrays of locks.
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
