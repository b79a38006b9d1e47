// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that addresses may hide in: integers, floating-point numbers and vectors, as far as
// values.cc and constraints.cc do not follow addresses through them. They are known to the flow of
// objects alone; where a hidden pointer is used, the graph is told what it may be (hidden pointers,
// below).
#include "compiler/points_to/solver.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"

namespace tandem {

using namespace llvm;

namespace {

bool is_value(const Type *type) {
  return type->isFirstClassType() && !type->isMetadataTy() && !type->isTokenTy() &&
         !type->isLabelTy() && !type->isIntegerTy(1);
}

// An access tag is {base type, type, offset}; a type's first operand is its name.
StringRef type_name(const Instruction &access) {
  const MDNode *tag = access.getMetadata(LLVMContext::MD_tbaa);
  const auto *type =
      tag == nullptr || tag->getNumOperands() < 3 ? nullptr : dyn_cast<MDNode>(tag->getOperand(1));
  const auto *name = type == nullptr || type->getNumOperands() == 0
                         ? nullptr
                         : dyn_cast<MDString>(type->getOperand(0));
  return name == nullptr ? StringRef() : name->getString();
}

// Whether it is a member of a structure, which is no union.
bool is_member(const Instruction &access) {
  const MDNode *tag = access.getMetadata(LLVMContext::MD_tbaa);
  return tag != nullptr && tag->getNumOperands() >= 3 && tag->getOperand(0) != tag->getOperand(1);
}

enum class Accessed { anything, pointer, number };

// As what memory is accessed (C11 6.5, paragraphs 6 and 7): characters, unions and what clang has
// no type for may be anything.
Accessed accessed(const Instruction &access) {
  const StringRef name = type_name(access);
  if (name.empty())
    return Accessed::anything;
  if (name == "omnipotent char")
    return is_member(access) ? Accessed::number : Accessed::anything;
  return name == "any pointer" || name == "vtable pointer" || name.starts_with("p1 ") ||
                 name.starts_with("p2 ") || name.starts_with("p3 ")
             ? Accessed::pointer
             : Accessed::number;
}

} // namespace

ObjectFlow::Take PointsToGraph::loads_as(const Instruction &access) {
  return accessed(access) == Accessed::pointer ? ObjectFlow::Take::no_number
                                               : ObjectFlow::Take::as_pointer;
}

bool PointsToGraph::stores_pointer(const Instruction &access) {
  return accessed(access) == Accessed::pointer;
}

// What is stored, as it lies in memory from then on.
FlowNode PointsToGraph::stored_as(const Instruction &access, FlowNode value) {
  if (accessed(access) != Accessed::number)
    return value;
  const FlowNode stored = flow_.add_node(ObjectFlow::Take::as_number);
  flow_.copy(value, stored);
  return stored;
}

std::optional<FlowNode> PointsToGraph::constant_number(const Constant *constant) {
  if (const auto known = numbers_.find(constant); known != numbers_.end())
    return known->second;
  const auto *expression = dyn_cast<ConstantExpr>(constant);
  const bool computed =
      expression != nullptr && !expression->isCast() && !isa<GEPOperator>(constant);
  if (leaves(constant->getType()).size() == 1 && !isa<ConstantVector>(constant) && !computed)
    if (const std::optional<Pointer> pointer = this->constant(constant, 0))
      return pointer->flow;
  if (!isa<ConstantExpr>(constant) && !isa<ConstantAggregate>(constant))
    return std::nullopt;
  std::optional<FlowNode> made;
  for (const Use &operand : constant->operands())
    if (const std::optional<FlowNode> part = constant_number(cast<Constant>(operand))) {
      if (!made)
        made = flow_.add_node();
      if (computed)
        flow_.hide(*part, *made);
      else
        flow_.copy(*part, *made);
    }
  if (made)
    numbers_[constant] = *made;
  return made;
}

// What a value holds that is no pointer of its own: of a structure, its numbers.
std::optional<FlowNode> PointsToGraph::number(const Value *value) {
  if (!records_flow_ || !is_value(value->getType()))
    return std::nullopt;
  if (const auto *constant = dyn_cast<Constant>(value))
    return constant_number(constant);
  if (!isa<Instruction>(value) && !isa<Argument>(value))
    return std::nullopt;
  if (leaves(value->getType()).size() == 1)
    if (const std::optional<Pointer> pointer = this->pointer(value))
      return pointer->flow;
  const auto [entry, fresh] = numbers_.try_emplace(value, 0);
  if (fresh) {
    const FlowNode made = flow_.add_node();
    numbers_[value] = made;
    return made;
  }
  return entry->second;
}

// Whether add_instruction and bind follow a value's addresses by themselves.
bool PointsToGraph::is_followed(const Value *value) {
  return !isa<ConstantVector>(value) && leaves(value->getType()).size() == 1 &&
         pointer(value).has_value();
}

// What a value is where it meets addresses that are followed: one that it holds itself is hidden.
std::optional<FlowNode> PointsToGraph::marks(const Value *value) {
  const std::optional<FlowNode> held = number(value);
  if (!held)
    return std::nullopt;
  const auto known = marks_.find(value);
  if (known != marks_.end())
    return known->second;
  const FlowNode hidden = flow_.add_node();
  flow_.hide(*held, hidden);
  if (is_followed(value))
    hidden_here_.insert({value, false});
  return marks_[value] = hidden;
}

void PointsToGraph::copy_number(const Value *from, const Value *to) {
  const std::optional<FlowNode> source = is_followed(to) ? marks(from) : number(from);
  const std::optional<FlowNode> target = source ? number(to) : std::nullopt;
  if (!target)
    return;
  flow_.copy(*source, *target);
  if (is_followed(to))
    found_here_.insert({to, false});
}

void PointsToGraph::hide_number(const Value *from, FlowNode to) {
  const std::optional<FlowNode> source = number(from);
  if (!source)
    return;
  flow_.hide(*source, to);
  if (is_followed(from))
    hidden_here_.insert({from, false});
}

FlowNode PointsToGraph::number_result(const Function &function) {
  const auto &parts = leaves(function.getReturnType());
  if (parts.size() == 1 && parts.front().carries)
    return result(function, 0).flow;
  const auto known = number_results_.find(&function);
  if (known != number_results_.end())
    return known->second;
  return number_results_[&function] = flow_.add_node();
}

// What `to` gets of `from`, by a call: once its guard is open, if it has one.
void PointsToGraph::pass_number(const Value *from, const Value *to,
                                std::optional<std::uint32_t> guard) {
  if (is_followed(from) && is_followed(to))
    return;
  const std::optional<FlowNode> source = is_followed(to) ? marks(from) : number(from);
  const std::optional<FlowNode> target = source ? number(to) : std::nullopt;
  if (!target)
    return;
  pass_number(*source, *target, guard);
  if (is_followed(to))
    found_here_.insert({to, false});
}

void PointsToGraph::pass_number(FlowNode from, FlowNode to, std::optional<std::uint32_t> guard) {
  if (guard)
    flow_.copy_guarded(*guard, from, to);
  else
    flow_.copy(from, to);
}

void PointsToGraph::load_number(const Instruction &result, const Value *address, Type *type) {
  const std::optional<Pointer> at = pointer(address);
  const std::optional<FlowNode> to = at ? number(&result) : std::nullopt;
  if (!to || type->isPointerTy())
    return;
  const SmallVector<Leaf, 1> parts(leaves(type));
  if (parts.size() > 1) { // addresses in it are followed
    const std::uint64_t end = layout_.getTypeStoreSize(type).getKnownMinValue();
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!parts[i].carries) {
        const FlowNode place = flow_.add_node();
        flow_.shift(at->flow, static_cast<std::int64_t>(parts[i].offset), place);
        const std::uint64_t next = i + 1 < parts.size() ? parts[i + 1].offset : end;
        flow_.load_part(place, next - parts[i].offset, false, accessed(result) == Accessed::number,
                        *to);
      }
    return;
  }
  // Where the value has a pointer's flow, what lies at its own offset came by it already.
  const std::uint64_t size = layout_.getTypeStoreSize(type).getKnownMinValue();
  flow_.load_part(at->flow, size, is_followed(&result), accessed(result) == Accessed::number, *to);
  if (!is_followed(&result) && accessed(result) != Accessed::number)
    hidden_here_.insert({address, true});
}

void PointsToGraph::store_number(const Instruction &access, const Value *address,
                                 const Value *value) {
  const std::optional<Pointer> at = pointer(address);
  const bool followed = is_followed(value);
  const std::optional<FlowNode> stored = !at        ? std::nullopt
                                         : followed ? number(value)
                                                    : marks(value);
  if (!stored || value->getType()->isPointerTy())
    return;
  store_number(access, *at, *stored, layout_.getTypeStoreSize(value->getType()).getKnownMinValue(),
               followed);
  if (accessed(access) != Accessed::number && !followed)
    found_here_.insert({address, true});
}

void PointsToGraph::store_number(const Instruction &access, Pointer at, FlowNode value,
                                 std::uint64_t size, bool is_stored) {
  const FlowNode stored = stored_as(access, value);
  const auto end = static_cast<std::int64_t>(size);
  for (std::int64_t offset = 0; offset == 0 || offset < end; offset += kAddress) {
    FlowNode place = at.flow;
    if (offset != 0) {
      place = flow_.add_node();
      flow_.shift(at.flow, offset, place);
    }
    flow_.store_part(place, size, is_stored, stored);
  }
}

// Memory is changed by what is computed of it and of a number.
void PointsToGraph::update_number(const AtomicRMWInst &update) {
  const std::optional<Pointer> at = pointer(update.getPointerOperand());
  load_number(update, update.getPointerOperand(), update.getType());
  if (update.getOperation() == AtomicRMWInst::Xchg || !at || update.getType()->isPointerTy()) {
    store_number(update, update.getPointerOperand(), update.getValOperand());
    return;
  }
  const FlowNode made = flow_.add_node();
  hide_number(&update, made);
  hide_number(update.getValOperand(), made);
  store_number(update, *at, made, layout_.getTypeStoreSize(update.getType()).getFixedValue(),
               false);
}

void PointsToGraph::add_number(const Instruction &instruction) {
  if (!records_flow_)
    return;
  if (const auto *read = dyn_cast<LoadInst>(&instruction)) {
    load_number(*read, read->getPointerOperand(), read->getType());
  } else if (const auto *write = dyn_cast<StoreInst>(&instruction)) {
    store_number(*write, write->getPointerOperand(), write->getValueOperand());
  } else if (const auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
    update_number(*update);
  } else if (const auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    load_number(*exchange, exchange->getPointerOperand(), exchange->getNewValOperand()->getType());
    store_number(*exchange, exchange->getPointerOperand(), exchange->getNewValOperand());
  } else if (const auto *leave = dyn_cast<ReturnInst>(&instruction)) {
    const Value *value = leave->getReturnValue();
    if (value != nullptr && !is_followed(value))
      if (const std::optional<FlowNode> returned = marks(value))
        flow_.copy(*returned, number_result(*leave->getFunction()));
  } else if (const auto *gep = dyn_cast<GetElementPtrInst>(&instruction)) {
    if (isa<ConstantPointerNull>(gep->getPointerOperand()))
      for (const Use &index : gep->indices())
        copy_number(index, gep);
  } else if (isa<BinaryOperator, UnaryOperator, FPToUIInst, FPToSIInst, UIToFPInst, SIToFPInst,
                 FPTruncInst, FPExtInst>(instruction)) {
    compute_number(instruction);
  } else if (isa<CastInst, PHINode, FreezeInst, InsertElementInst, ExtractElementInst,
                 ShuffleVectorInst, InsertValueInst, ExtractValueInst>(instruction)) {
    // What is put into a structure is followed to where it is taken out.
    const bool puts = isa<InsertValueInst>(instruction);
    for (const Use &operand : instruction.operands())
      if (!isa<BasicBlock>(operand) &&
          !(is_followed(operand) && (puts || is_followed(&instruction))))
        copy_number(operand, &instruction);
  } else if (const auto *choice = dyn_cast<SelectInst>(&instruction)) {
    for (const Value *operand : {choice->getTrueValue(), choice->getFalseValue()})
      if (!is_followed(operand) || !is_followed(choice))
        copy_number(operand, choice);
  } else if (const auto *call = dyn_cast<CallBase>(&instruction)) {
    add_number_call(*call);
  }
}

void PointsToGraph::compute_number(const Instruction &instruction) {
  const std::optional<FlowNode> result = number(&instruction);
  if (!result)
    return;
  for (const Use &operand : instruction.operands())
    if (!is_followed(&instruction))
      hide_number(operand, *result);
    else if (!is_followed(operand))
      copy_number(operand, &instruction);
}

// Calls through hidden pointers may enter any function that has escaped. Whether there were new
// ones.
bool PointsToGraph::enter_hidden() {
  std::vector<const Function *> escaped;
  bool outside = false;
  for (const ObjectId object : flow_.escaped_objects())
    if (const auto *function = dyn_cast_or_null<Function>(flow_.label(object)))
      escaped.push_back(function);
    else
      outside |= flow_.label(object) == nullptr;
  bool changed = false;
  for (std::uint32_t number = 0; number < sites_.size(); ++number) {
    const Site site = sites_[number];
    if (site.call == nullptr || !site.pointer || !flow_.is_hidden(site.pointer->flow))
      continue;
    for (const Function *function : escaped)
      // Of another type: undefined (C11 6.3.2.3, 8).
      if (site.direct && function->getFunctionType() != site.call->getFunctionType())
        continue;
      else if (met_.insert({number, function}).second) {
        enter(number, *function);
        changed = true;
      }
    if (outside && site.direct && leaving_.insert(site.call).second) {
      leave(*site.call, &*site.pointer);
      changed = true;
    }
  }
  return changed;
}

// The same rule where there is no flow of objects: whatever is hidden is one node of the graph, and
// so is what a mark may be. Whether anything was not yet.
bool PointsToGraph::unify_hidden(const PointsToGraph &known) {
  bool changed = false;
  const auto join = [&](Cell cell) {
    if (!hidden_) {
      hidden_ = Cell{graph_.add_node(kProgram), 0};
      graph_.collapse(hidden_->node);
      graph_.unify(graph_.content(*hidden_), *hidden_);
    }
    if (graph_.find(cell).node == graph_.find(*hidden_).node)
      return;
    graph_.unify(cell, *hidden_);
    changed = true;
  };
  const auto cells = [&](const Hiding &place) {
    SmallVector<Cell, 4> found;
    const std::optional<Pointer> at = pointer(place.value);
    if (at && !place.in_memory)
      found.push_back(graph_.find(at->cell));
    else if (at)
      for (const auto &[offset, content] : graph_.contents(graph_.find(at->cell).node))
        found.push_back(content);
    return found;
  };
  for (const Hiding &place : known.hidden_here_)
    for (const Cell &cell : cells(place))
      if (const NodeId node = graph_.find(cell).node;
          !graph_.objects(node).empty() || !graph_.functions(node).empty())
        join(cell);
  if (hidden_)
    for (const Hiding &place : known.found_here_)
      for (const Cell &cell : cells(place))
        join(cell);
  return changed;
}

bool PointsToGraph::has_escaped(const Value &label) const {
  const ObjectId *known = flow_.find(&label);
  return has_flow_ && known != nullptr && flow_.has_escaped(*known);
}

// Threads may reach by hidden pointers what has escaped.
void PointsToGraph::mark_hidden_reached(const PointsToGraph &known) {
  for (NodeId node = 0; node < graph_.size(); ++node)
    if (any_of(graph_.objects(node), [&](const Value *label) { return known.has_escaped(*label); }))
      roots_.push_back({node, 0});
  mark_reached();
}

// Whether an instruction does more with a pointer than to hand it on.
bool PointsToGraph::uses_pointer(const Instruction &instruction, const Use &operand) {
  if (const auto *write = dyn_cast<StoreInst>(&instruction))
    return operand.get() == write->getPointerOperand();
  return isa<LoadInst, AtomicRMWInst, AtomicCmpXchgInst, CallBase, VAArgInst>(instruction);
}

std::vector<const Instruction *> PointsToGraph::hidden_uses() const {
  std::vector<const Instruction *> found;
  for (const Function &function : module_)
    for (const Instruction &instruction : instructions(function))
      if (any_of(instruction.operands(), [&](const Use &operand) {
            return operand->getType()->isPointerTy() && uses_pointer(instruction, operand) &&
                   may_be_hidden(*operand);
          })) {
        found.push_back(&instruction);
        break;
      }
  return found;
}

bool PointsToGraph::may_be_hidden(const Value &value) const {
  const auto entry = variables_.find(&value);
  return has_flow_ && entry != variables_.end() && defined_[entry->second] &&
         flow_.is_hidden(pointers_[entry->second].flow);
}

} // namespace tandem
