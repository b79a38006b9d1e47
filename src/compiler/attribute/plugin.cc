// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TandemAttributes.so: the attribute `atomic` for functions as a plugin of clang, verbatim as the
// LockSTM paper writes it (section 4.1), and `atomic_strict`, which also demands that nothing in
// the section is irrevocable. tandem-cc loads it into every compile step.
//
// The mark becomes an annotation that the whole-program pass finds, and keeps the function out of
// its callers until then. Where the optimiser runs before that pass, the annotation says so: calls
// of the function may have been merged or moved by then, so the pass refuses to enforce such a
// section.
#include "base/doing.h"
#include "compiler/internal_error/internal_error.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/ParsedAttr.h"
#include "clang/Sema/Sema.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace clang;

// Defined by tandem-cc in compile steps that optimise (src/compiler/driver).
constexpr const char *kOptimisedMacro = "__TANDEM_OPTIMISED__";

constexpr const char *kAnnotation = "tandem.atomic";
constexpr const char *kOptimisedAnnotation = "tandem.atomic.optimised";
constexpr const char *kStrictAnnotation = "tandem.atomic.strict"; // beside one of the others

// A mark of the translation unit that is being compiled. clang compiles one at a time in a process.
struct Mark {
  const FunctionDecl *function;
  SourceLocation location;
  bool strict;
};
std::vector<Mark> marks;

constexpr ParsedAttrInfo::Spelling kSpellings[] = {{ParsedAttr::AS_GNU, "atomic"},
                                                   {ParsedAttr::AS_CXX11, "tandem::atomic"},
                                                   {ParsedAttr::AS_C23, "tandem::atomic"}};
constexpr ParsedAttrInfo::Spelling kStrictSpellings[] = {
    {ParsedAttr::AS_GNU, "atomic_strict"},
    {ParsedAttr::AS_CXX11, "tandem::atomic_strict"},
    {ParsedAttr::AS_C23, "tandem::atomic_strict"}};

template <bool strict> struct AtomicAttribute : public ParsedAttrInfo {
  AtomicAttribute() {
    OptArgs = 0;
    NumArgs = 0;
    if constexpr (strict)
      Spellings = kStrictSpellings;
    else
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
    const FunctionDecl *function = declaration->getAsFunction();
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
    const tandem::OurTurn turn;
    const bool optimised = sema.getPreprocessor().isMacroDefined(kOptimisedMacro);
    declaration->addAttr(
        AnnotateAttr::CreateImplicit(sema.Context, optimised ? kOptimisedAnnotation : kAnnotation,
                                     nullptr, 0, attribute.getRange()));
    if (strict)
      declaration->addAttr(AnnotateAttr::CreateImplicit(sema.Context, kStrictAnnotation, nullptr, 0,
                                                        attribute.getRange()));
    declaration->addAttr(NoInlineAttr::CreateImplicit(sema.Context, attribute.getRange()));
    marks.push_back({declaration->getAsFunction(), attribute.getLoc(), strict});
    return AttributeApplied;
  }
};

// clang drops, with a warning only, a mark that comes after the function's definition. The section
// would be lost, so that is an error.
class LateMarks : public ASTConsumer {
public:
  explicit LateMarks(DiagnosticsEngine &diagnostics) : diagnostics_(diagnostics) {}

  void HandleTranslationUnit(ASTContext &) override {
    const tandem::OurTurn turn;
    for (const Mark &mark : marks)
      check(mark);
    marks.clear();
  }

private:
  void check(const Mark &mark) {
    const PresumedLoc place =
        mark.function->getASTContext().getSourceManager().getPresumedLoc(mark.location);
    const tandem::Doing what(fmt::format(
        "checking the mark of '{}' ({}:{})", mark.function->getNameAsString(),
        place.isValid() ? place.getFilename() : "", place.isValid() ? place.getLine() : 0));
    tandem::provoke("attribute");
    const FunctionDecl *definition = nullptr;
    if (!mark.function->isDefined(definition) || is_marked(*definition, mark.strict))
      return;
    const unsigned late = diagnostics_.getCustomDiagID(
        DiagnosticsEngine::Error, "'%0' comes after the definition of %1, which it cannot "
                                  "change any more; mark the first "
                                  "declaration");
    diagnostics_.Report(mark.location, late)
        << (mark.strict ? "atomic_strict" : "atomic") << mark.function;
    diagnostics_.Report(definition->getLocation(), diag::note_previous_definition);
  }

  static bool is_marked(const FunctionDecl &function, bool strictly) {
    for (const auto *annotation : function.specific_attrs<AnnotateAttr>()) {
      const llvm::StringRef text = annotation->getAnnotation();
      if (strictly ? text == kStrictAnnotation
                   : text == kAnnotation || text == kOptimisedAnnotation)
        return true;
    }
    return false;
  }

  DiagnosticsEngine &diagnostics_;
};

class LateMarksAction : public PluginASTAction {
protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &compiler,
                                                 llvm::StringRef) override {
    marks.clear();
    return std::make_unique<LateMarks>(compiler.getDiagnostics());
  }
  bool ParseArgs(const CompilerInstance &, const std::vector<std::string> &) override {
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const ParsedAttrInfoRegistry::Add<AtomicAttribute<false>>
    kRegistered("atomic", "functions that are atomic sections");
const ParsedAttrInfoRegistry::Add<AtomicAttribute<true>>
    kStrictRegistered("atomic_strict",
                      "functions that are atomic sections and irrevocable nowhere");
const FrontendPluginRegistry::Add<LateMarksAction> kCheckRegistered("tandem-late-marks",
                                                                    "marks that come too late");

} // namespace
