// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/enforce.h"

#include "compiler/enforce/blocks.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace tandem {
namespace {

// A callee that a section ends with runs inside the section: leaving comes after it, so the call
// cannot be the last thing that the function does.
void end_tail_calls(llvm::Function &section) {
  for (llvm::Instruction &instruction : llvm::instructions(section))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isMustTailCall())
      call->setTailCallKind(llvm::CallInst::TCK_None);
}

} // namespace

Result<bool> enforce(llvm::Module &module, std::vector<Section> sections, const Report &report,
                     Enforcement mode, const Catalogue &catalogue) {
  CHECK(sections.size() == report.sections.size());
  if (mode != Enforcement::none)
    for (const Section &section : sections)
      if (section.kind != SectionKind::lock_region)
        end_tail_calls(*section.function);
  switch (mode) {
  case Enforcement::none:
    return remove_block_markers(module);
  case Enforcement::global_lock: {
    Descriptors descriptors(module, report);
    enforce_by_global_lock(sections, descriptors);
    remove_block_markers(module); // of blocks that nothing enters
    return true;
  }
  case Enforcement::stm:
    if (Status outlined = outline_blocks(sections); !outlined)
      return outlined.error();
    remove_block_markers(module);
    enforce_by_stm(module, sections, report, catalogue);
    return true;
  case Enforcement::locks:
  case Enforcement::hybrid:
  case Enforcement::htm:
    break;
  }
  CHECK(false, "enforcement {} is not built", to_string(mode));
}

} // namespace tandem
