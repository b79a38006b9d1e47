// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a function to its transactional clone, for calls through pointers. Every output that has
// clones registers a table when it is loaded.
//
// Lookups run inside transactions and take no lock: tables are added and removed by a thread that
// is serial. Lock order: the right to run serially, then malloc's locks.
#include "runtime/abi/itm_export.h"
#include "runtime/algorithms/norec.h"
#include "runtime/fatal.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/library/hooks.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/transaction.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>

using namespace tandem;

namespace {

struct Clone {
  void *original;
  void *clone;
};

struct Table {
  const void *registered; // as the output knows it
  Clone *clones;          // a copy, sorted by original
  std::size_t size;
  Table *next;
};

// Changed only by threads that are serial. Transactions look at it after they have joined, which
// orders them behind the transaction that was serial before.
Table *tables = nullptr;

bool before(const Clone &a, const Clone &b) { return std::less<>{}(a.original, b.original); }

void *clone_of(void *original, library::WhenOutput output) noexcept {
  if (current_thread != nullptr && current_thread->depth != 0)
    norec::join(*current_thread);
  for (const Table *table = tables; table != nullptr; table = table->next) {
    const Clone *begin = table->clones;
    const Clone *end = begin + table->size;
    const Clone *found = std::lower_bound(begin, end, Clone{original, nullptr}, before);
    if (found != end && found->original == original)
      return found->clone;
  }
  return library::wrapper_of(original, output);
}

// No transaction but perhaps the caller's own, irrevocable one.
class Serial {
public:
  Serial() : thread_(current_thread) {
    if (thread_ != nullptr && thread_->depth != 0) {
      transaction::become_irrevocable(*thread_, profile::SerialCause::requested);
      return;
    }
    serial::acquire(thread_);
    acquired_ = true;
  }
  Serial(const Serial &) = delete;
  Serial &operator=(const Serial &) = delete;
  ~Serial() {
    if (acquired_)
      serial::release();
  }

private:
  Thread *thread_;
  bool acquired_ = false;
};

} // namespace

TANDEM_ITM void _ITM_registerTMCloneTable(void *entries, std::size_t size) {
  auto *table = static_cast<Table *>(std::malloc(sizeof(Table)));
  auto *clones = static_cast<Clone *>(std::malloc(sizeof(Clone) * (size + 1)));
  if (table == nullptr || clones == nullptr)
    fatal("no memory for a table of %zu transactional clones", size);
  if (size != 0)
    std::memcpy(clones, entries, sizeof(Clone) * size);
  std::sort(clones, clones + size, before);
  library::expect_waits_beside(entries); // of a library that is loaded later
  const Serial held;
  *table = {entries, clones, size, tables};
  tables = table;
}

TANDEM_ITM void _ITM_deregisterTMCloneTable(void *entries) {
  const Serial held;
  for (Table **link = &tables; *link != nullptr; link = &(*link)->next) {
    Table *table = *link;
    if (table->registered != entries)
      continue;
    *link = table->next;
    std::free(table->clones);
    std::free(table);
    return;
  }
}

// A function without a clone can only run in a transaction that is serial. Output is such a one
// here: its caller may look at the result.
TANDEM_ITM void *_ITM_getTMCloneOrIrrevocable(void *original) {
  if (void *clone = clone_of(original, library::WhenOutput::at_once))
    return clone;
  transaction::become_irrevocable(transaction::expect_transaction("_ITM_getTMCloneOrIrrevocable"),
                                  profile::SerialCause::irrevocable_call);
  return original;
}

TANDEM_ITM void *_ITM_getTMCloneSafe(void *original) {
  if (void *clone = clone_of(original, library::WhenOutput::at_commit)) [[likely]] // declared safe
    return clone;
  fatal("a transaction that must stay revocable calls the function at %p, which has no "
        "transactional clone; declare it transaction_safe",
        original);
}
