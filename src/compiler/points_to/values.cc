// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cells of values: constants, variables, elements of objects.
#include "compiler/points_to/solver.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalIFunc.h"

namespace tandem {

using namespace llvm;

namespace {

// Larger aggregates are one leaf that carries whatever they hold.
constexpr std::size_t kMostLeaves = 64;

// Bytes carry parts of an address: memory is copied byte by byte. Integers of 16 and 32 bits are
// taken for numbers.
bool carries(const Type *type) {
  return type->isPointerTy() || type->isVectorTy() || type->isIntegerTy(64) ||
         type->isIntegerTy(8) || (type->isIntegerTy() && type->getIntegerBitWidth() > 64);
}

} // namespace

const SmallVector<PointsToGraph::Leaf, 1> &PointsToGraph::leaves(Type *type) {
  const auto known = leaves_of_.find(type);
  if (known != leaves_of_.end())
    return known->second;
  SmallVector<Leaf, 1> found;
  if (auto *record = dyn_cast<StructType>(type); record != nullptr && record->isSized()) {
    const StructLayout *offsets = layout_.getStructLayout(record);
    for (unsigned i = 0; i < record->getNumElements() && found.size() <= kMostLeaves; ++i)
      for (const Leaf &leaf : SmallVector<Leaf, 1>(leaves(record->getElementType(i))))
        found.push_back({offsets->getElementOffset(i).getFixedValue() + leaf.offset, leaf.carries});
  } else if (auto *array = dyn_cast<ArrayType>(type)) {
    const SmallVector<Leaf, 1> inner(leaves(array->getElementType()));
    const std::uint64_t size = layout_.getTypeAllocSize(array->getElementType());
    for (std::uint64_t i = 0; i < array->getNumElements() && found.size() <= kMostLeaves; ++i)
      for (const Leaf &leaf : inner)
        found.push_back({i * size + leaf.offset, leaf.carries});
  } else {
    found.push_back({0, carries(type)});
  }
  if (found.size() > kMostLeaves)
    found = {{0, true}};
  return leaves_of_[type] = found;
}

Scope PointsToGraph::scope_of(const Function &function) const {
  const auto scope = scopes_.find(&function);
  return scope == scopes_.end() ? kProgram : scope->second;
}

Scope PointsToGraph::scope_of_value(const Value *value) const {
  if (const auto *instruction = dyn_cast<Instruction>(value))
    return scope_of(*instruction->getFunction());
  if (const auto *argument = dyn_cast<Argument>(value))
    return scope_of(*argument->getParent());
  return kProgram;
}

// Whether a cast is between an integer of one address and one of several.
bool PointsToGraph::is_wide_cast(const Value *value) {
  const auto *cast = dyn_cast<CastInst>(value);
  return cast != nullptr && (isa<TruncInst>(cast) || isa<ZExtInst>(cast)) &&
         std::min(cast->getSrcTy()->getScalarSizeInBits(),
                  cast->getDestTy()->getScalarSizeInBits()) >= 64;
}

// Whether an integer may hold an address that was copied, not computed.
bool PointsToGraph::carrier(const Value *value) const {
  if (value->getType()->isPointerTy() || !isa<Instruction>(value))
    return true;
  if (isa<BinaryOperator>(value))
    return arithmetic_.contains(value);
  return !isa<CastInst>(value) || isa<PtrToIntInst>(value) || isa<BitCastInst>(value) ||
         is_wide_cast(value);
}

std::uint32_t PointsToGraph::index_of(const Value *value) {
  const auto [entry, fresh] =
      variables_.try_emplace(value, static_cast<std::uint32_t>(pointers_.size()));
  if (fresh) {
    const std::size_t count = leaves(value->getType()).size();
    pointers_.resize(pointers_.size() + count);
    defined_.resize(defined_.size() + count, false);
  }
  return variables_.lookup(value);
}

Pointer PointsToGraph::variable(const Value *value, unsigned leaf) {
  const std::uint32_t at = index_of(value) + leaf;
  if (!defined_[at]) {
    pointers_[at] = nowhere(scope_of_value(value));
    defined_[at] = true;
  }
  return pointers_[at];
}

void PointsToGraph::define(const Value *value, unsigned leaf, Pointer pointer) {
  const std::uint32_t at = index_of(value) + leaf;
  if (defined_[at]) {
    pass(pointer, pointers_[at]);
    return;
  }
  defined_[at] = true;
  pointers_[at] = {pointer.cell, 0};
  if (!records_flow_)
    return;
  pointers_[at].flow = flow_.add_node();
  flow_.copy(pointer.flow, pointers_[at].flow);
}

void PointsToGraph::flow(const Value *to, const Value *from) {
  const SmallVector<Leaf, 1> parts(leaves(to->getType()));
  const std::size_t others = leaves(from->getType()).size();
  for (unsigned i = 0; i < parts.size(); ++i)
    if (parts[i].carries)
      if (const std::optional<Pointer> source = pointer(from, i < others ? i : 0))
        define(to, i, *source);
}

std::optional<Pointer> PointsToGraph::pointer(const Value *value, unsigned leaf) {
  if (const auto *constant = dyn_cast<Constant>(value))
    return this->constant(constant, leaf);
  if (!isa<Instruction>(value) && !isa<Argument>(value))
    return std::nullopt;
  if (leaf < leaves(value->getType()).size() && leaves(value->getType())[leaf].carries &&
      carrier(value))
    return variable(value, leaf);
  return std::nullopt;
}

std::optional<Cell> PointsToGraph::known(const Value &value) {
  if (const auto *constant = dyn_cast<Constant>(&value)) {
    const std::optional<Pointer> known = this->constant(constant, 0);
    return known ? std::optional(graph_.find(known->cell)) : std::nullopt;
  }
  const auto entry = variables_.find(&value);
  if (entry == variables_.end() || !defined_[entry->second])
    return std::nullopt;
  return graph_.find(pointers_[entry->second].cell);
}

const ElementSet *PointsToGraph::objects_of(const Value &value) {
  if (!has_flow_)
    return nullptr;
  if (const auto *constant = dyn_cast<Constant>(&value)) {
    const std::optional<Pointer> known = this->constant(constant, 0);
    return known ? &flow_.elements(known->flow) : nullptr;
  }
  const auto entry = variables_.find(&value);
  return entry == variables_.end() || !defined_[entry->second]
             ? nullptr
             : &flow_.elements(pointers_[entry->second].flow);
}

Pointer PointsToGraph::global(const GlobalObject &global) {
  const auto [entry, fresh] = globals_.try_emplace(&global, 0);
  if (fresh) {
    const NodeId node = graph_.add_node(kProgram);
    entry->second = node;
    if (const auto *function = dyn_cast<Function>(&global))
      graph_.add_function(node, *function);
    else
      graph_.add_object(node, global);
  }
  return {{globals_.lookup(&global), 0}, records_flow_ ? flow_.pointer_to(global) : 0};
}

std::optional<Pointer> PointsToGraph::constant(const Constant *constant, unsigned leaf) {
  if (const auto *object = dyn_cast<GlobalObject>(constant); object != nullptr)
    return isa<GlobalIFunc>(object) ? ifuncs_.lookup(object) : global(*object);
  if (const auto *alias = dyn_cast<GlobalAlias>(constant))
    return this->constant(alias->getAliasee(), 0);
  if (const auto *gep = dyn_cast<GEPOperator>(constant)) {
    if (const auto known = constants_.find(constant); known != constants_.end())
      return known->second;
    const std::optional<Pointer> base = this->constant(cast<Constant>(gep->getPointerOperand()), 0);
    if (base)
      constants_[constant] = element(*gep, *base);
    return base ? std::optional(constants_.lookup(constant)) : std::nullopt;
  }
  if (const auto *expression = dyn_cast<ConstantExpr>(constant)) {
    if (expression->isCast())
      return this->constant(expression->getOperand(0), 0);
    if (const auto known = constants_.find(constant); known != constants_.end())
      return known->second;
    const std::optional<FlowNode> computed =
        records_flow_ ? constant_number(constant) : std::nullopt;
    if (computed)
      constants_[constant] = {nowhere(kProgram).cell, *computed};
    return computed ? std::optional(constants_.lookup(constant)) : std::nullopt;
  }
  if (isa<ConstantAggregate>(constant)) {
    unsigned first = 0;
    for (const Use &operand : constant->operands()) {
      const auto count = static_cast<unsigned>(leaves(operand->getType()).size());
      if (leaf < first + count)
        return this->constant(cast<Constant>(operand), leaf - first);
      first += count;
    }
  }
  return std::nullopt;
}

void PointsToGraph::initialise(const GlobalVariable &variable, Pointer at, std::uint64_t offset,
                               const Constant *value) {
  Type *type = value->getType();
  if (isa<ConstantAggregate>(value)) {
    for (unsigned i = 0; i < value->getNumOperands(); ++i) {
      std::uint64_t part = 0;
      if (auto *record = dyn_cast<StructType>(type))
        part = layout_.getStructLayout(record)->getElementOffset(i).getFixedValue();
      else if (auto *array = dyn_cast<ArrayType>(type))
        part = i * layout_.getTypeAllocSize(array->getElementType()).getFixedValue();
      initialise(variable, {graph_.shift(at.cell, static_cast<std::int64_t>(part)), at.flow},
                 offset + part, cast<Constant>(value->getOperand(i)));
    }
    return;
  }
  if (const std::optional<Pointer> target = constant(value, 0)) {
    graph_.unify(graph_.content(at.cell), target->cell);
    if (records_flow_)
      flow_.initialise(variable, offset, target->flow);
  }
}

void PointsToGraph::initialise(const GlobalVariable &variable) {
  const Pointer at = global(variable);
  if (auto *array = dyn_cast<ArrayType>(variable.getValueType()))
    add_array(at, layout_.getTypeAllocSize(array),
              layout_.getTypeAllocSize(array->getElementType()));
  if (!variable.isThreadLocal())
    share(at);
  if (variable.hasInitializer())
    initialise(variable, at, 0, variable.getInitializer());
  if (variable.isDeclaration()) {
    if (!catalogue_.is_own_variable(variable.getName().str())) {
      escape(at);
      return;
    }
    // It points to itself for want of another object: nobody tells the library's apart.
    collapse(at);
    store(at, at);
    own_[variable.getName()] = at; // functions that share it name it so
  } else if (!variable.hasLocalLinkage() && !variable.hasAvailableExternallyLinkage()) {
    escape(variable);
  }
}

// Whether an index, which counts as signed, may be below 0.
static bool may_be_negative(const Value &index) {
  const auto *computed = dyn_cast<Instruction>(&index);
  if (computed == nullptr)
    return true;
  const auto is_positive = [](const Value *value) {
    const auto *constant = dyn_cast<ConstantInt>(value);
    return constant != nullptr && constant->getValue().isStrictlyPositive();
  };
  switch (computed->getOpcode()) {
  case Instruction::ZExt:
    return false;
  case Instruction::And:
    return !is_positive(computed->getOperand(1)) && !isa<ZExtInst>(computed->getOperand(1));
  case Instruction::LShr:
  case Instruction::URem:
    return !is_positive(computed->getOperand(1));
  default:
    return true;
  }
}

// Where `gep` leads from `base`.
Pointer PointsToGraph::element(const GEPOperator &gep, Pointer base) {
  Pointer at = base;
  Type *container = nullptr; // of the index; none for the first
  for (auto step = gep_type_begin(gep), end = gep_type_end(gep); step != end; ++step) {
    const Value *index = step.getOperand();
    const auto *constant = dyn_cast<ConstantInt>(index);
    Type *type = step.getIndexedType();
    if (StructType *record = step.getStructTypeOrNull()) {
      const auto field = static_cast<unsigned>(constant->getZExtValue());
      at = shift(
          at, static_cast<std::int64_t>(layout_.getStructLayout(record)->getElementOffset(field)));
      container = type;
      continue;
    }
    const std::uint64_t stride = layout_.getTypeAllocSize(type).getFixedValue();
    if (const auto *array = dyn_cast_or_null<ArrayType>(container); array != nullptr && stride != 0)
      add_array(at, array->getNumElements() == 0 ? kNoEnd : array->getNumElements() * stride,
                stride);
    // A step from element to element; bytes may be counted from anywhere to anywhere.
    const bool free = container == nullptr && stride == 1;
    const bool within_array = container == nullptr && !free;
    container = type;
    if (constant != nullptr) {
      if (!constant->isZero())
        at = shift(at, constant->getSExtValue() * static_cast<std::int64_t>(stride), within_array);
      continue;
    }
    this->index(at, stride, may_be_negative(*index), free);
  }
  return at;
}

} // namespace tandem
