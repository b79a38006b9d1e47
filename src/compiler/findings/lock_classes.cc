// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/lock_classes.h"

#include "compiler/findings/lock_address.h"
#include "compiler/findings/run_once.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/hidden_operations.h"
#include "compiler/sections/origin.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <fmt/format.h>

#include <utility>

namespace tandem {
namespace {

using namespace llvm;

// The objects that a lock may be, and where in them; nothing where that is not known.
using LockPlaces = std::set<std::pair<ObjectId, std::uint64_t>>;
std::optional<LockPlaces> places_of(const LockSite::Target &target,
                                    const PointsToAnalysis &points_to) {
  if (!points_to.has_objects() || target.base == nullptr ||
      !target.base->getType()->isPointerTy() || target.offsets.size() != 1 ||
      target.offsets.front() < 0)
    return std::nullopt;
  const std::uint64_t bytes = static_cast<std::uint64_t>(target.offsets.front()) + 1;
  LockPlaces places;
  for (const ObjectRange &range : points_to.memory(*target.base, bytes)) {
    if (range.object == 0)
      return std::nullopt;
    // Else folded: the elements of an array.
    places.emplace(range.object, range.end - range.begin == bytes ? range.end - 1 : range.begin);
  }
  return places.empty() ? std::nullopt : std::optional(places);
}

// Whether there is one such object at a time: a variable of the program, or one of main's.
bool is_single(const Value *label) {
  const auto *slot = dyn_cast_or_null<AllocaInst>(label);
  return isa_and_nonnull<GlobalVariable>(label) ||
         (slot != nullptr && slot->getFunction()->getName() == "main");
}

// A variable, and bytes from its begin.
using Element = std::pair<const GlobalVariable *, std::int64_t>;

// Of a lock in a variable, by a number from its begin: of an array, one of its elements.
std::optional<Element> element_of(const LockSite::Target &target, const DataLayout &layout) {
  if (target.base == nullptr || target.offsets.size() != 1 ||
      !target.base->getType()->isPointerTy())
    return std::nullopt;
  const auto [base, offset] = base_of(target.base, layout);
  const auto *global = dyn_cast_or_null<GlobalVariable>(base);
  return global == nullptr ? std::nullopt
                           : std::optional(Element{global, offset + target.offsets.front()});
}

// What a call does with a semaphore: POSIX's, or the C++ library's.
enum class SemaphoreOperation { begin, wait, post };

// What a call does with the semaphore that is its first argument.
std::optional<SemaphoreOperation> semaphore_operation(const CallBase &call) {
  const Function *callee = called_function(call);
  if (callee == nullptr || call.arg_size() == 0)
    return std::nullopt;
  const StringRef name = callee->getName();
  if (name == "sem_init")
    return SemaphoreOperation::begin;
  if (name == "sem_wait")
    return SemaphoreOperation::wait;
  if (name == "sem_post")
    return SemaphoreOperation::post;
  if (!name.starts_with("_ZNSt18counting_semaphoreI"))
    return std::nullopt;
  if (name.ends_with("7acquireEv"))
    return SemaphoreOperation::wait;
  if (name.contains("7releaseE"))
    return SemaphoreOperation::post;
  return name.contains("C1E") || name.contains("C2E") ? std::optional(SemaphoreOperation::begin)
                                                      : std::nullopt;
}

// Whether a semaphore begins with one: then it is free once.
bool begins_with_one(const CallBase &call) {
  const auto *value = dyn_cast<ConstantInt>(call.getArgOperand(call.arg_size() - 1));
  return value != nullptr && value->isOne();
}

} // namespace

// What is known while sites are put into classes: first those of variables and of fields, then
// those that are only known by a pointer, which join one of the former where the pointer leads to
// no other.
class LockClasses::Classifier {
public:
  explicit Classifier(LockClasses &result) : result_(result), points_to_(result.points_to_) {}

  void add(const LockSite &site, std::size_t i, const DataLayout &layout) {
    const std::string &name = site.locks[i];
    const LockSite::Target &target = site.resolved[i];
    std::vector<Cell> cells = lock_cells(site, target, points_to_);
    const std::string field = lock_field(target);
    // What a variable points to has other names, too.
    const bool direct = site.named && name.find_first_of("*>") == std::string::npos;
    if (!direct && field.empty()) {
      by_pointer_.push_back({&site, &target, name, std::move(cells)});
      return;
    }
    bool many = name.find('[') != std::string::npos;
    const std::optional<Element> element = direct ? element_of(target, layout) : std::nullopt;
    const std::string key = many && element ? fmt::format("{}+{}", name, element->second) : name;
    many = many && !element;
    const std::uint32_t klass = direct ? result_.class_with("variable " + key, {name, many})
                                       : result_.class_with("field " + field, {name, true});
    if (element)
      elements_.try_emplace(klass, *element);
    join(klass, site, target, cells);
  }

  void add_pointers() {
    for (const Pointer &pointer : by_pointer_)
      join(class_of(pointer), *pointer.site, *pointer.target, pointer.cells);
  }

  // Which classes have memory in common.
  void find_possibly_one() {
    for (const auto &[cell, together] : at_cell_)
      for (const std::uint32_t one : together)
        for (const std::uint32_t other : together)
          if (!are_apart(one, other))
            result_.may_be_one_.insert({one, other});
  }

private:
  struct Pointer {
    const LockSite *site;
    const LockSite::Target *target;
    std::string name;
    std::vector<Cell> cells;
  };

  void join(std::uint32_t klass, const LockSite &site, const LockSite::Target &target,
            const std::vector<Cell> &cells) {
    result_.classes_of_[site.call].insert(klass);
    const std::optional<LockPlaces> here = places_of(target, points_to_);
    const auto [known, fresh] = places_.try_emplace(klass, here);
    if (!fresh && known->second && here)
      known->second->insert(here->begin(), here->end());
    else if (!here)
      known->second = std::nullopt;
    for (const Cell &cell : cells)
      at_cell_[cell].insert(klass);
  }

  std::uint32_t class_of(const Pointer &pointer) {
    LockSet possible;
    const std::optional<LockPlaces> here = places_of(*pointer.target, points_to_);
    bool known = !pointer.cells.empty();
    for (const Cell &cell : pointer.cells) {
      const auto found = at_cell_.find(cell);
      known = known && found != at_cell_.end();
      if (found != at_cell_.end())
        for (const std::uint32_t klass : found->second)
          if (const std::optional<LockPlaces> &there = places_.at(klass);
              !here || !there ||
              any_of(*here, [&](const auto &place) { return there->contains(place); }))
            possible.insert(klass);
    }
    if (known && possible.count() == 1)
      return possible.first();
    const auto is_single_place = [&](const auto &place) {
      return is_single(points_to_.label(place.first));
    };
    if (!pointer.site->named && here && here->size() == 1 && is_single_place(*here->begin()))
      return result_.class_with(
          fmt::format("object {}+{}", here->begin()->first, here->begin()->second),
          {.name = pointer.name, .many = false});
    if (pointer.site->named)
      return result_.class_with("variable " + pointer.name, {pointer.name, true});
    const std::string function = pointer.site->call->getFunction()->getName().str();
    return result_.class_with(
        "pointer " + function + " " + pointer.name,
        {.name = pointer.name,
         .many = true,
         .unknown = true,
         .several = here && here->size() > 1 && all_of(*here, is_single_place)});
  }

  // What unification has in one node may be known to be different locks.
  [[nodiscard]] bool are_apart(std::uint32_t one, std::uint32_t other) const {
    const auto left = elements_.find(one);
    const auto right = elements_.find(other);
    if (left != elements_.end() && right != elements_.end())
      return left->second != right->second;
    const std::optional<LockPlaces> &here = places_.at(one);
    const std::optional<LockPlaces> &there = places_.at(other);
    return here && there &&
           none_of(*here, [&](const auto &place) { return there->contains(place); });
  }

  LockClasses &result_;
  const PointsToAnalysis &points_to_;
  std::map<Cell, LockSet> at_cell_;
  std::map<std::uint32_t, std::optional<LockPlaces>> places_; // of classes
  std::map<std::uint32_t, Element> elements_;                 // of classes that are one
  std::vector<Pointer> by_pointer_;
};

LockClasses::LockClasses(const Module &module, const LockCalls &locks,
                         const PointsToAnalysis &points_to)
    : points_to_(points_to) {
  Classifier classifier(*this);
  for (const Function &function : module)
    if (!function.isDeclaration() && !locks.is_wrapper(function))
      for (const LockSite *site : locks.sites(function))
        for (std::size_t i = 0; i < site->locks.size(); ++i)
          classifier.add(*site, i, module.getDataLayout());
  classifier.add_pointers();
  classifier.find_possibly_one();
  find_once(module);
  find_semaphores(module);
  find_hidden(module);
}

std::uint32_t LockClasses::class_with(const std::string &key, LockClass klass) {
  const auto [found, fresh] = by_key_.try_emplace(key, static_cast<std::uint32_t>(classes_.size()));
  if (fresh)
    classes_.push_back(std::move(klass));
  return found->second;
}

// By variable, or by the one object that they are in.
void LockClasses::find_once(const Module &module) {
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr || !is_once(*call))
        continue;
      const Value *control = call->getArgOperand(0);
      const std::string name = access_path(control, 1).print();
      const auto element = element_of({control, {0}}, module.getDataLayout());
      const auto here = places_of({control, {0}}, points_to_);
      const bool known = element || (here && here->size() == 1);
      const std::string key =
          element ? fmt::format("once {}+{}", element->first->getName().str(), element->second)
          : known ? fmt::format("once object {}+{}", here->begin()->first, here->begin()->second)
                  : "once";
      once_[call] =
          class_with(key, {.name = name, .many = !known, .unknown = !known, .once = true});
    }
}

// Of variables, and of single objects; how often others may be had is not known.
void LockClasses::find_semaphores(const Module &module) {
  using Key = std::pair<const void *, std::int64_t>;
  struct Call {
    const CallBase *call;
    SemaphoreOperation operation;
    std::optional<Key> key;
  };
  std::vector<Call> calls;
  std::map<Key, bool> binary; // whether it is begun with one everywhere
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const auto operation = call == nullptr ? std::nullopt : semaphore_operation(*call);
      if (!operation || (is_library_function(function) && !function.getName().contains("_GLOBAL_")))
        continue;
      const Value *address = call->getArgOperand(0);
      std::optional<Key> key;
      if (const auto element = element_of({address, {0}}, module.getDataLayout()))
        key = Key{element->first, element->second};
      else if (const auto here = places_of({address, {0}}, points_to_);
               here && here->size() == 1 && is_single(points_to_.label(here->begin()->first)))
        key = Key{points_to_.label(here->begin()->first),
                  static_cast<std::int64_t>(here->begin()->second)};
      calls.push_back({call, *operation, key});
      if (key && *operation == SemaphoreOperation::begin) {
        const bool one = begins_with_one(*call);
        const auto [known, fresh] = binary.try_emplace(*key, one);
        known->second = known->second && one;
      }
    }
  std::map<Key, std::uint32_t> classes;
  for (const Call &one : calls) {
    if (!one.key || one.key->first == nullptr || one.operation == SemaphoreOperation::begin)
      continue;
    const auto begun = binary.find(*one.key);
    if (begun == binary.end() || !begun->second)
      continue;
    const auto [known, fresh] =
        classes.try_emplace(*one.key, static_cast<std::uint32_t>(classes_.size()));
    if (fresh)
      classes_.push_back({.name = access_path(one.call->getArgOperand(0), 0).print(),
                          .many = false,
                          .semaphore = true});
    semaphores_.push_back({one.call, known->second, one.operation == SemaphoreOperation::post});
  }
}

void LockClasses::find_hidden(const Module &module) {
  HiddenOperations operations(module);
  for (const Function &function : module)
    if (!is_library_function(function))
      for (const Instruction &instruction : instructions(function))
        if (const auto *call = dyn_cast<CallBase>(&instruction);
            call != nullptr && operations.behind(*call) != nullptr)
          hidden_.push_back(call);
  if (hidden_.empty())
    return;
  any_ = static_cast<std::uint32_t>(classes_.size());
  classes_.push_back({.name = "a lock in a guard", .many = true, .unknown = true});
}

const LockSet &LockClasses::of(const LockSite &site) const {
  static const LockSet kNone;
  const auto found = classes_of_.find(site.call);
  return found == classes_of_.end() ? kNone : found->second;
}

} // namespace tandem
