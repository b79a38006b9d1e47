// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/program.h"

#include <fmt/format.h>

namespace tandem::rewrite {

Program::Program(std::vector<Source> sources) : sources_(std::move(sources)) {
  for (std::size_t source = 0; source < sources_.size(); ++source) {
    for (std::size_t index = 0; index < sources_[source].functions.size(); ++index)
      by_key_.try_emplace(sources_[source].functions[index].key, FunctionId{source, index});
    for (const Reference &reference : sources_[source].references)
      addressed_.insert(reference.callee);
  }
}

std::optional<FunctionId> Program::find(const std::string &key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<FunctionId> Program::functions() const {
  std::vector<FunctionId> all;
  for (std::size_t source = 0; source < sources_.size(); ++source)
    for (std::size_t index = 0; index < sources_[source].functions.size(); ++index)
      all.push_back({source, index});
  return all;
}

bool Program::nested(const SectionId &id) const {
  const Function &function = at(id.function);
  return id.block != kNoBlock && (function.section || function.blocks[id.block].parent != kNoBlock);
}

std::vector<SectionId> Program::sections() const {
  std::vector<SectionId> all;
  for (const FunctionId id : functions()) {
    if (at(id).section)
      all.push_back({id, kNoBlock});
    for (int block = 0; block < static_cast<int>(at(id).blocks.size()); ++block)
      all.push_back({id, block});
  }
  return all;
}

namespace {

class Finder {
public:
  Finder(const Program &program, const std::function<bool(const SectionId &)> &guarded)
      : program_(program), guarded_(guarded) {}

  Result<std::map<FunctionId, Context>> find() {
    find_guards();
    start();
    while (!pending_.empty()) {
      const auto [id, inside] = pending_.back();
      pending_.pop_back();
      visit(id, inside);
    }
    for (auto &[id, context] : contexts_) // never run, as far as is known: leave it as it is
      if (!context.inside)
        context.outside = true;
    for (const FunctionId id : program_.functions())
      if (Status checked = check(id); !checked)
        return checked.error();
    return std::move(contexts_);
  }

private:
  void find_guards() {
    for (const SectionId &section : program_.sections())
      if (guarded_(section))
        contexts_[section.function].guards = true;
    for (bool changed = true; changed;) {
      changed = false;
      for (const FunctionId id : program_.functions()) {
        Context &context = contexts_[id];
        if (context.guards)
          continue;
        for (const Call &call : program_.at(id).calls)
          if (const auto callee = program_.find(call.callee); callee && contexts_[*callee].guards)
            changed = context.guards = true;
      }
    }
  }

  void start() {
    for (const FunctionId id : program_.functions()) {
      const Function &function = program_.at(id);
      if (function.key == "main" || program_.addressed(function.key) ||
          (function.visible && !program_.whole()))
        reach(id, false);
    }
  }

  void reach(FunctionId id, bool inside) {
    bool &known = inside ? contexts_[id].inside : contexts_[id].outside;
    if (!known)
      pending_.emplace_back(id, inside);
    known = true;
  }

  void visit(FunctionId id, bool inside) {
    const Function &function = program_.at(id);
    for (const Call &call : function.calls)
      if (const auto callee = program_.find(call.callee))
        reach(*callee, inside || function.section || call.block != kNoBlock);
  }

  // Whether the calls of `id` that run in sections can be led where they must.
  Status check(FunctionId id) {
    const Function &function = program_.at(id);
    const Context &context = contexts_[id];
    for (const Call &call : function.calls) {
      if (!context.inside && !function.section && call.block == kNoBlock)
        continue;
      if (Status checked = call.callee.empty() ? check_pointer(call) : check_call(call); !checked)
        return checked;
    }
    if (!context.twofold() || function.section)
      return tandem::Unit{};
    const char *obstacle = !function.here           ? "stands in a header or comes out of a macro"
                           : function.static_locals ? "has static variables"
                           : function.labels_taken  ? "takes addresses of labels"
                                                    : nullptr;
    if (obstacle == nullptr)
      return tandem::Unit{};
    return Error{fmt::format("{}:{}: '{}' runs inside and outside of sections and has sections of "
                             "its own, so it is needed twice, but it {}: move its sections into "
                             "functions of their own, or call these",
                             function.file, function.line, function.name, obstacle)};
  }

  Status check_call(const Call &call) {
    const auto callee = program_.find(call.callee);
    if (!callee || !contexts_[*callee].twofold())
      return tandem::Unit{};
    if (program_.at(*callee).variadic && program_.at(*callee).section)
      return Error{fmt::format("{}: '{}' is a section with variable arguments and is called inside "
                               "of another, where it needs a version without a guard: pass a "
                               "va_list to a function of its own",
                               call.place, call.name)};
    if (call.token)
      return tandem::Unit{};
    return Error{
        fmt::format("{}: this call of '{}' inside of a section comes out of a macro, which "
                    "is not rewritten: write it out",
                    call.place, call.name)};
  }

  Status check_pointer(const Call &call) {
    for (const FunctionId id : program_.functions()) {
      const Function &function = program_.at(id);
      if (!contexts_[id].guards || !program_.addressed(function.key) ||
          (function.type != call.type && function.prototyped &&
           call.type.find("()") == std::string::npos))
        continue;
      return Error{fmt::format("{}: this call through a pointer inside of a section may run '{}', "
                               "which is a section or runs one: call it by its name",
                               call.place, function.name)};
    }
    return tandem::Unit{};
  }

  const Program &program_;
  const std::function<bool(const SectionId &)> &guarded_;
  std::map<FunctionId, Context> contexts_;
  std::vector<std::pair<FunctionId, bool>> pending_;
};

} // namespace

Result<std::map<FunctionId, Context>>
contexts_of(const Program &program, const std::function<bool(const SectionId &)> &guarded) {
  return Finder(program, guarded).find();
}

} // namespace tandem::rewrite
