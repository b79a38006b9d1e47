// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers and bytes in calls whose code is not seen: intrinsics, assembly, functions outside the
// program as the catalogue describes them. A call's `hand` has what goes through it.
#include "compiler/points_to/formats.h"
#include "compiler/points_to/solver.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"

namespace tandem {

using namespace llvm;

void PointsToGraph::add_number_call(const CallBase &call) {
  const auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand());
  if (assembly != nullptr) {
    add_number_assembly(call, assembly->getAsmString().empty());
    return;
  }
  if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&call))
    add_number_intrinsic(*intrinsic);
}

// Whether what is copied is not followed, address by address.
bool PointsToGraph::is_bytes(const CopiedMemory &copied) {
  return copied.to == kChannel || copied.from == kChannel || copied.text ||
         copied.to_loads + copied.from_loads > 0;
}

// Whatever it is given, or finds in memory that it is given, may come out in a register or be left
// in that memory.
void PointsToGraph::add_number_assembly(const CallBase &call, bool does_nothing) {
  const std::optional<FlowNode> result = number(&call);
  // An address may be returned in numbers that are not followed as addresses, or in parts.
  const bool hides = !call.getType()->isVoidTy() && !is_followed(&call) &&
                     any_of(leaves(call.getType()), [](const Leaf &leaf) { return !leaf.carries; });
  const auto hide_pointer = [&](const Value *argument, FlowNode to) {
    if (!hides)
      return;
    if (const std::optional<Pointer> given = pointer(argument)) {
      flow_.hide(given->flow, to);
      hidden_here_.insert({argument, false});
    }
  };
  if (does_nothing) { // but tie operands to results
    for (const Value *argument : call.args())
      if (result && !isa<MetadataAsValue>(argument) && !argument->getType()->isPointerTy())
        copy_number(argument, &call);
      else if (result && argument->getType()->isPointerTy())
        hide_pointer(argument, *result);
    return;
  }
  const FlowNode hand = flow_.add_node();
  for (const Value *argument : call.args()) {
    if (isa<MetadataAsValue>(argument))
      continue;
    if (!argument->getType()->isPointerTy()) {
      hide_number(argument, hand);
    } else {
      give_memory(argument, hand);
      hide_pointer(argument, hand);
    }
  }
  for (const Value *argument : call.args())
    if (argument->getType()->isPointerTy())
      take_memory(argument, kNoEnd, hand);
  if (result)
    flow_.copy(hand, *result);
}

void PointsToGraph::add_number_intrinsic(const IntrinsicInst &call) {
  if (isa<AnyMemTransferInst>(call) || call.isAssumeLikeIntrinsic())
    return;
  if (const auto *set = dyn_cast<AnyMemSetInst>(&call)) {
    if (const std::optional<FlowNode> value = marks(set->getValue()))
      take_memory(set->getRawDest(), kNoEnd, *value);
    return;
  }
  switch (call.getIntrinsicID()) {
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
  case Intrinsic::ssa_copy:
    if (!is_followed(call.getArgOperand(0)))
      copy_number(call.getArgOperand(0), &call);
    return;
  case Intrinsic::objectsize:
  case Intrinsic::is_constant:
  case Intrinsic::vastart:
  case Intrinsic::vacopy:
  case Intrinsic::vaend:
  case Intrinsic::stacksave:
  case Intrinsic::stackrestore:
  case Intrinsic::prefetch:
  case Intrinsic::threadlocal_address:
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::ptrmask:
  case Intrinsic::ptr_annotation:
  case Intrinsic::eh_typeid_for:
    return;
  default:
    break;
  }
  if (!call.doesNotAccessMemory()) {
    add_number_assembly(call, false);
    return;
  }
  if (const std::optional<FlowNode> result = number(&call))
    for (const Value *argument : call.args())
      if (!argument->getType()->isPointerTy())
        hide_number(argument, *result);
}

void PointsToGraph::give_memory(const Value *address, FlowNode hand) {
  const std::optional<Pointer> memory = pointer(address);
  if (!memory)
    return;
  flow_.give_bytes(memory->flow, kNoEnd, hand);
  hidden_here_.insert({address, true});
}

void PointsToGraph::take_memory(const Value *address, std::uint64_t size, FlowNode hand) {
  const std::optional<Pointer> memory = pointer(address);
  if (!memory)
    return;
  flow_.take_bytes(memory->flow, size, hand);
  found_here_.insert({address, true});
}

// The memory that a place of the catalogue's is, behind `loads` pointers; none for the channel.
std::optional<FlowNode> PointsToGraph::bytes_at(const CallBase &call, int where, int loads,
                                                const Function &callee) {
  if (where >= 0 && (static_cast<unsigned>(where) >= call.arg_size() ||
                     !call.getArgOperand(static_cast<unsigned>(where))->getType()->isPointerTy()))
    return std::nullopt;
  const std::optional<Pointer> memory = place(call, where, callee);
  if (!memory)
    return std::nullopt;
  FlowNode at = memory->flow;
  for (; loads > 0; --loads) {
    // Any pointer there: writev's list.
    const FlowNode pointed = flow_.add_node();
    flow_.index(at, std::uint64_t{kAddress}, false);
    flow_.load(at, pointed);
    const FlowNode next = flow_.add_node();
    flow_.shift(at, kAddress, next);
    flow_.load(next, pointed);
    at = pointed;
  }
  return at;
}

void PointsToGraph::give_bytes(const CallBase &call, int where, int loads, const Function &callee,
                               FlowNode hand) {
  if (where == kChannel)
    flow_.copy(channel_, hand);
  else if (const std::optional<FlowNode> from = bytes_at(call, where, loads, callee)) {
    flow_.give_bytes(*from, kNoEnd, hand);
    if (where >= 0)
      hidden_here_.insert({call.getArgOperand(static_cast<unsigned>(where)), true});
  }
}

void PointsToGraph::take_bytes(const CallBase &call, int where, int loads, const Function &callee,
                               FlowNode hand) {
  if (where == kChannel)
    flow_.copy(hand, channel_);
  else if (const std::optional<FlowNode> to = bytes_at(call, where, loads, callee)) {
    flow_.take_bytes(*to, kNoEnd, hand);
    if (where >= 0)
      found_here_.insert({call.getArgOperand(static_cast<unsigned>(where)), true});
  }
}

// The arguments behind a format that are printed, or the memory behind them.
void PointsToGraph::print_number(const CallBase &call, const FormattedText &text,
                                 const Function &callee) {
  const auto format = static_cast<unsigned>(text.format);
  if (format >= call.arg_size())
    return;
  const FlowNode hand = flow_.add_node();
  StringRef known;
  std::optional<std::vector<FormatConversion>> conversions;
  if (getConstantStringInfo(call.getArgOperand(format), known))
    conversions = printf_conversions(known);
  for (unsigned i = format + 1; i < call.arg_size(); ++i) {
    const Value *argument = call.getArgOperand(i);
    const FormatConversion *one = conversions && !text.list && i - format - 1 < conversions->size()
                                      ? &(*conversions)[i - format - 1]
                                      : nullptr;
    if (!text.list && (one == nullptr || !one->is_text))
      hide_number(argument, hand);
    if ((one == nullptr || one->is_text) && argument->getType()->isPointerTy())
      if (const std::optional<Pointer> memory = pointer(argument)) {
        give_memory(argument, hand);
        if (text.list)
          give_list(*memory, hand);
      }
  }
  const FlowNode words = flow_.add_node(ObjectFlow::Take::as_text);
  flow_.copy(hand, words);
  take_bytes(call, text.text, text.text_loads, callee, words);
}

// What a va_list leads to, and the texts behind it (System V ABI, x86-64, 3.5.7).
void PointsToGraph::give_list(Pointer list, FlowNode hand) {
  for (const std::int64_t area : {kAddress, 2 * kAddress}) {
    const FlowNode at = flow_.add_node();
    const FlowNode arguments = flow_.add_node();
    const FlowNode texts = flow_.add_node();
    flow_.shift(list.flow, area, at);
    flow_.load(at, arguments);
    flow_.give_bytes(arguments, kNoEnd, hand);
    flow_.load(arguments, texts);
    flow_.give_bytes(texts, kNoEnd, hand);
  }
}

void PointsToGraph::scan_number(const CallBase &call, const FormattedText &text,
                                const Function &callee) {
  const auto format = static_cast<unsigned>(text.format);
  const FlowNode hand = flow_.add_node(ObjectFlow::Take::as_pointer);
  give_bytes(call, text.text, text.text_loads, callee, hand);
  StringRef known;
  std::optional<std::vector<FormatConversion>> conversions;
  if (format < call.arg_size() && getConstantStringInfo(call.getArgOperand(format), known))
    conversions = scanf_conversions(known);
  for (unsigned i = format + 1; i < call.arg_size(); ++i) {
    const bool is_known = conversions && !text.list && i - format - 1 < conversions->size();
    const std::uint64_t size = is_known ? (*conversions)[i - format - 1].size : kNoEnd;
    const std::optional<Pointer> target = pointer(call.getArgOperand(i));
    if (!target)
      continue;
    take_memory(call.getArgOperand(i), size, hand);
    if (!text.list)
      continue;
    for (const std::int64_t area : {kAddress, 2 * kAddress}) {
      const FlowNode at = flow_.add_node();
      const FlowNode arguments = flow_.add_node();
      const FlowNode targets = flow_.add_node();
      flow_.shift(target->flow, area, at);
      flow_.load(at, arguments);
      flow_.load(arguments, targets);
      flow_.take_bytes(targets, kNoEnd, hand);
    }
  }
}

// A number that the function makes of its arguments or reads from bytes.
void PointsToGraph::return_number(const CallBase &call, const CatalogueEntry &known,
                                  const Function &callee) {
  const std::optional<FlowNode> result = number(&call);
  if (!result || call.getType()->isPointerTy())
    return;
  const auto from = [&](const PointerSource &source) {
    if (source.value == PointerValue::loaded) {
      const FlowNode read = flow_.add_node(ObjectFlow::Take::as_pointer);
      give_bytes(call, source.of, 0, callee, read);
      flow_.copy(read, *result);
    } else if (source.value == PointerValue::same && source.of >= 0 &&
               static_cast<unsigned>(source.of) < call.arg_size())
      hide_number(call.getArgOperand(static_cast<unsigned>(source.of)), *result);
    else if (source.value == PointerValue::anything)
      flow_.copy(channel_, *result);
  };
  from(known.returns);
  for (const PointerSource &source : known.returns_also)
    from(source);
  if (known.effect == ExternalEffect::pure || known.returns.value == PointerValue::anything)
    for (const Value *argument : call.args())
      if (!argument->getType()->isPointerTy())
        hide_number(argument, *result);
}

void PointsToGraph::add_number_external(const CallBase &call, const CatalogueEntry &known,
                                        const Function &callee) {
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const Value *argument = call.getArgOperand(i);
    if (known.captures.contains(i) && !argument->getType()->isPointerTy())
      hide_number(argument, channel_);
  }
  for (const CopiedMemory &copied : known.copies) {
    if (!is_bytes(copied))
      continue;
    const FlowNode hand = flow_.add_node();
    give_bytes(call, copied.from, copied.from_loads, callee, hand);
    take_bytes(call, copied.to, copied.to_loads, callee, hand);
  }
  for (const StoredPointer &stored : known.stores) {
    const bool is_argument = stored.what.value == PointerValue::same && stored.what.of >= 0 &&
                             static_cast<unsigned>(stored.what.of) < call.arg_size();
    const Value *argument =
        is_argument ? call.getArgOperand(static_cast<unsigned>(stored.what.of)) : nullptr;
    if (argument == nullptr || (argument->getType()->isPointerTy() && stored.to != kChannel))
      continue;
    const FlowNode hand = flow_.add_node();
    hide_number(argument, hand);
    take_bytes(call, stored.to, 0, callee, hand);
  }
  for (const FormattedText &text : known.prints)
    print_number(call, text, callee);
  for (const FormattedText &text : known.scans)
    scan_number(call, text, callee);
  return_number(call, known, callee);
}

} // namespace tandem
