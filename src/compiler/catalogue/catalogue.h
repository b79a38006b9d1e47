// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The catalogue: what functions that the program does not define do when an atomic section calls
// them. A TOML data file (docs/formats/catalogue.md); data/catalogue.toml is the built-in one.
// Knows nothing of LLVM; immutable once loaded, so any thread may read it.
#pragma once

#include "base/result.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace tandem {

// What a call does, from the most harmless to the least.
enum class ExternalEffect {
  pure,          // touches no memory that another thread can see: sin, htons
  thread_local_, // TOML "thread-local": memory of the calling thread only: errno, pthread_self
  reads,         // reads memory that its pointer arguments reach, writes none: strlen, memcmp
  tm_safe,       // has a transactional version, `replacement`: malloc -> _ITM_malloc
  deferrable,  // may be put off to commit where the section opts in (not used before a later issue)
  irrevocable, // everything else: cannot be undone, and may touch any memory
};

std::string_view to_string(ExternalEffect effect);

struct CatalogueEntry {
  ExternalEffect effect = ExternalEffect::irrevocable;
  std::string replacement; // the transactional version's symbol; only for tm_safe
  // Whether a call with a pointer argument may write through it. Never for pure and reads.
  bool writes_arguments = false;
  // Whether the callee may keep a pointer argument after it returns.
  bool captures = true;
  bool operator==(const CatalogueEntry &) const = default;
};

class Catalogue {
public:
  // Parses `text`; `place` is its name in messages. A file extends the built-in catalogue and
  // overrides its entries of the same name, unless it says `extends = "nothing"`. Error:
  // `place:line:column: ...`.
  static Result<Catalogue> parse(std::string_view text, const std::string &place);

  // The catalogue in `path`; the built-in one where `path` is empty. "papers" is the built-in
  // catalogue that treats every external function as irrevocable, as LockSTM did (paper section 3).
  static Result<Catalogue> load(const std::string &path);

  // What `function` (its linker name) does; names that no entry has are irrevocable.
  [[nodiscard]] CatalogueEntry lookup(std::string_view function) const;

  // All entries by name, for listings and tests.
  [[nodiscard]] const std::map<std::string, CatalogueEntry, std::less<>> &entries() const {
    return entries_;
  }

private:
  std::map<std::string, CatalogueEntry, std::less<>> entries_;
};

} // namespace tandem
