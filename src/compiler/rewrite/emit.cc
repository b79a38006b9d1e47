// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/emit.h"

#include "compiler/rewrite/layout.h"
#include "compiler/rewrite/prelude.h"
#include "compiler/rewrite/render.h"

#include <algorithm>
#include <memory>
#include <set>

namespace tandem::rewrite {
namespace {

constexpr const char *kHeader = "tandem/tandem.h";

// The colours that the sections of each source take, and how.
struct Takes {
  std::set<std::string, decltype(&before)> colours{&before};
  bool shared = false;
  bool transactions = false;
};

Takes takes_of(const Program &program, const Decisions &decisions, std::size_t source) {
  Takes takes;
  for (const auto &[section, guard] : decisions.guards) {
    const bool nested = program.nested(section) || decisions.contexts.at(section.function).bare();
    if (section.function.source != source || guard.empty() || nested)
      continue;
    takes.transactions |= guard.transaction;
    for (const ReportLock &lock : guard.locks) {
      takes.colours.insert(lock.colour);
      takes.shared |= lock.mode == LockMode::shared;
    }
  }
  return takes;
}

class Emitter {
public:
  Emitter(const Program &program, const Decisions &decisions)
      : program_(program), decisions_(decisions) {
    std::set<std::string> colours;
    std::size_t sources = 0;
    for (std::size_t source = 0; source < program.sources().size(); ++source) {
      takes_.push_back(takes_of(program, decisions, source));
      sources += takes_.back().colours.empty() ? 0 : 1;
      colours.insert(takes_.back().colours.begin(), takes_.back().colours.end());
    }
    everywhere_ = sources > 1;
    all_.insert(colours.begin(), colours.end());
    const auto taken = [&](const std::string &name) {
      return std::any_of(program.sources().begin(), program.sources().end(),
                         [&](const Source &source) { return source.identifiers.contains(name); });
    };
    rendering_ = std::make_unique<Rendering>(
        program, decisions, choose_names(colours, decisions.mode, everywhere_, taken), taken);
  }

  std::string emit(std::size_t number) {
    const Source &source = program_.sources()[number];
    rendering_->begin_source();
    std::vector<Piece> pieces;
    for (std::size_t index = 0; index < source.functions.size(); ++index) {
      const FunctionId id{number, index};
      if (!source.functions[index].here)
        continue;
      if (std::optional<Rendered> rendered = rendering_->function(id)) {
        if (!rendered->declarations.empty())
          pieces.push_back({{source.functions[index].lead, source.functions[index].lead},
                            rendered->declarations});
        pieces.push_back({source.functions[index].whole, std::move(rendered->text)});
      }
    }
    const auto covered = [&](const Range &range) {
      return std::any_of(pieces.begin(), pieces.end(), [&](const Piece &piece) {
        return piece.range.begin <= range.begin && range.end <= piece.range.end;
      });
    };
    std::vector<Piece> rest;
    for (const Range &mark : source.marks)
      if (!covered(mark))
        rest.push_back({mark, ""});
    for (const Include &include : source.includes)
      if (include.name == kHeader)
        rest.push_back({include.line, ""});
    pieces.insert(pieces.end(), rest.begin(), rest.end());
    if (const std::string text = prelude_of(number); !text.empty())
      pieces.insert(pieces.begin(), {{source.prelude, source.prelude}, separated(source, text)});
    return replace_pieces(source, {0, static_cast<unsigned>(source.text.size())}, std::move(pieces),
                          "");
  }

private:
  // With an empty line before it, unless it is the beginning; one behind it, but no second.
  static std::string separated(const Source &source, std::string text) {
    unsigned at = source.prelude;
    if (at < source.text.size() && source.text[at] == '\n')
      text.pop_back();
    for (const Include &include : source.includes)
      if (include.name == kHeader && include.line.end == at)
        at = include.line.begin; // what will be the line before
    if (at > 0 && !(at >= 2 && source.text[at - 1] == '\n' && source.text[at - 2] == '\n'))
      text.insert(0, "\n");
    return text;
  }

  std::string prelude_of(std::size_t number) {
    const Source &source = program_.sources()[number];
    const Takes &takes = takes_[number];
    PreludeNeeds needs;
    needs.mode = decisions_.mode;
    needs.colours.assign(takes.colours.begin(), takes.colours.end());
    needs.shared = takes.shared;
    needs.transactions = takes.transactions;
    needs.held_exclusive = rendering_->held_exclusive();
    needs.held_shared = rendering_->held_shared();
    needs.includes_pthread =
        std::any_of(source.includes.begin(), source.includes.end(), [&](const Include &include) {
          return include.name == "pthread.h" && include.line.begin < source.prelude;
        });
    for (const auto &[user, name] : decisions_.needs.pure) {
      const auto declared =
          std::find_if(source.declared.begin(), source.declared.end(),
                       [&](const Declared &one) { return one.name == name && one.in_header; });
      if (user == number && declared != source.declared.end())
        needs.declarations.push_back(pure_declaration(name));
    }
    if (everywhere_ && !needs.colours.empty()) {
      const auto first = std::find_if(takes_.begin(), takes_.end(),
                                      [](const Takes &one) { return !one.colours.empty(); });
      const bool defines = static_cast<std::size_t>(first - takes_.begin()) == number;
      needs.linkage = defines ? Linkage::defined : Linkage::external;
      if (defines)
        needs.colours.assign(all_.begin(), all_.end());
    }
    return prelude(needs, rendering_->names());
  }

  const Program &program_;
  const Decisions &decisions_;
  std::vector<Takes> takes_; // by source
  std::set<std::string, decltype(&before)> all_{&before};
  bool everywhere_ = false; // the locks are known in several sources
  std::unique_ptr<Rendering> rendering_;
};

} // namespace

std::vector<std::string> emit(const Program &program, const Decisions &decisions) {
  Emitter emitter(program, decisions);
  std::vector<std::string> texts;
  for (std::size_t source = 0; source < program.sources().size(); ++source)
    texts.push_back(emitter.emit(source));
  return texts;
}

} // namespace tandem::rewrite
