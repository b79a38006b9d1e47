// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coroutines, before they are split (LLVM, Coroutines): which code a resumption runs, and which
// memory their handles lead to. A coroutine is one function here; a resumption may run the rest of
// any.
#include "compiler/points_to/solver.h"

#include "llvm/IR/Intrinsics.h"

namespace tandem {

using namespace llvm;

void PointsToGraph::start_coroutines() {
  promises_ = nowhere(kProgram);
  frames_ = nowhere(kProgram);
  for (const Function &function : module_)
    if (!function.isDeclaration() && function.isPresplitCoroutine())
      coroutines_.push_back(&function);
}

// What they know, those that begin them have passed already.
void PointsToGraph::resume_any(const CallBase &call) {
  auto &targets = targets_[&call];
  for (const Function *coroutine : coroutines_)
    if (!is_contained(targets, coroutine)) {
      targets.push_back(coroutine);
      unguarded_.insert({&call, coroutine});
    }
}

// A function that is given what waits, and the handle of the coroutine.
void PointsToGraph::call_awaiter(const CallBase &call) {
  Site site{.call = &call, .pointer = std::nullopt, .actuals = {}, .direct = false};
  for (unsigned i = 0; i < 2; ++i)
    site.actuals.push_back(pointer(call.getArgOperand(i)));
  link_site(new_site(std::move(site)), call.getArgOperand(2));
}

bool PointsToGraph::add_coroutine_call(const CallBase &call) {
  const auto know = [&](unsigned number, Pointer all) {
    if (const std::optional<Pointer> known = pointer(call.getArgOperand(number)))
      pass(*known, all);
  };
  switch (call.getIntrinsicID()) {
  case Intrinsic::coro_id:
    know(1, promises_);
    return true;
  case Intrinsic::coro_begin:
    know(1, frames_);
    define(&call, 0, frames_);
    return true;
  case Intrinsic::coro_free:
    know(1, frames_);
    define(&call, 0, frames_);
    return true;
  case Intrinsic::coro_frame:
    define(&call, 0, frames_);
    return true;
  case Intrinsic::coro_promise: {
    const auto *from_promise = dyn_cast<ConstantInt>(call.getArgOperand(2));
    define(&call, 0, from_promise != nullptr && from_promise->isOne() ? frames_ : promises_);
    return true;
  }
  case Intrinsic::coro_resume:
  case Intrinsic::coro_destroy:
    resume_any(call);
    return true;
  case Intrinsic::coro_await_suspend_handle:
    resume_any(call);
    [[fallthrough]];
  case Intrinsic::coro_await_suspend_bool:
  case Intrinsic::coro_await_suspend_void:
    call_awaiter(call);
    return true;
  default:
    return false;
  }
}

} // namespace tandem
