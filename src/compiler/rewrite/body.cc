// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/body.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/Builtins.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <fmt/format.h>

namespace tandem::rewrite {
namespace {

using namespace clang;

constexpr llvm::StringRef kLeave = "_TANDEM_block_leave"; // the clean-up of a block's token

// Whether `statement` is what compiler/attribute makes of an atomic block:
// { token; if (0) { label: ; } else { ... } }.
bool is_block(const CompoundStmt &statement) {
  const auto *first = statement.size() == 2 ? dyn_cast<DeclStmt>(statement.body_front()) : nullptr;
  const auto *token = first == nullptr || !first->isSingleDecl()
                          ? nullptr
                          : dyn_cast<VarDecl>(first->getSingleDecl());
  const auto *cleanup = token == nullptr ? nullptr : token->getAttr<CleanupAttr>();
  return cleanup != nullptr && cleanup->getFunctionDecl()->getName() == kLeave;
}

// What the atomic block was written as; null: no compound statement.
const CompoundStmt *body_of(const CompoundStmt &block) {
  const auto *ways = dyn_cast<IfStmt>(block.body_back());
  return dyn_cast<CompoundStmt>(ways == nullptr ? block.body_back() : ways->getElse());
}

// Whether control may reach the end of `statement`, as far as its shape tells.
bool may_end(const Stmt *statement) {
  if (statement == nullptr)
    return true;
  if (isa<ReturnStmt, GotoStmt, BreakStmt, ContinueStmt, IndirectGotoStmt>(statement))
    return false;
  if (const auto *label = dyn_cast<LabelStmt>(statement))
    return may_end(label->getSubStmt());
  if (const auto *both = dyn_cast<IfStmt>(statement))
    return both->getElse() == nullptr || may_end(both->getThen()) || may_end(both->getElse());
  if (const auto *all = dyn_cast<CompoundStmt>(statement))
    return all->body_empty() || may_end(is_block(*all) ? body_of(*all) : all->body_back());
  return true;
}

class BodyReader {
public:
  BodyReader(ASTContext &context, const Places &places, Function &function, Mentioned &mentioned)
      : context_(context), places_(places), function_(function), mentioned_(mentioned) {}

  Status read(const FunctionDecl &definition) {
    const Stmt *body = definition.getBody();
    visit(body, Place{});
    resolve_jumps();
    finish_returns(cast<CompoundStmt>(body));
    return error_.empty() ? Status(tandem::Unit{}) : Status(Error{error_});
  }

  void read(const Expr &value) { visit(&value, Place{}); }

private:
  // The innermost block around a statement, and that of the loop or switch that it breaks off.
  struct Place {
    int block = kNoBlock;
    int of_break = kNoBlock;
    int of_continue = kNoBlock;
    bool in_compound = false;
  };
  struct Jump {
    const LabelDecl *target;
    int block;
  };
  struct PendingReturn {
    const ReturnStmt *statement;
    std::size_t index; // of function_.returns
  };

  void fail(SourceLocation location, const std::string &message) {
    if (error_.empty())
      error_ = fmt::format("{}: {}", places_.exact_place(location), message);
  }

  void hazard(SourceLocation location, const Place &place, std::string what) {
    function_.hazards.push_back({std::move(what), places_.place(location), place.block});
  }

  // All blocks from `from` outwards, up to and without `to`, are left by a jump.
  void leave(int from, int to, bool by_return = false) {
    for (; from != to && from != kNoBlock; from = function_.blocks[from].parent) {
      function_.blocks[from].leaves = true;
      function_.blocks[from].returns |= by_return;
    }
  }

  void visit(const Stmt *statement, Place place) {
    if (statement == nullptr)
      return;
    if (isa<UnaryExprOrTypeTraitExpr>(statement))
      return; // not evaluated, but for lengths of arrays, which transactions have none of
    if (const auto *compound = dyn_cast<CompoundStmt>(statement);
        compound != nullptr && is_block(*compound)) {
      visit_block(*compound, place);
      return;
    }
    look_at(*statement, place);
    if (const auto *value = dyn_cast<Expr>(statement))
      look_at_value(*value, place);
    place.in_compound = isa<CompoundStmt>(statement);
    if (isa<ForStmt, WhileStmt, DoStmt>(statement))
      place.of_break = place.of_continue = place.block;
    else if (isa<SwitchStmt>(statement))
      place.of_break = place.block;
    const Expr *callee = nullptr;
    if (const auto *call = dyn_cast<CallExpr>(statement)) {
      add_call(*call, place);
      if (call->getDirectCallee() != nullptr)
        callee = call->getCallee();
    }
    for (const Stmt *child : statement->children())
      if (child != callee)
        visit(child, place);
  }

  void visit_block(const CompoundStmt &statement, Place place) {
    const CompoundStmt *body = body_of(statement);
    const std::optional<Range> mark = places_.mark_macro(statement.getBeginLoc());
    const std::optional<unsigned> begin =
        body == nullptr ? std::nullopt : places_.offset(body->getLBracLoc());
    const std::optional<unsigned> end =
        body == nullptr ? std::nullopt : places_.past(body->getRBracLoc());
    if (!mark || !begin || !end) {
      fail(statement.getBeginLoc(),
           places_.in_main_file(statement.getBeginLoc())
               ? "this atomic block comes out of a macro, which is not rewritten: write it out"
               : "this atomic block stands in a header, which is not rewritten: move its function "
                 "into a source file");
      return;
    }
    Block block;
    block.mark = *mark;
    block.body = {*begin, *end};
    block.parent = place.block;
    block.ends = may_end(body);
    block.in_compound = place.in_compound;
    block.file = places_.file(statement.getBeginLoc());
    block.line = places_.line(statement.getBeginLoc());
    function_.blocks.push_back(std::move(block));
    place.block = static_cast<int>(function_.blocks.size()) - 1;
    place.in_compound = true;
    for (const Stmt *child : body->children())
      visit(child, place);
  }

  void look_at(const Stmt &statement, const Place &place) {
    if (const auto *result = dyn_cast<ReturnStmt>(&statement)) {
      leave(place.block, kNoBlock, true);
      add_return(*result);
    } else if (isa<BreakStmt>(&statement)) {
      leave(place.block, place.of_break);
    } else if (isa<ContinueStmt>(&statement)) {
      leave(place.block, place.of_continue);
    } else if (const auto *jump = dyn_cast<GotoStmt>(&statement)) {
      jumps_.push_back({jump->getLabel(), place.block});
    } else if (const auto *label = dyn_cast<LabelStmt>(&statement)) {
      labels_[label->getDecl()] = place.block;
    } else if (isa<AddrLabelExpr>(&statement)) {
      function_.labels_taken = true;
    } else if (isa<AsmStmt>(&statement)) {
      hazard(statement.getBeginLoc(), place, "assembly");
    } else if (const auto *declaration = dyn_cast<DeclStmt>(&statement)) {
      for (const Decl *one : declaration->decls())
        if (const auto *variable = dyn_cast<VarDecl>(one))
          look_at_variable(*variable, place);
    }
  }

  void look_at_variable(const VarDecl &variable, const Place &place) {
    function_.static_locals |= variable.isStaticLocal();
    if (variable.getType()->isVariableArrayType())
      hazard(variable.getLocation(), place, "array of variable length");
    if (variable.getType().isVolatileQualified())
      hazard(variable.getLocation(), place, "volatile variable");
  }

  // Whether the value is a bit-field, or is made of some: a copy of the whole is neither.
  static bool uses_bits(const Expr &value) {
    if (const auto *member = dyn_cast<MemberExpr>(&value)) {
      const auto *field = dyn_cast<FieldDecl>(member->getMemberDecl());
      return field != nullptr && field->isBitField();
    }
    const auto *list = dyn_cast<InitListExpr>(&value);
    const RecordDecl *record = list == nullptr ? nullptr : list->getType()->getAsRecordDecl();
    return record != nullptr && llvm::any_of(record->fields(), [](const FieldDecl *field) {
             return field->isBitField();
           });
  }

  void look_at_value(const Expr &value, const Place &place) {
    if (value.isGLValue() && value.getType().isVolatileQualified())
      hazard(value.getExprLoc(), place, "volatile variable");
    if (uses_bits(value)) {
      hazard(value.getExprLoc(), place, "bit-field");
      function_.hazards.back().miscompiled = true;
    }
    if (isa<AtomicExpr>(&value) || value.getType()->isAtomicType())
      hazard(value.getExprLoc(), place, "atomic operation");
    if (const auto *mention = dyn_cast<DeclRefExpr>(&value))
      if (const auto *function = dyn_cast<FunctionDecl>(mention->getDecl()))
        mentioned_.references.push_back({places_.key(*function), function->getNameAsString()});
    const auto *address = dyn_cast<UnaryOperator>(&value);
    if (address != nullptr && address->getOpcode() == UO_AddrOf)
      if (const auto *mention = dyn_cast<DeclRefExpr>(address->getSubExpr()->IgnoreParenImpCasts()))
        addressed_.insert(mention->getDecl());
  }

  void add_call(const CallExpr &call, const Place &place) {
    Call made;
    made.block = place.block;
    made.place = places_.place(call.getBeginLoc());
    const FunctionDecl *callee = call.getDirectCallee();
    if (callee == nullptr) {
      QualType type = call.getCallee()->getType();
      if (const auto *pointer = type->getAs<PointerType>())
        type = pointer->getPointeeType();
      made.type = type.getCanonicalType().getAsString();
      function_.calls.push_back(std::move(made));
      return;
    }
    made.callee = places_.key(*callee);
    made.name = callee->getNameAsString();
    made.type = callee->getType().getCanonicalType().getAsString();
    if (const std::optional<unsigned> offset =
            places_.offset(call.getCallee()->IgnoreParenImpCasts()->getBeginLoc(), true);
        offset && isa<DeclRefExpr>(call.getCallee()->IgnoreParenImpCasts()))
      made.token = Range{*offset, *offset + static_cast<unsigned>(made.name.size())};
    mentioned_.called.try_emplace(made.callee, callee);
    function_.calls.push_back(std::move(made));
  }

  void add_return(const ReturnStmt &statement) {
    Return result;
    const Expr *value = statement.getRetValue();
    result.value = value != nullptr;
    const std::optional<unsigned> begin = places_.offset(statement.getReturnLoc());
    result.written = begin.has_value();
    if (begin)
      result.keyword = {*begin, *begin + 6}; // "return"
    if (value != nullptr) {
      const auto *comma = dyn_cast<BinaryOperator>(value->IgnoreImpCasts());
      result.comma = comma != nullptr && comma->getOpcode() == BO_Comma;
      const SourceLocation last = places_.sources().getExpansionRange(value->getEndLoc()).getEnd();
      const std::optional<unsigned> end = places_.past(last);
      result.end = end.value_or(0);
      result.written = result.written && end;
    } else {
      result.end = result.keyword.end;
    }
    pending_.push_back({&statement, function_.returns.size()});
    function_.returns.push_back(result);
  }

  // What can be said only when the whole body is known.
  void finish_returns(const CompoundStmt *body) {
    for (const PendingReturn &pending : pending_) {
      Return &result = function_.returns[pending.index];
      const Expr *value = pending.statement->getRetValue();
      result.constant = value == nullptr || value->isIntegerConstantExpr(context_) ||
                        isa<StringLiteral, FloatingLiteral>(value->IgnoreParenImpCasts()) ||
                        value->isNullPointerConstant(context_, Expr::NPC_NeverValueDependent) !=
                            Expr::NPCK_NotNull;
      const auto *mention =
          value == nullptr ? nullptr : dyn_cast<DeclRefExpr>(value->IgnoreParenImpCasts());
      const auto *variable = mention == nullptr ? nullptr : dyn_cast<VarDecl>(mention->getDecl());
      result.local = variable != nullptr && variable->hasLocalStorage() &&
                     !variable->getType().isVolatileQualified() && !addressed_.contains(variable);
      result.parameter = result.local && isa<ParmVarDecl>(variable);
    }
    function_.trailing =
        !body->body_empty() && !pending_.empty() && body->body_back() == pending_.back().statement;
  }

  void resolve_jumps() {
    for (const Jump &jump : jumps_) {
      const auto found = labels_.find(jump.target);
      leave(jump.block, found == labels_.end() ? kNoBlock : found->second);
    }
  }

  ASTContext &context_;
  const Places &places_;
  Function &function_;
  Mentioned &mentioned_;
  std::string error_;
  std::vector<Jump> jumps_;
  std::vector<PendingReturn> pending_;
  llvm::DenseMap<const LabelDecl *, int> labels_;
  llvm::DenseSet<const ValueDecl *> addressed_;
};

} // namespace

Status read_body(const FunctionDecl &definition, const Places &places, Function &function,
                 Mentioned &mentioned) {
  return BodyReader(definition.getASTContext(), places, function, mentioned).read(definition);
}

void read_initialiser(ASTContext &context, const Expr &value, const Places &places,
                      Mentioned &mentioned) {
  Function none;
  BodyReader(context, places, none, mentioned).read(value);
}

} // namespace tandem::rewrite
