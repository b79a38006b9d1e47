// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commutative counters (include/tandem/library.h). An addition is two entries of the transaction's
// actions, counter and amount; both do nothing as actions. The last step of the outermost commit
// adds each amount by a read and a write like any other, so that readers find a counter changed
// together with all else; only then can the counter conflict.
#include "runtime/actions/actions.h"
#include "runtime/library/access.h"
#include "runtime/library/deferred.h"
#include "runtime/library/hooks.h"
#include "runtime/library/tokens.h"
#include "runtime/transaction/guarded_by.h"
#include "runtime/transaction/transaction.h"

#include <tandem/library.h>
#include <tandem/transaction.h>

using namespace tandem;
using namespace tandem::library;

namespace {

void counter_32(void *) noexcept {}
void counter_64(void *) noexcept { __asm__ volatile(""); } // another function than counter_32
void amount(void *) noexcept { __asm__ volatile("" ::: "memory"); }

template <class U> constexpr Work kMark = sizeof(U) == 4 ? counter_32 : counter_64;

void *as_argument(std::uint64_t value) noexcept { return reinterpret_cast<void *>(value); }
std::uint64_t as_amount(const void *argument) noexcept {
  return reinterpret_cast<std::uint64_t>(argument);
}

// The amount that waits for `counter`, null if there is none: at the entry behind the mark.
template <class U> UserAction *find(Thread &thread, const U *counter) noexcept {
  for (UserAction *action = thread.user_actions.end(); action != thread.user_actions.begin();) {
    --action;
    if (action->function == kMark<U> && action->argument == counter)
      return action + 1;
  }
  return nullptr;
}

// No lock of the program guards a counter.
template <class U> void add_plainly(U *counter, U by, Thread *thread) noexcept {
  guarded_by::join(*thread);
  write_value(counter, static_cast<U>(read_value(counter, thread) + by), thread);
}

template <class U> struct Addition {
  U *counter;
  U by;
  static void run(void *argument) noexcept {
    const auto *addition = static_cast<const Addition *>(argument);
    add_plainly(addition->counter, addition->by, current_thread);
  }
};

template <class U> void add(U *counter, U by) noexcept {
  Thread *thread = current_thread;
  if (thread == nullptr || thread->depth == 0) {
    Addition<U> addition{counter, by};
    tandem_run(Addition<U>::run, &addition, nullptr);
    return;
  }
  if (thread->mode == Mode::direct || thread->mode == Mode::hardware)
    return add_plainly(counter, by, thread);
  // Entries of a transaction around a nested one must come back as they were.
  if (UserAction *known = thread->checkpoints.empty() ? find(*thread, counter) : nullptr) {
    known->argument = as_argument(as_amount(known->argument) + by);
    return;
  }
  actions::add(*thread, UserAction{kMark<U>, counter, true});
  actions::add(*thread, UserAction{amount, as_argument(by), true});
}

template <class U> U value_of(const U *counter) noexcept {
  Thread *thread = current_thread;
  if (thread == nullptr || thread->depth == 0)
    return memory::load(counter);
  guarded_by::join(*thread);
  U value = read_value(counter, thread);
  const UserAction *end = thread->user_actions.end();
  for (const UserAction *action = thread->user_actions.begin(); action != end; ++action)
    if (action->function == kMark<U> && action->argument == counter)
      value = static_cast<U>(value + as_amount(action[1].argument));
  return value;
}

} // namespace

namespace tandem::library {

void before_commit(Thread &thread) noexcept {
  if (has_rest(thread)) [[unlikely]]
    transaction::become_irrevocable(thread, profile::SerialCause::irrevocable_call);
  const UserAction *end = thread.user_actions.end();
  for (UserAction *action = thread.user_actions.begin(); action != end; ++action) {
    const std::uint64_t by = action + 1 == end ? 0 : as_amount(action[1].argument);
    if (action->function == counter_64)
      add_plainly(static_cast<std::uint64_t *>(action->argument), by, &thread);
    else if (action->function == counter_32)
      add_plainly(static_cast<std::uint32_t *>(action->argument), static_cast<std::uint32_t>(by),
                  &thread);
    else
      continue;
    action->function = amount; // done
  }
}

} // namespace tandem::library

extern "C" {
[[gnu::visibility("default")]] void tandem_counter_add_u32(std::uint32_t *counter,
                                                           std::uint32_t by) {
  add(counter, by);
}
[[gnu::visibility("default")]] void tandem_counter_add_u64(std::uint64_t *counter,
                                                           std::uint64_t by) {
  add(counter, by);
}
[[gnu::visibility("default")]] std::uint32_t tandem_counter_get_u32(const std::uint32_t *counter) {
  return value_of(counter);
}
[[gnu::visibility("default")]] std::uint64_t tandem_counter_get_u64(const std::uint64_t *counter) {
  return value_of(counter);
}
}
