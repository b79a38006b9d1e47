// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/lambdas.h"

#include "compiler/sections/called_function.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"

namespace tandem {
namespace {

using namespace llvm;

// The lambda's body: the only function without a name of its own that `run` calls.
const DISubprogram *called_body(const Function &run) {
  for (const Instruction &instruction : instructions(run))
    if (const auto *call = dyn_cast<CallBase>(&instruction))
      if (const Function *callee = called_function(*call))
        if (const DISubprogram *program = callee->getSubprogram();
            program != nullptr && program->getName() == "operator()")
          return program;
  return nullptr;
}

} // namespace

Section section_of_lambda(Function &run, bool optimised) {
  Section section;
  section.kind = SectionKind::lambda;
  section.function = &run;
  section.optimised = optimised;
  section.named_after = &run;
  const CallBase *first = nullptr;
  for (const User *user : run.users())
    if (const auto *call = dyn_cast<CallBase>(user);
        call != nullptr && called_function(*call) == &run)
      first = call; // users stand in reverse order
  if (first != nullptr)
    section.named_after = first->getFunction();
  if (const DISubprogram *body = called_body(run)) {
    section.file = body->getFilename().str();
    section.line = body->getLine();
  } else if (first != nullptr && first->getDebugLoc()) {
    section.file = cast<DIScope>(first->getDebugLoc().getScope())->getFilename().str();
    section.line = first->getDebugLoc().getLine();
  }
  return section;
}

} // namespace tandem
