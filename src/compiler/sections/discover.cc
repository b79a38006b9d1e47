// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/access_path.h"
#include "compiler/sections/annotations.h"
#include "compiler/sections/blocks.h"
#include "compiler/sections/lambdas.h"
#include "compiler/sections/regions.h"
#include "compiler/sections/section.h"
#include "compiler/sections/unwrap.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace tandem {
namespace {

using namespace llvm;

struct Mark {
  bool lambda = false;
  bool optimised = false;
  bool strict = false;
};

MapVector<Function *, Mark> marked_functions(Module &module) {
  MapVector<Function *, Mark> marked;
  for_each_annotation(module, [&](Function &function, StringRef mark) {
    const bool lambda = mark == kLambdaAnnotation || mark == kOptimisedLambdaAnnotation;
    const bool optimised = mark == kOptimisedAnnotation || mark == kOptimisedLambdaAnnotation;
    const bool strict = mark == kStrictAnnotation;
    if (function.isDeclaration() || (!lambda && !optimised && !strict && mark != kAtomicAnnotation))
      return;
    marked[&function].strict |= strict;
    marked[&function].lambda |= lambda;
    marked[&function].optimised |= optimised;
  });
  return marked;
}

Section section_of_function(Function &function, bool optimised) {
  Section section;
  section.optimised = optimised;
  section.kind = SectionKind::function;
  section.function = &function;
  if (const DISubprogram *program = function.getSubprogram()) {
    section.file = program->getFilename().str();
    section.line = program->getLine();
  }
  return section;
}

// The section is where `call` is.
void set_place(Section &section, const CallBase &call) {
  if (const DILocation *location = operation_place(call)) {
    section.file = location->getFilename().str();
    section.line = location->getLine();
  } else if (const DISubprogram *program = call.getFunction()->getSubprogram()) {
    section.file = program->getFilename().str();
  }
}

Section section_of_region(Region region) {
  Section section;
  section.kind = SectionKind::lock_region;
  section.function = const_cast<Function *>(region.entry.call->getFunction());
  set_place(section, *region.entry.call);
  section.entry = std::move(region.entry);
  section.exits = std::move(region.exits);
  section.partial = std::move(region.partial);
  section.body = std::move(region.body);
  section.shape = region.shape;
  section.doubt = std::move(region.doubt);
  return section;
}

StringRef file_name(const std::string &path) {
  const StringRef text(path);
  return text.substr(text.rfind('/') + 1); // npos + 1 == 0: the whole text
}

// By file and line; sections of one line stay in the module's order.
void sort_by_place(std::vector<Section> &sections) {
  std::vector<std::size_t> order(sections.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(sections[a].file, sections[a].line, a) <
           std::tie(sections[b].file, sections[b].line, b);
  });
  std::vector<Section> sorted;
  for (const std::size_t index : order)
    sorted.push_back(std::move(sections[index]));
  sections = std::move(sorted);
}

// Gives every section its unique name: the function's, with `_N` for the N-th inside it, and the
// file in front where two functions of the program have the same name.
void name_sections(std::vector<Section> &sections, const Module &module) {
  std::map<std::string, unsigned> functions_called;
  for (const Function &function : module)
    if (!function.isDeclaration())
      ++functions_called[source_name(function)];
  std::map<std::string, unsigned> taken;
  std::map<const Function *, unsigned> regions;
  for (Section &section : sections) {
    const Function *around =
        section.named_after == nullptr ? section.function : section.named_after;
    std::string name = source_name(*around);
    if (functions_called[name] > 1)
      name = (file_name(section.file) + ":" + name).str();
    if (section.kind != SectionKind::function)
      name += "_" + std::to_string(++regions[around]);
    // Two files of one name in different folders, or a function that is called like a region.
    while (++taken[name] > 1)
      name += "." + std::to_string(taken[name]);
    section.name = std::move(name);
  }
}

} // namespace

std::vector<Section> discover_sections(Module &module, Changes *changes) {
  std::vector<Section> sections;
  for (const auto &[function, mark] : marked_functions(module)) {
    sections.push_back(mark.lambda ? section_of_lambda(*function, mark.optimised)
                                   : section_of_function(*function, mark.optimised));
    sections.back().strict = mark.strict;
  }
  for (Section &block : find_blocks(module)) {
    set_place(block, *block.entry.call);
    sections.push_back(std::move(block));
  }
  const LockCalls calls(module);
  for (Region &region : find_regions(module, calls, find_foreign_releases(module, calls), changes))
    sections.push_back(section_of_region(std::move(region)));
  sort_by_place(sections);
  name_sections(sections, module);
  return sections;
}

} // namespace tandem
