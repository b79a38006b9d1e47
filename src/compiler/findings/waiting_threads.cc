// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/waiting_threads.h"

#include "compiler/effects/unpublished.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/origin.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace tandem {
namespace {

using namespace llvm;

bool waits(const Function &function) {
  const StringRef name = function.getName();
  for (const char *known : {"pthread_barrier_wait", "pthread_cond_wait", "pthread_cond_timedwait",
                            "sem_wait", "sem_timedwait", "cnd_wait", "cnd_timedwait"})
    if (name == known)
      return true;
  for (const char *known :
       {"_ZNSt18condition_variable4wait", "_ZNSt3_V222condition_variable_any", "_ZNSt7barrierI",
        "_ZNKSt5latch4wait", "_ZNSt18counting_semaphore", "_ZNKSt14__basic_future",
        "_ZNSt28__atomic_futex_unsigned_base", "_ZSt9call_onceI"})
    if (name.starts_with(known))
      return true;
  return false;
}

// Whether an instruction, or what it calls of the C++ library, exchanges an atomic value: in a
// loop, a thread that spins until it has set a flag.
bool exchanges(const Instruction &instruction, unsigned calls = 3) {
  if (const auto *update = dyn_cast<AtomicRMWInst>(&instruction))
    return update->getOperation() == AtomicRMWInst::Xchg;
  const auto *call = dyn_cast<CallBase>(&instruction);
  const Function *callee = call == nullptr || calls == 0 ? nullptr : called_function(*call);
  return isa<AtomicCmpXchgInst>(instruction) ||
         (callee != nullptr && is_library_function(*callee) &&
          any_of(instructions(*callee),
                 [&](const Instruction &inner) { return exchanges(inner, calls - 1); }));
}

bool waits_at(const Instruction &instruction) {
  const auto *call = dyn_cast<CallBase>(&instruction);
  const Function *callee = call == nullptr ? nullptr : called_function(*call);
  return (callee != nullptr && waits(*callee)) ||
         (exchanges(instruction) && may_follow(instruction, instruction));
}

} // namespace

std::set<std::uint32_t> waiting_threads(const LockContexts &contexts) {
  std::set<std::uint32_t> waiting;
  for (const auto &[function, ways] : contexts.all())
    if (any_of(instructions(*function), waits_at))
      for (const auto &[context, always] : ways)
        waiting.insert(context.entry);
  return waiting;
}

} // namespace tandem
