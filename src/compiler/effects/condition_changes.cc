// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/effects/condition_changes.h"

#include "compiler/effects/actions.h"
#include "compiler/effects/unpublished.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/promises.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"

#include <limits>

namespace tandem {
namespace {

using namespace llvm;

constexpr NodeId kNowhere = std::numeric_limits<NodeId>::max();

bool is_lock_operation(const Function &callee) {
  const std::optional<LockFunction> found = lock_function(callee);
  return found && (found->operation || found->signals);
}

} // namespace

void ConditionChanges::prepare() {
  if (prepared_)
    return;
  prepared_ = true;
  if (points_to_ == nullptr) {
    own_points_to_ =
        std::make_unique<PointsToAnalysis>(module_, *catalogue_, PointsTo::insensitive);
    own_sharing_ = std::make_unique<Sharing>(module_, *own_points_to_);
    points_to_ = own_points_to_.get();
    sharing_ = own_sharing_.get();
  }
  append_range(known_outside_, points_to_->exported());
  for (const PointsToAnalysis::Spawn &spawn : points_to_->spawns())
    if (spawn.when == Callback::When::later)
      known_outside_.push_back(spawn.function);
  for (const Function &function : module_)
    for (const Instruction &instruction : instructions(function)) {
      if (instruction.mayWriteToMemory() && !isa<LoadInst>(instruction))
        add_writes(instruction);
      if (const auto *call = dyn_cast<CallBase>(&instruction)) {
        for (const Function *target : points_to_->targets(*call))
          callers_[target].insert(&function);
        if (leaves(*call))
          leaving_.insert(&function);
      }
    }
}

bool ConditionChanges::leaves(const CallBase &call) const {
  const Function *callee = called_function(call);
  return points_to_->may_leave(call) ||
         (callee != nullptr && callee->isDeclaration() && !callee->isIntrinsic() &&
          !is_lock_operation(*callee) && !is_pure(*callee) &&
          points_to_->entry(*callee).touches_anything);
}

void ConditionChanges::add(const Instruction &at, const Value &pointer, std::uint64_t size) {
  const std::optional<Cell> cell = points_to_->local(pointer);
  if (isa<ConstantPointerNull, UndefValue>(pointer) || (!cell && !isa<ConstantExpr>(pointer)))
    return; // null, or what the analysis never met
  const bool known = cell && mode_ == PointsTo::insensitive && !points_to_->may_be_hidden(pointer);
  writes_[known ? points_to_->find(*cell).node : kNowhere].push_back({&at, &pointer, size});
}

void ConditionChanges::add_writes(const Instruction &instruction) {
  constexpr std::uint64_t kUnknown = PointsToAnalysis::kUnknownSize;
  const DataLayout &layout = module_.getDataLayout();
  const auto size = [&](Type *type) { return layout.getTypeStoreSize(type).getFixedValue(); };
  if (const auto *store = dyn_cast<StoreInst>(&instruction)) {
    add(instruction, *store->getPointerOperand(), size(store->getValueOperand()->getType()));
  } else if (const auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
    add(instruction, *update->getPointerOperand(), size(update->getType()));
  } else if (const auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    add(instruction, *exchange->getPointerOperand(), size(exchange->getNewValOperand()->getType()));
  } else if (const auto *arguments = dyn_cast<VAArgInst>(&instruction)) {
    add(instruction, *arguments->getPointerOperand(), kUnknown);
  } else if (const auto *call = dyn_cast<CallBase>(&instruction)) {
    if (const auto *memory = dyn_cast<AnyMemIntrinsic>(call)) {
      const auto *length = dyn_cast<ConstantInt>(memory->getLength());
      add(instruction, *memory->getRawDest(),
          length == nullptr ? kUnknown : length->getZExtValue());
      return;
    }
    const auto *intrinsic = dyn_cast<IntrinsicInst>(call);
    if (intrinsic != nullptr || call->isInlineAsm()) {
      if (intrinsic == nullptr || !is_harmless(*intrinsic))
        for (const Use &argument : call->args())
          if (argument->getType()->isPointerTy())
            add(instruction, *argument.get(), kUnknown);
      return;
    }
    if (leaves(*call))
      outside_.push_back(call);
    if (const Function *callee = called_function(*call); callee != nullptr) {
      if (callee->isDeclaration())
        add_external(*call, *callee);
    } else {
      for (const Function *target : points_to_->external_targets(*call))
        add_external(*call, *target);
    }
  }
}

void ConditionChanges::add_external(const CallBase &call, const Function &callee) {
  if (is_lock_operation(callee))
    return;
  const CatalogueEntry &entry = points_to_->entry(callee);
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const Value *argument = call.getArgOperand(i);
    if (!argument->getType()->isPointerTy() || !entry.writes.contains(i))
      continue;
    add(call, *argument, PointsToAnalysis::kUnknownSize);
    if (!entry.follows.contains(i))
      continue;
    const std::optional<Cell> cell = points_to_->local(*argument);
    if (!cell || mode_ != PointsTo::insensitive)
      writes_[kNowhere].push_back({&call, nullptr, 0});
    else
      for (const NodeId node : points_to_->reachable(*cell))
        writes_[node].push_back({&call, nullptr, 0});
  }
}

bool ConditionChanges::meets(const Write &write, const LoadInst &read,
                             std::optional<Cell> cell) const {
  if (write.pointer == nullptr)
    return true;
  const std::uint64_t size =
      module_.getDataLayout().getTypeStoreSize(read.getType()).getFixedValue();
  const std::vector<ObjectRange> here = points_to_->memory(*read.getPointerOperand(), size);
  const std::vector<ObjectRange> there = points_to_->memory(*write.pointer, write.size);
  const auto overlap = [](const auto &a, const auto &b, auto meet) {
    return any_of(
        a, [&](const auto &x) { return any_of(b, [&](const auto &y) { return meet(x, y); }); });
  };
  if (!overlap(here, there, [](const ObjectRange &x, const ObjectRange &y) {
        return x.object == 0 || y.object == 0 ||
               (x.object == y.object && x.begin < y.end && y.begin < x.end);
      }))
    return false;
  const std::optional<Cell> other = points_to_->local(*write.pointer);
  if (!cell || !other || mode_ != PointsTo::insensitive ||
      points_to_->may_be_hidden(*write.pointer) ||
      points_to_->may_be_hidden(*read.getPointerOperand()))
    return true;
  return points_to_->find(*cell).node == points_to_->find(*other).node &&
         overlap(
             points_to_->ranges(*cell, size), points_to_->ranges(*other, write.size),
             [](const auto &x, const auto &y) { return x.first < y.second && y.first < x.second; });
}

const ConditionChanges::Writers &ConditionChanges::writers_of(const LoadInst &read) {
  prepare();
  const auto [known, fresh] = writers_.try_emplace(&read);
  Writers &writers = known->second;
  if (!fresh)
    return writers;
  const std::optional<Cell> cell = points_to_->local(*read.getPointerOperand());
  const auto look_at = [&](const std::vector<Write> &writes) {
    for (const Write &write : writes) {
      // What is new in another function is not what has been read in this one.
      if (meets(write, read, cell) &&
          (write.pointer == nullptr ||
           !is_unpublished(*write.pointer, *write.at, *points_to_, read.getFunction())) &&
          writers.here.insert(write.at).second)
        writers.at.push_back(write.at);
    }
  };
  const bool any = !cell || mode_ != PointsTo::insensitive ||
                   points_to_->may_be_hidden(*read.getPointerOperand());
  for (const auto &[node, writes] : writes_)
    if (any || node == kNowhere || node == points_to_->find(*cell).node)
      look_at(writes);
  if (any || points_to_->is_external(points_to_->find(*cell).node))
    for (const CallBase *call : outside_)
      if (writers.here.insert(call).second)
        writers.at.push_back(call);
  std::vector<const Function *> work;
  const auto through = [&](const Function *function) {
    if (writers.through.insert(function).second)
      work.push_back(function);
  };
  for (const Instruction *at : writers.at)
    through(at->getFunction());
  while (!work.empty()) {
    const Function *function = work.back();
    work.pop_back();
    for (const Function *caller : callers_.lookup(function))
      through(caller);
    if (is_contained(known_outside_, function))
      for (const Function *caller : leaving_)
        through(caller);
  }
  return writers;
}

bool ConditionChanges::may_write(const Instruction &by, const LoadInst &read) {
  const Writers &writers = writers_of(read);
  if (writers.here.contains(&by))
    return true;
  const auto *call = dyn_cast<CallBase>(&by);
  if (call == nullptr)
    return false;
  const auto comes_to = [&](const Function *target) { return writers.through.contains(target); };
  return any_of(points_to_->targets(*call), comes_to) ||
         (leaves(*call) && any_of(known_outside_, comes_to));
}

const Instruction *ConditionChanges::written_beside(const LoadInst &read) {
  const Writers &writers = writers_of(read);
  if (points_to_->places(*read.getPointerOperand()).empty() &&
      !points_to_->comes_from_nowhere(*read.getPointerOperand()))
    return nullptr; // no other thread reaches it
  const EntrySet &here = sharing_->entries_of(read);
  for (const Instruction *at : writers.at)
    if (sharing_->may_overlap(here, sharing_->entries_of(*at)))
      return at;
  return nullptr;
}

} // namespace tandem
