// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TandemAttributes.so: atomic blocks in C. A macro can only be a statement's beginning, and the
// only one of C that can declare the variable whose clean-up leaves the block is `for`, in which
// break and continue would mean something else. So tandem.h writes
//
//     if (0 && ({ TOKEN; 0; })) { LABEL: ; } else BLOCK
//
// and this makes it `{ TOKEN; if (0) { LABEL: ; } else BLOCK }` once a function is parsed, before
// code is made of it (the label is why clang makes code of the dead way, too): break,
// continue, goto and return are checked as in a plain block and leave as from one. What clang would
// have checked of the variable's scope is checked here: no jump leads into a block, no computed one
// out of it. C++ has `if (TOKEN; false) { LABEL: ; } else BLOCK` and needs none of this.
#include "base/doing.h"
#include "compiler/internal_error/internal_error.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "llvm/ADT/DenseMap.h"

#include <fmt/format.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace clang;
using namespace tandem;

// The clean-up of a block's token (tandem.h).
constexpr const char *kLeave = "_TANDEM_block_leave";

// The declaration of the token where `statement` is what tandem_atomic stands for; else null.
DeclStmt *token_of(const IfStmt &statement) {
  const auto *both = dyn_cast<BinaryOperator>(statement.getCond()->IgnoreParenImpCasts());
  if (both == nullptr || both->getOpcode() != BO_LAnd || statement.getElse() == nullptr)
    return nullptr;
  Expr *right = both->getRHS()->IgnoreParenImpCasts();
  if (auto *extension = dyn_cast<UnaryOperator>(right);
      extension != nullptr && extension->getOpcode() == UO_Extension)
    right = extension->getSubExpr()->IgnoreParenImpCasts();
  auto *inner = dyn_cast<StmtExpr>(right);
  if (inner == nullptr || inner->getSubStmt()->body_empty())
    return nullptr;
  auto *declaration = dyn_cast<DeclStmt>(inner->getSubStmt()->body_front());
  const auto *token = declaration == nullptr || !declaration->isSingleDecl()
                          ? nullptr
                          : dyn_cast<VarDecl>(declaration->getSingleDecl());
  const auto *cleanup = token == nullptr ? nullptr : token->getAttr<CleanupAttr>();
  return cleanup != nullptr && cleanup->getFunctionDecl()->getName() == kLeave ? declaration
                                                                               : nullptr;
}

// Rewrites the blocks of one function.
class BlockRewriter {
public:
  explicit BlockRewriter(ASTContext &context)
      : context_(context), diagnostics_(context.getDiagnostics()) {}

  // Whether there were any.
  bool rewrite(FunctionDecl &function) {
    Stmt *body = function.getBody();
    visit(body, Place{});
    check_jumps();
    return !blocks_.empty();
  }

private:
  struct Block {
    const Block *outer;
  };
  // Where a statement is: its innermost block, and that of the switch that its cases belong to.
  struct Place {
    const Block *block = nullptr;
    const Block *of_switch = nullptr;
  };
  struct Jump {
    SourceLocation location;
    const LabelDecl *target;
    const Block *from;
  };

  void visit(Stmt *&slot, Place place) {
    if (slot == nullptr)
      return;
    if (auto *statement = dyn_cast<IfStmt>(slot))
      if (DeclStmt *token = token_of(*statement)) {
        slot = make_block(*statement, *token, place);
        return;
      }
    look_at(*slot, place);
    if (auto *nested = dyn_cast<BlockExpr>(slot)) {
      Stmt *body = nested->getBlockDecl()->getBody();
      visit(body, Place{});
      return;
    }
    if (isa<SwitchStmt>(slot))
      place.of_switch = place.block;
    for (Stmt *&child : slot->children())
      visit(child, place);
  }

  Stmt *make_block(IfStmt &statement, DeclStmt &token, const Place &place) {
    Stmt *body = statement.getElse();
    if (!isa<CompoundStmt>(body))
      error(statement.getIfLoc(), "'tandem_atomic' marks a compound statement");
    blocks_.push_back({place.block});
    visit(body, Place{&blocks_.back(), place.of_switch});
    statement.setElse(body);
    statement.setCond(IntegerLiteral::Create(context_,
                                             llvm::APInt(context_.getIntWidth(context_.IntTy), 0),
                                             context_.IntTy, statement.getCond()->getBeginLoc()));
    return CompoundStmt::Create(context_, {&token, &statement}, FPOptionsOverride(),
                                statement.getBeginLoc(), body->getEndLoc());
  }

  void look_at(const Stmt &statement, const Place &place) {
    if (const auto *label = dyn_cast<LabelStmt>(&statement)) {
      labels_[label->getDecl()] = place.block;
    } else if (const auto *jump = dyn_cast<GotoStmt>(&statement)) {
      jumps_.push_back({jump->getGotoLoc(), jump->getLabel(), place.block});
    } else if (const auto *taken = dyn_cast<AddrLabelExpr>(&statement)) {
      jumps_.push_back({taken->getAmpAmpLoc(), taken->getLabel(), nullptr});
    } else if (const auto *computed = dyn_cast<IndirectGotoStmt>(&statement)) {
      if (place.block != nullptr)
        error(computed->getGotoLoc(), "a computed goto cannot leave an atomic block");
    } else if (const auto *assembly = dyn_cast<GCCAsmStmt>(&statement)) {
      for (const AddrLabelExpr *target : assembly->labels())
        jumps_.push_back({assembly->getAsmLoc(), target->getLabel(), nullptr});
      if (assembly->isAsmGoto() && place.block != nullptr)
        error(assembly->getAsmLoc(), "an asm goto cannot leave an atomic block");
    } else if (const auto *choice = dyn_cast<SwitchCase>(&statement)) {
      if (place.block != place.of_switch)
        error(choice->getKeywordLoc(), "a switch outside of an atomic block cannot jump into it");
    }
  }

  void check_jumps() {
    for (const Jump &jump : jumps_) {
      const auto found = labels_.find(jump.target);
      const Block *to = found == labels_.end() ? nullptr : found->second;
      const Block *from = jump.from;
      while (from != nullptr && from != to)
        from = from->outer;
      if (from == to)
        continue;
      error(jump.location, "a jump cannot enter an atomic block");
      const unsigned note =
          diagnostics_.getCustomDiagID(DiagnosticsEngine::Note, "label %0 is in the block");
      diagnostics_.Report(jump.target->getLocation(), note) << jump.target;
    }
  }

  template <unsigned size> void error(SourceLocation location, const char (&message)[size]) {
    diagnostics_.Report(location, diagnostics_.getCustomDiagID(DiagnosticsEngine::Error, message));
  }

  ASTContext &context_;
  DiagnosticsEngine &diagnostics_;
  std::deque<Block> blocks_;
  llvm::DenseMap<const LabelDecl *, const Block *> labels_;
  std::vector<Jump> jumps_;
};

class Blocks : public ASTConsumer {
public:
  void Initialize(ASTContext &context) override { context_ = &context; }

  bool HandleTopLevelDecl(DeclGroupRef declarations) override {
    if (context_->getLangOpts().CPlusPlus)
      return true;
    for (Decl *declaration : declarations)
      if (auto *function = dyn_cast<FunctionDecl>(declaration);
          function != nullptr && function->doesThisDeclarationHaveABody())
        rewrite(*function);
    return true;
  }

private:
  void rewrite(FunctionDecl &function) {
    const OurTurn turn;
    const PresumedLoc place = context_->getSourceManager().getPresumedLoc(function.getLocation());
    const Doing what(fmt::format(
        "rewriting the atomic blocks of '{}' ({}:{})", function.getNameAsString(),
        place.isValid() ? place.getFilename() : "", place.isValid() ? place.getLine() : 0));
    if (!BlockRewriter(*context_).rewrite(function))
      return;
    always_our_turn();
    provoke("blocks");
  }

  ASTContext *context_ = nullptr;
};

class BlocksAction : public PluginASTAction {
protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &, llvm::StringRef) override {
    only_in_our_turn();
    catch_internal_errors(Reproducer::command, "");
    return std::make_unique<Blocks>();
  }
  bool ParseArgs(const CompilerInstance &, const std::vector<std::string> &) override {
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const FrontendPluginRegistry::Add<BlocksAction> kRegistered("tandem-blocks", "atomic blocks in C");

} // namespace
