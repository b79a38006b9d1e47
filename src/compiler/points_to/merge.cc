// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects that the flow of objects does not tell apart.
#include "compiler/points_to/solver.h"
#include "compiler/sections/called_function.h"

#include <map>
#include <tuple>

namespace tandem {

using namespace llvm;

namespace {

// Objects of one kind and size in one node before they count as one. Sets of such objects grow with
// the program, and with them the time: a program whose common code gets the objects of m modules
// takes m times m steps for each of its pointers.
constexpr std::size_t kMostAlike = 32;

// What objects that are not told apart have in common.
using Likeness = std::tuple<int, std::uint64_t, const Function *, bool, bool, bool>;

// What a call allocates, in bytes; 0 where that is not known.
std::uint64_t allocated_by(const CallBase &call) {
  std::uint64_t size = 1;
  for (const Value *argument : call.args())
    if (const auto *constant = dyn_cast<ConstantInt>(argument); constant == nullptr)
      return 0;
    else
      size *= constant->getZExtValue();
  return size;
}

std::optional<Likeness> likeness(const Value &label, const DataLayout &layout) {
  if (const auto *global = dyn_cast<GlobalVariable>(&label))
    return Likeness{0,
                    layout.getTypeAllocSize(global->getValueType()).getFixedValue(),
                    nullptr,
                    global->isConstant(),
                    global->isThreadLocal(),
                    global->isDeclaration()};
  if (const auto *call = dyn_cast<CallBase>(&label))
    return Likeness{1, allocated_by(*call), called_function(*call), false, false, false};
  if (const auto *alloca = dyn_cast<AllocaInst>(&label)) {
    const std::optional<TypeSize> size = alloca->getAllocationSize(layout);
    return Likeness{2, size ? size->getFixedValue() : 0, nullptr, false, false, false};
  }
  return std::nullopt;
}

} // namespace

// After the graph is complete: objects of one node, which pointers that may be equal lead to.
void PointsToGraph::unite_objects() {
  for (NodeId root = 0; root < graph_.size(); ++root) {
    if (graph_.objects(root).size() <= kMostAlike || graph_.find({root, 0}).node != root)
      continue;
    std::map<Likeness, std::vector<const Value *>> alike;
    for (const Value *label : graph_.objects(root))
      if (const std::optional<Likeness> one = likeness(*label, layout_))
        alike[*one].push_back(label);
    for (auto &[one, labels] : alike)
      if (labels.size() > kMostAlike)
        flow_.unite(labels);
  }
}

} // namespace tandem
