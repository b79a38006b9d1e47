// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/outline.h"

#include "compiler/instrument/barriers.h"
#include "compiler/sections/blocks.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/promises.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include <map>
#include <set>

namespace tandem {
namespace {

using namespace llvm;

Error cannot(const Section &block, std::string_view why) {
  return Error{fmt::format("{}:{}: atomic block '{}' cannot be made a transaction: {}; use "
                           "-ftandem-enforce=global-lock, or move the block's body into a function",
                           block.file, block.line, block.name, why)};
}

class Outliner {
public:
  explicit Outliner(const Section &block)
      : block_(block), function_(*block.function),
        enter_(*const_cast<CallBase *>(block.entry.call)) {}

  Result<Function *> run() {
    // Values go into the new function and come back; variables would be arguments by address, and
    // each access of them a barrier. Where exceptions leave the block they have to be in memory.
    if (!function_.hasOptNone() && !function_.hasPersonalityFn())
      promote_variables(function_);
    find_region();
    if (returns_twice())
      return cannot(block_,
                    "it calls setjmp or the like, which would return to a frame that is gone");
    mark_private();
    if (Status unshared = unshare_dead_ends(); !unshared)
      return unshared.error();
    if (Status prepared = prepare_exceptions(); !prepared)
      return prepared.error();
    hide_type_ids();
    const std::vector<BasicBlock *> region(region_.begin(), region_.end());
    DominatorTree dominators(function_);
    CodeExtractor extractor(region, &dominators, /*AggregateArgs=*/false, /*BFI=*/nullptr,
                            /*BPI=*/nullptr, /*AC=*/nullptr, /*AllowVarArgs=*/false,
                            /*AllowAlloca=*/false, /*AllocationBlock=*/nullptr, "tandem.block");
    if (!extractor.isEligible())
      return cannot(block_, "it calls va_start, allocates on the stack, or jumps in a "
                            "way that no function can");
    const CodeExtractorAnalysisCache cache(function_);
    const Variables variables = variables_of(function_);
    const bool ends = none_of(region_, [&](BasicBlock *block) {
      return any_of(successors(block), [&](BasicBlock *next) { return !region_.contains(next); });
    });
    Function *outlined = extractor.extractCodeRegion(cache);
    if (outlined == nullptr)
      return cannot(block_, "its code does not make a function");
    show_type_ids(*outlined);
    drop_promises(*outlined);
    // The extractor has the function return behind a block that is only left by exceptions, or
    // never.
    if (ends)
      changeToUnreachable(cast<CallInst>(*outlined->user_begin())->getNextNode());
    finish(*outlined, variables);
    return outlined;
  }

private:
  // The region: what runs between the markers. Where each leave was, a block behind it begins.
  void find_region() {
    for (User *user : make_early_inc_range(enter_.users()))
      if (auto *store = dyn_cast<StoreInst>(user)) // into the token
        store->eraseFromParent();
    enter_.replaceAllUsesWith(Constant::getNullValue(enter_.getType()));
    const Value *token = enter_.getArgOperand(0)->stripPointerCasts();
    BasicBlock *first = SplitBlock(enter_.getParent(), enter_.getNextNode());
    region_.insert(first);
    for (std::size_t i = 0; i < region_.size(); ++i) { // grows
      BasicBlock *block = region_[i];
      for (Instruction &instruction : *block)
        if (auto *call = dyn_cast<CallBase>(&instruction);
            call != nullptr && is_leave(*call, token)) {
          BasicBlock *behind = SplitBlock(block, call->getNextNode());
          call->eraseFromParent();
          behind_leaves_.insert(behind);
          break;
        }
      for (BasicBlock *next : successors(block))
        if (!behind_leaves_.contains(next))
          region_.insert(next);
    }
    enter_.eraseFromParent();
  }

  // Whether something in the region returns twice: the second time is in the function around it,
  // or later in the block, whose frame the new function would have.
  bool returns_twice() const {
    for (const BasicBlock *block : region_)
      for (const Instruction &instruction : *block)
        if (const auto *call = dyn_cast<CallBase>(&instruction);
            call != nullptr && (call->hasFnAttr(Attribute::ReturnsTwice) ||
                                call->getIntrinsicID() == Intrinsic::eh_sjlj_setjmp))
          return true;
    return false;
  }

  // What the function around the block keeps to itself, and the block only reads: the new function
  // knows it as its arguments, whose memory others might write.
  void mark_private() {
    const auto objects_of = [](const Value *address) {
      SmallVector<const Value *, 4> objects;
      getUnderlyingObjects(address, objects, nullptr, /*MaxLookup=*/0);
      return objects;
    };
    SmallPtrSet<const Value *, 8> written;
    for (BasicBlock *block : region_)
      for (Instruction &instruction : *block)
        if (!isa<LoadInst>(instruction) && instruction.mayWriteToMemory())
          for (const Use &use : instruction.operands())
            if (use->getType()->isPointerTy())
              for (const Value *object : objects_of(use))
                written.insert(object);
    for (BasicBlock *block : region_)
      for (Instruction &instruction : *block)
        if (auto *load = dyn_cast<LoadInst>(&instruction);
            load != nullptr && load->isSimple() &&
            Barriers::is_private(load->getPointerOperand()) &&
            none_of(objects_of(load->getPointerOperand()),
                    [&](const Value *object) { return written.contains(object); }))
          Barriers::mark_unwritten(*load);
  }

  static bool is_leave(const CallBase &call, const Value *token) {
    const Function *callee = called_function(call);
    return callee != nullptr && is_block_marker(*callee) && callee->getReturnType()->isVoidTy() &&
           call.getArgOperand(0)->stripPointerCasts() == token;
  }

  // Blocks that end the program (a clean-up's terminate pad) may serve the whole function: the
  // region gets its own.
  Status unshare_dead_ends() {
    for (BasicBlock *block : std::vector<BasicBlock *>(region_.begin(), region_.end())) {
      if (block == region_.front() ||
          all_of(predecessors(block), [&](BasicBlock *before) { return region_.contains(before); }))
        continue;
      if (!succ_empty(block) || !block->phis().empty() ||
          !isa<UnreachableInst>(block->getTerminator()))
        return cannot(block_, "control enters it in its middle");
      ValueToValueMapTy map;
      BasicBlock *own = CloneBasicBlock(block, map, ".tandem", &function_);
      remapInstructionsInBlocks({own}, map);
      for (BasicBlock *before : std::vector<BasicBlock *>(pred_begin(block), pred_end(block)))
        if (region_.contains(before))
          before->getTerminator()->replaceSuccessorWith(block, own);
      region_.remove(block);
      region_.insert(own);
    }
    return Unit();
  }

  // Exceptions that leave the block: they reach a leave on the way from a landing pad, without a
  // handler in between. There the new function goes on unwinding; the call of it unwinds to a
  // landing pad that leads to where the leave was.
  Status prepare_exceptions() {
    std::set<std::pair<BasicBlock *, bool>> seen;
    std::vector<std::pair<BasicBlock *, bool>> work{{region_.front(), false}};
    std::map<BasicBlock *, std::set<bool>> leaves;
    while (!work.empty()) {
      auto [block, thrown] = work.back();
      work.pop_back();
      if (!seen.emplace(block, thrown).second)
        continue;
      thrown = thrown_after(*block, thrown);
      if (isa<ReturnInst>(block->getTerminator()) || isa<ResumeInst>(block->getTerminator()))
        return cannot(block_, "it leaves the function in a way that skips the block's end");
      for (BasicBlock *next : successors(block)) {
        if (region_.contains(next)) {
          work.emplace_back(next, thrown);
          continue;
        }
        leaves[next].insert(thrown);
        if (thrown)
          unwinding_.insert(block);
      }
    }
    for (const auto &[behind, states] : leaves) {
      if (states.size() > 1)
        return cannot(block_, "exceptions and ordinary control leave it at the same place");
      if (*states.begin() && behind_ == nullptr)
        behind_ = behind;
    }
    return behind_ == nullptr ? Status(Unit()) : unwind_instead();
  }

  // Whether an exception is under way at the end of `block`.
  static bool thrown_after(const BasicBlock &block, bool thrown) {
    for (const Instruction &instruction : block) {
      if (isa<LandingPadInst>(instruction))
        thrown = true;
      const auto *call = dyn_cast<CallBase>(&instruction);
      const Function *callee = call == nullptr ? nullptr : called_function(*call);
      if (callee != nullptr && callee->getName() == "__cxa_begin_catch")
        thrown = false;
    }
    return thrown;
  }

  Status unwind_instead() {
    std::vector<Constant *> outer;
    for (BasicBlock *block : region_)
      if (LandingPadInst *pad = block->getLandingPadInst(); pad != nullptr)
        if (Status status = take_outer_clauses(*pad, outer); !status)
          return status;
    if (exception_slot_ == nullptr || selector_slot_ == nullptr)
      return cannot(block_, "its exceptions are not kept as clang keeps them");
    for (BasicBlock *block : unwinding_) {
      Instruction *old = block->getTerminator();
      IRBuilder<> builder(old);
      Value *thrown = PoisonValue::get(pad_type());
      thrown = builder.CreateInsertValue(
          thrown, builder.CreateLoad(builder.getPtrTy(), exception_slot_), {0});
      thrown = builder.CreateInsertValue(
          thrown, builder.CreateLoad(builder.getInt32Ty(), selector_slot_), {1});
      builder.CreateResume(thrown);
      old->eraseFromParent();
    }
    outer_ = std::move(outer);
    return Unit();
  }

  // Of a landing pad that leads out of the block: keeps the clauses of handlers inside, adds the
  // others to `outer`.
  Status take_outer_clauses(LandingPadInst &pad, std::vector<Constant *> &outer) {
    bool leaves = false;
    std::set<const Value *> inner; // types that a handler inside is asked about
    std::set<const BasicBlock *> seen;
    std::vector<const BasicBlock *> work{pad.getParent()};
    while (!work.empty()) {
      const BasicBlock *block = work.back();
      work.pop_back();
      if (!seen.insert(block).second)
        continue;
      for (const Instruction &instruction : *block)
        if (const auto *ask = dyn_cast<IntrinsicInst>(&instruction);
            ask != nullptr && ask->getIntrinsicID() == Intrinsic::eh_typeid_for)
          inner.insert(ask->getArgOperand(0)->stripPointerCasts());
      leaves = leaves || unwinding_.contains(const_cast<BasicBlock *>(block));
      if (thrown_after(*block, true))
        for (const BasicBlock *next : successors(block))
          if (region_.contains(const_cast<BasicBlock *>(next)))
            work.push_back(next);
    }
    if (!leaves)
      return Unit();
    find_slots(pad);
    std::vector<Constant *> kept;
    std::vector<Constant *> dropped;
    for (unsigned i = 0; i < pad.getNumClauses(); ++i) {
      Constant *clause = pad.getClause(i);
      if (pad.isFilter(i))
        return cannot(block_, "an exception specification is around it");
      (inner.contains(clause->stripPointerCasts()) ? kept : dropped).push_back(clause);
    }
    if (!merge(outer, dropped))
      return cannot(block_, "its exceptions are handled by several handlers in different orders");
    LandingPadInst *fresh = LandingPadInst::Create(
        pad.getType(), static_cast<unsigned>(kept.size()), "", pad.getIterator());
    fresh->setCleanup(true);
    for (Constant *clause : kept)
      fresh->addClause(clause);
    fresh->setDebugLoc(pad.getDebugLoc());
    pad.replaceAllUsesWith(fresh);
    pad.eraseFromParent();
    return Unit();
  }

  // Makes `all` hold the clauses of both, where one list has those of the other in the same order.
  static bool merge(std::vector<Constant *> &all, const std::vector<Constant *> &more) {
    std::vector<Constant *> longer = all.size() < more.size() ? more : all;
    const std::vector<Constant *> &shorter = all.size() < more.size() ? all : more;
    auto at = longer.begin();
    for (Constant *clause : shorter) {
      at = std::find(at, longer.end(), clause);
      if (at == longer.end())
        return false;
      ++at;
    }
    all = std::move(longer);
    return true;
  }

  // Where the function keeps the exception that is under way.
  void find_slots(const LandingPadInst &pad) {
    for (const User *user : pad.users()) {
      const auto *part = dyn_cast<ExtractValueInst>(user);
      if (part == nullptr)
        continue;
      for (const User *stored : part->users())
        if (const auto *store = dyn_cast<StoreInst>(stored))
          if (const auto *slot = dyn_cast<AllocaInst>(store->getPointerOperand()))
            (part->getIndices()[0] == 0 ? exception_slot_ : selector_slot_) =
                const_cast<AllocaInst *>(slot);
    }
  }

  StructType *pad_type() const {
    LLVMContext &context = function_.getContext();
    return StructType::get(PointerType::getUnqual(context), Type::getInt32Ty(context));
  }

  // CodeExtractor refuses llvm.eh.typeid.for, which means something only beside its landing pads;
  // here those come along. Meanwhile a call of another function stands for it.
  void hide_type_ids() {
    Module &module = *function_.getParent();
    for (BasicBlock *block : region_)
      for (Instruction &instruction : *block)
        if (auto *ask = dyn_cast<IntrinsicInst>(&instruction);
            ask != nullptr && ask->getIntrinsicID() == Intrinsic::eh_typeid_for) {
          type_id_ = ask->getCalledFunction();
          stand_in_ = module.getOrInsertFunction("tandem.typeid", type_id_->getFunctionType());
          ask->setCalledOperand(stand_in_.getCallee());
        }
  }

  void show_type_ids(Function &outlined) {
    if (type_id_ == nullptr)
      return;
    for (Instruction &instruction : instructions(outlined))
      if (auto *call = dyn_cast<CallBase>(&instruction);
          call != nullptr && call->getCalledOperand() == stand_in_.getCallee())
        call->setCalledFunction(type_id_);
    cast<Function>(stand_in_.getCallee())->eraseFromParent();
  }

  void finish(Function &outlined, const Variables &variables) {
    outlined.addFnAttr(Attribute::NoInline);
    mark_results(outlined, variables);
    if (behind_ != nullptr)
      unwind_to_behind(outlined);
  }

  void unwind_to_behind(Function &outlined) {
    outlined.removeFnAttr(Attribute::NoUnwind);
    auto *call = cast<CallInst>(*outlined.user_begin());
    call->removeFnAttr(Attribute::NoUnwind);
    BasicBlock *pad_block = BasicBlock::Create(function_.getContext(), "tandem.lpad", &function_);
    IRBuilder<> builder(pad_block);
    LandingPadInst *pad =
        builder.CreateLandingPad(pad_type(), static_cast<unsigned>(outer_.size()));
    pad->setCleanup(true);
    for (Constant *clause : outer_)
      pad->addClause(clause);
    builder.CreateStore(builder.CreateExtractValue(pad, {0}), exception_slot_);
    builder.CreateStore(builder.CreateExtractValue(pad, {1}), selector_slot_);
    builder.CreateBr(behind_);
    changeToInvokeAndSplitBasicBlock(call, pad_block);
  }

  const Section &block_;
  Function &function_;
  CallBase &enter_;
  SetVector<BasicBlock *> region_; // its entry first
  SmallPtrSet<BasicBlock *, 8> behind_leaves_;
  SetVector<BasicBlock *> unwinding_; // blocks of the region that an exception leaves it from
  BasicBlock *behind_ = nullptr;      // where it goes on then
  std::vector<Constant *> outer_;     // clauses of the handlers around the block
  AllocaInst *exception_slot_ = nullptr;
  AllocaInst *selector_slot_ = nullptr;
  Function *type_id_ = nullptr;
  FunctionCallee stand_in_;
};

} // namespace

Result<Function *> outline_block(const Section &block) { return Outliner(block).run(); }

void promote_variables(Function &function) {
  std::vector<AllocaInst *> promotable;
  for (Instruction &instruction : function.getEntryBlock())
    if (auto *slot = dyn_cast<AllocaInst>(&instruction))
      if (isAllocaPromotable(slot))
        promotable.push_back(slot);
  DominatorTree dominators(function);
  PromoteMemToReg(promotable, dominators);
}

Variables variables_of(const Function &function) {
  Variables variables;
  for (const Instruction &instruction : instructions(function))
    if (const auto *variable = dyn_cast<AllocaInst>(&instruction))
      variables.insert(variable);
  return variables;
}

void mark_results(Function &outlined, const Variables &variables) {
  const auto only_stored = [](const Argument &argument) {
    return all_of(argument.users(), [&](const User *user) {
      const auto *store = dyn_cast<StoreInst>(user);
      return store != nullptr && store->getValueOperand() != &argument && !store->isVolatile();
    });
  };
  // CodeExtractor's slot, and no variable: what was in it before the call is never looked at. A
  // variable may keep that, where an attempt that is not undone does not store to it.
  const auto only_loaded = [&](const Value &given) {
    const auto *slot = dyn_cast<AllocaInst>(&given);
    return slot != nullptr && !variables.contains(slot) &&
           all_of(given.users(), [](const User *user) {
             const auto *intrinsic = dyn_cast<IntrinsicInst>(user);
             return isa<LoadInst>(user) ||
                    (intrinsic != nullptr && intrinsic->isLifetimeStartOrEnd()) ||
                    (isa<CallBase>(user) && intrinsic == nullptr);
           });
  };
  const auto &call = cast<CallBase>(*outlined.user_back());
  for (Argument &argument : outlined.args())
    if (argument.getType()->isPointerTy() && only_stored(argument) &&
        only_loaded(*call.getArgOperand(argument.getArgNo())->stripPointerCasts()))
      Barriers::mark_result(argument);
}

} // namespace tandem
