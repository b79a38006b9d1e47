// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/enforce.h"

#include "compiler/enforce/blocks.h"
#include "compiler/report/program_terms.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tandem {
namespace {

// A callee that a section ends with runs inside the section: leaving comes after it, so the call
// cannot be the last thing that the function does.
void end_tail_calls(llvm::Function &section) {
  for (llvm::Instruction &instruction : llvm::instructions(section))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isMustTailCall())
      call->setTailCallKind(llvm::CallInst::TCK_None);
}

// What every execution of the section does that cannot be undone, with the calls that lead there;
// empty: nothing. What only some do is left to them: they can be cancelled up to it.
std::string irrevocable_action(const ReportSection &section) {
  if (section.irrevocable_at != IrrevocableAt::begin || section.irrevocable.empty())
    return "";
  return print_chain(in_program_terms(section.irrevocable.front()), " → ");
}

// A coroutine returns to its caller in its middle and goes on later, perhaps in another thread:
// what brackets one execution of a function brackets no section of it.
Status check_coroutine(const Section &section) {
  const auto suspends = [](const llvm::Instruction *instruction) {
    const auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(instruction);
    return intrinsic != nullptr && intrinsic->getIntrinsicID() == llvm::Intrinsic::coro_suspend;
  };
  if (section.kind == SectionKind::block ? llvm::any_of(section.body, suspends)
                                         : section.function->isPresplitCoroutine())
    return Error{
        fmt::format("{}:{}: atomic section '{}' is left and entered again where the "
                    "coroutine is suspended; mark functions or blocks that suspend nowhere",
                    section.file, section.line, section.name)};
  return Unit();
}

} // namespace

Result<bool> enforce(llvm::Module &module, std::vector<Section> sections, Report &report,
                     const Cancels &cancels, Enforcement mode, const Catalogue &catalogue,
                     const HowTransactions &how) {
  CHECK(how.phases == PhaseKind::none || mode == Enforcement::hybrid);
  CHECK(sections.size() == report.sections.size() && sections.size() == cancels.size());
  if (mode != Enforcement::none)
    for (std::size_t i = 0; i < sections.size(); ++i)
      if (!cancels[i].empty()) {
        CHECK(how.phases == PhaseKind::none);
        if (Status checked =
                check_cancel(sections[i], cancels[i], irrevocable_action(report.sections[i]), mode);
            !checked)
          return checked.error();
      }
  if (mode != Enforcement::none)
    for (const Section &section : sections)
      if (section.kind != SectionKind::lock_region) {
        if (Status checked = check_coroutine(section); !checked)
          return checked.error();
        end_tail_calls(*section.function);
      }
  Descriptors descriptors(module, report, cancels, mode);
  switch (mode) {
  case Enforcement::none:
    return remove_block_markers(module);
  case Enforcement::global_lock:
    enforce_by_brackets(sections, kGlobalLock, [](std::size_t) { return true; }, descriptors);
    remove_block_markers(module); // of blocks that nothing enters
    return true;
  case Enforcement::locks:
    // A section that conflicts with none, itself included, excludes no one.
    enforce_by_brackets(
        sections, kColours, [&](std::size_t i) { return !report.sections[i].colours.empty(); },
        descriptors);
    remove_block_markers(module);
    return true;
  case Enforcement::stm:
  case Enforcement::hybrid:
  case Enforcement::htm:
    if (Status outlined = outline_blocks(sections, cancels); !outlined)
      return outlined.error();
    remove_block_markers(module);
    report.instrumentation =
        enforce_by_transactions(module, sections, report, cancels, catalogue, descriptors, how);
    return true;
  }
  CHECK(false, "enforcement {}", static_cast<int>(mode));
}

} // namespace tandem
