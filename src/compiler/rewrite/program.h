// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sources as one program: who calls whom, and what runs inside of sections, outside, or both.
#pragma once

#include "base/result.h"
#include "compiler/rewrite/model.h"

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace tandem::rewrite {

struct FunctionId {
  std::size_t source = 0;
  std::size_t function = 0;
  auto operator<=>(const FunctionId &) const = default;
};

// A section: a function, or a block of it.
struct SectionId {
  FunctionId function;
  int block = kNoBlock;
  auto operator<=>(const SectionId &) const = default;
};

class Program {
public:
  explicit Program(std::vector<Source> sources);

  [[nodiscard]] const std::vector<Source> &sources() const { return sources_; }
  [[nodiscard]] const Function &at(FunctionId id) const {
    return sources_[id.source].functions[id.function];
  }
  [[nodiscard]] const Source &source_of(FunctionId id) const { return sources_[id.source]; }
  [[nodiscard]] std::optional<FunctionId> find(const std::string &key) const;
  // A source defines main: nothing outside of the sources calls into them but through pointers.
  [[nodiscard]] bool whole() const { return by_key_.contains("main"); }
  // Whether code knows the function's address.
  [[nodiscard]] bool addressed(const std::string &key) const { return addressed_.contains(key); }
  [[nodiscard]] std::vector<FunctionId> functions() const;
  // A block in another section of its function.
  [[nodiscard]] bool nested(const SectionId &id) const;
  // In the order of the sources; a function before its blocks.
  [[nodiscard]] std::vector<SectionId> sections() const;

private:
  std::vector<Source> sources_;
  std::map<std::string, FunctionId> by_key_;
  std::set<std::string> addressed_;
};

// Where a function runs, and what follows from it. `guards`: it acquires something, itself or
// through what it calls, where it does not run inside of a section.
struct Context {
  bool outside = false;
  bool inside = false;
  bool guards = false;
  // Two versions of it are needed: sections are not nested, so what runs inside of one must not
  // acquire anything.
  [[nodiscard]] bool twofold() const { return guards && outside && inside; }
  [[nodiscard]] bool bare() const { return guards && inside && !outside; }
};

// `guarded` tells for a section whether anything guards it. Error: a call in a section that cannot
// be led to the version without guards, with its place.
Result<std::map<FunctionId, Context>>
contexts_of(const Program &program, const std::function<bool(const SectionId &)> &guarded);

} // namespace tandem::rewrite
