// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/place.h"

#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/unwrap.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <fmt/format.h>

namespace tandem {
namespace {

using namespace llvm;

// Longer computations are taken for different.
constexpr unsigned kMaxDepth = 12;

bool same(const Value *a, const Value *b, unsigned depth) {
  if (a == b)
    return true;
  const auto *left = dyn_cast<Instruction>(a);
  const auto *right = dyn_cast<Instruction>(b);
  if (left == nullptr || right == nullptr || depth == 0 || isa<CallBase>(left) ||
      isa<PHINode>(left) || isa<AllocaInst>(left) || left->isAtomic() ||
      !left->isSameOperationAs(right))
    return false;
  for (unsigned i = 0; i < left->getNumOperands(); ++i)
    if (!same(left->getOperand(i), right->getOperand(i), depth - 1))
      return false;
  return true;
}

bool changes(const StoreInst &store, const Value *value, unsigned depth) {
  const auto *instruction = dyn_cast<Instruction>(value);
  if (instruction == nullptr || depth == 0)
    return false;
  if (const auto *load = dyn_cast<LoadInst>(instruction))
    if (same(load->getPointerOperand(), store.getPointerOperand(), kMaxDepth))
      return true;
  return any_of(instruction->operands(),
                [&](const Use &operand) { return changes(store, operand.get(), depth - 1); });
}

} // namespace

std::string Place::print() const { return fmt::format("{}:{}", file, line); }

Place place_of(const Instruction &instruction) {
  // A lock operation is where the program calls the wrapper that it came from.
  const auto *call = dyn_cast<CallBase>(&instruction);
  const Function *callee = call == nullptr ? nullptr : called_function(*call);
  if (callee != nullptr && lock_function(*callee))
    if (const DILocation *location = operation_place(instruction))
      return {location->getFilename().str(), location->getLine()};
  if (const DebugLoc &location = instruction.getDebugLoc())
    return {cast<DIScope>(location.getScope())->getFilename().str(), location.getLine()};
  if (const DISubprogram *program = instruction.getFunction()->getSubprogram())
    return {program->getFilename().str(), program->getLine()};
  return {};
}

Place parse_place(const std::string &text) {
  const std::size_t colon = text.rfind(':');
  unsigned line = 0;
  if (colon == std::string::npos || StringRef(text).substr(colon + 1).getAsInteger(10, line))
    return {text, 0};
  return {text.substr(0, colon), line};
}

ReportFinding finding_at(std::string rule, const Place &place, std::string message) {
  ReportFinding finding;
  finding.rule = std::move(rule);
  finding.file = place.file;
  finding.line = place.line;
  finding.message = std::move(message);
  return finding;
}

ReportNote note_at(const Place &place, std::string message) {
  return ReportNote{place.file, place.line, std::move(message)};
}

const StoreInst *only_store(const Value &variable) {
  const StoreInst *only = nullptr;
  for (const User *user : variable.users())
    if (const auto *store = dyn_cast<StoreInst>(user)) {
      if (only != nullptr)
        return nullptr;
      only = store;
    }
  return only;
}

bool same_computation(const Value &a, const Value &b) { return same(&a, &b, kMaxDepth); }

bool may_change(const StoreInst &store, const Value &value) {
  return changes(store, &value, kMaxDepth);
}

} // namespace tandem
