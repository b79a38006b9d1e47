/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Commit and undo functions, the questions that a program may ask, and going irrevocable. */
#include "check.h"

#include <stdint.h>

extern uint32_t _ITM_inTransaction(void) __attribute__((transaction_pure));
extern uint64_t _ITM_getTransactionId(void) __attribute__((transaction_pure));
extern void _ITM_addUserCommitAction(void (*)(void *), uint64_t, void *)
    __attribute__((transaction_pure));
extern void _ITM_addUserUndoAction(void (*)(void *), void *) __attribute__((transaction_pure));
extern void _ITM_changeTransactionMode(int) __attribute__((transaction_pure));
extern int _ITM_versionCompatible(int);
extern const char *_ITM_libraryVersion(void);

static char log_text[100];
static int log_size;
static long counter;

static void note(void *what) { log_text[log_size++] = *(const char *)what; }

/* Commit functions run when the transaction is over, and may have transactions of their own. */
static void transact(void *what) {
  EXPECT(_ITM_inTransaction() == 0);
  __transaction_atomic { ++counter; }
  note(what);
}

static const char *taken(void) {
  log_text[log_size] = 0;
  log_size = 0;
  return log_text;
}

#include <string.h>

static void order(void) {
  __transaction_atomic {
    _ITM_addUserCommitAction(note, 1, "a");
    _ITM_addUserUndoAction(note, "x");
    ++counter;
    _ITM_addUserCommitAction(transact, 1, "b");
    _ITM_addUserUndoAction(note, "y");
  }
  EXPECT(strcmp(taken(), "ab") == 0);
  __transaction_atomic {
    _ITM_addUserCommitAction(note, 1, "a");
    _ITM_addUserUndoAction(note, "x");
    _ITM_addUserUndoAction(note, "y");
    if (counter != 0)
      __transaction_cancel;
  }
  EXPECT(strcmp(taken(), "yx") == 0);
  __transaction_atomic {
    ++counter; /* gcc drops a transaction that does nothing itself */
    _ITM_addUserUndoAction(note, "w");
    _ITM_addUserCommitAction(note, 1, "a");
    __transaction_atomic {
      _ITM_addUserUndoAction(note, "x");
      _ITM_addUserCommitAction(note, 1, "b");
      if (counter != 0)
        __transaction_cancel;
    }
    _ITM_addUserCommitAction(note, 1, "c");
  }
  EXPECT(strcmp(taken(), "xac") == 0);
}

static void questions(void) {
  uint64_t first;
  uint64_t second;
  uint32_t how;
  EXPECT(_ITM_inTransaction() == 0);
  EXPECT(_ITM_getTransactionId() == 1);
  __transaction_atomic {
    how = _ITM_inTransaction();
    first = _ITM_getTransactionId();
    ++counter;
  }
  EXPECT(how != 0);
  __transaction_atomic {
    second = _ITM_getTransactionId();
    ++counter;
  }
  EXPECT(first != second && first > 1 && second > 1);
  EXPECT(_ITM_versionCompatible(90));
  EXPECT(!_ITM_versionCompatible(91));
  EXPECT(_ITM_libraryVersion()[0] != 0);
}

static void irrevocable(void) {
  long before = counter;
  uint32_t how;
  __transaction_atomic {
    ++counter;
    _ITM_changeTransactionMode(0);
    how = _ITM_inTransaction();
    ++counter;
    __transaction_atomic { ++counter; }
    _ITM_changeTransactionMode(0);
  }
  EXPECT(how == 2);
  EXPECT(counter == before + 3);
}

int main(void) {
  counter = 1;
  order();
  questions();
  irrevocable();
  have_a_second_thread();
  order();
  questions();
  irrevocable();
  return 0;
}
