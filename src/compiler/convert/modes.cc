// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/convert/modes.h"

#include "compiler/convert/waits.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/blocks.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace tandem {
namespace {

using namespace llvm;

using Kind = ConvertedSite::Kind;

// Locks held at a place inside; kSome: it depends on how control came there.
using Depth = unsigned;
constexpr Depth kSome = ~0U;

// One section: from the acquisition in the block `from`.
struct Inside {
  BasicBlock *from = nullptr;
  MapVector<BasicBlock *, Depth> depth; // at the begin of each block that runs in it
  bool counts = false;                  // keeps the depth in a variable
  bool waits = false;                   // may end to wait for a condition
  AllocaInst *counter = nullptr;
  AllocaInst *token = nullptr;
  ValueToValueMapTy map;                 // from what it shares with others to its copies
  SmallPtrSet<BasicBlock *, 8> mistakes; // of `depth`: no path comes there with a lock held
  std::vector<WeakVH> blocks;            // its instances
};

class Splitter {
public:
  Splitter(Function &function, const std::vector<ConvertedSite> &sites,
           const DenseSet<const Instruction *> *held, const DenseSet<const Instruction *> &always)
      : function_(function), held_(held), always_(always),
        holds_(keeps_held(*function.getParent())) {
    split_invokes();
    for (const ConvertedSite &site : sites)
      isolate(site);
  }

  ModesResult run() {
    discover();
    if (shared_blocks() > 0)
      demote();
    for (const auto &inside : insides_)
      copy_shared(*inside);
    for (BasicBlock &block : function_)
      successors_[&block].assign(succ_begin(&block), succ_end(&block));
    declare_markers();
    for (const auto &inside : insides_)
      connect(*inside);
    for (const auto &inside : insides_)
      enter(*inside);
    for (BasicBlock *block : stray_)
      trap(*site_of_.at(block).call);
    removeUnreachableBlocks(function_);
    for (const auto &inside : insides_)
      for (const WeakVH &block : inside->blocks)
        if (block)
          result_.inside.push_back(cast<BasicBlock>(block));
    result_.sections = insides_.size();
    return result_;
  }

private:
  // What an invoke gives goes through memory where blocks are copied (demote), and then needs a
  // block of its own to be stored in.
  void split_invokes() {
    SmallVector<InvokeInst *> invokes;
    for (BasicBlock &block : function_)
      if (auto *invoke = dyn_cast<InvokeInst>(block.getTerminator());
          invoke != nullptr && !invoke->use_empty())
        invokes.push_back(invoke);
    for (InvokeInst *invoke : invokes)
      if (invoke->getNormalDest()->getSinglePredecessor() == nullptr)
        SplitCriticalEdge(invoke, 0);
  }

  // Makes the site's call the first instruction of a block that goes on to the one behind it.
  void isolate(const ConvertedSite &site) {
    BasicBlock *block = site.call->getParent();
    if (&block->front() != site.call || block == &function_.getEntryBlock())
      block = SplitBlock(block, site.call);
    SplitBlock(block, site.call->getNextNode());
    site_of_[block] = site;
  }

  [[nodiscard]] const ConvertedSite *site_at(BasicBlock *block) const {
    const auto found = site_of_.find(block);
    return found == site_of_.end() ? nullptr : &found->second;
  }

  // Finds what runs outside and, from each acquisition outside, what runs inside.
  void discover() {
    outside_.insert(&function_.getEntryBlock());
    for (std::size_t i = 0; i < outside_.size(); ++i) { // grows
      BasicBlock *block = outside_[i];
      const ConvertedSite *site = site_at(block);
      if (site == nullptr) {
        for (BasicBlock *next : successors(block))
          outside_.insert(next);
      } else if (site->kind == Kind::release) {
        stray_.insert(block);
      } else {
        if (site->kind == Kind::try_acquire)
          outside_.insert(block->getSingleSuccessor());
        insides_.push_back(std::make_unique<Inside>());
        insides_.back()->from = block;
        discover(*insides_.back());
      }
    }
  }

  // Blocks that isolate() made of nothing but a way on are not known to `held_`.
  [[nodiscard]] bool may_be_inside(const BasicBlock &block) const {
    const auto *branch = dyn_cast<BranchInst>(&block.front());
    return held_ == nullptr || (branch != nullptr && branch->isUnconditional()) ||
           held_->contains(&block.front());
  }

  // Of the block behind a release. Sites are not known to `always_`: they were replaced.
  [[nodiscard]] bool may_be_outside(BasicBlock &block) const {
    return site_at(&block) != nullptr || !always_.contains(&block.front());
  }

  void discover(Inside &inside) {
    std::deque<BasicBlock *> work;
    const auto reach = [&](BasicBlock *block, Depth depth) {
      const auto [found, fresh] = inside.depth.insert({block, depth});
      if (!fresh && (found->second == depth || found->second == kSome))
        return;
      found->second = fresh ? depth : kSome;
      work.push_back(block);
    };
    reach(inside.from->getSingleSuccessor(), 1);
    while (!work.empty()) {
      BasicBlock *block = work.front();
      work.pop_front();
      const Depth depth = inside.depth.lookup(block);
      const ConvertedSite *site = site_at(block);
      if (site == nullptr) {
        if (!may_be_inside(*block))
          inside.mistakes.insert(block);
        else
          for (BasicBlock *next : successors(block))
            reach(next, depth);
        continue;
      }
      BasicBlock *next = block->getSingleSuccessor();
      if (site->kind == Kind::release) {
        if (depth == 1 || (depth == kSome && may_be_outside(*next)))
          outside_.insert(next);
        if (depth != 1)
          reach(next, depth == kSome ? kSome : depth - 1);
      } else {
        reach(next, site->kind == Kind::acquire && depth != kSome ? depth + 1 : kSome);
      }
    }
    for (const auto &[block, depth] : inside.depth)
      inside.counts = inside.counts || depth == kSome;
    find_sleeps(inside);
  }

  // What goes on in the section where it waits, and whether it ends for that.
  void find_sleeps(Inside &inside) {
    for (const auto &[block, depth] : inside.depth) {
      if (inside.mistakes.contains(block))
        continue;
      const ConvertedSite *site = site_at(block);
      if (site != nullptr && site->kind == Kind::release && depth != kSome && depth > 1)
        continue;
      if (site != nullptr && site->kind == Kind::release)
        inside.waits = inside.waits || begins_with_sleep(*block->getSingleSuccessor());
      for (const Instruction &instruction : *block)
        if (const CallBase *sleep = sleep_at(instruction))
          result_.sleeps_inside = {sleep, site_of_.at(inside.from).call,
                                   other_lock(inside, *sleep)};
    }
  }

  static bool begins_with_sleep(const BasicBlock &block) {
    const auto first = find_if(block, [](const Instruction &instruction) {
      return isa<CallBase>(instruction) || instruction.isTerminator();
    });
    return sleep_at(*first) != nullptr;
  }

  // A lock that the section acquires besides the one that the wait gives up; that one, where there
  // is no other.
  [[nodiscard]] std::string other_lock(const Inside &inside, const CallBase &sleep) const {
    const std::string given_up = lock_of_wait(sleep);
    std::string name = lock_at(*site_of_.at(inside.from).call);
    for (const auto &[block, depth] : inside.depth)
      if (const ConvertedSite *site = site_at(block);
          name == given_up && site != nullptr && site->kind != Kind::release)
        name = lock_at(*site->call);
    return name;
  }

  static std::string lock_at(const CallBase &call) {
    return call.arg_empty() || !call.getArgOperand(0)->getType()->isPointerTy()
               ? ""
               : access_path(call.getArgOperand(0), 0).print();
  }

  // Gives every block to the mode that keeps the original. Result: how many copies are needed.
  std::size_t shared_blocks() {
    std::size_t copies = 0;
    for (BasicBlock *block : outside_)
      owner_[block] = nullptr;
    for (const auto &inside : insides_)
      for (const auto &[block, depth] : inside->depth)
        copies += owner_.try_emplace(block, inside.get()).second ? 0 : 1;
    return copies;
  }

  // Values that pass from block to block go through memory, so that blocks may be copied.
  void demote() {
    const auto leaves_its_block = [](const Instruction &value) {
      return any_of(value.users(), [&](const User *user) {
        return cast<Instruction>(user)->getParent() != value.getParent() || isa<PHINode>(user);
      });
    };
    BasicBlock &entry = function_.getEntryBlock();
    std::vector<Instruction *> values;
    std::vector<PHINode *> phis;
    for (Instruction &value : instructions(function_)) {
      if (auto *phi = dyn_cast<PHINode>(&value))
        phis.push_back(phi);
      if (!(isa<AllocaInst>(value) && value.getParent() == &entry) && leaves_its_block(value))
        values.push_back(&value);
    }
    const auto at = entry.getFirstInsertionPt();
    for (Instruction *value : values)
      DemoteRegToStack(*value, /*VolatileLoads=*/false, at);
    for (PHINode *phi : phis)
      DemotePHIToStack(phi, at);
  }

  void copy_shared(Inside &inside) {
    SmallVector<BasicBlock *> copies;
    for (const auto &[block, depth] : inside.depth) {
      if (owner_.at(block) == &inside)
        continue;
      BasicBlock *copy = CloneBasicBlock(block, inside.map, ".tandem", &function_);
      inside.map[block] = copy;
      copies.push_back(copy);
    }
    remapInstructionsInBlocks(copies, inside.map);
    // A copy leaves to where its original does, until connect() tells where.
    for (const auto &[block, depth] : inside.depth)
      if (owner_.at(block) != &inside) {
        Instruction *copy = instance(inside, block)->getTerminator();
        for (unsigned i = 0; i < copy->getNumSuccessors(); ++i)
          copy->setSuccessor(i, block->getTerminator()->getSuccessor(i));
        ++result_.copied;
      }
  }

  BasicBlock *instance(const Inside &inside, BasicBlock *block) const {
    const Value *copy = inside.map.lookup(block);
    return copy == nullptr ? block : cast<BasicBlock>(const_cast<Value *>(copy));
  }

  void declare_markers() {
    Module &module = *function_.getParent();
    Type *byte = Type::getInt8Ty(module.getContext());
    Type *pointer = PointerType::getUnqual(module.getContext());
    enter_ = module.getOrInsertFunction(kBlockEnter, FunctionType::get(byte, {pointer}, false));
    leave_ = module.getOrInsertFunction(
        kBlockLeave, FunctionType::get(Type::getVoidTy(module.getContext()), {pointer}, false));
    Type *word = Type::getInt32Ty(module.getContext());
    if (holds_) {
      held_count_ = module.getOrInsertFunction(kHeldCount, FunctionType::get(word, false));
      held_restore_ = module.getOrInsertFunction(
          kHeldRestore, FunctionType::get(Type::getVoidTy(module.getContext()), {word}, false));
    }
    if (any_of(insides_, [](const auto &inside) { return inside->waits; })) {
      ticket_ = module.getOrInsertFunction(
          kHeldTicket, FunctionType::get(Type::getVoidTy(module.getContext()), false));
      cast<Function>(ticket_.getCallee())->setDoesNotThrow();
    }
    for (FunctionCallee marker : {enter_, leave_})
      define(*cast<Function>(marker.getCallee()));
    IRBuilder<> builder(&*function_.getEntryBlock().getFirstInsertionPt());
    for (const auto &inside : insides_) {
      inside->token = builder.CreateAlloca(byte, nullptr, "tandem.section");
      if (inside->counts)
        inside->counter = builder.CreateAlloca(builder.getInt32Ty(), nullptr, "tandem.held");
      result_.counted += inside->counts ? 1 : 0;
    }
  }

  // Markers do nothing, as those of include/tandem/tandem.h.
  static void define(Function &marker) {
    if (!marker.isDeclaration())
      return;
    marker.setLinkage(GlobalValue::InternalLinkage);
    marker.addFnAttr(Attribute::NoInline);
    marker.setDoesNotThrow();
    IRBuilder<> builder(BasicBlock::Create(marker.getContext(), "", &marker));
    if (marker.getReturnType()->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(Constant::getNullValue(marker.getReturnType()));
  }

  // Whether the trylock that `call` is, or is a copy of, acquired.
  static Value *acquired(IRBuilder<> &builder, const ConvertedSite &site, CallBase &call) {
    Constant *zero = Constant::getNullValue(call.getType());
    switch (site.acquired) {
    case Acquired::zero:
      return builder.CreateICmpEQ(&call, zero);
    case Acquired::nonzero:
      return builder.CreateICmpNE(&call, zero);
    case Acquired::minus_one:
      return builder.CreateICmpEQ(&call, Constant::getAllOnesValue(call.getType()));
    case Acquired::always: // of no trylock
      break;
    }
    CHECK(false, "result {}", static_cast<int>(site.acquired));
  }

  // The call of the site in `block`, an original, as it is in the section.
  CallBase &call_in(const Inside &inside, BasicBlock *block) const {
    CallBase *call = site_of_.at(block).call;
    const Value *copy = inside.map.lookup(call);
    return *cast<CallBase>(copy == nullptr ? call : const_cast<Value *>(copy));
  }

  void leave(IRBuilder<> &builder, const Inside &inside, const CallBase &at) {
    builder.CreateCall(leave_, {inside.token})->setDebugLoc(at.getDebugLoc());
  }

  // Ends `block` by: leave the section and go on outside with `next` where `last` holds.
  void leave_if(BasicBlock *block, Value *last, const Inside &inside, const CallBase &at,
                BasicBlock *next, BasicBlock *stay) {
    BasicBlock *leaving =
        BasicBlock::Create(function_.getContext(), "tandem.leave", &function_, next);
    IRBuilder<> builder(leaving);
    leave(builder, inside, at);
    builder.CreateBr(next);
    Instruction *old = block->getTerminator();
    builder.SetInsertPoint(old);
    builder.CreateCondBr(last, leaving, stay);
    old->eraseFromParent();
  }

  Value *add_to_counter(IRBuilder<> &builder, const Inside &inside, Value *difference) {
    Value *sum =
        builder.CreateAdd(builder.CreateLoad(builder.getInt32Ty(), inside.counter), difference);
    builder.CreateStore(sum, inside.counter);
    return sum;
  }

  // Makes the section's blocks lead to each other, and out of it where it ends.
  void connect(Inside &inside) {
    for (const auto &[block, depth] : inside.depth) {
      BasicBlock *here = instance(inside, block);
      inside.blocks.emplace_back(here);
      if (inside.mistakes.contains(block)) {
        trap(*here->getFirstNonPHI());
        continue;
      }
      const ConvertedSite *site = site_at(block);
      if (site != nullptr && site->kind == Kind::release) {
        connect_release(inside, block, depth);
        continue;
      }
      if (site != nullptr && site->looks && site->outermost) {
        trap(call_in(inside, block));
        continue;
      }
      if (site != nullptr)
        acquire_again(inside, *site, call_in(inside, block), here);
      Instruction *terminator = here->getTerminator();
      if (isa<ReturnInst, ResumeInst>(terminator)) {
        trap(*terminator);
        continue;
      }
      const auto &nexts = successors_.at(block);
      for (unsigned i = 0; i < nexts.size(); ++i)
        terminator->setSuccessor(i, instance(inside, nexts[i]));
    }
  }

  void acquire_again(const Inside &inside, const ConvertedSite &site, CallBase &call,
                     BasicBlock *here) {
    ++result_.merged;
    if (site.looks)
      result_.looks_inside = &call;
    if (!inside.counts)
      return;
    IRBuilder<> builder(here->getTerminator());
    Value *one = site.kind == Kind::acquire
                     ? builder.getInt32(1)
                     : builder.CreateZExt(acquired(builder, site, call), builder.getInt32Ty());
    add_to_counter(builder, inside, one);
  }

  void connect_release(const Inside &inside, BasicBlock *block, Depth depth) {
    BasicBlock *here = instance(inside, block);
    BasicBlock *next = successors_.at(block).front();
    IRBuilder<> builder(here->getTerminator());
    if (depth == 1) {
      leave(builder, inside, call_in(inside, block));
      here->getTerminator()->setSuccessor(0, next);
      return;
    }
    BasicBlock *stay = instance(inside, next);
    Value *left = inside.counts ? add_to_counter(builder, inside, builder.getInt32(-1)) : nullptr;
    if (depth != kSome)
      here->getTerminator()->setSuccessor(0, stay);
    else
      leave_if(here, builder.CreateICmpEQ(left, builder.getInt32(0)), inside,
               call_in(inside, block), may_be_outside(*next) ? next : mistake(), stay);
  }

  // Where a section would end in the middle of what is declared to hold a lock.
  BasicBlock *mistake() {
    BasicBlock *block = BasicBlock::Create(function_.getContext(), "tandem.mistake", &function_);
    IRBuilder<> builder(block);
    builder.CreateIntrinsic(Intrinsic::trap, {}, {});
    builder.CreateUnreachable();
    return block;
  }

  // The section's begin: in the block that runs outside.
  void enter(Inside &inside) {
    BasicBlock *block = inside.from;
    const ConvertedSite &site = site_of_.at(block);
    BasicBlock *next = successors_.at(block).front();
    IRBuilder<> builder(site.call);
    Value *held = holds_ ? builder.CreateCall(held_count_) : nullptr;
    builder.CreateCall(enter_, {inside.token})->setDebugLoc(site.call->getDebugLoc());
    if (holds_)
      builder.CreateCall(held_restore_, {held});
    if (site.guarded_by && site.kind == Kind::acquire)
      builder.CreateCall(guarded_by_mark(*function_.getParent(), kGuardedByFirst),
                         {Constant::getNullValue(builder.getPtrTy())});
    builder.SetInsertPoint(block->getTerminator());
    if (inside.counts)
      builder.CreateStore(builder.getInt32(1), inside.counter);
    if (inside.waits)
      builder.CreateCall(ticket_);
    BasicBlock *within = instance(inside, next);
    if (site.looks)
      return wait_outside(inside, block, within);
    if (site.kind == Kind::acquire) {
      block->getTerminator()->setSuccessor(0, within);
      return;
    }
    Value *failed = builder.CreateNot(acquired(builder, site, *site.call));
    leave_if(block, failed, inside, *site.call, next, within);
  }

  // Where a region that stays real holds the lock, the section that `block` begins ends there, and
  // begins again when the lock is free.
  void wait_outside(const Inside &inside, BasicBlock *block, BasicBlock *within) {
    Module &module = *function_.getParent();
    IRBuilder<> builder(block->getTerminator());
    FunctionCallee refused =
        module.getOrInsertFunction(kHeldRefused, FunctionType::get(builder.getPtrTy(), false));
    FunctionCallee wait =
        module.getOrInsertFunction(kHeldWait, FunctionType::get(builder.getVoidTy(), false));
    for (FunctionCallee callee : {refused, wait})
      cast<Function>(callee.getCallee())->setDoesNotThrow();
    const CallBase &site = *site_of_.at(block).call;
    Value *by = builder.CreateCall(refused);
    leave_if(block, builder.CreateIsNotNull(by), inside, site, block, within);
    Instruction *again = cast<BranchInst>(block->getTerminator())->getSuccessor(0)->getTerminator();
    builder.SetInsertPoint(again);
    builder.SetCurrentDebugLocation(site.getDebugLoc());
    builder.CreateCall(wait);
  }

  void trap(Instruction &at) {
    IRBuilder<> builder(&at);
    builder.CreateIntrinsic(Intrinsic::trap, {}, {});
    changeToUnreachable(&at);
  }

  Function &function_;
  const DenseSet<const Instruction *> *held_;
  const DenseSet<const Instruction *> &always_;
  const bool holds_;
  std::map<BasicBlock *, ConvertedSite> site_of_;
  SetVector<BasicBlock *> outside_;
  SetVector<BasicBlock *> stray_; // releases outside
  std::vector<std::unique_ptr<Inside>> insides_;
  std::map<BasicBlock *, const Inside *> owner_;
  std::map<BasicBlock *, SmallVector<BasicBlock *, 2>> successors_; // before anything is connected
  FunctionCallee enter_;
  FunctionCallee leave_;
  FunctionCallee held_count_;
  FunctionCallee held_restore_;
  FunctionCallee ticket_;
  ModesResult result_;
};

} // namespace

ModesResult split_modes(Function &function, const std::vector<ConvertedSite> &sites,
                        const DenseSet<const Instruction *> *held,
                        const DenseSet<const Instruction *> &always) {
  return Splitter(function, sites, held, always).run();
}

} // namespace tandem
