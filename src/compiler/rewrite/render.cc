// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/render.h"

#include <algorithm>
#include <fmt/format.h>

namespace tandem::rewrite {
namespace {

constexpr const char *kSafe = "__attribute__((transaction_safe))";

std::string free_name(std::string name, const std::function<bool(const std::string &)> &taken) {
  while (taken(name))
    name += "_";
  return name;
}

} // namespace

std::string pure_declaration(const std::string &name) {
  return fmt::format("extern __typeof__({0}) {0} __attribute__((transaction_pure));", name);
}

Rendering::Rendering(const Program &program, const Decisions &decisions, Names names,
                     const std::function<bool(const std::string &)> &taken)
    : program_(program), decisions_(decisions), names_(std::move(names)) {
  for (const FunctionId id : program.functions()) {
    const Function &function = program.at(id);
    if (needs_copy(id) || needs_body(id))
      unguarded_[id] = free_name(function.name + "_unguarded", taken);
    else if (decisions.needs.across.contains(id))
      safe_[id] = free_name(function.name + "_safe", taken);
  }
  for (const FunctionId id : program.functions())
    for (const Call &call : program.at(id).calls)
      if (const auto callee = program.find(call.callee);
          callee && callee->source != id.source && needs_copy(*callee))
        exported_.insert(*callee);
}

void Rendering::begin_source() {
  declared_.clear();
  held_exclusive_ = held_shared_ = false;
}

const Guard &Rendering::guard_of(FunctionId id, int block) const {
  return decisions_.guards.at({id, block});
}

bool Rendering::is_own_section(FunctionId id) const {
  return program_.at(id).section && !guard_of(id, kNoBlock).empty();
}

// A section without a guard is the same inside and outside.
bool Rendering::needs_copy(FunctionId id) const {
  const auto found = decisions_.contexts.find(id);
  return found != decisions_.contexts.end() && found->second.twofold() &&
         (!program_.at(id).section || is_own_section(id));
}

bool Rendering::jumps_out(const Function &function) {
  const std::size_t in_place = function.trailing && function.returns.back().written ? 1 : 0;
  return function.returns.size() > in_place;
}

// Where no variable can keep the value until the locks are released, the transaction returns it,
// and the locks are released behind it.
bool Rendering::returns_inside(FunctionId id) const {
  const Function &function = program_.at(id);
  return function.returns_value && !function.result_assignable &&
         guard_of(id, kNoBlock).transaction;
}

// A section with several ways out becomes the body of its guard.
bool Rendering::needs_body(FunctionId id) const {
  return is_own_section(id) && !decisions_.contexts.at(id).bare() && !program_.at(id).variadic &&
         jumps_out(program_.at(id));
}

bool Rendering::runs_in_transactions(FunctionId id) const {
  if (decisions_.needs.runs.contains(id))
    return true;
  const auto first = decisions_.guards.lower_bound({id, kNoBlock});
  for (auto guard = first; guard != decisions_.guards.end() && guard->first.function == id; ++guard)
    if (guard->second.transaction)
      return true;
  return false;
}

std::string Rendering::new_name(const Scope &scope, const Call &call) const {
  const auto callee = program_.find(call.callee);
  if (!callee || !call.token)
    return "";
  const bool inside =
      scope.version == Version::bare || program_.at(scope.id).section || call.block != kNoBlock;
  if (const auto name = unguarded_.find(*callee); inside && name != unguarded_.end())
    return name->second;
  if (const auto name = safe_.find(*callee);
      callee->source != scope.id.source && name != safe_.end() && runs_in_transactions(scope.id))
    return name->second;
  return "";
}

std::vector<Piece> Rendering::pieces(const Scope &scope, Range range, const std::string &extra) {
  const Function &function = program_.at(scope.id);
  const auto within = [&](const Range &one) {
    return range.begin <= one.begin && one.end <= range.end;
  };
  std::vector<Piece> found;
  std::vector<Range> taken; // by blocks
  for (std::size_t number = 0; number < function.blocks.size(); ++number) {
    const Range whole{function.blocks[number].mark.begin, function.blocks[number].body.end};
    const bool covered = std::any_of(taken.begin(), taken.end(), [&](const Range &outer) {
      return outer.begin <= whole.begin && whole.end <= outer.end;
    });
    if (!within(whole) || covered)
      continue;
    taken.push_back(whole);
    found.push_back({whole, block(scope, static_cast<int>(number), extra)});
  }
  const auto add = [&](const Range &one, const std::string &text) {
    if (within(one) && std::none_of(taken.begin(), taken.end(), [&](const Range &outer) {
          return outer.begin <= one.begin && one.end <= outer.end;
        }))
      found.push_back({one, text});
  };
  for (const Range &mark : program_.source_of(scope.id).marks)
    add(mark, "");
  std::set<unsigned> seen; // a macro may expand its argument more than once
  for (const Call &call : function.calls)
    if (const std::string name = new_name(scope, call);
        !name.empty() && seen.insert(call.token->begin).second)
      add(*call.token, name);
  for (const Piece &piece : scope.further)
    add(piece.range, piece.text);
  return found;
}

std::string Rendering::text(const Scope &scope, Range range, const std::string &extra) {
  return replace_pieces(program_.source_of(scope.id), range, pieces(scope, range, extra), extra);
}

std::string Rendering::block(const Scope &scope, int number, const std::string &extra) {
  const Function &function = program_.at(scope.id);
  const Block &block = function.blocks[number];
  const Guard &guard = guard_of(scope.id, number);
  if (scope.version == Version::bare || function.section || block.parent != kNoBlock ||
      guard.empty())
    return text(scope, block.body, extra);
  const bool unreachable = block.returns && !block.ends && function.returns_value;
  if (guard.locks.empty()) {
    const Source &source = program_.source_of(scope.id);
    std::string made = "__transaction_atomic" +
                       replace_pieces(source, {block.mark.end, block.body.begin}, {}, extra) +
                       text(scope, block.body, extra);
    if (unreachable && block.in_compound)
      made +=
          "\n" + extra + indentation_at(source.text, block.mark.begin) + "__builtin_unreachable();";
    return made;
  }
  return compound(scope,
                  {.braces = block.body,
                   .inner_end = block.body.end - 1,
                   .guard = guard,
                   .held = block.leaves,
                   .first = "",
                   .last = "",
                   .unreachable = unreachable && guard.transaction},
                  extra);
}

std::string Rendering::locks(const Guard &guard, bool held, const std::string &indent) {
  std::string text;
  for (const ReportLock &lock : guard.locks) {
    const bool shared = lock.mode == LockMode::shared;
    const std::string &variable = names_.colours.at(lock.colour);
    if (held) {
      (shared ? held_shared_ : held_exclusive_) = true;
      text += fmt::format("{}{}({});\n", indent,
                          shared ? names_.hold_shared : names_.hold_exclusive, variable);
    } else {
      text += fmt::format("{}{}(&{});\n", indent,
                          shared ? names_.shared_lock : names_.exclusive_lock, variable);
    }
  }
  return text;
}

std::string Rendering::unlocks(const Guard &guard, const std::string &indent) const {
  std::string text;
  for (auto lock = guard.locks.rbegin(); lock != guard.locks.rend(); ++lock)
    text += fmt::format("{}{}(&{});\n", indent, names_.unlock, names_.colours.at(lock->colour));
  return text;
}

std::string Rendering::compound(const Scope &scope, const Compound &what,
                                const std::string &extra) {
  const Source &source = program_.source_of(scope.id);
  // The closing brace's, where that begins a line.
  const std::string closing = indentation_at(source.text, what.braces.end - 1);
  const unsigned brace = what.braces.end - 1;
  const bool begins = brace >= closing.size() && closing.size() < brace &&
                      source.text[brace - closing.size() - 1] == '\n';
  const std::string base =
      extra + (begins ? closing : indentation_at(source.text, what.braces.begin));
  const std::string indent = base + source.indentation;
  const std::string deeper = what.guard.transaction ? source.indentation : "";
  const std::string inner = as_lines(
      text(scope, {what.braces.begin + 1, what.inner_end}, extra + deeper), indent + deeper);
  std::string made = "{\n";
  if (!what.first.empty())
    made += indent + what.first + "\n";
  made += locks(what.guard, what.held, indent);
  if (what.guard.transaction)
    made += indent + "__transaction_atomic {\n" + inner + indent + "}\n";
  else
    made += inner;
  if (what.unreachable)
    made += indent + "__builtin_unreachable();\n";
  if (!what.held)
    made += unlocks(what.guard, indent);
  if (!what.last.empty())
    made += indent + what.last + "\n";
  return made + base + "}";
}

std::string Rendering::result_declaration(const Function &function) const {
  std::string text = function.result;
  if (const std::size_t at = text.find(kPlaceholder); at != std::string::npos)
    text.replace(at, 1, names_.result);
  return text;
}

// As figures 4 and 5 have it: the guard inside of the function, the value kept until its end.
std::string Rendering::section_in_place(FunctionId id, bool held) {
  const Function &function = program_.at(id);
  Scope scope{id, Version::guarded, {}};
  Compound body{.braces = function.body,
                .inner_end = function.body.end - 1,
                .guard = guard_of(id, kNoBlock),
                .held = held,
                .first = "",
                .last = "",
                .unreachable =
                    held && function.returns_value && guard_of(id, kNoBlock).transaction};
  const Source &source = program_.source_of(id);
  if (!held && function.trailing) {
    const Return &last = function.returns.back();
    const bool transaction = body.guard.transaction;
    if (last.constant || last.parameter || (last.local && !transaction)) {
      body.inner_end = last.keyword.begin;
      body.last = source.text.substr(last.keyword.begin, last.end - last.keyword.begin) + ";";
    } else {
      if (transaction)
        body.first = result_declaration(function) + ";";
      scope.further.push_back(
          {last.keyword, (transaction ? names_.result : result_declaration(function)) + " =" +
                             (last.comma ? " (" : "")});
      if (last.comma)
        scope.further.push_back({{last.end, last.end}, ")"});
      body.last = fmt::format("return {};", names_.result);
    }
  }
  return text(scope, {function.whole.begin, function.body.begin}, "") + compound(scope, body, "");
}

std::string Rendering::signature(FunctionId id, Version version, const std::string &name) {
  const Function &function = program_.at(id);
  return text({id, version, {{function.token, name}}}, {function.whole.begin, function.body.begin},
              "");
}

// A definition under another name, without guards.
std::string Rendering::renamed(FunctionId id, const std::string &name) {
  const Function &function = program_.at(id);
  std::string made;
  if (exported_.contains(id)) {
    if (decisions_.needs.across.contains(id))
      made += std::string(kSafe) + " ";
  } else if (!function.says_static) {
    made += "static ";
  }
  return made + signature(id, Version::bare, name) +
         text({id, Version::bare, {}}, function.body, "");
}

std::string Rendering::arguments(const Function &function) {
  std::string text;
  for (const Parameter &parameter : function.parameters)
    text += (text.empty() ? "" : ", ") + parameter.name;
  return text;
}

// The paper's wrapper (section 4.1): the guard around a call of what was the function.
std::string Rendering::section_split(FunctionId id) {
  const Function &function = program_.at(id);
  const Source &source = program_.source_of(id);
  const Guard &guard = guard_of(id, kNoBlock);
  const auto found = unguarded_.find(id);
  CHECK(found != unguarded_.end());
  const std::string base = indentation_at(source.text, function.whole.begin);
  const std::string indent = base + source.indentation;
  const std::string call = fmt::format("{}({});\n", found->second, arguments(function));
  const bool held = returns_inside(id);
  std::string made = renamed(id, found->second) + "\n\n" + base +
                     signature(id, Version::guarded, function.name) + "{\n";
  if (function.returns_value && guard.transaction && !held)
    made += indent + result_declaration(function) + ";\n";
  made += locks(guard, held, indent);
  if (held)
    return made + indent + "__transaction_atomic {\n" + indent + source.indentation + "return " +
           call + indent + "}\n" + indent + "__builtin_unreachable();\n" + base + "}";
  const std::string result =
      !function.returns_value
          ? ""
          : (guard.transaction ? names_.result : result_declaration(function)) + " = ";
  if (guard.transaction)
    made += indent + "__transaction_atomic {\n" + indent + source.indentation + result + call +
            indent + "}\n";
  else
    made += indent + result + call;
  made += unlocks(guard, indent);
  if (function.returns_value)
    made += indent + fmt::format("return {};\n", names_.result);
  return made + base + "}";
}

// gcc takes an attribute only where every declaration has it, and the header's has not: so
// transactions of other sources call another function, which has.
std::string Rendering::safe_wrapper(FunctionId id) {
  const Function &function = program_.at(id);
  const Source &source = program_.source_of(id);
  return fmt::format("\n\n{} {}{{\n{}{}{}({});\n}}", kSafe,
                     signature(id, Version::guarded, safe_.at(id)), source.indentation,
                     function.returns_value ? "return " : "", function.name, arguments(function));
}

std::string Rendering::declarations(FunctionId id) {
  const Function &function = program_.at(id);
  const Source &source = program_.source_of(id);
  std::string made;
  const auto declare = [&](const std::string &text) {
    if (declared_.insert(text).second)
      made += text + "\n";
  };
  for (const Call &call : function.calls) {
    for (const Declared &one : source.declared)
      if (one.name == call.name && !one.in_header &&
          decisions_.needs.pure.contains({id.source, one.name}))
        declare(pure_declaration(one.name));
    const auto callee = program_.find(call.callee);
    // As the version that calls most by another name has it.
    const bool bare = needs_copy(id) || decisions_.contexts.at(id).bare();
    const std::string name = new_name({id, bare ? Version::bare : Version::guarded, {}}, call);
    if (!callee || name.empty())
      continue;
    const bool elsewhere = callee->source != id.source;
    if (!elsewhere && program_.at(*callee).whole.begin <= function.whole.begin)
      continue;
    const bool exported = elsewhere || exported_.contains(*callee);
    declare(fmt::format(
        "{} __typeof__({}) {}{};", exported ? "extern" : "static", program_.at(*callee).name, name,
        exported && decisions_.needs.across.contains(*callee) ? " " + std::string(kSafe) : ""));
  }
  return made.empty() ? "" : made + "\n";
}

std::optional<Rendered> Rendering::function(FunctionId id) {
  const Function &function = program_.at(id);
  const Context &context = decisions_.contexts.at(id);
  Rendered rendered;
  rendered.declarations = declarations(id);
  if (is_own_section(id) && !context.bare()) {
    rendered.text = unguarded_.contains(id)
                        ? section_split(id)
                        : section_in_place(id, jumps_out(function) || returns_inside(id));
  } else {
    const Version version = context.bare() ? Version::bare : Version::guarded;
    if (const auto name = unguarded_.find(id); name != unguarded_.end())
      rendered.text = renamed(id, name->second) + "\n\n";
    rendered.text += text({id, version, {}}, function.whole, "");
  }
  if (safe_.contains(id))
    rendered.text += safe_wrapper(id);
  const Source &source = program_.source_of(id);
  if (rendered.declarations.empty() &&
      rendered.text ==
          source.text.substr(function.whole.begin, function.whole.end - function.whole.begin))
    return std::nullopt;
  return rendered;
}

} // namespace tandem::rewrite
