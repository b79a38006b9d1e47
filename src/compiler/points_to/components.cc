// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/points_to/components.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <utility>

namespace tandem {

using namespace llvm;

namespace {

// Tarjan's algorithm, without recursion.
class Components {
public:
  Components(const Module &module, CallTargets targets) {
    for (const Function &function : module) {
      if (function.isDeclaration())
        continue;
      auto &out = callees_[&function];
      for (const BasicBlock &block : function)
        for (const Instruction &instruction : block)
          if (const auto *call = dyn_cast<CallBase>(&instruction))
            for (const Function *target : targets(*call))
              out.push_back(target);
    }
    for (const Function &function : module)
      if (!function.isDeclaration() && !index_.contains(&function))
        visit(&function);
  }

  std::vector<std::vector<const Function *>> take() { return std::move(components_); }

private:
  void open(const Function *function) {
    index_[function] = low_[function] = next_++;
    stack_.push_back(function);
    on_stack_.insert(function);
  }

  void visit(const Function *start) {
    std::vector<std::pair<const Function *, std::size_t>> work;
    open(start);
    work.emplace_back(start, 0);
    while (!work.empty()) {
      const Function *function = work.back().first;
      const auto &out = callees_[function];
      if (work.back().second < out.size()) {
        const Function *callee = out[work.back().second++];
        if (!index_.contains(callee)) {
          open(callee);
          work.emplace_back(callee, 0);
        } else if (on_stack_.contains(callee)) {
          low_[function] = std::min(low_[function], index_[callee]);
        }
        continue;
      }
      work.pop_back();
      if (!work.empty())
        low_[work.back().first] = std::min(low_[work.back().first], low_[function]);
      if (low_[function] == index_[function])
        close(function);
    }
  }

  void close(const Function *root) {
    std::vector<const Function *> component;
    const Function *member = nullptr;
    do {
      member = stack_.back();
      stack_.pop_back();
      on_stack_.erase(member);
      component.push_back(member);
    } while (member != root);
    components_.push_back(std::move(component));
  }

  DenseMap<const Function *, SmallVector<const Function *, 4>> callees_;
  DenseMap<const Function *, std::uint32_t> index_;
  DenseMap<const Function *, std::uint32_t> low_;
  DenseSet<const Function *> on_stack_;
  std::vector<const Function *> stack_;
  std::vector<std::vector<const Function *>> components_;
  std::uint32_t next_ = 0;
};

} // namespace

std::vector<std::vector<const Function *>> components(const Module &module, CallTargets targets) {
  return Components(module, targets).take();
}

} // namespace tandem
