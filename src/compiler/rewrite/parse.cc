// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/parse.h"

#include "compiler/rewrite/body.h"
#include "compiler/rewrite/places.h"
#include "compiler/rewrite/tokens.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/Basic/Builtins.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/PPCallbacks.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace tandem::rewrite {
namespace {

using namespace clang;

constexpr const char *kMark = "tandem.atomic"; // annotations that compiler/attribute makes

// #include lines of the file, and what #if and its kin enclose.
class Directives : public PPCallbacks {
public:
  Directives(SourceManager &sources, Source &source, std::vector<Range> &conditionals)
      : sources_(sources), source_(source), conditionals_(conditionals) {}

  void InclusionDirective(SourceLocation hash, const Token &, StringRef name, bool, CharSourceRange,
                          OptionalFileEntryRef, StringRef, StringRef, const clang::Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    if (sources_.isWrittenInMainFile(hash))
      source_.includes.push_back({{line_begin(hash), line_end(hash)}, name.str()});
  }
  void If(SourceLocation at, SourceRange, ConditionValueKind) override { open(at); }
  void Ifdef(SourceLocation at, const Token &, const MacroDefinition &) override { open(at); }
  void Ifndef(SourceLocation at, const Token &, const MacroDefinition &) override { open(at); }
  void Endif(SourceLocation at, SourceLocation) override {
    if (!sources_.isWrittenInMainFile(at) || opened_.empty())
      return;
    conditionals_.push_back({opened_.back(), line_end(at)});
    opened_.pop_back();
  }

private:
  void open(SourceLocation at) {
    if (sources_.isWrittenInMainFile(at))
      opened_.push_back(line_begin(at));
  }
  unsigned line_begin(SourceLocation at) const {
    const unsigned offset = sources_.getFileOffset(at);
    const std::size_t newline =
        offset == 0 ? std::string::npos : source_.text.rfind('\n', offset - 1);
    return newline == std::string::npos ? 0 : static_cast<unsigned>(newline + 1);
  }
  unsigned line_end(SourceLocation at) const {
    const std::size_t newline = source_.text.find('\n', sources_.getFileOffset(at));
    return static_cast<unsigned>(newline == std::string::npos ? source_.text.size() : newline + 1);
  }

  SourceManager &sources_;
  Source &source_;
  std::vector<Range> &conditionals_;
  std::vector<unsigned> opened_;
};

// Fills a Source from a translation unit.
class Collector {
public:
  Collector(CompilerInstance &compiler, unsigned number, const std::vector<Range> &conditionals,
            Source &source)
      : context_(compiler.getASTContext()), places_(compiler.getPreprocessor(), number),
        tokens_(compiler.getSourceManager(), compiler.getSourceManager().getMainFileID(),
                compiler.getLangOpts()),
        conditionals_(conditionals), source_(source) {}

  Status collect() {
    for (const Decl *declaration : context_.getTranslationUnitDecl()->decls())
      if (Status added = add(*declaration); !added)
        return added;
    for (const auto &[key, function] : mentioned_.called)
      add_called(*function);
    source_.references = std::move(mentioned_.references);
    for (const auto &entry : places_.preprocessor().getIdentifierTable())
      source_.identifiers.insert(entry.getKey().str());
    source_.strings = tokens_.over_lines();
    source_.prelude = find_prelude();
    std::sort(source_.marks.begin(), source_.marks.end(),
              [](const Range &a, const Range &b) { return a.begin < b.begin; });
    source_.marks.erase(std::unique(source_.marks.begin(), source_.marks.end()),
                        source_.marks.end());
    return tandem::Unit{};
  }

private:
  Status add(const Decl &declaration) {
    if (places_.in_main_file(declaration.getBeginLoc()))
      if (const SourceLocation at = places_.sources().getExpansionLoc(declaration.getBeginLoc());
          at.isValid())
        first_ = std::min(first_, places_.sources().getFileOffset(at));
    if (const auto *variable = dyn_cast<VarDecl>(&declaration);
        variable != nullptr && variable->hasInit())
      read_initialiser(context_, *variable->getInit(), places_, mentioned_);
    const auto *function = dyn_cast<FunctionDecl>(&declaration);
    if (function == nullptr)
      return tandem::Unit{};
    if (Status marked = add_marks(*function); !marked)
      return marked;
    if (!function->doesThisDeclarationHaveABody() ||
        places_.sources().isInSystemHeader(function->getLocation()))
      return tandem::Unit{};
    return add_definition(*function);
  }

  Status add_marks(const FunctionDecl &function) {
    for (const auto *annotation : function.specific_attrs<AnnotateAttr>()) {
      if (annotation->isInherited() || !annotation->getAnnotation().starts_with(kMark))
        continue;
      const SourceLocation at = annotation->getRange().getBegin();
      std::optional<Range> mark = places_.mark_macro(at);
      if (mark)
        mark = tokens_.word(mark->begin, mark->end);
      else if (const std::optional<unsigned> offset = places_.offset(at))
        mark = tokens_.attribute(*offset);
      if (!mark)
        return Error{fmt::format(
            "{}: the mark of '{}' {}", places_.exact_place(at), function.getName(),
            places_.in_main_file(at)
                ? "comes out of a macro that holds more, which is not rewritten: write it out"
                : "stands in a header, which is not rewritten: mark it in its source file")};
      source_.marks.push_back(*mark);
    }
    return tandem::Unit{};
  }

  Status add_definition(const FunctionDecl &definition) {
    Function function;
    function.key = places_.key(definition);
    function.name = definition.getNameAsString();
    function.type = definition.getType().getCanonicalType().getAsString();
    function.file = places_.file(definition.getLocation());
    function.line = places_.line(definition.getLocation());
    function.visible = definition.isExternallyVisible();
    function.says_static = definition.getCanonicalDecl()->getStorageClass() == SC_Static;
    for (const auto *annotation : definition.specific_attrs<AnnotateAttr>())
      function.section |= annotation->getAnnotation().starts_with(kMark);
    function.variadic = definition.isVariadic();
    function.prototyped = definition.hasPrototype() || definition.getNumParams() == 0;
    for (const FunctionDecl *declaration : definition.redecls())
      function.declared_in_header |= !places_.in_main_file(declaration->getLocation());
    for (const ParmVarDecl *parameter : definition.parameters())
      function.parameters.push_back({parameter->getNameAsString()});
    set_result(definition, function);
    set_ranges(definition, function);
    if (function.section && !function.here)
      return Error{fmt::format(
          "{}: the section '{}' {}", places_.exact_place(definition.getLocation()), function.name,
          places_.in_main_file(definition.getLocation())
              ? "comes out of a macro, which is not rewritten: write it out"
              : "stands in a header, which is not rewritten: move it into a source file")};
    if (Status read = read_body(definition, places_, function, mentioned_); !read)
      return read;
    source_.functions.push_back(std::move(function));
    return tandem::Unit{};
  }

  // Whether no variable of the type can be assigned to, whatever it says of itself.
  bool has_const_members(QualType type) const {
    const auto *record = type->getAs<RecordType>();
    return record != nullptr && llvm::any_of(record->getDecl()->fields(), [&](const auto *field) {
             const QualType element = context_.getBaseElementType(field->getType());
             return element.isConstQualified() || has_const_members(element);
           });
  }

  // A structure, a union or an enumeration without a tag, which no typedef names either, or a
  // pointer to one, or an array of them.
  static bool has_no_name(QualType type) {
    for (;;) {
      if (type->getAs<TypedefType>() != nullptr)
        return false;
      if (const auto *pointer = type->getAs<PointerType>())
        type = pointer->getPointeeType();
      else if (const auto *array = dyn_cast<clang::ArrayType>(type.getTypePtr()))
        type = array->getElementType();
      else
        break;
    }
    const TagDecl *tag = type->getAsTagDecl();
    return tag != nullptr && tag->getIdentifier() == nullptr &&
           tag->getTypedefNameForAnonDecl() == nullptr;
  }
  static std::vector<std::string> names_of(const FunctionDecl &definition) {
    std::vector<std::string> names;
    for (const ParmVarDecl *parameter : definition.parameters())
      names.push_back(parameter->getNameAsString());
    return names;
  }

  void set_result(const FunctionDecl &definition, Function &function) {
    const QualType type = definition.getReturnType().getAtomicUnqualifiedType();
    function.returns_value = !type->isVoidType();
    function.result_assignable = !has_const_members(type);
    PrintingPolicy policy(context_.getLangOpts());
    policy.Bool = places_.preprocessor().isMacroDefined("bool");
    function.result = kPlaceholder;
    if (!function.returns_value)
      return;
    // What has no name is called by whoever returns it.
    if (has_no_name(definition.getReturnType()))
      function.result = fmt::format("__typeof__({}({})) {}", function.name,
                                    fmt::join(names_of(definition), ", "), kPlaceholder);
    else
      type.getAsStringInternal(function.result, policy);
  }

  void set_ranges(const FunctionDecl &definition, Function &function) {
    const auto *body = dyn_cast<CompoundStmt>(definition.getBody());
    const auto begin = outermost_begin(definition);
    const auto name = places_.offset(definition.getLocation());
    const auto open = body == nullptr ? std::nullopt : places_.offset(body->getLBracLoc());
    const auto close = body == nullptr ? std::nullopt : places_.past(body->getRBracLoc());
    function.here = begin && name && open && close;
    if (!function.here)
      return;
    function.whole = {*begin, *close};
    function.lead = tokens_.with_comment(*begin);
    function.token = {*name, *name + static_cast<unsigned>(function.name.size())};
    function.body = {*open, *close};
  }

  // Where the definition begins in the file: clang's range leaves attributes in front away, and a
  // first specifier may be a macro.
  std::optional<unsigned> outermost_begin(const FunctionDecl &definition) const {
    const SourceLocation at = places_.sources().getExpansionLoc(definition.getBeginLoc());
    std::optional<unsigned> begin = places_.offset(at);
    for (const Range &mark : source_.marks)
      if (begin && mark.begin < *begin && only_between(mark.end, *begin))
        begin = mark.begin;
    return begin;
  }
  bool only_between(unsigned begin, unsigned end) const {
    return source_.text.substr(begin, end - begin).find_first_of(";{}#") == std::string::npos;
  }

  void add_called(const FunctionDecl &function) {
    Declared declared;
    declared.name = function.getNameAsString();
    declared.in_header = !places_.in_main_file(function.getCanonicalDecl()->getLocation());
    const unsigned builtin = function.getBuiltinID();
    declared.gcc_knows =
        function.hasAttr<ConstAttr>() || (builtin != 0 && context_.BuiltinInfo.isConst(builtin));
    source_.declared.push_back(std::move(declared));
  }

  // Behind the last #include before the first declaration, outside of conditional parts.
  unsigned find_prelude() const {
    unsigned at = 0;
    bool found = false;
    for (const Include &include : source_.includes)
      if (include.line.begin < first_) {
        at = include.line.end;
        found = true;
      }
    const bool declares = first_ != kNowhere;
    if (!found && declares)
      at = tokens_.with_comment(first_);
    for (const Range &conditional : conditionals_)
      if (at > conditional.begin && at < conditional.end && conditional.end <= first_)
        at = conditional.end;
    return at;
  }

  static constexpr unsigned kNowhere = ~0U;
  ASTContext &context_;
  Places places_;
  Tokens tokens_;
  const std::vector<Range> &conditionals_;
  Source &source_;
  Mentioned mentioned_;
  unsigned first_ = kNowhere; // the first declaration
};

class CollectAction : public ASTFrontendAction {
public:
  CollectAction(const ParseRequest &request, Source &source, Status &status)
      : request_(request), source_(source), status_(status) {}

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &compiler, StringRef) override {
    SourceManager &sources = compiler.getSourceManager();
    source_.text = sources.getBufferData(sources.getMainFileID()).str();
    compiler.getPreprocessor().addPPCallbacks(
        std::make_unique<Directives>(sources, source_, conditionals_));
    return std::make_unique<Consumer>(*this, compiler);
  }

private:
  class Consumer : public ASTConsumer {
  public:
    Consumer(CollectAction &action, CompilerInstance &compiler)
        : action_(action), compiler_(compiler) {}
    void HandleTranslationUnit(ASTContext &) override {
      if (compiler_.getDiagnostics().hasErrorOccurred())
        action_.status_ = Error{action_.request_.path + ": cannot be read again by clang"};
      else if (compiler_.getLangOpts().CPlusPlus)
        action_.status_ =
            Error{action_.request_.path + ": C++ is not rewritten: gcc gets C sources only"};
      else
        action_.status_ =
            Collector(compiler_, action_.request_.number, action_.conditionals_, action_.source_)
                .collect();
    }

  private:
    CollectAction &action_;
    CompilerInstance &compiler_;
  };

  const ParseRequest &request_;
  Source &source_;
  Status &status_;
  std::vector<Range> conditionals_;
};

// The spaces that a line has more than the line before it, which ends with an opening brace.
std::string indentation_of(const std::string &text) {
  for (std::size_t at = text.find("{\n"); at != std::string::npos; at = text.find("{\n", at + 1)) {
    const std::size_t newline = text.rfind('\n', at);
    const std::size_t line = newline == std::string::npos ? 0 : newline + 1;
    const std::size_t before = text.find_first_not_of(" \t", line) - line;
    const std::size_t after = text.find_first_not_of(" \t", at + 2) - (at + 2);
    if (after > before && after - before <= 8 && text[at + 2 + after] != '\n')
      return text.substr(at + 2 + before, after - before);
  }
  return "  ";
}

} // namespace

Result<Source> parse_source(const ParseRequest &request) {
  std::vector<std::string> words = {request.clang, "-fsyntax-only", "-D__TANDEM__=1",
                                    "-idirafter",  request.headers, "-w",
                                    "-Wno-error"};
  for (const std::string &flag : request.flags)
    if (!flag.starts_with("-ftandem-") && flag != "-Werror")
      words.push_back(flag);
  words.push_back(request.path);
  std::vector<const char *> arguments;
  arguments.reserve(words.size());
  for (const std::string &word : words)
    arguments.push_back(word.c_str());

  auto quiet = std::make_unique<IgnoringDiagConsumer>();
  const IntrusiveRefCntPtr<DiagnosticsEngine> diagnostics =
      CompilerInstance::createDiagnostics(new DiagnosticOptions, quiet.get(), false);
  CreateInvocationOptions options;
  options.Diags = diagnostics;
  std::shared_ptr<CompilerInvocation> invocation = createInvocation(arguments, options);
  if (!invocation)
    return Error{request.path + ": clang does not understand the flags"};
  invocation->getFrontendOpts().DisableFree = false;
  CompilerInstance compiler;
  compiler.setInvocation(std::move(invocation));
  compiler.createDiagnostics(quiet.get(), false);
  Source source;
  source.path = request.path;
  Status status = Error{request.path + ": cannot be read again by clang"};
  CollectAction action(request, source, status);
  if (!compiler.ExecuteAction(action) && status)
    status = Error{request.path + ": cannot be read again by clang"};
  if (!status)
    return status.error();
  source.indentation = indentation_of(source.text);
  return source;
}

} // namespace tandem::rewrite
