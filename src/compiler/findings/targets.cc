// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/targets.h"

#include "compiler/report/program_terms.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"

#include <fmt/format.h>

#include <set>

namespace tandem {

using namespace llvm;

bool takes_signal(const Function &function) {
  const auto is_pointer = [&](unsigned argument) {
    return function.getArg(argument)->getType()->isPointerTy();
  };
  return takes_address_of(function) && function.getReturnType()->isVoidTy() &&
         (function.arg_size() == 0 ||
          ((function.arg_size() == 1 ||
            (function.arg_size() == 3 && is_pointer(1) && is_pointer(2))) &&
           function.getArg(0)->getType()->isIntegerTy(32)));
}

std::vector<std::string> thread_functions(const Function &entry,
                                          const PointsToAnalysis &points_to) {
  std::set<std::string> names;
  SetVector<const Function *> inside;
  const auto add = [&](const Function &function) {
    if (!is_library_function(function) && !is_of_cxx_library(source_name(function)))
      names.insert(shown_name(function));
    else if (!function.isDeclaration())
      inside.insert(&function);
  };
  add(entry);
  for (unsigned i = 0; i < inside.size(); ++i)
    for (const Instruction &instruction : instructions(*inside[i]))
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        for (const Function *target : likely_targets(*call, points_to))
          add(*target);
  if (names.empty())
    names.insert(shown_name(entry));
  return {names.begin(), names.end()};
}

std::string thread_name(const Function &entry, const PointsToAnalysis &points_to) {
  const std::vector<std::string> names = thread_functions(entry, points_to);
  return names.size() > 2 ? fmt::format("one of {} functions", names.size())
                          : fmt::format("'{}'", fmt::join(names, "' or '"));
}

} // namespace tandem
