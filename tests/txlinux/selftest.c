// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lock functions of kernel/ as a program on simulated harts: what each form does to its lock's
// word and to the transaction, and that converted and plain sections exclude each other; with
// CONFIG_COARSE_LOCKS also the one lock of all dentries. Status 1 where one does not.
#include <linux/txlock.h>

#include "tandem/machine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kThreads = 4, kRounds = 200 };

static unsigned failures;
#define EXPECT(what)                                                                               \
  do {                                                                                             \
    if (!(what)) {                                                                                 \
      printf("line %d: %s\n", __LINE__, #what);                                                    \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)

static spinlock_t spin, inner;
static rwlock_t rw, written;
static seqlock_t sequence;
static unsigned long bits, flags;

#define WORD(lock) ((lock).rlock.raw_lock.counter)

// A form that elides: inside there is a transaction and the word is as it was; behind it there is
// none.
#define ELIDES(enter, leave, word)                                                                 \
  do {                                                                                             \
    enter;                                                                                         \
    EXPECT(xtest() == 1);                                                                          \
    EXPECT((word) == 0);                                                                           \
    leave;                                                                                         \
    EXPECT(xtest() == 0);                                                                          \
    EXPECT((word) == 0);                                                                           \
  } while (0)

static void forms(void) {
  ELIDES(spin_lock_tx(&spin), spin_unlock(&spin), WORD(spin));
  ELIDES(spin_lock_irq_tx(&spin), spin_unlock(&spin), WORD(spin));
  ELIDES(spin_lock_bh_tx(&spin), spin_unlock(&spin), WORD(spin));
  ELIDES(spin_lock_nested_tx(&spin, 1), spin_unlock(&spin), WORD(spin));
  ELIDES(spin_lock_irqsave_tx(&spin, flags), spin_unlock(&spin), WORD(spin));
  ELIDES(EXPECT(spin_trylock_tx(&spin) == 1), spin_unlock(&spin), WORD(spin));
  ELIDES(read_lock_tx(&rw), read_unlock(&rw), rw.raw_lock.cnts.counter);
  ELIDES(write_lock_tx(&rw), write_unlock(&rw), rw.raw_lock.cnts.counter);
  ELIDES(read_lock_bh_tx(&rw), read_unlock(&rw), rw.raw_lock.cnts.counter);
  ELIDES(write_lock_bh_tx(&rw), write_unlock(&rw), rw.raw_lock.cnts.counter);
  ELIDES(bit_spin_lock_tx(3, &bits), bit_spin_unlock(3, &bits), bits);
  unsigned start = 0;
  ELIDES(start = read_seqbegin_tx(&sequence), EXPECT(read_seqretry_tx(&sequence, start) == 0),
         sequence.seqcount.seqcount.sequence);
  ELIDES(start = read_seqbegin_tx(&sequence), read_seqleave_tx(start),
         sequence.seqcount.seqcount.sequence);
}

static void nesting(void) {
  spin_lock_tx(&spin);
  spin_lock_tx(&inner);
  EXPECT(xtest() == 2);
  spin_unlock(&spin); // hand over hand
  EXPECT(xtest() == 1);
  spin_unlock(&inner);
  EXPECT(xtest() == 0);
  // What a transaction may not do makes every section take its lock, also from within an inner one.
  const u32 before = WORD(spin), within = WORD(inner);
  spin_lock_tx(&spin);
  spin_lock_tx(&inner);
  syscall(SYS_getpid);
  EXPECT(xtest() == 0 || WORD(spin) != before);
  EXPECT(WORD(spin) != before);
  spin_unlock(&inner);
  spin_unlock(&spin);
  EXPECT(xtest() == 0);
  EXPECT(!arch_spin_is_locked(&spin.rlock.raw_lock) && !arch_spin_is_locked(&inner.rlock.raw_lock));
  (void)within;
}

static void held_for_real(void) {
  write_lock(&rw);
  EXPECT(!arch_spin_is_locked(&spin.rlock.raw_lock));
  write_unlock(&rw);
  EXPECT(rw.raw_lock.cnts.counter == 0);
  read_lock(&rw);
  read_lock_tx(&rw); // a reader in a reader takes the lock and does not wait for itself
  EXPECT(xtest() == 0);
  read_unlock(&rw);
  read_unlock(&rw);
  EXPECT(rw.raw_lock.cnts.counter == 0);
  spin_lock(&spin);
  EXPECT(spin_trylock_tx(&spin) == 0); // one attempt
  EXPECT(xtest() == 0);
  spin_unlock(&spin);
  EXPECT(!arch_spin_is_locked(&spin.rlock.raw_lock));
}

// Exclusion: odd threads take locks by the plain functions, and stay inside for a while.
enum kind { kSpin, kBit, kRead, kWrite, kTry, kNested, kSequence, kDentries, kKinds };
static struct {
  volatile unsigned long count;  // of all threads, under the lock
  volatile unsigned long holder; // a thread that has taken the lock for real is inside
} __attribute__((aligned(64))) kinds[kKinds];
static spinlock_t tried, outer, within;
#ifdef CONFIG_COARSE_LOCKS
_Thread_local int processor;
static dcache_lock_t one, another;

// Each of two levels plain or converted, elided or not, taken by an attempt or not, released in
// both orders.
static void recursion(void) {
  for (int way = 0; way < 32; ++way) {
    const bool first_plain = way & 1, second_plain = way & 2, first_ends_first = way & 4;
    const bool refuse = way & 8, attempt = way & 16;
    if (first_plain)
      spin_lock(&one);
    else
      spin_lock_tx(&one);
    if (refuse)
      syscall(SYS_getpid);
    if (attempt)
      EXPECT((second_plain ? spin_trylock(&another) : spin_trylock_tx(&another)) == 1);
    else if (second_plain)
      spin_lock(&another);
    else
      spin_lock_tx(&another);
    EXPECT(dcache_is_locked(&one));
    EXPECT(xtest() == (first_plain || refuse ? 0 : second_plain ? 1 : 2));
    spin_unlock(first_ends_first ? &one : &another);
    EXPECT(dcache_is_locked(&one));
    spin_unlock(first_ends_first ? &another : &one);
    EXPECT(xtest() == 0);
    EXPECT(!dcache_is_locked(&one));
  }
}
#endif
static unsigned torn;

// Both sides are inside: counted outside of the transaction, which may be undone. Its release would
// find its lock taken, so that values alone do not show it.
static void meets(void) {
  const long suspended = tandem_xpush();
  __atomic_fetch_add(&torn, 1, __ATOMIC_RELAXED);
  tandem_xpop(suspended);
}

static void inside(enum kind kind, bool plain) {
  const unsigned long before = kinds[kind].count;
  if (kinds[kind].holder != 0)
    meets();
  if (plain) {
    kinds[kind].holder = 1;
    for (int i = 0; i < 100; ++i)
      cpu_relax();
    kinds[kind].holder = 0;
  }
  kinds[kind].count = before + 1;
}

#define SECTION(kind, by_plain, by_tx, leave)                                                      \
  do {                                                                                             \
    if (plain)                                                                                     \
      by_plain;                                                                                    \
    else                                                                                           \
      by_tx;                                                                                       \
    inside(kind, plain);                                                                           \
    leave;                                                                                         \
  } while (0)

static void read_round(bool plain) {
  if (plain)
    write_lock(&rw);
  else
    read_lock_tx(&rw);
  if (plain)
    inside(kRead, true);
  else if (kinds[kRead].holder != 0)
    meets();
  if (plain)
    write_unlock(&rw);
  else
    read_unlock(&rw);
}

static void sequence_round(bool plain) {
  if (plain) {
    write_seqlock(&sequence);
    inside(kSequence, true);
    write_sequnlock(&sequence);
    return;
  }
  unsigned start;
  unsigned long holder;
  do {
    start = read_seqbegin_tx(&sequence);
    holder = kinds[kSequence].holder;
  } while (read_seqretry_tx(&sequence, start));
  if (holder != 0)
    __atomic_fetch_add(&torn, 1, __ATOMIC_RELAXED);
}

static void one_round(bool plain) {
  SECTION(kSpin, spin_lock(&spin), spin_lock_tx(&spin), spin_unlock(&spin));
  SECTION(kBit, bit_spin_lock(7, &bits), bit_spin_lock_tx(7, &bits), bit_spin_unlock(7, &bits));
  SECTION(kWrite, write_lock(&written), write_lock_tx(&written), write_unlock(&written));
  read_round(plain);
  while (plain ? !arch_spin_trylock(&tried.rlock.raw_lock) : !spin_trylock_tx(&tried))
    cpu_relax();
  inside(kTry, plain);
  spin_unlock(&tried);
#ifdef CONFIG_COARSE_LOCKS
  // Two levels of one lock, as a parent's and its child's.
  if (plain)
    spin_lock(&one);
  else
    spin_lock_tx(&one);
  SECTION(kDentries, spin_lock(&another), spin_lock_tx(&another), spin_unlock(&another));
  spin_unlock(&one);
#endif
  // An inner lock that is really held undoes the outer section.
  if (!plain)
    spin_lock_tx(&outer);
  SECTION(kNested, spin_lock(&within), spin_lock_tx(&within), spin_unlock(&within));
  if (!plain)
    spin_unlock(&outer);
  sequence_round(plain);
}

static void *thread(void *number) {
#ifdef CONFIG_COARSE_LOCKS
  processor = (int)(long)number;
#endif
  for (int i = 0; i < kRounds; ++i)
    one_round(((long)number & 1) != 0);
  return NULL;
}

static void exclusion(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], NULL, thread, (void *)i) != 0)
      exit(2);
  for (int i = 0; i < kThreads; ++i)
    pthread_join(threads[i], NULL);
#ifndef CONFIG_COARSE_LOCKS
  kinds[kDentries].count = kThreads * kRounds;
#endif
  for (enum kind kind = 0; kind < kKinds; ++kind)
    EXPECT(kinds[kind].count ==
           (kind == kRead || kind == kSequence ? kThreads / 2 : kThreads) * kRounds);
  EXPECT(torn == 0);
}

int main(void) {
  // What is touched for the first time inside a section of a program is a page fault, and ends it.
  WORD(spin) = WORD(inner) = 0;
  bits = flags = 0;
  forms();
  nesting();
  held_for_real();
#ifdef CONFIG_COARSE_LOCKS
  recursion();
#endif
  exclusion();
  printf("selftest: %s\n", failures == 0 ? "ok" : "FAILED");
  return failures == 0 ? 0 : 1;
}
