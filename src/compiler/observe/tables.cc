// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/observe/tables.h"

#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InstIterator.h"

#include <sstream>

namespace tandem {
namespace {

using namespace llvm;

// The analysis's name for where a location lies: an object; where objects are not told apart, a
// node.
std::uint64_t label_of(const Location &location, bool has_objects) {
  return has_objects ? location.object : std::uint64_t{location.node} + 1;
}

// Labels of globals that the analysis has no object for: no section may touch them.
constexpr std::uint64_t kFirstUnknownLabel = 1U << 19;

std::string one_line(std::string text) {
  for (char &c : text)
    if (c == '\n')
      c = ' ';
  return text;
}

// How the recorder comes to know an object's memory: 'f' where it does not.
char kind_of(const Value &label, const PointsToAnalysis &points_to) {
  if (const auto *global = dyn_cast<GlobalVariable>(&label))
    return global->isDeclaration() ? 'f' : global->isThreadLocal() ? 't' : 'g';
  if (const auto *argument = dyn_cast<Argument>(&label))
    return points_to.is_released(*argument) ? 'h' : 's';
  if (isa<AllocaInst>(label))
    return 's';
  if (const auto *call = dyn_cast<CallBase>(&label)) {
    const Function *callee = called_function(*call);
    return callee != nullptr && (allocates(*callee) || callee->getName() == "posix_memalign" ||
                                 (!callee->isDeclaration() && points_to.is_allocator(*callee)))
               ? 'h'
               : 'f';
  }
  return 'f';
}

std::string name_of(const Value &label) {
  if (const auto *global = dyn_cast<GlobalObject>(&label))
    return source_name(*global);
  if (const auto *instruction = dyn_cast<Instruction>(&label)) {
    const auto *call = dyn_cast<CallBase>(&label);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    return fmt::format("{} of {} ({})",
                       callee != nullptr ? source_name(*callee) : label.getName().str(),
                       source_name(*instruction->getFunction()), source_place(*instruction));
  }
  if (const auto *argument = dyn_cast<Argument>(&label))
    return fmt::format("argument {} of {}", argument->getArgNo() + 1,
                       source_name(*argument->getParent()));
  return label.getName().str();
}

class Builder {
public:
  explicit Builder(const PointsToAnalysis &points_to) : points_to_(points_to) {}

  void add_value(const Value &value) {
    if (!points_to_.has_objects()) {
      add_places(value);
      return;
    }
    const std::optional<ObjectId> object = points_to_.object_of(value);
    const auto *global = dyn_cast<GlobalVariable>(&value);
    if (!object && (global == nullptr || global->isDeclaration()))
      return;
    const std::uint64_t label = object ? *object : next_unknown_++;
    const char kind = kind_of(value, points_to_);
    if (kind != 'f')
      result.allocations.emplace_back(&value, label);
    if (!named_.insert(label).second)
      return;
    lines << "label " << label << ' ' << kind << (is_outside(value) ? " 1 " : " 0 ")
          << one_line(name_of(value)) << '\n';
    if (object)
      add_folds(*object);
  }

  // A node of the effects, as if it were one object.
  void add_node(NodeId node) {
    const std::uint64_t label = std::uint64_t{node} + 1;
    if (!named_.insert(label).second)
      return;
    const bool foreign = points_to_.is_external(node) ||
                         any_of(points_to_.objects(node).heap, [&](const Value *value) {
                           return kind_of(*value, points_to_) == 'f';
                         });
    lines << "label " << label << (foreign ? " f 0 node " : " n 0 node ") << node << '\n';
    for (const Fold &fold : points_to_.folds(node))
      lines << "fold " << label << ' ' << fold.begin << ' ' << fold.end << ' ' << fold.period
            << '\n';
  }

  // An object of the effects that no value above stands for.
  void add_object(ObjectId object) {
    if (object == 0 || !named_.insert(object).second)
      return;
    lines << "label " << object << ' ' << kind_of(*points_to_.label(object), points_to_) << " 0 "
          << one_line(name_of(*points_to_.label(object))) << '\n';
    add_folds(object);
  }

  Observation result;
  std::ostringstream lines;

private:
  void add_places(const Value &value) {
    const auto *global = dyn_cast<GlobalVariable>(&value);
    const std::vector<Cell> places = points_to_.places(value);
    const char kind = kind_of(value, points_to_);
    if (kind == 'f' || (isa<CallBase>(value) && places.empty()) ||
        (global != nullptr && global->isDeclaration()))
      return;
    const std::uint64_t label = next_unknown_++;
    result.allocations.emplace_back(&value, label);
    lines << "label " << label << ' ' << kind << " 0 " << one_line(name_of(value)) << '\n';
    for (const Cell &place : places) {
      add_node(place.node);
      lines << "part " << label << ' ' << place.node + 1 << ' ' << place.offset << '\n';
    }
  }

  // Objects that code outside knows are not told apart: they are object 0.
  bool is_outside(const Value &value) {
    return any_of(points_to_.objects(value, 1),
                  [](const ObjectRange &range) { return range.object == 0; });
  }

  void add_folds(ObjectId object) {
    for (const Fold &fold : points_to_.object_folds(object))
      lines << "fold " << object << ' ' << fold.begin << ' ' << fold.end << ' ' << fold.period
            << '\n';
  }

  const PointsToAnalysis &points_to_;
  std::set<std::uint64_t> named_;
  std::uint64_t next_unknown_ = kFirstUnknownLabel;
};

void add_externals(const CallBase &call, const PointsToAnalysis &points_to, Observation &result) {
  const Function *callee = called_function(call);
  if (callee == nullptr || !callee->isDeclaration() || callee->isIntrinsic() ||
      call.doesNotAccessMemory() || lock_function(*callee))
    return;
  const CatalogueEntry &entry = points_to.entry(*callee);
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const bool reads = entry.reads.contains(i);
    const bool writes = entry.writes.contains(i) && !call.onlyReadsMemory();
    const Value &argument = *call.getArgOperand(i);
    if (argument.getType()->isPointerTy() && (reads || writes) &&
        !points_to.is_librarys_own(argument))
      result.externals.push_back({&call, i, reads, writes});
  }
}

void add_values(const Module &module, const PointsToAnalysis &points_to, Builder &builder) {
  for (const GlobalVariable &global : module.globals())
    if (!global.getName().starts_with("llvm.") && !global.isConstant() &&
        global.getValueType()->isSized() && !global.hasAvailableExternallyLinkage())
      builder.add_value(global);
  for (const Function &function : module) {
    for (const Argument &argument : function.args())
      if (!function.isDeclaration() && (argument.hasByValAttr() || points_to.is_released(argument)))
        builder.add_value(argument);
    for (const Instruction &instruction : instructions(function)) {
      if (isa<AllocaInst>(instruction) || isa<CallBase>(instruction))
        builder.add_value(instruction);
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        add_externals(*call, points_to, builder.result);
    }
  }
}

} // namespace

bool allocates(const Function &callee) {
  static const StringSet<> kNames = {"malloc",       "calloc",        "realloc",
                                     "reallocarray", "aligned_alloc", "memalign",
                                     "valloc",       "strdup",        "strndup"};
  return callee.isDeclaration() &&
         (kNames.contains(callee.getName()) || callee.getName().starts_with("_Znw") ||
          callee.getName().starts_with("_Zna"));
}

Result<Observation> observe(const Module &module, const std::vector<Section> &sections,
                            const std::vector<SectionEffects> &effects,
                            const std::vector<Location> &locations, const ConflictGraph &graph,
                            const PointsToAnalysis &points_to, const std::string &drop) {
  const bool has_objects = points_to.has_objects();
  if (points_to.node_count() >= kFirstUnknownLabel)
    return Error{"-ftandem-check-effects: the program is too large; check a smaller one"};
  Builder builder(points_to);
  add_values(module, points_to, builder);
  for (std::size_t i = 0; i < sections.size(); ++i)
    builder.lines << "section " << i + 1 << ' ' << one_line(sections[i].name) << '\n';
  std::set<std::string> seen; // two nodes may have one range of one object
  for (std::size_t i = 0; i < effects.size(); ++i)
    for (const auto &[numbers, how] :
         {std::pair(&effects[i].reads, 'r'), {&effects[i].writes, 'w'}})
      for (const std::uint32_t number : *numbers) {
        const Location &location = locations[number];
        if (has_objects)
          builder.add_object(location.object);
        else
          builder.add_node(location.node);
        const std::string line =
            fmt::format("effect {} {} {} {} {}\n", i + 1, label_of(location, has_objects),
                        location.begin, location.end, how);
        if (seen.insert(line).second)
          builder.lines << line;
      }
  for (const auto &[pair, common] : graph.edges())
    if (const std::string line = fmt::format("edge {} {}", pair.first + 1, pair.second + 1);
        line != drop)
      builder.lines << line << '\n';
  for (const PointsToAnalysis::Spawn &spawn : points_to.spawns())
    if (spawn.when != Callback::When::now)
      builder.result.spawns.push_back(spawn.call);
  builder.result.table = builder.lines.str();
  return std::move(builder.result);
}

Status drop_effect(const std::string &which, std::vector<SectionEffects> &effects,
                   const std::vector<Location> &locations, bool has_objects) {
  if (which.starts_with("edge "))
    return Unit{};
  std::istringstream words(which);
  std::size_t section = 0;
  std::uint64_t label = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  char how = 0;
  words >> section >> label >> begin >> end >> how;
  std::size_t dropped = 0;
  if (words && section >= 1 && section <= effects.size() && (how == 'r' || how == 'w')) {
    SectionEffects &of = effects[section - 1];
    dropped = std::erase_if(how == 'w' ? of.writes : of.reads, [&](std::uint32_t number) {
      const Location &location = locations[number];
      return label_of(location, has_objects) == label && location.begin == begin &&
             location.end == end;
    });
  }
  if (dropped == 0)
    return Error{fmt::format("TANDEM_CHECK_EFFECTS_DROP: '{}' is no effect of this program; copy a "
                             "'needed' line of a run of it",
                             which)};
  return Unit{};
}

} // namespace tandem
