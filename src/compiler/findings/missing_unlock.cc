// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// missing-unlock: a function releases a lock on some ways to its end and not on others, and its
// callers do not know which: lock wrappers are part of their callers here (sections/unwrap.h), so
// none is left that could.
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/sections/access_path.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"

#include <fmt/format.h>

#include <set>

namespace tandem {
namespace {

using namespace llvm;

// Where a path that holds the lock leaves the ways that release it: the place of the last line that
// it runs and no other way does, as far as debug information tells; the return itself else.
const Instruction *way_out(const Section &section) {
  const DenseSet<const Instruction *> body(section.body.begin(), section.body.end());
  const Instruction *exit = nullptr;
  for (const Instruction *instruction : section.body)
    if (isa<ReturnInst>(instruction))
      exit = instruction;
  if (exit == nullptr)
    return nullptr;
  // Ways meet in the return's block: the one that comes from within the region says more.
  for (const BasicBlock *before : predecessors(exit->getParent())) {
    const Instruction *last = before->getTerminator();
    if (body.contains(last) && last->getDebugLoc())
      return last;
  }
  return exit;
}

std::string last_name(const std::string &path) {
  const std::size_t end = path.find_last_of(".>*");
  return end == std::string::npos ? path : path.substr(end + 1);
}

// Last names of the locks that some function releases without having acquired them: those that the
// program hands on, and of which a function may keep one.
std::set<std::string> handed_on(const AnalysisView &view) {
  DenseSet<const CallBase *> ends;
  for (const Section &section : view.sections) {
    ends.insert(section.exits.begin(), section.exits.end());
    ends.insert(section.partial.begin(), section.partial.end());
  }
  std::set<std::string> names;
  for (const Function &function : view.module)
    if (!function.isDeclaration() && !view.locks.is_wrapper(function))
      for (const LockSite *site : view.locks.sites(function))
        if (site->operation == LockOperation::unlock && !site->guard && !site->empty &&
            !ends.contains(site->call))
          for (const std::string &lock : site->locks)
            names.insert(last_name(lock));
  return names;
}

// Of a function that was put into its caller the text is its own.
Place own_place(const Instruction &instruction) {
  const DILocation *own = instruction.getDebugLoc().get();
  return own == nullptr ? place_of(instruction) : Place{own->getFilename().str(), own->getLine()};
}

} // namespace

void find_missing_unlocks(const AnalysisView &view, Findings &findings) {
  const std::set<std::string> handed = handed_on(view);
  for (const Section &section : view.sections) {
    if (section.kind != SectionKind::lock_region || section.shape != RegionShape::escapes ||
        section.exits.empty() || section.entry.operation != LockOperation::lock ||
        handed.contains(last_name(section.entry.locks.front())))
      continue;
    // A lock that the function returns by design is released by someone else: a caller that has
    // it as an argument, or a function that the program runs by pointer.
    if (!section.function->getReturnType()->isVoidTy() &&
        section.function->getReturnType()->isPointerTy() && section.function->hasNUsesOrMore(1) &&
        !section.function->hasAddressTaken())
      continue;
    const Instruction *out = way_out(section);
    if (out == nullptr)
      continue;
    std::string name = source_name(*section.function);
    if (const DILocation *own = section.entry.call->getDebugLoc().get(); own != nullptr)
      if (const DISubprogram *function = own->getScope()->getSubprogram(); function != nullptr)
        name = function->getName().str();
    ReportFinding finding =
        finding_at("missing-unlock", own_place(*section.entry.call),
                   fmt::format("'{}' is acquired here, and '{}' may return without releasing it",
                               section.entry.locks.front(), name));
    finding.notes.push_back(note_at(own_place(*out), "it is still held on this way to the end"));
    finding.notes.push_back(
        note_at(own_place(*section.exits.front()), "it is released here on another way"));
    findings.push_back(std::move(finding));
  }
}

} // namespace tandem
