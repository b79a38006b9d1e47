// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each instruction says about pointers.
#include "compiler/points_to/solver.h"
#include "compiler/sections/called_function.h"

#include "llvm/IR/InstIterator.h"

#include <vector>

namespace tandem {

using namespace llvm;

namespace {

bool is_arithmetic(const Value *value) {
  return isa<BinaryOperator>(value) && value->getType()->isIntegerTy() &&
         value->getType()->getIntegerBitWidth() >= 64;
}

} // namespace

// Integer arithmetic that an address goes through: what leads to an inttoptr, and what a ptrtoint
// leads to, through functions called directly. An integer that is computed from an address, stored,
// loaded, computed with again and stored again before it is made a pointer is not followed.
void PointsToGraph::find_address_arithmetic() {
  DenseSet<const Value *> back;
  DenseSet<const Value *> forth;
  std::vector<const Value *> work;
  const auto visit = [&](DenseSet<const Value *> &seen, const Value *value) {
    if (value->getType()->isIntegerTy() && seen.insert(value).second)
      work.push_back(value);
  };
  for (const Function &function : module_)
    for (const Instruction &instruction : instructions(function))
      if (isa<IntToPtrInst>(instruction))
        visit(back, instruction.getOperand(0));
      else if (is_wide_cast(&instruction))
        visit(back, &instruction); // one of several addresses
  while (!work.empty()) {
    const Value *value = work.back();
    work.pop_back();
    if (is_arithmetic(value))
      arithmetic_.insert(value);
    if (isa<BinaryOperator, PHINode, SelectInst, CastInst, FreezeInst>(value)) {
      for (const Use &operand : cast<User>(value)->operands())
        visit(back, operand);
    } else if (const auto *call = dyn_cast<CallBase>(value)) {
      if (const Function *callee = called_function(*call))
        for (const BasicBlock &block : *callee)
          if (const auto *leave = dyn_cast<ReturnInst>(block.getTerminator());
              leave != nullptr && leave->getReturnValue() != nullptr)
            visit(back, leave->getReturnValue());
    }
  }
  for (const Function &function : module_)
    for (const Instruction &instruction : instructions(function))
      if (isa<PtrToIntInst>(instruction))
        visit(forth, &instruction);
  while (!work.empty()) {
    const Value *value = work.back();
    work.pop_back();
    for (const User *user : value->users()) {
      if (const auto *arithmetic = dyn_cast<BinaryOperator>(user)) {
        const unsigned code = arithmetic->getOpcode();
        // The distance of two addresses is none, nor is what a division leaves of one.
        const bool distance = code == Instruction::Sub && forth.contains(user->getOperand(0)) &&
                              forth.contains(user->getOperand(1));
        const bool places = arithmetic->isShift() && // one address among several
                            user->getType()->getScalarSizeInBits() > 64;
        if (distance ||
            (!places && code != Instruction::Add && code != Instruction::Sub &&
             code != Instruction::And && code != Instruction::Or && code != Instruction::Xor))
          continue;
        if (is_arithmetic(user))
          arithmetic_.insert(user);
        visit(forth, user);
      } else if (isa<PHINode, SelectInst, FreezeInst>(user) || is_wide_cast(user)) {
        visit(forth, user);
      } else if (const auto *call = dyn_cast<CallBase>(user)) {
        const Function *callee = called_function(*call);
        if (callee == nullptr)
          continue;
        for (unsigned i = 0; i < call->arg_size() && i < callee->arg_size(); ++i)
          if (call->getArgOperand(i) == value)
            visit(forth, callee->getArg(i));
      }
    }
  }
}

void PointsToGraph::add_function(const Function &function) {
  for (const Argument &argument : function.args())
    if (argument.hasByValAttr()) {
      define(&argument, 0, object(argument, scope_of(function)));
    }
  for (const Instruction &instruction : instructions(function)) {
    add_instruction(instruction);
    add_number(instruction);
  }
}

// Vectors and wide integers are one leaf and hold several addresses.
std::int64_t PointsToGraph::addresses_in(Type *type) const {
  return type->isVectorTy() || type->isIntegerTy()
             ? std::max<std::int64_t>(1, static_cast<std::int64_t>(
                                             layout_.getTypeStoreSize(type).getKnownMinValue() / 8))
             : 1;
}

void PointsToGraph::add_load(const Instruction &result, Pointer from, Type *type) {
  const SmallVector<Leaf, 1> parts(leaves(type));
  const std::int64_t count = addresses_in(type);
  for (unsigned i = 0; i < parts.size(); ++i)
    if (parts[i].carries)
      for (std::int64_t at = 0; at < count; ++at)
        define(&result, i,
               load(shift(from, static_cast<std::int64_t>(parts[i].offset) + 8 * at),
                    loads_as(result)));
}

void PointsToGraph::add_store(const Instruction &access, Pointer to, const Value *value) {
  const SmallVector<Leaf, 1> parts(leaves(value->getType()));
  const std::int64_t count = addresses_in(value->getType());
  for (unsigned i = 0; i < parts.size(); ++i)
    if (parts[i].carries)
      if (std::optional<Pointer> stored = pointer(value, i)) {
        if (records_flow_ && !value->getType()->isPointerTy())
          stored->flow = stored_as(access, stored->flow);
        for (std::int64_t at = 0; at < count; ++at)
          store(shift(to, static_cast<std::int64_t>(parts[i].offset) + 8 * at), *stored,
                stores_pointer(access));
      }
}

void PointsToGraph::add_aggregate(const Instruction &instruction) {
  const auto first_leaf = [&](Type *type, ArrayRef<unsigned> path) {
    std::uint64_t leaf = 0;
    for (const unsigned index : path) {
      for (unsigned before = 0; before < index; ++before)
        leaf += leaves(GetElementPtrInst::getTypeAtIndex(type, std::uint64_t{before})).size();
      type = GetElementPtrInst::getTypeAtIndex(type, std::uint64_t{index});
    }
    return static_cast<unsigned>(leaf);
  };
  if (const auto *extract = dyn_cast<ExtractValueInst>(&instruction)) {
    const Value *from = extract->getAggregateOperand();
    const auto all = static_cast<unsigned>(leaves(from->getType()).size());
    const unsigned first = first_leaf(from->getType(), extract->getIndices());
    const auto count = static_cast<unsigned>(leaves(extract->getType()).size());
    for (unsigned i = 0; i < count; ++i)
      if (leaves(extract->getType())[i].carries)
        if (const std::optional<Pointer> source = pointer(from, first + i < all ? first + i : 0))
          define(extract, i, *source);
    return;
  }
  const auto &insert = cast<InsertValueInst>(instruction);
  const auto all = static_cast<unsigned>(leaves(insert.getType()).size());
  const unsigned first = first_leaf(insert.getType(), insert.getIndices());
  const Value *inserted = insert.getInsertedValueOperand();
  const auto count = static_cast<unsigned>(leaves(inserted->getType()).size());
  const bool whole = first + count > all; // too many leaves: kept as one
  for (unsigned i = 0; i < all; ++i)
    if (whole || i < first || i >= first + count)
      if (const std::optional<Pointer> kept = pointer(insert.getAggregateOperand(), i))
        define(&insert, i, *kept);
  for (unsigned i = 0; i < count; ++i)
    if (leaves(inserted->getType())[i].carries)
      if (const std::optional<Pointer> part = pointer(inserted, i))
        define(&insert, whole ? 0 : first + i, *part);
}

void PointsToGraph::add_instruction(const Instruction &instruction) {
  const auto target = [&](const Value *address) {
    const std::optional<Pointer> known = pointer(address);
    return known ? *known : nowhere(scope_of_value(&instruction));
  };
  if (const auto *slot = dyn_cast<AllocaInst>(&instruction)) {
    const Pointer own = object(*slot, scope_of_value(slot));
    define(slot, 0, own);
    if (const auto *array = dyn_cast<ArrayType>(slot->getAllocatedType()))
      add_array(own, layout_.getTypeAllocSize(slot->getAllocatedType()),
                layout_.getTypeAllocSize(array->getElementType()));
  } else if (const auto *read = dyn_cast<LoadInst>(&instruction)) {
    add_load(*read, target(read->getPointerOperand()), read->getType());
  } else if (const auto *write = dyn_cast<StoreInst>(&instruction)) {
    add_store(*write, target(write->getPointerOperand()), write->getValueOperand());
  } else if (const auto *gep = dyn_cast<GEPOperator>(&instruction)) {
    if (const std::optional<Pointer> base = pointer(gep->getPointerOperand()))
      define(&instruction, 0, element(*gep, *base));
  } else if (isa<PHINode, SelectInst, BitCastInst, AddrSpaceCastInst, FreezeInst, PtrToIntInst,
                 IntToPtrInst, InsertElementInst, ShuffleVectorInst, ExtractElementInst>(
                 instruction) ||
             is_wide_cast(&instruction)) {
    for (const Use &operand : instruction.operands())
      if (!isa<BasicBlock>(operand))
        flow(&instruction, operand);
  } else if (isa<BinaryOperator>(instruction)) {
    if (arithmetic_.contains(&instruction))
      for (const Use &operand : instruction.operands())
        if (const std::optional<Pointer> source = pointer(operand)) {
          define(&instruction, 0, *source);
          index(*source, 1, true);
        }
  } else if (isa<ExtractValueInst, InsertValueInst>(instruction)) {
    add_aggregate(instruction);
  } else if (const auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
    add_load(*update, target(update->getPointerOperand()), update->getType());
    add_store(*update, target(update->getPointerOperand()), update->getValOperand());
  } else if (const auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    const Pointer at = target(exchange->getPointerOperand());
    add_store(*exchange, at, exchange->getNewValOperand());
    if (leaves(exchange->getType())[0].carries)
      define(exchange, 0, load(at, loads_as(*exchange)));
  } else if (const auto *leave = dyn_cast<ReturnInst>(&instruction)) {
    if (const Value *value = leave->getReturnValue())
      for (unsigned i = 0; i < leaves(value->getType()).size(); ++i)
        if (const std::optional<Pointer> returned = pointer(value, i))
          pass(*returned, result(*leave->getFunction(), i));
  } else if (const auto *arguments = dyn_cast<VAArgInst>(&instruction)) {
    add_load(*arguments, load(target(arguments->getPointerOperand())), arguments->getType());
  } else if (isa<LandingPadInst>(instruction)) {
    define(&instruction, 0, exceptions_);
  } else if (isa<ResumeInst>(instruction)) {
    if (const std::optional<Pointer> thrown = pointer(instruction.getOperand(0)))
      pass(*thrown, exceptions_);
  } else if (const auto *call = dyn_cast<CallBase>(&instruction)) {
    add_call(*call);
  }
}

bool PointsToGraph::apply(const Index &index) {
  return graph_.index(index.cell, index.stride, index.downwards, index.free);
}

// Pointer arithmetic by unknown amounts comes after all else, when the arrays are known that it
// stays in.
void PointsToGraph::apply_indexes() {
  for (; applied_ < indexes_.size(); ++applied_)
    apply(Index(indexes_[applied_])); // uniting may add some
}

// Nodes that were united since may have larger arrays. Whether any had, of indexes from `first` on.
bool PointsToGraph::apply_indexes_again(std::size_t first) {
  bool changed = false;
  for (std::size_t i = first; i < indexes_.size(); ++i)
    changed |= apply(Index(indexes_[i]));
  return changed;
}

} // namespace tandem
