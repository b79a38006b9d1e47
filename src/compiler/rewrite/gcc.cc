// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/gcc.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string_view>

namespace tandem::rewrite {
namespace {

// Functions that gcc knows to be safe, though nothing in their declarations says so.
constexpr std::array<std::string_view, 36> kAccepted = {"memcpy",
                                                        "memmove",
                                                        "memset",
                                                        "malloc",
                                                        "calloc",
                                                        "free",
                                                        "abort",
                                                        "abs",
                                                        "labs",
                                                        "llabs",
                                                        "fabs",
                                                        "fabsf",
                                                        "fabsl",
                                                        "ffs",
                                                        "bcopy",
                                                        "bzero",
                                                        "floor",
                                                        "floorf",
                                                        "ceil",
                                                        "ceilf",
                                                        "round",
                                                        "roundf",
                                                        "fmax",
                                                        "fmaxf",
                                                        "fmin",
                                                        "fminf",
                                                        "copysign",
                                                        "copysignf",
                                                        "__builtin_memcpy",
                                                        "__builtin_memmove",
                                                        "__builtin_memset",
                                                        "__builtin_expect",
                                                        "__builtin_unreachable",
                                                        "__builtin_prefetch",
                                                        "__builtin_object_size",
                                                        "__builtin_assume_aligned"};

// Builtins that clang calls free of effects and gcc refuses.
constexpr std::array<std::string_view, 2> kRefusedBuiltins = {"__builtin_frame_address",
                                                              "__builtin_return_address"};

template <std::size_t size>
bool contains(const std::array<std::string_view, size> &names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Walks breadth first, so that the chain to a refusal is a shortest one.
class Walk {
public:
  Walk(const Program &program, const Catalogue &catalogue)
      : program_(program), catalogue_(catalogue) {}

  Needs from(const SectionId &section) {
    const Function &function = program_.at(section.function);
    look_at(section.function, section.block, {function.name});
    while (!pending_.empty()) {
      const auto [id, chain] = std::move(pending_.front());
      pending_.pop_front();
      look_at(id, kNoBlock, chain);
    }
    return std::move(needs_);
  }

private:
  using Chain = std::vector<std::string>;

  void refuse(std::string what, const std::string &place, const Chain &chain,
              bool miscompiled = false) {
    if (!needs_.refusal)
      needs_.refusal = Refusal{std::move(what), place, chain, miscompiled};
  }

  // All of a function, or a block of it with those inside.
  void look_at(FunctionId id, int block, const Chain &chain) {
    const Function &function = program_.at(id);
    const auto inside = [&](int of) {
      while (of != block && of != kNoBlock)
        of = function.blocks[of].parent;
      return of == block;
    };
    for (const Hazard &hazard : function.hazards)
      if (inside(hazard.block))
        refuse(hazard.what, hazard.place, chain, hazard.miscompiled);
    for (const Call &call : function.calls)
      if (inside(call.block))
        look_at_call(id, call, chain);
  }

  void look_at_call(FunctionId from, const Call &call, const Chain &chain) {
    if (call.callee.empty())
      return refuse("call through a pointer", call.place, chain);
    const std::optional<FunctionId> callee = program_.find(call.callee);
    if (!callee)
      return look_at_external(from, call, chain);
    const Function &function = program_.at(*callee);
    if (!function.prototyped)
      return refuse(fmt::format("call of '{}', which has no prototype", call.name), call.place,
                    chain);
    if (callee->source != from.source) {
      if (function.variadic)
        return refuse(fmt::format("call of '{}', which has variable arguments and is in another "
                                  "source",
                                  call.name),
                      call.place, chain);
      if (!call.token || !program_.at(from).here || !function.here)
        return refuse(
            fmt::format("call of '{}' of another source out of a macro or header", call.name),
            call.place, chain);
      needs_.across.insert(*callee);
    }
    if (needs_.runs.insert(*callee).second) {
      Chain longer = chain;
      longer.push_back(function.name);
      pending_.emplace_back(*callee, std::move(longer));
    }
  }

  void look_at_external(FunctionId from, const Call &call, const Chain &chain) {
    if (contains(kAccepted, call.name))
      return;
    const std::vector<Declared> &declared = program_.source_of(from).declared;
    const auto found = std::find_if(declared.begin(), declared.end(),
                                    [&](const Declared &one) { return one.name == call.name; });
    if (found != declared.end() && found->gcc_knows && !contains(kRefusedBuiltins, call.name))
      return;
    if (!call.name.starts_with("__builtin_") &&
        catalogue_.lookup(call.name).effect == ExternalEffect::pure) {
      needs_.pure.emplace(from.source, call.name);
      return;
    }
    const bool variable = call.name.starts_with("__builtin_va_");
    refuse(variable ? "variable arguments" : fmt::format("call of '{}'", call.name), call.place,
           chain);
  }

  const Program &program_;
  const Catalogue &catalogue_;
  Needs needs_;
  std::deque<std::pair<FunctionId, Chain>> pending_;
};

} // namespace

std::string Refusal::reason() const {
  return miscompiled ? fmt::format("gcc compiles a {} in a transaction wrongly", what)
                     : fmt::format("gcc accepts no {} in a transaction", what);
}

Needs needs_of(const Program &program, const Catalogue &catalogue, const SectionId &section) {
  return Walk(program, catalogue).from(section);
}

} // namespace tandem::rewrite
