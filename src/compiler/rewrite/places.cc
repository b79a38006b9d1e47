// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/places.h"

#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"

#include <fmt/format.h>

namespace tandem::rewrite {

using namespace clang;

std::optional<unsigned> Places::offset(SourceLocation location, bool arguments) const {
  while (location.isMacroID()) {
    if (!arguments || !sources_.isMacroArgExpansion(location))
      return std::nullopt;
    location = sources_.getImmediateSpellingLoc(location);
  }
  if (location.isInvalid() || !sources_.isWrittenInMainFile(location))
    return std::nullopt;
  return sources_.getFileOffset(location);
}

std::optional<unsigned> Places::past(SourceLocation location) const {
  const std::optional<unsigned> begin = offset(location);
  if (!begin)
    return std::nullopt;
  return *begin + Lexer::MeasureTokenLength(location, sources_, preprocessor_.getLangOpts());
}

// A mark's own macro; or one that is another name of it, or the attribute itself. What a macro with
// parameters is called with goes with its name, as none of them is a token of such a mark.
bool Places::is_mark(llvm::StringRef name, unsigned depth) const {
  if (name == "TANDEM_ATOMIC" || name == "TANDEM_ATOMIC_STRICT" || name == "tandem_atomic")
    return true;
  const IdentifierInfo *identifier = preprocessor_.getIdentifierInfo(name);
  const MacroInfo *macro = preprocessor_.getMacroInfo(identifier);
  if (macro == nullptr || depth == 0)
    return false;
  const auto tokens = macro->tokens();
  const auto word = [&](std::size_t index) {
    return tokens[index].isAnyIdentifier() || tokens[index].getIdentifierInfo() != nullptr
               ? tokens[index].getIdentifierInfo()->getName()
               : llvm::StringRef();
  };
  if (tokens.size() == 1) // a parameter is no name of a mark
    return macro->getParameterNum(tokens[0].getIdentifierInfo()) < 0 && is_mark(word(0), depth - 1);
  return tokens.size() == 6 && (word(0) == "__attribute__" || word(0) == "__attribute") &&
         (word(3) == "atomic" || word(3) == "__atomic__" || word(3) == "atomic_strict");
}

std::optional<Range> Places::mark_macro(SourceLocation location) const {
  if (!location.isMacroID())
    return std::nullopt;
  // The outermost macro.
  while (true) {
    const SourceLocation caller = sources_.getImmediateExpansionRange(location).getBegin();
    if (caller.isFileID())
      break;
    location = caller;
  }
  const llvm::StringRef name =
      Lexer::getImmediateMacroName(location, sources_, preprocessor_.getLangOpts());
  const CharSourceRange use = sources_.getImmediateExpansionRange(location);
  const std::optional<unsigned> begin = offset(use.getBegin());
  const std::optional<unsigned> end = past(use.getEnd());
  constexpr unsigned kDepth = 8; // of names for names
  if (!begin || !end || !is_mark(name, kDepth))
    return std::nullopt;
  return Range{*begin, *end};
}

std::string Places::file(SourceLocation location) const {
  const PresumedLoc presumed = sources_.getPresumedLoc(sources_.getExpansionLoc(location));
  return presumed.isValid() ? presumed.getFilename() : "";
}

unsigned Places::line(SourceLocation location) const {
  const PresumedLoc presumed = sources_.getPresumedLoc(sources_.getExpansionLoc(location));
  return presumed.isValid() ? presumed.getLine() : 0;
}

std::string Places::place(SourceLocation location) const {
  return fmt::format("{}:{}", file(location), line(location));
}

std::string Places::exact_place(SourceLocation location) const {
  const PresumedLoc presumed = sources_.getPresumedLoc(sources_.getExpansionLoc(location));
  return presumed.isValid() ? fmt::format("{}:{}:{}", presumed.getFilename(), presumed.getLine(),
                                          presumed.getColumn())
                            : "";
}

std::string Places::key(const FunctionDecl &function) const {
  const std::string name = function.getNameAsString();
  return function.getCanonicalDecl()->isExternallyVisible() ? name
                                                            : fmt::format("{}:{}", number_, name);
}

} // namespace tandem::rewrite
