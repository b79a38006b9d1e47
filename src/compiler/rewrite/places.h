// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where clang's locations stand in the file that is rewritten.
#pragma once

#include "compiler/rewrite/model.h"

#include "clang/AST/Decl.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Preprocessor.h"

#include <optional>
#include <string>

namespace tandem::rewrite {

class Places {
public:
  Places(clang::Preprocessor &preprocessor, unsigned number)
      : preprocessor_(preprocessor), sources_(preprocessor.getSourceManager()), number_(number) {}

  [[nodiscard]] clang::SourceManager &sources() const { return sources_; }
  [[nodiscard]] clang::Preprocessor &preprocessor() const { return preprocessor_; }

  // The offset of a token that the file itself holds: not in a header, not out of a macro's body.
  // What is passed to a macro counts only where `arguments`.
  [[nodiscard]] std::optional<unsigned> offset(clang::SourceLocation location,
                                               bool arguments = false) const;
  // Past that token.
  [[nodiscard]] std::optional<unsigned> past(clang::SourceLocation location) const;
  // The macro's use in the file that `location` came out of, where that macro stands for a mark
  // of a section and for nothing else.
  [[nodiscard]] std::optional<Range> mark_macro(clang::SourceLocation location) const;
  [[nodiscard]] bool in_main_file(clang::SourceLocation location) const {
    return sources_.isWrittenInMainFile(sources_.getExpansionLoc(location));
  }

  // As debug information has them.
  [[nodiscard]] std::string file(clang::SourceLocation location) const;
  [[nodiscard]] unsigned line(clang::SourceLocation location) const;
  [[nodiscard]] std::string place(clang::SourceLocation location) const; // "file:line"
  // For messages: "file:line:column".
  [[nodiscard]] std::string exact_place(clang::SourceLocation location) const;

  [[nodiscard]] std::string key(const clang::FunctionDecl &function) const;

private:
  [[nodiscard]] bool is_mark(llvm::StringRef name, unsigned depth) const;

  clang::Preprocessor &preprocessor_;
  clang::SourceManager &sources_;
  unsigned number_;
};

} // namespace tandem::rewrite
