// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/blocks.h"

#include "base/doing.h"
#include "compiler/enforce/outline.h"
#include "compiler/sections/blocks.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/told.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

#include <algorithm>

namespace tandem {

using namespace llvm;

Status outline_blocks(std::vector<Section> &sections, const Cancels &cancels) {
  std::vector<Section *> blocks;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].kind != SectionKind::block)
      continue;
    blocks.push_back(&sections[i]);
    if (!cancels[i].empty())
      if (Status opened = open_way_past(sections[i]); !opened)
        return opened;
  }
  // A block that lies in another has the smaller body.
  std::sort(blocks.begin(), blocks.end(),
            [](const Section *a, const Section *b) { return a->body.size() < b->body.size(); });
  for (Section *block : blocks) {
    const Doing what(told("outlining", *block));
    Result<Function *> outlined = outline_block(*block);
    if (!outlined)
      return outlined.error();
    block->function = *outlined;
  }
  return Unit();
}

bool remove_block_markers(Module &module) {
  std::vector<CallBase *> calls;
  for (Function &function : module)
    if (is_block_marker(function))
      for (User *user : function.users())
        if (auto *call = dyn_cast<CallBase>(user); call && called_function(*call) == &function)
          calls.push_back(call);
  for (CallBase *call : calls) {
    if (!call->getType()->isVoidTy())
      call->replaceAllUsesWith(Constant::getNullValue(call->getType()));
    call->eraseFromParent();
  }
  return !calls.empty();
}

} // namespace tandem
