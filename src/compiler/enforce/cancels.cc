// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/cancels.h"

#include "compiler/sections/access_path.h"
#include "compiler/sections/blocks.h"
#include "compiler/sections/called_function.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

#include <array>
#include <set>

namespace tandem {
namespace {

using namespace llvm;

constexpr StringRef kCancel = "tandem_cancel";
constexpr StringRef kCancelAll = "tandem_cancel_all";

std::string place_of(const Instruction &instruction) {
  const DebugLoc &place = instruction.getDebugLoc();
  if (!place)
    return "";
  return fmt::format(" ({}:{})", cast<DIScope>(place.getScope())->getFilename().str(),
                     place.getLine());
}

class Search {
public:
  using Targets = function_ref<ArrayRef<const Function *>(const CallBase &)>;

  Search(const std::vector<Section> &sections, Targets targets) : targets_(targets) {
    for (const Section &section : sections) {
      if (section.kind == SectionKind::block)
        blocks_[section.function].push_back(&section);
      else if (section.kind != SectionKind::lock_region)
        marked_.insert(section.function);
    }
  }

  // Breadth first: from the section over all that it may call. A step is a function, and whether
  // another section runs between it and the one that is asked about: then only tandem_cancel_all
  // gets there.
  std::string run(const Section &section) {
    steps_.clear();
    seen_.clear();
    if (section.kind == SectionKind::block) {
      steps_.push_back({section.function, false, SIZE_MAX, ""});
      if (std::string found = look_at(section.body, section.body.size(), 0, &section);
          !found.empty())
        return found;
    } else {
      enter(*section.function, false, SIZE_MAX, "");
    }
    for (std::size_t i = section.kind == SectionKind::block ? 1 : 0; i < steps_.size(); ++i) {
      std::vector<const Instruction *> all;
      for (const Instruction &instruction : instructions(*steps_[i].function))
        all.push_back(&instruction);
      if (std::string found = look_at(all, SIZE_MAX, i, nullptr); !found.empty())
        return found;
    }
    return "";
  }

private:
  struct Step {
    const Function *function;
    bool nested;
    std::size_t caller; // its index; SIZE_MAX: the section itself
    std::string place;  // of the call in the caller
  };

  void enter(const Function &function, bool nested, std::size_t caller, std::string place) {
    if (!function.isDeclaration() && seen_.emplace(&function, nested).second)
      steps_.push_back({&function, nested, caller, std::move(place)});
  }

  // Whether a block in the same function, smaller than `limit`, contains the instruction.
  bool is_in_block(const Instruction &instruction, std::size_t limit, const Section *but) const {
    const auto found = blocks_.find(instruction.getFunction());
    return found != blocks_.end() && any_of(found->second, [&](const Section *block) {
             return block != but && block->body.size() < limit &&
                    is_contained(block->body, &instruction);
           });
  }

  std::string look_at(ArrayRef<const Instruction *> all, std::size_t limit, std::size_t step,
                      const Section *block) {
    for (const Instruction *instruction : all) {
      const auto *call = dyn_cast<CallBase>(instruction);
      if (call == nullptr || call->isInlineAsm())
        continue;
      const Function *callee = called_function(*call);
      const bool nested = steps_[step].nested || is_in_block(*call, limit, block);
      if (callee != nullptr &&
          (callee->getName() == kCancelAll || (!nested && callee->getName() == kCancel)))
        return chain_to(step, place_of(*call), callee->getName());
      if (callee != nullptr)
        enter(*callee, nested || marked_.contains(callee), step, place_of(*call));
      for (const Function *target : targets_(*call))
        enter(*target, nested || marked_.contains(target), step, place_of(*call));
    }
    return "";
  }

  std::string chain_to(std::size_t step, const std::string &place, StringRef cancel) const {
    std::string chain = fmt::format("{} → {}", place, cancel.str());
    for (; step != SIZE_MAX; step = steps_[step].caller) {
      chain = source_name(*steps_[step].function) + chain;
      if (steps_[step].caller != SIZE_MAX)
        chain = fmt::format("{} → {}", steps_[step].place, chain);
    }
    return chain;
  }

  Targets targets_;
  DenseMap<const Function *, std::vector<const Section *>> blocks_;
  DenseSet<const Function *> marked_;
  std::vector<Step> steps_;
  std::set<std::pair<const Function *, bool>> seen_;
};

// The branch that tandem.h puts behind an enter marker; null where there is none.
BranchInst *way_past(const CallBase &enter) {
  const BasicBlock *block = enter.getParent();
  for (int blocks = 0; block != nullptr && blocks < 4; ++blocks) {
    auto *branch = dyn_cast<BranchInst>(const_cast<Instruction *>(block->getTerminator()));
    if (branch == nullptr)
      return nullptr;
    if (branch->isConditional()) {
      const auto *never = dyn_cast<ConstantInt>(branch->getCondition());
      return never != nullptr && never->isZero() ? branch : nullptr;
    }
    block = branch->getSuccessor(0);
  }
  return nullptr;
}

bool returns_zero(const Function &function) {
  return !function.hasStructRetAttr() && !function.hasRetAttribute(Attribute::NonNull) &&
         !function.hasRetAttribute(Attribute::Dereferenceable);
}

} // namespace

bool calls_cancel(const Module &module) {
  return any_of(std::array{kCancel, kCancelAll}, [&](StringRef name) {
    const Function *function = module.getFunction(name);
    return function != nullptr && !function->use_empty();
  });
}

Cancels find_cancels(const std::vector<Section> &sections,
                     function_ref<ArrayRef<const Function *>(const CallBase &)> targets) {
  Cancels cancels(sections.size());
  if (sections.empty() || !calls_cancel(*sections.front().function->getParent()))
    return cancels;
  Search search(sections, targets);
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (sections[i].kind != SectionKind::lock_region)
      cancels[i] = search.run(sections[i]);
  return cancels;
}

bool remove_ways_past_blocks(Module &module) {
  SmallPtrSet<Function *, 8> changed;
  std::vector<WeakVH> single; // blocks that have one predecessor afterwards, if they are there
  for (Function &marker : module) {
    if (!is_block_marker(marker) || marker.getReturnType()->isVoidTy())
      continue;
    for (User *user : marker.users()) {
      const auto *enter = dyn_cast<CallBase>(user);
      BranchInst *branch = enter == nullptr ? nullptr : way_past(*enter);
      if (branch == nullptr)
        continue;
      changed.insert(branch->getFunction());
      single.emplace_back(branch->getSuccessor(1));
      BasicBlock *end = branch->getSuccessor(0);
      for (int label = 0; label < 2 && end->getUniqueSuccessor() != nullptr; ++label)
        end = end->getUniqueSuccessor();
      single.emplace_back(end);
      ConstantFoldTerminator(branch->getParent(), /*DeleteDeadConditions=*/true);
    }
  }
  for (Function *function : changed)
    EliminateUnreachableBlocks(*function);
  for (WeakVH &block : single)
    if (block)
      MergeBlockIntoPredecessor(cast<BasicBlock>(block));
  return !changed.empty();
}

Status open_way_past(const Section &block) {
  BranchInst *branch = way_past(*block.entry.call);
  if (branch == nullptr)
    return Error{fmt::format("{}:{}: atomic block '{}' may be cancelled, and was compiled with a "
                             "header that has no way out of it then; compile it again",
                             block.file, block.line, block.name)};
  IRBuilder<> builder(branch);
  FunctionCallee cancelled = branch->getModule()->getOrInsertFunction(
      kCancelled, FunctionType::get(builder.getInt1Ty(), {}, false));
  branch->setCondition(builder.CreateCall(cancelled));
  return Unit();
}

Status check_cancel(const Section &section, const std::string &chain,
                    const std::string &irrevocable, Enforcement mode) {
  const std::string what = fmt::format("{}:{}: atomic section '{}' may be cancelled ({})",
                                       section.file, section.line, section.name, chain);
  if (mode == Enforcement::locks || mode == Enforcement::global_lock)
    return Error{
        fmt::format("{}, and locks undo nothing; use -ftandem-enforce=hybrid, stm or htm", what)};
  if (!irrevocable.empty())
    return Error{fmt::format("{}, and always does what cannot be undone ({}); put that off by "
                             "tandem_on_commit, or move it out of the section",
                             what, irrevocable)};
  if (section.kind == SectionKind::block)
    return Unit();
  if (any_of(*section.function, [](const BasicBlock &block) { return block.hasAddressTaken(); }))
    return Error{
        fmt::format("{}, and has a computed goto, which no transaction runs; use a switch", what)};
  if (!returns_zero(*section.function))
    return Error{fmt::format("{}, and returns an object or a reference, of which there is no zero; "
                             "return a number, a pointer or nothing",
                             what)};
  return Unit();
}

} // namespace tandem
