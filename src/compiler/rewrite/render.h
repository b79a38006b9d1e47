// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the rewritten program, one at a time.
#pragma once

#include "compiler/rewrite/emit.h"
#include "compiler/rewrite/layout.h"
#include "compiler/rewrite/prelude.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tandem::rewrite {

// Tells gcc that a function of elsewhere touches no memory.
std::string pure_declaration(const std::string &name);

struct Rendered {
  std::string declarations; // to stand before the function and its comment
  std::string text;         // in place of the definition
};

class Rendering {
public:
  Rendering(const Program &program, const Decisions &decisions, Names names,
            const std::function<bool(const std::string &)> &taken);

  [[nodiscard]] const Names &names() const { return names_; }
  // Since begin_source(): whether a block of it takes a lock until it is left.
  [[nodiscard]] bool held_exclusive() const { return held_exclusive_; }
  [[nodiscard]] bool held_shared() const { return held_shared_; }

  // Call it before the functions of a source, and them in their order.
  void begin_source();
  // Nothing where the definition stays as it is.
  std::optional<Rendered> function(FunctionId id);

private:
  // Of a function's text: as it runs outside of sections, or inside of one.
  enum class Version { guarded, bare };
  struct Scope {
    FunctionId id;
    Version version = Version::guarded;
    std::vector<Piece> further; // replacements beyond those that the version asks for
  };
  struct Compound {
    Range braces;
    unsigned inner_end = 0; // where the statements that the guard guards end
    Guard guard;
    bool held = false; // left by jumps: released by clean-ups
    std::string first; // a declaration before the guard
    std::string last;  // a statement behind it
    bool unreachable = false;
  };

  [[nodiscard]] const Guard &guard_of(FunctionId id, int block) const;
  [[nodiscard]] bool is_own_section(FunctionId id) const; // with a guard that its calls take
  [[nodiscard]] bool needs_copy(FunctionId id) const;
  [[nodiscard]] bool needs_body(FunctionId id) const;
  [[nodiscard]] bool returns_inside(FunctionId id) const;
  // Whether a return leads out of it before its end.
  [[nodiscard]] static bool jumps_out(const Function &function);
  [[nodiscard]] bool runs_in_transactions(FunctionId id) const;
  // The name to call instead; empty: the call stays.
  [[nodiscard]] std::string new_name(const Scope &scope, const Call &call) const;

  [[nodiscard]] std::vector<Piece> pieces(const Scope &scope, Range range,
                                          const std::string &extra);
  std::string text(const Scope &scope, Range range, const std::string &extra);
  std::string block(const Scope &scope, int number, const std::string &extra);
  std::string compound(const Scope &scope, const Compound &what, const std::string &extra);
  std::string locks(const Guard &guard, bool held, const std::string &indent);
  std::string unlocks(const Guard &guard, const std::string &indent) const;
  [[nodiscard]] std::string result_declaration(const Function &function) const;

  std::string section_in_place(FunctionId id, bool held);
  std::string section_split(FunctionId id);
  std::string signature(FunctionId id, Version version, const std::string &name);
  std::string renamed(FunctionId id, const std::string &name);
  std::string safe_wrapper(FunctionId id);
  static std::string arguments(const Function &function);
  std::string declarations(FunctionId id);

  const Program &program_;
  const Decisions &decisions_;
  Names names_;
  std::map<FunctionId, std::string> unguarded_; // names of versions without guards
  std::map<FunctionId, std::string> safe_;      // names for transactions of other sources
  std::set<FunctionId> exported_;               // whose version another source calls
  std::set<std::string> declared_;              // in the source at hand
  bool held_exclusive_ = false;
  bool held_shared_ = false;
};

} // namespace tandem::rewrite
