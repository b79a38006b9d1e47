// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/enforce.h"

#include "base/doing.h"
#include "compiler/sections/told.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"

namespace tandem {
namespace {

using namespace llvm;

FunctionCallee lock_call(Module &module, StringRef name) {
  LLVMContext &context = module.getContext();
  FunctionCallee callee = module.getOrInsertFunction(
      name, FunctionType::get(Type::getVoidTy(context), {PointerType::getUnqual(context)}, false));
  if (auto *declared = dyn_cast<Function>(callee.getCallee()))
    declared->setDoesNotThrow();
  return callee;
}

void replace_marker(CallBase &marker, StringRef name, Constant *descriptor) {
  IRBuilder<> builder(&marker);
  builder.CreateCall(lock_call(*marker.getModule(), name), {descriptor});
  if (!marker.getType()->isVoidTy())
    marker.replaceAllUsesWith(Constant::getNullValue(marker.getType()));
  marker.eraseFromParent();
}

void bracket_block(const Section &block, const BracketCalls &calls, Constant *descriptor) {
  replace_marker(*const_cast<CallBase *>(block.entry.call), calls.enter, descriptor);
  for (const CallBase *leave : block.exits)
    replace_marker(*const_cast<CallBase *>(leave), calls.leave, descriptor);
}

} // namespace

void bracket_function(Function &function, const BracketCalls &calls, Constant *descriptor) {
  Module &module = *function.getParent();
  // An exception that no handler here takes must still pass the leave.
  for (BasicBlock &block : function)
    if (LandingPadInst *pad = block.getLandingPadInst())
      pad->setCleanup(true);
  // Leave first: what follows in the entry block must not be found as an exit.
  EscapeEnumerator exits(function, "tandem.leave", /*HandleExceptions=*/!function.doesNotThrow());
  while (IRBuilder<> *at = exits.Next())
    at->CreateCall(lock_call(module, calls.leave), {descriptor});
  IRBuilder<> entry(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  if (DISubprogram *program = function.getSubprogram())
    entry.SetCurrentDebugLocation(
        DILocation::get(module.getContext(), program->getLine(), 0, program));
  entry.CreateCall(lock_call(module, calls.enter), {descriptor});
  function.removeFnAttr(Attribute::Memory);
  function.removeFnAttr(Attribute::NoSync);
  function.removeFnAttr(Attribute::WillReturn);
}

void enforce_by_brackets(const std::vector<Section> &sections, const BracketCalls &calls,
                         llvm::function_ref<bool(std::size_t)> needed, Descriptors &descriptors) {
  // Blocks first: bracketing a function makes invokes of its calls, markers perhaps among them.
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (sections[i].kind == SectionKind::block && needed(i)) {
      const Doing what(told("enforcing", sections[i]));
      bracket_block(sections[i], calls, descriptors.of(i));
    }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].kind != SectionKind::function && sections[i].kind != SectionKind::lambda)
      continue;
    const Doing what(told("enforcing", sections[i]));
    Function &function = *sections[i].function;
    if (needed(i))
      bracket_function(function, calls, descriptors.of(i));
    // The mark kept the function whole until here; now it may be inlined like any other.
    if (!function.hasOptNone())
      function.removeFnAttr(Attribute::NoInline);
  }
}

} // namespace tandem
