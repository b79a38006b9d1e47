// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Closed nesting where a cancel is possible, flat otherwise.
#include "runtime/actions/actions.h"
#include "runtime/transaction/jump.h"
#include "runtime/transaction/steps.h"

namespace tandem::transaction {

void commit_nested(Thread &thread) noexcept {
  --thread.depth;
  if (thread.mode == Mode::hardware)
    return hardware::end();
  if (thread.checkpoints.empty() || thread.checkpoints.back().depth != thread.depth)
    return; // flat
  const Checkpoint checkpoint = thread.checkpoints.pop();
  if (checkpoint.mode != thread.mode) {
    // The outer one cannot be undone.
    thread.undo.truncate(checkpoint.undo);
    set_mode(thread, checkpoint.mode);
  }
  if (thread.checkpoints.empty())
    thread.writes.forget_journal();
  resume_quick_writes(thread);
}

Actions begin_nested(Thread &thread, std::uint32_t properties, const JumpBuffer &from) noexcept {
  if (thread.mode == Mode::hardware)
    return begin_nested_in_hardware(thread, properties);
  hardware::leave_foreign();
  guarded_by::join(thread); // it may be a section of any kind
  if ((properties & itm::kHasNoAbort) != 0) {
    if ((properties & itm::kInstrumentedCode) == 0)
      become_irrevocable(thread, profile::SerialCause::irrevocable_call);
    ++thread.depth;
    return code_path(thread, properties);
  }
  if (!thread.additions.empty()) // what cancelling it undoes must be all in the logs
    additions::fold_all(thread);
  thread.checkpoints.push({
      .jump = from,
      .undo = thread.undo.size(),
      .journal = thread.writes.journal_size(),
      .user_actions = thread.user_actions.size(),
      .allocations = thread.allocations.size(),
      .depth = thread.depth,
      .caught = thread.caught,
      .uncaught = thread.uncaught != nullptr ? *thread.uncaught : 0,
      .mode = thread.mode,
      .revocable = true,
  });
  thread.writes.forbid_quick(); // its writes are journalled
  ++thread.depth;
  ++thread.transactions;
  ++thread.nested;
  if (thread.mode == Mode::direct)
    set_mode(thread, Mode::undo);
  return itm::kRunInstrumented | itm::kSaveLiveVariables;
}

[[noreturn]] void cancel_nested(Thread &thread) noexcept {
  const Checkpoint checkpoint = thread.checkpoints.pop();
  if (!checkpoint.revocable)
    fatal("a nested transaction is cancelled after it became irrevocable");
  play_back(thread, checkpoint.undo, checkpoint.jump.stack);
  thread.writes.roll_back(checkpoint.journal);
  actions::roll_back(thread, checkpoint.user_actions, checkpoint.allocations);
  exceptions::roll_back(thread, checkpoint.caught, checkpoint.uncaught);
  if (!thread.throwing)
    thread.fresh_bytes = 0;
  thread.depth = checkpoint.depth;
  set_mode(thread, checkpoint.mode);
  resume_quick_writes(thread);
  jump(itm::kAbort | itm::kRestoreLiveVariables, checkpoint.jump);
}

} // namespace tandem::transaction
