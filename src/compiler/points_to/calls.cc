// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What calls say about pointers: to functions of the program, through pointers, and intrinsics.
#include "compiler/points_to/assembly.h"
#include "compiler/points_to/solver.h"
#include "compiler/sections/called_function.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tandem {

using namespace llvm;

namespace {

std::uint64_t size_of(const Value *length) {
  const auto *constant = dyn_cast<ConstantInt>(length);
  return constant == nullptr ? kNoEnd : constant->getZExtValue();
}

// Registers, memory and the floating-point unit: what a call passes where.
int kind_of(const Type *type) {
  return type->isPointerTy() || type->isIntegerTy() ? 0 : type->isFloatingPointTy() ? 1 : 2;
}

// Whether a call through a pointer can lead to a function without undefined behaviour: as many
// arguments, each passed where the function looks for it. (C asks for compatible types; programs
// mix integers and pointers.)
bool fits(const CallBase &call, const Function &function) {
  if (function.isVarArg() ? call.arg_size() < function.arg_size()
                          : call.arg_size() != function.arg_size())
    return false;
  for (unsigned i = 0; i < function.arg_size(); ++i)
    if (kind_of(call.getArgOperand(i)->getType()) != kind_of(function.getArg(i)->getType()))
      return false;
  return true;
}

} // namespace

Pointer PointsToGraph::result(const Function &function, unsigned leaf) {
  const std::size_t count = leaves(function.getReturnType()).size();
  const auto [entry, fresh] =
      results_.try_emplace(&function, static_cast<std::uint32_t>(pointers_.size()));
  if (fresh)
    for (std::size_t i = 0; i < count; ++i) {
      pointers_.push_back(nowhere(scope_of(function)));
      defined_.push_back(true);
    }
  return pointers_[results_.lookup(&function) + (leaf < count ? leaf : 0)];
}

// Where a function finds the arguments beyond its parameters.
Pointer PointsToGraph::varargs(const Function &function) {
  const auto known = varargs_.find(&function);
  if (known != varargs_.end())
    return known->second;
  const Pointer area = object(function, scope_of(function));
  collapse(area);
  return varargs_[&function] = area;
}

const CatalogueEntry &PointsToGraph::entry(const Function &callee) {
  const auto [entry, fresh] = entries_.try_emplace(&callee);
  if (fresh)
    entry->second = catalogue_.lookup(callee.getName().str());
  return entry->second;
}

std::uint32_t PointsToGraph::new_site(Site site) {
  sites_.push_back(std::move(site));
  return static_cast<std::uint32_t>(sites_.size() - 1);
}

// The site calls what `pointer` denotes.
void PointsToGraph::link_site(std::uint32_t site, const Value *value) {
  const Value *plain = value->stripPointerCastsAndAliases();
  if (const auto *function = dyn_cast<Function>(plain)) {
    enter(site, *function);
    return;
  }
  if (isa<ConstantPointerNull>(plain) || isa<UndefValue>(plain))
    return;
  if (preset_ != nullptr) {
    enter_preset(site);
    return;
  }
  if (const std::optional<Pointer> denoted = pointer(value)) {
    sites_[site].pointer = denoted;
    graph_.add_call(denoted->cell.node, site);
  }
}

// The functions that the insensitive run found for a site.
void PointsToGraph::enter_preset(std::uint32_t number) {
  const Site site = sites_[number];
  if (!site.direct)
    for (const auto &[other, function] : preset_->external_callbacks_)
      if (preset_->sites_[other].call == site.call && preset_->sites_[other].when == site.when)
        enter(number, *function);
  if (site.when != Callback::When::now) {
    for (const Spawn &spawn : preset_->spawns_)
      if (spawn.call == site.call && spawn.when == site.when)
        enter(number, *spawn.function);
    return;
  }
  if (const auto known = preset_->targets_.find(site.call); known != preset_->targets_.end())
    for (const Function *function : known->second)
      enter(number, *function);
  if (const auto crowd = preset_crowds_.find(site.call); crowd != preset_crowds_.end())
    pass_call(crowd->second.first, crowd->second.second, number);
  if (!site.direct)
    return;
  for (const Function *function : preset_->external_targets(*site.call))
    enter(number, *function);
  if (preset_->may_leave(*site.call) && leaving_.insert(site.call).second)
    leave(*site.call, nullptr);
}

// Told by the graph, too: a site may enter a function.
void PointsToGraph::enter(std::uint32_t number, const Function &function) {
  const Site site = sites_[number];
  if (function.isDeclaration() && site.call != nullptr && !site.direct) {
    if (external_callbacks_.insert({number, &function}).second)
      enter_external_callback(site, function);
    return;
  }
  if (function.isDeclaration()) {
    if (site.call != nullptr && site.direct) {
      auto &external = external_targets_[site.call];
      if (is_contained(external, &function))
        return;
      external.push_back(&function);
      add_external(*site.call, function);
    }
    return;
  }
  if (site.call != nullptr && !(records_flow_ && site.pointer))
    unguarded_.insert({site.call, &function});
  if (site.call == nullptr) {
    exported_.push_back(&function);
  } else if (site.when == Callback::When::now) {
    if (site.direct && called_function(*site.call) == nullptr && !fits(*site.call, function))
      return;
    auto &targets = targets_[site.call];
    if (!is_contained(targets, &function))
      targets.push_back(&function);
  } else {
    if (none_of(spawns_, [&](const Spawn &spawn) {
          return spawn.call == site.call && spawn.function == &function && spawn.when == site.when;
        }))
      spawns_.push_back({site.call, &function, site.when});
  }
  bind(site, function);
}

void PointsToGraph::bind(const Site &site, const Function &function) {
  const Scope callee = scope_of(function);
  const Scope caller = site.call == nullptr ? kProgram : scope_of(*site.call->getFunction());
  const bool now = site.when == Callback::When::now;
  const bool copies = now && site.call != nullptr && callee != caller && callee != kProgram;
  Graph::Copies *made = copies ? &copies_[{site.call, &function}] : nullptr;
  const auto seen = [&](Cell cell) {
    return copies ? graph_.clone(cell, caller, *made) : graph_.find(cell);
  };
  std::optional<std::uint32_t> guard;
  if (records_flow_ && site.pointer) {
    guard = flow_.guard(site.pointer->flow, function);
    guarded_.push_back({site.call, &function, *guard});
  }
  const auto copy = [&](FlowNode from, FlowNode to) {
    if (guard)
      flow_.copy_guarded(*guard, from, to);
    else if (records_flow_)
      flow_.copy(from, to);
  };
  const auto hand_over = [&](const std::optional<Pointer> &actual, Pointer formal) {
    if (!actual)
      return;
    if (!now) {
      // The new thread and the old one both know it.
      graph_.publish(actual->cell.node);
      graph_.publish(formal.cell.node);
      share(*actual);
    }
    graph_.unify(actual->cell, seen(formal.cell));
    copy(actual->flow, formal.flow);
  };
  const bool own_arguments = site.direct && site.call != nullptr;
  for (const Argument &argument : function.args()) {
    const unsigned number = argument.getArgNo();
    if (records_flow_ && own_arguments && number < site.call->arg_size())
      pass_number(site.call->getArgOperand(number), &argument, guard);
    else if (records_flow_ && site.anything_else && number >= site.actuals.size())
      if (const std::optional<FlowNode> taken = this->number(&argument))
        copy(channel_, *taken);
    const auto count = static_cast<unsigned>(leaves(argument.getType()).size());
    for (unsigned leaf = 0; leaf < count; ++leaf) {
      if (!leaves(argument.getType())[leaf].carries)
        continue;
      if (is_released(argument)) {
        define(&argument, leaf, object(argument, callee));
        continue;
      }
      std::optional<Pointer> actual;
      if (own_arguments)
        actual = number < site.call->arg_size() ? pointer(site.call->getArgOperand(number), leaf)
                                                : std::nullopt;
      else if (leaf == 0 && number < site.actuals.size())
        actual = site.actuals[number];
      else if (site.anything_else)
        actual = outside();
      const Pointer formal = variable(&argument, leaf);
      if (argument.hasByValAttr() && actual)
        copy_memory({seen(formal.cell), formal.flow}, *actual,
                    layout_.getTypeAllocSize(argument.getParamByValType()).getFixedValue());
      else
        hand_over(actual, formal);
    }
  }
  if (function.isVarArg() && own_arguments)
    for (auto number = static_cast<unsigned>(function.arg_size()); number < site.call->arg_size();
         ++number) {
      if (const std::optional<Pointer> actual = pointer(site.call->getArgOperand(number))) {
        const Pointer area = varargs(function);
        if (site.call->isByValArgument(number))
          copy_memory({seen(area.cell), area.flow}, *actual, kNoEnd);
        else
          store({seen(area.cell), area.flow}, *actual);
      } else if (const auto hidden = marks(site.call->getArgOperand(number))) {
        flow_.store(varargs(function).flow, *hidden);
      }
    }
  Type *type = function.getReturnType();
  if (records_flow_ && own_arguments && !type->isVoidTy() && !is_followed(site.call))
    if (const std::optional<FlowNode> taken = number(site.call)) {
      FlowNode returned = number_result(function);
      if (leaves(type).size() == 1 && leaves(type).front().carries) {
        returned = flow_.add_node();
        flow_.hide(number_result(function), returned);
      }
      pass_number(returned, *taken, guard);
    }
  for (unsigned leaf = 0; !type->isVoidTy() && leaf < leaves(function.getReturnType()).size();
       ++leaf) {
    if (!leaves(function.getReturnType())[leaf].carries)
      continue;
    if (leaf == 0 && own_arguments && is_allocator(function)) {
      define(site.call, 0, object(*site.call, scope_of_value(site.call)));
      continue;
    }
    const Pointer returned = result(function, leaf);
    if (!own_arguments) {
      // Whoever called it knows what it returned.
      pass({seen(returned.cell), returned.flow}, outside());
    } else if (leaf < leaves(site.call->getType()).size() &&
               leaves(site.call->getType())[leaf].carries) {
      const Pointer taken = variable(site.call, leaf);
      graph_.unify(taken.cell, seen(returned.cell));
      copy(returned.flow, taken.flow);
    }
  }
  if (copies)
    graph_.clone_links(callee, caller, *made);
}

void PointsToGraph::add_call(const CallBase &call) {
  if (call.isInlineAsm()) {
    if (leaves_by_assembly(call) && calling_outside_.insert(&call).second)
      leave(call, nullptr);
    add_assembly(call);
    return;
  }
  if (add_coroutine_call(call))
    return;
  if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&call)) {
    add_intrinsic(*intrinsic);
    return;
  }
  const Function *callee = called_function(call);
  if (callee != nullptr && callee->isDeclaration())
    add_external(call, *callee);
  else
    link_site(new_site({.call = &call, .pointer = std::nullopt, .actuals = {}}),
              call.getCalledOperand());
}

void PointsToGraph::add_intrinsic(const IntrinsicInst &call) {
  if (const auto *transfer = dyn_cast<AnyMemTransferInst>(&call)) {
    const std::optional<Pointer> to = pointer(transfer->getRawDest());
    const std::optional<Pointer> from = pointer(transfer->getRawSource());
    if (to && from)
      copy_memory(*to, *from, size_of(transfer->getLength()),
                  transfer->getMetadata(LLVMContext::MD_tbaa_struct) != nullptr);
    return;
  }
  switch (call.getIntrinsicID()) {
  case Intrinsic::threadlocal_address:
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::ptrmask:
  case Intrinsic::ssa_copy:
  case Intrinsic::ptr_annotation:
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
    flow(&call, call.getArgOperand(0));
    return;
  case Intrinsic::vastart:
    if (const std::optional<Pointer> list = pointer(call.getArgOperand(0))) {
      // The pointers to the areas where the caller left arguments (System V ABI, x86-64, 3.5.7).
      store(shift(*list, 8), varargs(*call.getFunction()));
      store(shift(*list, 16), varargs(*call.getFunction()));
    }
    return;
  case Intrinsic::vacopy:
    if (const std::optional<Pointer> to = pointer(call.getArgOperand(0)))
      if (const std::optional<Pointer> from = pointer(call.getArgOperand(1)))
        copy_memory(*to, *from, kNoEnd);
    return;
  case Intrinsic::vaend:
  case Intrinsic::stacksave:
  case Intrinsic::stackrestore:
  case Intrinsic::prefetch:
  case Intrinsic::trap:
  case Intrinsic::ubsantrap:
  case Intrinsic::eh_typeid_for:
    return;
  default:
    break;
  }
  // Vector loads and stores, and what else moves pointers: any argument may end up in any other.
  if (!call.doesNotAccessMemory() && !call.isAssumeLikeIntrinsic() && !isa<AnyMemSetInst>(call))
    add_assembly(call);
}

// Assembly, and intrinsics that nothing is known of. What may write memory may put any pointer that
// it gets, or finds there, anywhere that it gets; what may not can only return one.
void PointsToGraph::add_assembly(const CallBase &call) {
  const auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand());
  const bool writes =
      assembly == nullptr || any_of(assembly->ParseConstraints(), [](const auto &constraint) {
        return (constraint.Type == InlineAsm::isOutput && constraint.isIndirect) ||
               (constraint.Type == InlineAsm::isClobber &&
                is_contained(constraint.Codes, "{memory}"));
      });
  const bool returns = call.getType()->isPointerTy() || call.getType()->isStructTy() ||
                       call.getType()->isVectorTy() ||
                       (assembly != nullptr && call.getType()->isIntegerTy(64));
  const bool nothing = assembly != nullptr && assembly->getAsmString().empty();
  std::optional<Pointer> all;
  for (const Value *argument : call.args())
    if (argument->getType()->isPointerTy() && (returns || (writes && !nothing)))
      if (const std::optional<Pointer> passed = pointer(argument)) {
        if (all)
          mix(*all, *passed);
        all = passed;
      }
  if (!all)
    return;
  if (writes && !nothing) {
    collapse(*all);
    store(*all, *all);
    store(*all, load(*all));
  }
  const auto count = returns ? static_cast<unsigned>(leaves(call.getType()).size()) : 0;
  for (unsigned leaf = 0; leaf < count; ++leaf)
    if (leaves(call.getType())[leaf].carries) {
      define(&call, leaf, *all);
      define(&call, leaf, load(*all));
    }
}

} // namespace tandem
