// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/blocks.h"

#include "compiler/sections/called_function.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace tandem {
namespace {

using namespace llvm;

bool is_named(const Function *function, StringRef name) {
  if (function == nullptr || !function->getName().starts_with(name))
    return false;
  const StringRef suffix = function->getName().drop_front(name.size());
  return suffix.empty() || suffix.front() == '.';
}

bool is_strict_enter(const Function *function) {
  return is_named(function, kStrictBlockEnter) || is_named(function, kOptimisedStrictBlockEnter);
}

bool is_gnu_enter(const Function *function) {
  return is_named(function, kGnuBlockEnter) || is_named(function, kOptimisedGnuBlockEnter);
}

bool is_enter(const Function *function) {
  return is_named(function, kBlockEnter) || is_named(function, kOptimisedBlockEnter) ||
         is_strict_enter(function) || is_gnu_enter(function);
}

const Value *token(const CallBase &marker) { return marker.getArgOperand(0)->stripPointerCasts(); }

// Whether the block's token is a variable of its own, wherever AddressSanitizer has put that.
bool has_token(const CallBase &enter) {
  return isa<AllocaInst>(token(enter)) ||
         (isa<IntToPtrInst>(token(enter)) &&
          enter.getFunction()->hasFnAttribute(Attribute::SanitizeAddress));
}

// Everything that runs between `enter` and the leaves of its block.
void find_body(Section &block, const CallBase &enter) {
  SetVector<const BasicBlock *> seen;
  SetVector<const Instruction *> body;
  const auto walk = [&](BasicBlock::const_iterator at) {
    const BasicBlock *parent = at->getParent();
    for (; at != parent->end(); ++at) {
      const auto *call = dyn_cast<CallBase>(&*at);
      if (call != nullptr && is_named(called_function(*call), kBlockLeave) &&
          token(*call) == token(enter)) {
        if (!is_contained(block.exits, call))
          block.exits.push_back(call);
        return;
      }
      body.insert(&*at);
    }
    for (const BasicBlock *next : successors(parent))
      seen.insert(next);
  };
  walk(std::next(BasicBlock::const_iterator(enter)));
  for (std::size_t i = 0; i < seen.size(); ++i) // grows
    walk(seen[i]->begin());
  block.body.assign(body.begin(), body.end());
}

} // namespace

bool is_block_marker(const Function &function) {
  return is_enter(&function) || is_named(&function, kBlockLeave);
}

std::vector<Section> find_blocks(Module &module) {
  std::vector<Section> blocks;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const Function *callee = call == nullptr ? nullptr : called_function(*call);
      if (!is_enter(callee))
        continue;
      const bool optimised = is_named(callee, kOptimisedBlockEnter) ||
                             is_named(callee, kOptimisedStrictBlockEnter) ||
                             is_named(callee, kOptimisedGnuBlockEnter);
      Section block;
      block.may_throw = is_gnu_enter(callee);
      block.strict = is_strict_enter(callee) || block.may_throw;
      block.kind = SectionKind::block;
      block.function = &function;
      // Without a token of its own, two blocks cannot be told apart.
      block.optimised = optimised || !has_token(*call);
      block.entry.call = call;
      find_body(block, *call);
      blocks.push_back(std::move(block));
    }
  return blocks;
}

} // namespace tandem
