// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/convert/sites.h"

#include "compiler/convert/real.h"
#include "compiler/convert/records.h"
#include "compiler/convert/waits.h"
#include "compiler/effects/effects.h"
#include "compiler/findings/lock_address.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"

#include <set>

namespace tandem {
namespace {

using namespace llvm;

const ConversionFile::Locks *entry_of(const std::vector<ConversionFile::Locks> &entries,
                                      const std::string &lock) {
  for (const ConversionFile::Locks &entry : entries)
    for (const std::string &name : entry.names)
      if (names_lock(name, lock))
        return &entry;
  return nullptr;
}

Error at(const LockSite &site, std::string_view message) {
  const std::string place = source_place(*site.call);
  return Error{fmt::format("{}: {}", place.empty() ? source_name(*site.call->getFunction()) : place,
                           message)};
}

bool is_named(const std::string &name, const std::set<std::string> &locks) {
  return any_of(locks, [&](const std::string &lock) { return names_lock(name, lock); });
}

// Variables that are locks, used or not.
std::set<std::string> lock_variables(const Module &module) {
  std::set<std::string> names;
  for (const GlobalVariable &variable : module.globals())
    if (const AccessPath path = access_path(&variable, 0); is_lock_type(path.type))
      names.insert(path.text);
  return names;
}

// Names that no lock has. A lock of `known` may have none left that stays a lock.
Status check_names(const std::vector<ConversionFile::Locks> &entries, const ConversionFile &file,
                   const std::set<std::string> &locks, const std::set<std::string> &known) {
  const bool stay = &entries == &file.kept_locks;
  for (const ConversionFile::Locks &entry : entries)
    for (const std::string &name : entry.names) {
      if (is_named(name, locks) || (stay && is_named(name, known)))
        continue;
      if (is_named(name, known))
        return Error{
            fmt::format("{}:{}: how the program acquires '{}' is not understood: by guards "
                        "in objects of their own, in functions of the library, or not at "
                        "all; keep it a lock",
                        file.path, entry.line, name)};
      return Error{fmt::format("{}:{}: the program has no lock '{}'; `tandem analyze` prints its "
                               "locks, and programs = [...] says which programs this file is "
                               "about",
                               file.path, entry.line, name)};
    }
  return Unit{};
}

// The pointer to the lock that an operation of the library takes.
const Value *lock_operand(const LockSite &site) {
  return site.call->getArgOperand(site.operation == LockOperation::wait ? 1 : 0);
}

// A pthread_mutex_t's first bytes: enough to tell its place from its neighbours'.
constexpr std::uint64_t kLockBytes = 4;

// Functions that take memory back: they use no lock in it, and neither does the program then.
bool frees(StringRef function) {
  return function == "free" || function.starts_with("_ZdlPv") || function.starts_with("_ZdaPv");
}

// Whether the program hands the address of a lock to code outside that is not known to be one of
// the library's functions for locks.
Status check_outside(const Module &module, const LockCalls &calls) {
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const Function *callee = call == nullptr ? nullptr : called_function(*call);
      if (callee == nullptr || !callee->isDeclaration() || callee->isIntrinsic() ||
          calls.at(instruction) != nullptr || callee->getName().starts_with("pthread_") ||
          frees(callee->getName()))
        continue;
      for (const Use &argument : call->args()) {
        if (!argument->getType()->isPointerTy())
          continue;
        const AccessPath path = access_path(argument.get(), 0);
        if (is_lock_type(path.type))
          return Error{fmt::format("{}: lock '{}' is given to '{}', code outside the program: no "
                                   "lock of this program can become a section",
                                   source_place(*call), path.text, shown_name(*callee))};
      }
    }
  return Unit{};
}

// Where `target` lies: the record that the text names, and how far in it. Not through variables,
// whose types may tell more than what is assigned to them.
std::pair<const Value *, std::int64_t> place_of(const LockSite::Target &target,
                                                const DataLayout &layout) {
  APInt offset(64, 0);
  const Value *record = target.base;
  for (const Value *at = nullptr; at != record;) {
    at = record;
    record =
        given(record->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true));
  }
  return {record, offset.getSExtValue() + target.offsets.front()};
}

const LockSite::Target *only_target(const std::vector<LockSite::Target> &targets) {
  return targets.size() == 1 && targets.front().offsets.size() == 1 ? &targets.front() : nullptr;
}

// The field that the lock is, as "record+offset"; empty where the text does not tell.
std::string field_of(const LockSite &site) {
  const LockSite::Target *target = only_target(site.targets);
  if (target == nullptr)
    return "";
  const auto [record, offset] = place_of(*target, site.call->getModule()->getDataLayout());
  const std::string field = record_field(*record, offset);
  // Else an element's, at a place that depends on a variable.
  return field.empty() ? lock_field(*target) : field;
}

// The field that users know the lock by: not of a class that has nothing else.
std::string known_field_of(const LockSite &site) {
  const LockSite::Target *target = only_target(site.resolved);
  if (target == nullptr)
    return "";
  const auto [record, offset] = place_of(*target, site.call->getModule()->getDataLayout());
  return record_field(*record, offset, Innermost::with_others);
}

// The field that has the lock's address: the lock is an object of its own. It is a name only: two
// fields may have one lock's address.
std::string pointer_of(const LockSite &site) {
  const LockSite::Target *target = only_target(site.resolved);
  const auto *load = target == nullptr || target->base == nullptr || target->offsets.front() != 0
                         ? nullptr
                         : dyn_cast<LoadInst>(target->base);
  if (load == nullptr)
    return "";
  APInt offset(64, 0);
  const Value *record = load->getPointerOperand()->stripAndAccumulateConstantOffsets(
      site.call->getModule()->getDataLayout(), offset, /*AllowNonInbounds=*/true);
  return record_field(*record, offset.getSExtValue());
}

// What a lock is by the text of its operation: a variable, or a field of a record type in memory
// that has no name of its own. Empty where the text does not tell.
std::string class_of(const LockSite &site) {
  const std::string field = field_of(site);
  const bool variable =
      site.named &&
      (field.empty() || isa<GlobalVariable>(getUnderlyingObject(site.targets.front().base)));
  if (variable)
    return "variable " + site.locks.front();
  return field.empty() ? "" : "field " + field;
}

// Fields at different offsets of the records that they are in, or of records that do not begin
// alike. What else has two names, as a variable and a field of it, may be one lock: the points-to
// analysis is asked.
bool are_different(StringRef a, const std::set<std::string> &b, const Records &records) {
  return a.consume_front("field ") && all_of(b, [&](StringRef other) {
           if (!other.consume_front("field "))
             return false;
           const auto [left, left_offset] = a.rsplit('+');
           const auto [right, right_offset] = other.rsplit('+');
           return left_offset != right_offset || !records.alike(left.str(), right.str());
         });
}

bool overlap(const std::vector<ObjectRange> &a, const std::vector<ObjectRange> &b) {
  return any_of(a, [&](const ObjectRange &one) {
    return any_of(b, [&](const ObjectRange &other) {
      return one.object == other.object && one.begin < other.end && other.begin < one.end;
    });
  });
}

// The operations on locks of which some regions stay real.
constexpr StringRef kLookedAt[] = {"pthread_mutex_lock", "pthread_mutex_trylock",
                                   "pthread_mutex_unlock"};

// Whether the lock that a wrapper operates on is its caller's, an argument of it.
bool takes_its_lock(const Function &wrapper, const LockCalls &calls) {
  return any_of(calls.sites(wrapper), [](const LockSite *site) { return !site->named; });
}

} // namespace

Result<NamedLocks> NamedLocks::match(const Module &module, const ConversionFile &file,
                                     const LockCalls &calls, const std::set<std::string> &known) {
  const NamedLocks named(module, file);
  const std::set<std::string> locks = all_names(module, calls);
  std::set<std::string> there = lock_variables(module);
  there.insert(known.begin(), known.end());
  for (const auto *entries : {&file.sections, &file.kept_locks})
    if (Status good = check_names(*entries, file, locks, there); !good)
      return good.error();
  for (const Function &function : module)
    for (const LockSite *site : calls.sites(function)) {
      const auto *section = named.entry(file.sections, *site);
      const auto *kept = named.entry(file.kept_locks, *site);
      if (section != nullptr && kept != nullptr)
        return Error{fmt::format(
            "{}:{}: lock '{}' is a section in line {} and a lock that stays here; drop one",
            file.path, kept->line, site->locks.front(), section->line)};
    }
  for (const ConversionFile::Balanced &balanced : file.balanced)
    if (none_of(module, [&](const Function &function) {
          return !function.isDeclaration() && function.getName() == balanced.function;
        }))
      return Error{fmt::format("{}:{}: the program has no function '{}'", file.path, balanced.line,
                               balanced.function)};
  return named;
}

std::set<std::string> NamedLocks::all_names(const Module &module, const LockCalls &calls) {
  const LockFields fields(module);
  std::set<std::string> locks;
  for (const Function &function : module)
    for (const LockSite *site : calls.sites(function))
      for (std::string &name : fields.names_of(*site))
        locks.insert(std::move(name));
  return locks;
}

bool NamedLocks::is_outermost(std::size_t section) const {
  return all_of(file_->lock_regions, [&](const ConversionFile::LockRegion &region) {
    return region.outermost || !is_contained(file_->sections[section].names, region.lock);
  });
}

LockFields::LockFields(const Module &module) {
  visit_records(module, [&](const DICompositeType &record, const std::string &key,
                            const std::string &name) {
    for (const DINode *element : record.getElements())
      if (const auto *member = dyn_cast<DIDerivedType>(element);
          !name.empty() && member && !member->isStaticMember())
        fields_.try_emplace(fmt::format("{}+{}", key, member->getOffsetInBits() / 8),
                            fmt::format("{}{}{}", name,
                                        is_class(record) && !record.getName().empty() ? "::" : ".",
                                        member->getName().str()));
  });
}

std::string LockFields::name_of(const LockSite &site) const {
  for (const std::string &field : {known_field_of(site), field_of(site)})
    if (const auto found = fields_.find(field); found != fields_.end())
      return found->second;
  const auto pointer = fields_.find(pointer_of(site));
  return pointer == fields_.end() ? "" : "*" + pointer->second;
}

std::vector<std::string> LockFields::names_of(const LockSite &site) const {
  std::vector<std::string> names = site.locks;
  // Also of an element of a variable: it is one of the record's locks.
  if (std::string field = name_of(site); !field.empty())
    names.push_back(std::move(field));
  if (const auto inner = fields_.find(field_of(site)); inner != fields_.end())
    names.push_back(inner->second);
  return names;
}

NamedLocks::NamedLocks(const Module &module, const ConversionFile &file)
    : file_(&file), fields_(module) {}

const ConversionFile::Locks *NamedLocks::entry(const std::vector<ConversionFile::Locks> &entries,
                                               const LockSite &site) const {
  for (const std::string &name : fields_.names_of(site))
    if (const auto *found = entry_of(entries, name))
      return found;
  return nullptr;
}

std::optional<std::size_t> NamedLocks::section_of(const LockSite &site) const {
  const auto *found = is_real(site) ? nullptr : entry(file_->sections, site);
  if (found == nullptr)
    return std::nullopt;
  return static_cast<std::size_t>(found - file_->sections.data());
}

std::string NamedLocks::name_in_file(const LockSite &site) const {
  for (const std::string &lock : fields_.names_of(site))
    for (const ConversionFile::Locks &section : file_->sections)
      for (const std::string &name : section.names)
        if (names_lock(name, lock))
          return name;
  return site.locks.front();
}

bool lies_in_known_place(const LockSite &site) {
  return !field_of(site).empty() ||
         (!site.targets.empty() && all_of(site.targets, [](const auto &target) {
           return target.base != nullptr && isa<GlobalVariable>(getUnderlyingObject(target.base));
         }));
}

bool NamedLocks::is_guarded_by(std::size_t section) const {
  return file_->sections[section].guarded_by;
}

bool NamedLocks::has_guarded_by() const {
  return any_of(file_->sections,
                [](const ConversionFile::Locks &locks) { return locks.guarded_by; });
}

bool NamedLocks::has_lock_regions(std::size_t section) const {
  return file_->sections[section].as_word ||
         any_of(file_->lock_regions, [&](const ConversionFile::LockRegion &region) {
           return is_contained(file_->sections[section].names, region.lock);
         });
}

std::vector<ObjectRange> lock_ranges(const LockSite &site, const PointsToAnalysis &points_to) {
  std::vector<ObjectRange> found;
  if (site.wrapper == nullptr) {
    found = points_to.objects(*lock_operand(site), kLockBytes);
  } else if (site.targets.empty()) {
    for (const Use &argument : site.call->args())
      if (argument->getType()->isPointerTy())
        append_range(found, points_to.reachable_objects(*argument.get()));
  }
  for (const LockSite::Target &target : site.targets) {
    if (site.wrapper == nullptr || target.base == nullptr || !target.base->getType()->isPointerTy())
      continue;
    if (target.offsets.size() != 1 || target.offsets.front() < 0) {
      append_range(found, points_to.reachable_objects(*target.base));
      continue;
    }
    const auto offset = static_cast<std::uint64_t>(target.offsets.front());
    for (ObjectRange range : points_to.objects(*target.base, offset + kLockBytes)) {
      if (range.end - range.begin == offset + kLockBytes) // else folded
        range.begin += offset;
      found.push_back(range);
    }
  }
  if (points_to.has_objects())
    std::erase_if(found, [](const ObjectRange &range) { return range.object == 0; });
  return found;
}

Status check_locks(const Module &module, const ConversionFile &file, const LockCalls &calls,
                   const NamedLocks &named, const PointsToAnalysis &points_to) {
  if (Status inside = check_outside(module, calls); !inside)
    return inside;
  std::vector<const LockSite *> real; // operations of the library that stay
  std::vector<std::vector<ObjectRange>> converted(file.sections.size());
  std::vector<std::set<std::string>> classes(file.sections.size());
  for (const Function &function : module) {
    bool all_converted = calls.is_wrapper(function) && !function.use_empty();
    for (const User *user : function.users()) {
      const auto *call = dyn_cast<CallBase>(user);
      const LockSite *site = call == nullptr ? nullptr : calls.at(*call);
      all_converted = all_converted && site != nullptr && called_function(*call) == &function &&
                      named.section_of(*site).has_value();
    }
    for (const LockSite *site : calls.sites(function)) {
      const std::optional<std::size_t> section = named.section_of(*site);
      if (section) {
        const std::string name = named.name_in_file(*site);
        // Its callers get a copy; code outside would go on using the lock.
        if (calls.is_wrapper(function) && !function.hasLocalLinkage())
          return at(*site, fmt::format("'{}' does this to lock '{}' for its callers, and code "
                                       "outside the program may call it; keep it a lock",
                                       source_name(function), name));
        if (site->locks.size() > 1)
          return at(*site, fmt::format("takes several locks at once, '{}' among them, which cannot "
                                       "become a section yet; keep it a lock",
                                       name));
        const bool has_readers = site->primitive == "pthread-rwlock";
        if (!has_readers && site->primitive != "pthread-mutex" &&
            site->primitive != "pthread-spinlock")
          return at(*site, fmt::format("lock '{}' is a {}, which cannot become a section yet; keep "
                                       "it a lock",
                                       name, site->primitive));
        // A reader's succeeds beside other readers, its own thread's too.
        if (has_readers && site->operation == LockOperation::trylock)
          return at(*site, fmt::format("lock '{}' is a {} that is tried, which cannot become a "
                                       "section yet; keep it a lock",
                                       name, site->primitive));
        if (site->operation == LockOperation::wait)
          return at(*site, fmt::format("lock '{}' is given up by a condition wait that is no plain "
                                       "call of the pthread library, which a section cannot do; "
                                       "keep it a lock",
                                       name));
        if (isa<InvokeInst>(site->call) || site->guard)
          return at(*site, fmt::format("lock '{}' is used by a guard whose work is not understood "
                                       "here, which cannot become a section yet; keep it a lock",
                                       name));
        const Function *callee = called_function(*site->call);
        if (site->wrapper == nullptr && named.has_lock_regions(*section) &&
            (callee == nullptr || !is_contained(kLookedAt, callee->getName())))
          return at(*site, fmt::format("lock '{}' has regions that stay real, and is no mutex that "
                                       "is locked, tried and unlocked by pthread_mutex_lock, "
                                       "_trylock and _unlock; keep it a lock",
                                       name));
      }
      if (section) {
        append_range(converted[*section], lock_ranges(*site, points_to));
        classes[*section].insert(class_of(*site));
      } else if (site->wrapper == nullptr && !all_converted && !is_real(*site)) {
        real.push_back(site);
      }
    }
  }
  const Records records(module);
  for (const LockSite *site : real) {
    // What a wrapper shared with real locks is given for these, its callers say.
    if (calls.is_wrapper(*site->call->getFunction()) &&
        takes_its_lock(*site->call->getFunction(), calls))
      continue;
    const std::vector<ObjectRange> here = lock_ranges(*site, points_to);
    const std::string klass = class_of(*site);
    for (std::size_t i = 0; i < converted.size(); ++i)
      if (classes[i].contains(klass)
              ? !klass.empty() || overlap(here, converted[i])
              : !are_different(klass, classes[i], records) && overlap(here, converted[i]))
        return at(*site,
                  fmt::format("lock '{}' may be '{}', which {}:{} makes a section; name both "
                              "there",
                              site->locks.front(), file.sections[i].names.front(), file.path,
                              file.sections[i].line));
  }
  // Functions of the C++ library that are left as they were (guards.h).
  for (const Function &function : module)
    if (!function.isDeclaration() && is_library_function(function) && !function.use_empty())
      for (const Instruction &instruction : instructions(function)) {
        const auto *call = dyn_cast<CallBase>(&instruction);
        const Function *callee = call == nullptr ? nullptr : called_function(*call);
        const std::optional<LockFunction> does =
            callee == nullptr || !callee->isDeclaration() ? std::nullopt : lock_function(*callee);
        if (!does || !does->operation || does->locks.empty())
          continue;
        const std::vector<ObjectRange> here =
            points_to.objects(*call->getArgOperand(does->locks.front().argument), kLockBytes);
        for (std::size_t i = 0; i < converted.size(); ++i)
          if (overlap(here, converted[i]))
            return Error{fmt::format("'{}' is called by pointer or does more than operate on a "
                                     "lock, and its lock may be '{}', which {}:{} makes a section; "
                                     "keep it a lock",
                                     source_name(function), file.sections[i].names.front(),
                                     file.path, file.sections[i].line)};
      }
  // Arguments of such wrappers.
  for (const Function &function : module) {
    if (!calls.is_wrapper(function) || !takes_its_lock(function, calls))
      continue;
    if (function.hasAddressTaken())
      for (const LockSite *site : calls.sites(function))
        return at(*site, "this function locks what it is given and is called by pointer; nothing "
                         "that it may be given can become a section");
    for (const User *user : function.users()) {
      const auto *call = dyn_cast<CallBase>(user);
      const LockSite *site = call == nullptr ? nullptr : calls.at(*call);
      if (site == nullptr || named.section_of(*site))
        continue;
      // A wrapper that hands on what it is given: its own callers say what that is.
      const Function &caller = *call->getFunction();
      if (calls.is_wrapper(caller) && takes_its_lock(caller, calls))
        continue;
      const std::vector<ObjectRange> here = lock_ranges(*site, points_to);
      for (std::size_t i = 0; i < converted.size(); ++i)
        if (overlap(here, converted[i]))
          return at(*site, fmt::format("lock '{}' may be '{}', which {}:{} makes a section; name "
                                       "both there",
                                       site->locks.front(), file.sections[i].names.front(),
                                       file.path, file.sections[i].line));
    }
  }
  return Unit{};
}

} // namespace tandem
