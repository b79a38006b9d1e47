// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/actions/actions.h"

namespace tandem::actions {
namespace {

// Takes the log away, so that transactions which the actions run have one of their own.
template <class T> memory::Log<T> take(memory::Log<T> &log) noexcept {
  const memory::Log<T> taken = log;
  log = memory::Log<T>();
  return taken;
}

template <class T> void give_back(memory::Log<T> &log, memory::Log<T> &taken) noexcept {
  if (log.capacity() != 0)
    return taken.release();
  taken.clear();
  log = taken;
}

} // namespace

void commit(Thread &thread) noexcept {
  memory::Log<UserAction> functions = take(thread.user_actions);
  memory::Log<AllocationAction> allocations = take(thread.allocations);
  for (const UserAction &action : functions)
    if (action.on_commit)
      action.function(action.argument);
  for (const AllocationAction &action : allocations)
    if (!action.allocated)
      action.release(action.memory);
  give_back(thread.user_actions, functions);
  give_back(thread.allocations, allocations);
}

void roll_back(Thread &thread, std::size_t user_actions, std::size_t allocations) noexcept {
  while (thread.user_actions.size() > user_actions) {
    const UserAction action = thread.user_actions.pop();
    if (!action.on_commit)
      action.function(action.argument);
  }
  while (thread.allocations.size() > allocations) {
    const AllocationAction action = thread.allocations.pop();
    if (action.allocated)
      action.release(action.memory);
  }
}

} // namespace tandem::actions
