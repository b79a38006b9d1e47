// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TandemAttributes.so: the attribute `atomic` for functions as a plugin of clang, verbatim as the LockSTM
// paper writes it (section 4.1). tandem-cc loads it into every compile step.
//
// The mark becomes an annotation that the whole-program pass finds, and keeps the function out of its callers
// until then. Where the optimiser runs before that pass, the annotation says so: calls of the function may
// have been merged or moved by then, so the pass refuses to enforce such a section.
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/ParsedAttr.h"
#include "clang/Sema/Sema.h"

namespace {

using namespace clang;

// Defined by tandem-cc in compile steps that optimise (src/compiler/driver).
constexpr const char *kOptimisedMacro = "__TANDEM_OPTIMISED__";

struct AtomicAttribute : public ParsedAttrInfo {
  AtomicAttribute() {
    OptArgs = 0;
    NumArgs = 0;
    static constexpr Spelling kSpellings[] = {{ParsedAttr::AS_GNU, "atomic"},
                                              {ParsedAttr::AS_CXX11, "tandem::atomic"},
                                              {ParsedAttr::AS_C23, "tandem::atomic"}};
    Spellings = kSpellings;
  }

  bool diagAppertainsToDecl(Sema &sema, const ParsedAttr &attribute,
                            const Decl *declaration) const override {
    const auto reject = [&](const char *what) {
      const unsigned id = sema.Diags.getCustomDiagID(
          DiagnosticsEngine::Error, "%0 marks functions that run as one atomic section; %1");
      sema.Diag(attribute.getLoc(), id) << attribute << what;
      return false;
    };
    const auto *function = dyn_cast<FunctionDecl>(declaration);
    if (function == nullptr && isa<FunctionTemplateDecl>(declaration))
      function = cast<FunctionTemplateDecl>(declaration)->getTemplatedDecl();
    if (function == nullptr)
      return reject("this is no function");
    if (function->isMain())
      return reject("'main' would be one section for as long as the program runs");
    if (function->isConsteval())
      return reject("a consteval function never runs");
    return true;
  }

  AttrHandling handleDeclAttribute(Sema &sema, Decl *declaration,
                                   const ParsedAttr &attribute) const override {
    const bool optimised = sema.getPreprocessor().isMacroDefined(kOptimisedMacro);
    declaration->addAttr(
        AnnotateAttr::CreateImplicit(sema.Context, optimised ? "tandem.atomic.optimised" : "tandem.atomic",
                                     nullptr, 0, attribute.getRange()));
    declaration->addAttr(NoInlineAttr::CreateImplicit(sema.Context, attribute.getRange()));
    return AttributeApplied;
  }
};

const ParsedAttrInfoRegistry::Add<AtomicAttribute> kRegistered("atomic",
                                                               "functions that are atomic sections");

} // namespace
