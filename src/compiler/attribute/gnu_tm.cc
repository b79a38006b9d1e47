// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TandemAttributes.so: the syntax of gcc's -fgnu-tm (GCC's manual, 6.64; C++ transactional language
// constructs 1.1). include/tandem/gnu_tm.h makes each keyword a macro that stands for
// `_Pragma("tandem gnu_tm KEYWORD")`; the handler here reads what follows the keyword and puts a
// macro of that header in its place, one for a block, one for an expression. A word that is a
// keyword only in its place (`synchronized`, `atomic do`, `transaction_safe`) stays as it is
// elsewhere.
#include "compiler/internal_error/internal_error.h"

#include "clang/AST/Attr.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/ParsedAttr.h"
#include "clang/Sema/Sema.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

namespace {

using namespace clang;

// ---- keywords

class GnuTm : public PragmaHandler {
public:
  GnuTm() : PragmaHandler("tandem") {}

  void HandlePragma(Preprocessor &preprocessor, PragmaIntroducer introducer, Token &) override {
    const tandem::OurTurn turn;
    pp_ = &preprocessor;
    // Behind the keyword there may be another one, whose handler then runs within this one.
    std::vector<Token> outer = std::exchange(out_, {});
    const SourceLocation outer_place = std::exchange(place_, introducer.Loc);
    replace();
    out_ = std::move(outer);
    place_ = outer_place;
  }

private:
  void replace() {
    Token word;
    pp_->LexUnexpandedToken(word); // gnu_tm
    const bool ours = word.is(tok::identifier) && word.getIdentifierInfo()->isStr("gnu_tm");
    Token keyword;
    pp_->LexUnexpandedToken(keyword);
    Token end = keyword;
    while (end.isNot(tok::eod))
      pp_->LexUnexpandedToken(end);
    if (!ours || keyword.getIdentifierInfo() == nullptr)
      return;
    take(*keyword.getIdentifierInfo(), next());
    auto tokens = std::make_unique<Token[]>(out_.size());
    std::copy(out_.begin(), out_.end(), tokens.get());
    pp_->EnterTokenStream(std::move(tokens), static_cast<unsigned>(out_.size()),
                          /*DisableMacroExpansion=*/false,
                          /*IsReinject=*/false);
  }

  void take(IdentifierInfo &keyword, Token after) {
    if (keyword.isStr("__transaction_atomic") || keyword.isStr("__transaction_relaxed"))
      take_transaction(keyword.isStr("__transaction_atomic"), after);
    else if (keyword.isStr("__transaction_cancel"))
      take_cancel(after);
    else if (keyword.isStr("transaction_safe") || keyword.isStr("transaction_safe_dynamic"))
      take_safe(keyword, after);
    else if (keyword.isStr("atomic"))
      take_atomic_do(keyword, after);
    else
      take_block_word(keyword, after);
  }

  // Attribute, exception specification, and then a block or an expression.
  void take_transaction(bool atomic, Token after) {
    skip_outer(after);
    if (after.is(tok::kw_noexcept)) {
      take_noexcept(atomic);
      return;
    }
    if (after.isNot(tok::l_brace) && after.isNot(tok::l_paren))
      error(after, "'{' or '(' is expected behind a transaction's keyword");
    const bool block = after.isNot(tok::l_paren);
    put(atomic ? (block ? "TANDEM_GNU_ATOMIC_" : "TANDEM_GNU_ATOMIC_EXPRESSION_")
               : (block ? "TANDEM_GNU_RELAXED_" : "TANDEM_GNU_RELAXED_EXPRESSION_"));
    out_.push_back(after);
  }

  // Behind `noexcept`: a condition in parentheses or none, then `{` or an expression in
  // parentheses.
  void take_noexcept(bool atomic) {
    Token after = next();
    std::vector<Token> condition;
    if (after.is(tok::l_paren))
      condition = take_parentheses(after);
    if (after.is(tok::l_brace)) {
      put(atomic ? "TANDEM_GNU_ATOMIC_NOEXCEPT_" : "TANDEM_GNU_RELAXED_NOEXCEPT_");
      if (condition.empty())
        put_always();
      out_.insert(out_.end(), condition.begin(), condition.end());
      out_.push_back(after);
      return;
    }
    std::vector<Token> value;
    if (after.is(tok::l_paren))
      value = take_parentheses(after);
    else
      std::swap(value, condition); // all that there is
    put(atomic ? "TANDEM_GNU_ATOMIC_NOEXCEPT_EXPRESSION_"
               : "TANDEM_GNU_RELAXED_NOEXCEPT_EXPRESSION_");
    put_punctuation(tok::l_paren);
    if (condition.empty())
      put_always();
    out_.insert(out_.end(), condition.begin(), condition.end());
    put_punctuation(tok::comma);
    out_.insert(out_.end(), value.begin(), value.end());
    put_punctuation(tok::r_paren);
    out_.push_back(after);
  }

  // From `after`, which is `(`, to its `)`; `after` is what comes behind that.
  std::vector<Token> take_parentheses(Token &after) {
    std::vector<Token> taken;
    unsigned depth = 0;
    do {
      if (after.is(tok::l_paren))
        ++depth;
      else if (after.is(tok::r_paren))
        --depth;
      taken.push_back(after);
      after = next();
    } while (depth != 0 && after.isNot(tok::eof));
    return taken;
  }

  void take_cancel(Token after) {
    put(skip_outer(after) ? "TANDEM_GNU_CANCEL_OUTER_" : "TANDEM_GNU_CANCEL_");
    out_.push_back(after);
  }

  // The name of an attribute, or behind a function's parameters, where nothing is asked of it: what
  // the function does is found out.
  void take_safe(IdentifierInfo &keyword, Token after) {
    const SourceManager &sources = pp_->getSourceManager();
    if (!place_.isMacroID()) { // a pragma of the source's own
      out_.push_back(after);
      return;
    }
    const SourceLocation word =
        sources.getSpellingLoc(sources.getImmediateExpansionRange(place_).getBegin());
    const unsigned offset = sources.getFileOffset(word);
    const char *begin = sources.getCharacterData(word) - offset;
    const llvm::StringRef before = llvm::StringRef(begin, offset).rtrim();
    if (before.ends_with("(") || before.ends_with("[") || before.ends_with(":") ||
        before.ends_with(","))
      put_plain(keyword);
    out_.push_back(after);
  }

  void take_atomic_do(IdentifierInfo &keyword, Token after) {
    if (after.isNot(tok::kw_do)) {
      put_plain(keyword);
      out_.push_back(after);
      return;
    }
    const Token second = next();
    if (second.isNot(tok::l_brace))
      error(second, "'{' is expected behind 'atomic do'");
    put("TANDEM_GNU_ATOMIC_");
    out_.push_back(second);
  }

  void take_block_word(IdentifierInfo &keyword, Token after) {
    if (after.isNot(tok::l_brace))
      put_plain(keyword);
    else if (keyword.isStr("synchronized"))
      put("TANDEM_GNU_RELAXED_");
    else if (keyword.isStr("atomic_commit"))
      put("TANDEM_GNU_ATOMIC_");
    else if (keyword.isStr("atomic_noexcept"))
      put_noexcept();
    else
      error(after, "a block that an exception cancels ('atomic_cancel') is not supported; catch "
                   "the exception and use '__transaction_cancel'");
    out_.push_back(after);
  }

  // [[outer]] or __attribute__((outer)), if it is there; `after` is what comes behind it.
  bool skip_outer(Token &after) {
    const bool square = after.is(tok::l_square);
    if (!square && after.isNot(tok::kw___attribute))
      return false;
    std::vector<Token> read{after};
    const std::size_t words = square ? 5 : 6; // [ [ outer ] ]   __attribute__ ( ( outer ) )
    while (read.size() < words)
      read.push_back(next());
    const Token &name = read[words - 3];
    if (!name.is(tok::identifier) ||
        !(name.getIdentifierInfo()->isStr("outer") || name.getIdentifierInfo()->isStr("__outer__")))
      error(name, "'outer' is the only attribute of a transaction");
    after = next();
    return true;
  }

  Token next() {
    Token token;
    pp_->Lex(token);
    return token;
  }

  void put_noexcept() {
    put("TANDEM_GNU_ATOMIC_NOEXCEPT_");
    put_always();
  }

  // (true)
  void put_always() {
    put_punctuation(tok::l_paren);
    put("true");
    put_punctuation(tok::r_paren);
  }

  void put_punctuation(tok::TokenKind kind) {
    Token token;
    token.startToken();
    token.setKind(kind);
    token.setLocation(place_);
    token.setLength(1);
    out_.push_back(token);
  }

  void put(const char *macro) { put_identifier(*pp_->getIdentifierInfo(macro), false); }
  void put_plain(IdentifierInfo &word) { put_identifier(word, true); }

  void put_identifier(IdentifierInfo &word, bool plain) {
    Token token;
    token.startToken();
    token.setKind(word.getTokenID());
    token.setIdentifierInfo(&word);
    token.setLocation(place_);
    if (plain)
      token.setFlag(Token::DisableExpand);
    out_.push_back(token);
  }

  template <unsigned size> void error(const Token &at, const char (&message)[size]) {
    DiagnosticsEngine &diagnostics = pp_->getDiagnostics();
    diagnostics.Report(at.getLocation(),
                       diagnostics.getCustomDiagID(DiagnosticsEngine::Error, message));
  }

  Preprocessor *pp_ = nullptr;
  SourceLocation place_;
  std::vector<Token> out_;
};

const PragmaHandlerRegistry::Add<GnuTm> kHandler("tandem", "the syntax of gcc's -fgnu-tm");

// ---- attributes: of functions, of their types, and of pointers to them

using Spelling = ParsedAttrInfo::Spelling;

struct Safe {
  static constexpr const char *annotation = nullptr; // what the function does is found out
  static constexpr std::array spellings = {
      Spelling{ParsedAttr::AS_GNU, "transaction_safe"},
      Spelling{ParsedAttr::AS_CXX11, "transaction_safe"},
      Spelling{ParsedAttr::AS_CXX11, "gnu::transaction_safe"},
      Spelling{ParsedAttr::AS_C23, "transaction_safe"},
      Spelling{ParsedAttr::AS_C23, "gnu::transaction_safe"},
      Spelling{ParsedAttr::AS_GNU, "transaction_safe_dynamic"},
      Spelling{ParsedAttr::AS_CXX11, "transaction_safe_dynamic"},
      Spelling{ParsedAttr::AS_CXX11, "gnu::transaction_safe_dynamic"}};
};

struct Callable {
  static constexpr const char *annotation = nullptr;
  static constexpr std::array spellings = {
      Spelling{ParsedAttr::AS_GNU, "transaction_callable"},
      Spelling{ParsedAttr::AS_CXX11, "transaction_callable"},
      Spelling{ParsedAttr::AS_CXX11, "gnu::transaction_callable"},
      Spelling{ParsedAttr::AS_C23, "transaction_callable"},
      Spelling{ParsedAttr::AS_C23, "gnu::transaction_callable"},
      Spelling{ParsedAttr::AS_GNU, "transaction_may_cancel_outer"},
      Spelling{ParsedAttr::AS_CXX11, "transaction_may_cancel_outer"},
      Spelling{ParsedAttr::AS_CXX11, "gnu::transaction_may_cancel_outer"},
      Spelling{ParsedAttr::AS_C23, "transaction_may_cancel_outer"},
      Spelling{ParsedAttr::AS_C23, "gnu::transaction_may_cancel_outer"}};
};

struct Pure {
  static constexpr const char *annotation = "tandem.transaction_pure"; // sections/promises.h
  static constexpr std::array spellings = {Spelling{ParsedAttr::AS_GNU, "transaction_pure"},
                                           Spelling{ParsedAttr::AS_CXX11, "transaction_pure"},
                                           Spelling{ParsedAttr::AS_CXX11, "gnu::transaction_pure"},
                                           Spelling{ParsedAttr::AS_C23, "transaction_pure"},
                                           Spelling{ParsedAttr::AS_C23, "gnu::transaction_pure"}};
};

struct Unsafe {
  static constexpr const char *annotation = "tandem.transaction_unsafe";
  static constexpr std::array spellings = {
      Spelling{ParsedAttr::AS_GNU, "transaction_unsafe"},
      Spelling{ParsedAttr::AS_CXX11, "transaction_unsafe"},
      Spelling{ParsedAttr::AS_CXX11, "gnu::transaction_unsafe"},
      Spelling{ParsedAttr::AS_C23, "transaction_unsafe"},
      Spelling{ParsedAttr::AS_C23, "gnu::transaction_unsafe"}};
};

template <typename Kind> struct TransactionAttribute : public ParsedAttrInfo {
  TransactionAttribute() {
    OptArgs = 0;
    NumArgs = 0;
    Spellings = Kind::spellings;
  }

  bool diagAppertainsToDecl(Sema &, const ParsedAttr &, const Decl *) const override {
    return true;
  }

  AttrHandling handleDeclAttribute(Sema &sema, Decl *declaration,
                                   const ParsedAttr &attribute) const override {
    const tandem::OurTurn turn;
    if (Kind::annotation != nullptr && declaration->getAsFunction() != nullptr) {
      declaration->addAttr(AnnotateAttr::CreateImplicit(sema.Context, Kind::annotation, nullptr, 0,
                                                        attribute.getRange()));
      // Not put into its callers before the link has looked at them.
      declaration->addAttr(NoInlineAttr::CreateImplicit(sema.Context, attribute.getRange()));
    }
    return AttributeApplied;
  }
};

const ParsedAttrInfoRegistry::Add<TransactionAttribute<Safe>>
    kSafe("transaction_safe", "functions that transactions may call");
const ParsedAttrInfoRegistry::Add<TransactionAttribute<Callable>>
    kCallable("transaction_callable", "functions that relaxed transactions may call");
const ParsedAttrInfoRegistry::Add<TransactionAttribute<Pure>>
    kPure("transaction_pure", "functions that run in transactions as they are");
const ParsedAttrInfoRegistry::Add<TransactionAttribute<Unsafe>>
    kUnsafe("transaction_unsafe", "functions that run in no transaction that can be undone");

} // namespace
