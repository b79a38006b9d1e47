// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands in the body of one function: blocks, calls, returns, and what gcc may refuse.
#pragma once

#include "base/result.h"
#include "compiler/rewrite/model.h"
#include "compiler/rewrite/places.h"

#include "clang/AST/Decl.h"

#include <map>

namespace tandem::rewrite {

// What the bodies of a source mention beyond themselves.
struct Mentioned {
  std::vector<Reference> references;
  std::map<std::string, const clang::FunctionDecl *> called; // by key
};

// Fills blocks, calls, hazards, returns, trailing, static_locals and labels_taken of `function`,
// which `definition` defines. Error: a block that comes out of a macro, with its place.
Status read_body(const clang::FunctionDecl &definition, const Places &places, Function &function,
                 Mentioned &mentioned);

// The same for an expression outside of all functions: an initialiser.
void read_initialiser(clang::ASTContext &context, const clang::Expr &value, const Places &places,
                      Mentioned &mentioned);

} // namespace tandem::rewrite
