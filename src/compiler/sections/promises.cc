// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/promises.h"

#include "compiler/sections/annotations.h"

#include "llvm/IR/Module.h"

namespace tandem {
namespace {

constexpr llvm::StringLiteral kPure = "tandem-transaction-pure";
constexpr llvm::StringLiteral kUnsafe = "tandem-transaction-unsafe";

} // namespace

void read_promises(llvm::Module &module) {
  for_each_annotation(module, [](llvm::Function &function, llvm::StringRef text) {
    if (text == kPureAnnotation)
      function.addFnAttr(kPure);
    else if (text == kUnsafeAnnotation)
      function.addFnAttr(kUnsafe);
  });
}

void drop_promises(llvm::Function &function) {
  function.removeFnAttr(kPure);
  function.removeFnAttr(kUnsafe);
}

bool is_pure(const llvm::Function &function) { return function.hasFnAttribute(kPure); }

bool is_unsafe(const llvm::Function &function) { return function.hasFnAttribute(kUnsafe); }

} // namespace tandem
