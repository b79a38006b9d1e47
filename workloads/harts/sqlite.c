// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transactions on databases in memory, one for each thread: rows are read by key and by an index,
// summed over a range, changed, inserted and deleted. What the program knows of its rows must be
// what the database says. SIZE: rows of each; there are an eighth as many transactions.
#include "kernel.h"

#include <sqlite3.h>

enum { kAmounts = 1000 };
enum { kByKey, kBySort, kSum, kChange, kInsert, kDelete, kStatements };
static const char *const texts[kStatements] = {
    "SELECT amount, note FROM item WHERE id = ?1",
    "SELECT count(*) FROM item WHERE sort = ?1",
    "SELECT sum(amount) FROM item WHERE id BETWEEN ?1 AND ?1 + 20",
    "UPDATE item SET amount = amount + ?2 WHERE id = ?1",
    "INSERT INTO item VALUES (?1, ?1 % 97, ?2, 'a row that comes and goes')",
    "DELETE FROM item WHERE id = ?1",
};

static struct client {
  _Alignas(kLine) sqlite3 *database;
  sqlite3_stmt *statements[kStatements];
  uint64_t state;
  int64_t total;
  int wrong;
} clients[kMaxThreads];
static size_t rows;

static void run(struct client *self, const char *text) {
  self->wrong += sqlite3_exec(self->database, text, 0, 0, 0) != SQLITE_OK;
}

// The first column of the first row; 0 where there is none.
static int64_t step(struct client *self, unsigned which, int64_t first, int64_t second) {
  sqlite3_stmt *statement = self->statements[which];
  sqlite3_bind_int64(statement, 1, first);
  if (sqlite3_bind_parameter_count(statement) > 1)
    sqlite3_bind_int64(statement, 2, second);
  int64_t value = 0;
  const int status = sqlite3_step(statement);
  if (status == SQLITE_ROW)
    value = sqlite3_column_int64(statement, 0);
  else
    self->wrong += status != SQLITE_DONE;
  sqlite3_reset(statement);
  return value;
}

static void prepare(size_t size) {
  rows = size;
  for (unsigned thread = 0; thread < threads; ++thread) {
    struct client *self = &clients[thread];
    self->state = thread + 1;
    if (sqlite3_open(":memory:", &self->database) != SQLITE_OK) {
      fprintf(stderr, "sqlite: no database\n");
      exit(2);
    }
    run(self, "CREATE TABLE item(id INTEGER PRIMARY KEY, sort INTEGER, amount INTEGER, note TEXT)");
    run(self, "CREATE INDEX by_sort ON item(sort)");
    for (unsigned which = 0; which < kStatements; ++which)
      self->wrong += sqlite3_prepare_v2(self->database, texts[which], -1, &self->statements[which],
                                        0) != SQLITE_OK;
    run(self, "BEGIN");
    for (size_t row = 0; row < rows; ++row) {
      const int64_t amount = (int64_t)(next_random(&self->state) % kAmounts);
      step(self, kInsert, (int64_t)row, amount);
      self->total += amount;
    }
    run(self, "COMMIT");
  }
}

static void restore(unsigned thread) { (void)thread; }

static void work(unsigned thread) {
  struct client *self = &clients[thread];
  const int64_t count = (int64_t)rows;
  for (size_t turn = 0; turn < rows / 8 + 1; ++turn) {
    const int64_t row = (int64_t)(next_random(&self->state) % rows);
    const int64_t more = (int64_t)(next_random(&self->state) % kAmounts);
    run(self, "BEGIN");
    const int64_t before = step(self, kByKey, row, 0);
    step(self, kBySort, row % 97, 0);
    step(self, kSum, row, 0);
    step(self, kChange, row, more);
    step(self, kInsert, count + (int64_t)turn, more);
    self->wrong += step(self, kByKey, row, 0) != before + more;
    step(self, kDelete, count + (int64_t)turn, 0);
    run(self, "COMMIT");
    self->total += more;
  }
}

static int is_right(void) {
  int wrong = 0;
  for (unsigned thread = 0; thread < threads; ++thread) {
    struct client *self = &clients[thread];
    sqlite3_stmt *check = 0;
    sqlite3_prepare_v2(self->database, "SELECT sum(amount), count(*) FROM item", -1, &check, 0);
    wrong += self->wrong + (sqlite3_step(check) != SQLITE_ROW) +
             (sqlite3_column_int64(check, 0) != self->total) +
             (sqlite3_column_int64(check, 1) != (int64_t)rows);
    sqlite3_finalize(check);
    sqlite3_prepare_v2(self->database, "PRAGMA integrity_check", -1, &check, 0);
    wrong += sqlite3_step(check) != SQLITE_ROW ||
             sqlite3_stricmp((const char *)sqlite3_column_text(check, 0), "ok") != 0;
    sqlite3_finalize(check);
  }
  return wrong == 0;
}

int main(int argc, char **argv) { return kernel_main(argc, argv, "sqlite", 200); }
