// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// volatile-reread: the conditions of one if chain read a volatile variable more than once. Each
// read may see another value, so that a chain that looks exhaustive may take no arm or contradict
// itself. Source: Ruan, Vyas, Liu, Spear, "Transactionalizing Legacy Code: an Experience Report
// Using GCC and Memcached", ASPLOS 2014, Figure 5.
#include "compiler/effects/unpublished.h"
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/sections/access_path.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

#include <fmt/format.h>

namespace tandem {
namespace {

using namespace llvm;

// Whether another thread or a signal handler may change what the load reads.
bool is_watched(const LoadInst &load) {
  if (!load.isVolatile())
    return false;
  const auto *slot = dyn_cast<AllocaInst>(load.getPointerOperand());
  return slot == nullptr || any_of(slot->users(), [&](const User *user) {
           const auto *store = dyn_cast<StoreInst>(user);
           return !isa<LoadInst>(user) && !is_marker(*cast<Instruction>(user)) &&
                  (store == nullptr || store->getPointerOperand() != slot);
         });
}

// The volatile loads of a block that its branch decides by.
SmallVector<const LoadInst *, 2> condition_loads(const BasicBlock &block) {
  SmallVector<const LoadInst *, 2> loads;
  const Instruction *terminator = block.getTerminator();
  if (terminator->getNumSuccessors() < 2 || isa<InvokeInst>(terminator))
    return loads;
  SmallPtrSet<const Value *, 16> seen;
  SmallVector<const Value *, 8> work{terminator->getOperand(0)};
  while (!work.empty()) {
    const auto *instruction = dyn_cast<Instruction>(work.pop_back_val());
    if (instruction == nullptr || instruction->getParent() != &block ||
        !seen.insert(instruction).second || isa<CallBase>(instruction) || isa<PHINode>(instruction))
      continue;
    if (const auto *load = dyn_cast<LoadInst>(instruction); load != nullptr && is_watched(*load))
      loads.push_back(load);
    for (const Use &operand : instruction->operands())
      work.push_back(operand.get());
  }
  return loads;
}

// Whether a block only computes a condition, so that it is the next question of the chain.
bool only_asks(const BasicBlock &block) {
  return none_of(block, [](const Instruction &instruction) {
    return !is_marker(instruction) &&
           (instruction.mayHaveSideEffects() && !isa<LoadInst>(instruction));
  });
}

bool asks(const BasicBlock &block) {
  const auto *branch = dyn_cast<BranchInst>(block.getTerminator());
  return branch != nullptr && branch->isConditional();
}

class Chains {
public:
  explicit Chains(const Function &function)
      : function_(function), loops_(DominatorTree(const_cast<Function &>(function))) {}

  void find(Findings &findings) {
    for (const BasicBlock &block : function_)
      for (const LoadInst *first : condition_loads(block))
        if (!later_.contains(first))
          report(*first, findings);
  }

private:
  // The later reads of the chain that begins with `first`, in the order of its questions.
  SmallVector<const LoadInst *, 4> rereads(const LoadInst &first) {
    SmallVector<const LoadInst *, 4> found;
    SmallPtrSet<const BasicBlock *, 8> seen{first.getParent()};
    SmallVector<const BasicBlock *, 8> work{first.getParent()};
    for (std::size_t next = 0; next < work.size(); ++next) {
      const BasicBlock *block = work[next];
      if (next != 0)
        for (const LoadInst *load : condition_loads(*block))
          if (same_computation(*load->getPointerOperand(), *first.getPointerOperand()))
            found.push_back(load);
      for (const BasicBlock *arm : successors(block))
        if (continues(*block, *arm) && seen.insert(arm).second)
          work.push_back(arm);
    }
    return found;
  }

  // A chain ends where an arm does something, where it joins a way that did, and where a loop
  // begins or ends.
  bool continues(const BasicBlock &block, const BasicBlock &arm) const {
    return asks(block) && only_asks(arm) && loops_.getLoopFor(&block) == loops_.getLoopFor(&arm) &&
           all_of(predecessors(&arm), [](const BasicBlock *before) { return asks(*before); });
  }

  void report(const LoadInst &first, Findings &findings) {
    const SmallVector<const LoadInst *, 4> later = rereads(first);
    if (later.empty())
      return;
    later_.insert(later.begin(), later.end());
    const std::uint64_t size =
        function_.getParent()->getDataLayout().getTypeStoreSize(first.getType());
    ReportFinding finding = finding_at(
        "volatile-reread", place_of(first),
        fmt::format("volatile '{}' is read {} times in one if chain: each read may see another "
                    "value; read it once into a variable",
                    access_path(first.getPointerOperand(), size).print(), later.size() + 1));
    for (const LoadInst *load : later)
      finding.notes.push_back(note_at(place_of(*load), "read again here"));
    findings.push_back(std::move(finding));
  }

  const Function &function_;
  const LoopInfo loops_;
  SmallPtrSet<const LoadInst *, 8> later_; // reported with an earlier read
};

bool reads_volatile(const Function &function) {
  return any_of(function, [](const BasicBlock &block) { return !condition_loads(block).empty(); });
}

} // namespace

void find_volatile_rereads(const AnalysisView &view, Findings &findings) {
  for (const Function &function : view.module)
    if (!function.isDeclaration() && reads_volatile(function))
      Chains(function).find(findings);
}

} // namespace tandem
