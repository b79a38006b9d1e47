// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/targets.h"

namespace tandem {

using namespace llvm;

bool takes_signal(const Function &function) {
  const auto is_pointer = [&](unsigned argument) {
    return function.getArg(argument)->getType()->isPointerTy();
  };
  return function.hasAddressTaken() && function.getReturnType()->isVoidTy() &&
         (function.arg_size() == 0 ||
          ((function.arg_size() == 1 ||
            (function.arg_size() == 3 && is_pointer(1) && is_pointer(2))) &&
           function.getArg(0)->getType()->isIntegerTy(32)));
}

} // namespace tandem
