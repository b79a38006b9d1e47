// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem rewrite`: a program with marked sections as C that stock gcc compiles to the same
// behaviour, in the manner of LockSTM's figures 4 (locks) and 5 (locks and transactions).
#pragma once

#include "base/result.h"
#include "compiler/catalogue/catalogue.h"
#include "compiler/report/report.h"
#include "compiler/rewrite/gcc.h"
#include "compiler/rewrite/parse.h"
#include "compiler/rewrite/plan.h"

#include <optional>
#include <string>
#include <vector>

namespace tandem::rewrite {

struct RewriteRequest {
  std::vector<ParseRequest> sources;
  Mode mode = Mode::hybrid;
};

// What became of a section.
struct RewrittenSection {
  std::string name;
  SectionKind kind = SectionKind::function;
  std::string file;
  unsigned line = 0;
  SectionClass analysed = SectionClass::pure; // by the analysis
  SectionClass klass = SectionClass::pure;    // in the rewritten program
  Guard guard;
  bool nested_only = false;       // it runs inside of other sections only, and has no guard
  std::optional<Refusal> refusal; // where gcc makes it non-revocable
};

struct Rewriting {
  Mode mode = Mode::hybrid;
  std::vector<std::string> texts;         // one for each source
  std::vector<RewrittenSection> sections; // functions and blocks, in the order of the report
  // Lock regions that share memory with a section: the two do not exclude each other.
  std::vector<std::pair<std::string, std::string>> unordered; // section, region
  // Sections that share memory with code outside of the sources: from sections there nothing keeps
  // them apart.
  std::vector<std::string> outside;
};

// `report` is what the analysis says of the same sources. Error: something that cannot be
// rewritten, with its place; in mode stm, a section that must not be rolled back.
Result<Rewriting> rewrite(const RewriteRequest &request, const Report &report,
                          const Catalogue &catalogue);

// As JSON (docs/rewrite.md).
std::string to_json(const Rewriting &rewriting, const std::vector<std::string> &sources);

} // namespace tandem::rewrite
