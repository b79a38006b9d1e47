// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/phases.h"

#include "compiler/effects/unpublished.h"
#include "compiler/findings/loops.h"
#include "compiler/findings/targets.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/flags.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <deque>
#include <set>
#include <variant>

namespace tandem {
namespace {

using namespace llvm;

// Rounds over the functions that create threads until what they do is known; recursion may need
// more, and is then taken as it is.
constexpr unsigned kMostRounds = 8;

// Ways to a block that differ in what is known of the compiler's flags; beyond these, nothing is.
constexpr unsigned kMostWays = 16;

} // namespace

Phases::Phases(const Module &module, const PointsToAnalysis &points_to, const Sharing &sharing,
               JoinMode mode)
    : module_(module), points_to_(points_to), sharing_(sharing),
      likely_only_(mode == JoinMode::likely), joins_(module, points_to, mode),
      alternatives_(module), barriers_(module, points_to, sharing),
      count_(static_cast<unsigned>(joins_.creations().size())), starts_(count_, Sites(count_)),
      runs_(count_), sites_of_(sharing.entries().size(), Sites(count_)), creates_(count_),
      own_(sharing.entries().size(), Sites(count_)), followed_(sharing.entries().size()),
      beside_(count_, Sites(count_)), settled_(count_) {
  find_shadows();
  find_ends();
  find_starters(module);
  find_later();
  find_own();
  summarise();
}

namespace {

// Whether a template of the C++ library gives the function that it is handed to a thread, which is
// an entry of its own, or runs it once: std::thread, std::async and std::call_once, and containers
// of threads. Not what may be called by anyone.
bool begins_threads(const Function &function) {
  const StringRef name = function.getName();
  constexpr StringRef kParts[] = {"St6thread", "St7jthread", "St5async", "St9call_once"};
  return !name.contains("St8function") &&
         any_of(kParts, [&](StringRef part) { return name.contains(part); });
}

// Whether a use of a function's address, or of a temporary variable that holds it, is a call of the
// function, or hands it to such templates.
bool is_handed_on(const Use &use) {
  const User *user = use.getUser();
  if (const auto *call = dyn_cast<CallBase>(user)) {
    const Function *callee = called_function(*call);
    return callee != nullptr &&
           (callee == use.get() ||
            (!callee->isDeclaration() && is_library_function(*callee) && begins_threads(*callee)));
  }
  if (const auto *store = dyn_cast<StoreInst>(user)) {
    const auto *slot = dyn_cast<AllocaInst>(store->getPointerOperand());
    return slot != nullptr && all_of(slot->uses(), [&](const Use &other) {
             return other.getUser() == store || is_marker(*cast<Instruction>(other.getUser())) ||
                    (isa<CallBase>(other.getUser()) && is_handed_on(other));
           });
  }
  return isa<ConstantExpr, ConstantAggregate>(user) && all_of(user->uses(), is_handed_on);
}

// Whether the program hands a function to such templates and does nothing else with its address.
bool is_only_handed_on(const Function &function) {
  return !function.use_empty() && all_of(function.uses(), is_handed_on);
}

} // namespace

void Phases::find_shadows() {
  std::set<const Function *> by_class; // std::thread's
  std::set<const Function *> others;
  for (const PointsToAnalysis::Spawn &spawn : points_to_.spawns()) {
    const Function *callee = called_function(*spawn.call);
    const bool starts_class =
        callee != nullptr && callee->getName().starts_with("_ZNSt6thread15_M_start_thread");
    (starts_class ? by_class : others).insert(spawn.function);
  }
  const bool is_program = sharing_.start().main != nullptr;
  for (const Entry &entry : sharing_.entries()) {
    const bool runs = StringRef(entry.function->getName()).contains("_M_run");
    shadows_.push_back(is_program &&
                       ((by_class.contains(entry.function) && !others.contains(entry.function) &&
                         (entry.kind == EntryKind::exported || !runs)) ||
                        (entry.kind == EntryKind::exported && is_only_handed_on(*entry.function))));
  }
}

void Phases::find_ends() {
  const std::vector<const Function *> &after = sharing_.start().after;
  std::set<const Function *> ends(after.begin(), after.end());
  std::set<const Function *> others;
  registers_ = Sites(count_, true);
  for (const PointsToAnalysis::Spawn &spawn : points_to_.spawns()) {
    const bool at_end = spawn.when == Callback::When::exit;
    (at_end ? ends : others).insert(spawn.function);
    if (!at_end)
      registers_.reset(*joins_.creation(*spawn.call));
  }
  for (const Entry &entry : sharing_.entries())
    at_end_.push_back(sharing_.start().main != nullptr && entry.kind == EntryKind::callback &&
                      ends.contains(entry.function) && !others.contains(entry.function));
}

void Phases::find_starters(const Module &module) {
  std::map<const Function *, std::vector<std::uint32_t>> entries;
  const std::vector<Entry> &all = sharing_.entries();
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (all[i].kind != EntryKind::main && all[i].kind != EntryKind::exported)
      entries[all[i].function].push_back(i);
  for (const PointsToAnalysis::Spawn &spawn : points_to_.spawns()) {
    const std::uint32_t site = *joins_.creation(*spawn.call);
    for (const std::uint32_t entry : entries[spawn.function]) {
      if (!is_contained(runs_[site], entry))
        runs_[site].push_back(entry);
      sites_of_[entry].set(site);
    }
  }
  for (std::uint32_t site = 0; site < count_; ++site) {
    const EntrySet &by = sharing_.entries_of(*joins_.creations()[site]->getFunction());
    creates_[site].assign(by.begin(), by.end());
    if (by.empty()) // before the first thread
      creates_[site].push_back(0);
    starts_[site].set(site);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t site = 0; site < count_; ++site)
      for (std::uint32_t other = 0; other < count_; ++other)
        if (!starts_[site].test(other) && any_of(creates_[other], [&](std::uint32_t entry) {
              return at_end_[entry] || any_of(starts_[site].set_bits(), [&](unsigned by) {
                       return is_contained(runs_[by], entry);
                     });
            })) {
          starts_[site].set(other);
          changed = true;
        }
  }
  // Functions that lead to a creation or a join, those that others call first.
  std::vector<const Function *> work;
  for (const Function &function : module) {
    if (joins_.matters(function) && does_.try_emplace(&function).second)
      work.push_back(&function);
    if (count_ == 0)
      continue;
    std::set<const Function *const *> seen;
    for (const Instruction &instruction : instructions(function))
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        if (const auto targets = targets_of(*call);
            !targets.empty() && seen.insert(targets.data()).second)
          for (const Function *target : targets)
            callers_[target].push_back(&function);
  }
  for (std::size_t i = 0; i < work.size(); ++i)
    for (const Function *caller : callers_[work[i]])
      if (does_.try_emplace(caller).second)
        work.push_back(caller);
  functions_ = work;
  for (auto &[function, change] : does_)
    change = {Sites(count_), Sites(count_)};
}

void Phases::find_later() {
  calls_back_ = Sites(count_);
  std::set<const Function *> later;
  std::set<const Function *> others;
  for (const PointsToAnalysis::Spawn &spawn : points_to_.spawns())
    (spawn.when == Callback::When::later ? later : others).insert(spawn.function);
  for (const Entry &entry : sharing_.entries())
    later_.push_back(likely_only_ && entry.kind == EntryKind::callback &&
                     later.contains(entry.function) && !others.contains(entry.function));
  if (!is_contained(later_, true))
    return;
  std::set<const Function *> calling;
  std::vector<const Function *> work;
  for (const Function &function : module_)
    if (any_of(instructions(function),
               [&](const Instruction &instruction) {
                 const auto *call = dyn_cast<CallBase>(&instruction);
                 const Function *callee = call == nullptr ? nullptr : called_function(*call);
                 return callee != nullptr && callee->isDeclaration() && !callee->isIntrinsic() &&
                        points_to_.entry(*callee).touches_anything;
               }) &&
        calling.insert(&function).second)
      work.push_back(&function);
  for (std::size_t i = 0; i < work.size(); ++i)
    for (const Function *caller : callers_[work[i]])
      if (calling.insert(caller).second)
        work.push_back(caller);
  for (std::uint32_t site = 0; site < count_; ++site)
    if (any_of(runs_[site], [&](std::uint32_t entry) {
          const Entry &what = sharing_.entries()[entry];
          return what.kind == EntryKind::thread && calling.contains(what.function);
        }))
      calls_back_.set(site);
}

ArrayRef<const Function *> Phases::targets_of(const CallBase &call) const {
  return likely_only_ ? likely_targets(call, points_to_) : points_to_.targets(call);
}

// A site is an entry's own where only its thread and those that it leads to create there.
void Phases::find_own() {
  for (std::uint32_t entry = 0; entry < own_.size(); ++entry) {
    Sites &own = own_[entry];
    own.set();
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t site = 0; site < count_; ++site)
        if (own.test(site) && any_of(creates_[site], [&](std::uint32_t by) {
              Sites others = sites_of_[by];
              return by != entry && !at_end_[by] && !(likely_only_ && !is_known(by)) &&
                     (others.none() || others.test(own));
            })) {
          own.reset(site);
          changed = true;
        }
    }
  }
}

void Phases::merge(Change &into, const Change &other) const {
  into.begins |= other.begins;
  into.ends &= other.ends;
}

// A site's threads are over, and with them those that they have created and joined themselves.
void Phases::end(std::uint32_t site, Change &state) const {
  Sites left(count_);
  for (const std::uint32_t entry : runs_[site])
    if (const auto known = does_.find(sharing_.entries()[entry].function); known != does_.end())
      left |= known->second.begins;
  const auto is_below = [&](std::uint32_t by) { return sites_of_[by].anyCommon(starts_[site]); };
  for (const unsigned other : starts_[site].set_bits())
    if (other == site || (!left.test(other) && all_of(creates_[other], is_below))) {
      state.begins.reset(other);
      state.ends.set(other);
    }
}

void Phases::step(const Instruction &instruction, Change &state) const {
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (call == nullptr)
    return;
  for (const std::uint32_t gone : joins_.behind(instruction))
    end(gone, state);
  if (const auto site = joins_.creation(instruction)) {
    state.begins |= starts_[*site];
    state.ends.reset(starts_[*site]);
    return;
  }
  const auto targets = targets_of(*call);
  std::optional<Change> all;
  Change done{Sites(count_), Sites(count_)}; // by some target
  for (const Function *target : targets) {
    const auto known = does_.find(target);
    Change after = state;
    if (known != does_.end()) {
      after.begins.reset(known->second.ends);
      after.begins |= known->second.begins;
      after.ends.reset(known->second.begins);
      after.ends |= known->second.ends;
      done.begins |= known->second.begins;
      done.ends |= known->second.ends;
    }
    if (all)
      merge(*all, after);
    else
      all = after;
  }
  if (!all)
    return;
  state = *all;
  // A choice among a few is a condition: the one that joins is called where there are threads.
  if (likely_only_ && targets.size() > 1 && targets.size() <= kFewTargets) {
    done.ends.reset(done.begins);
    state.begins.reset(done.ends);
    state.ends |= done.ends;
  }
}

// The sides of conditions on which there is no object that a call would get (`if (p) finish(p)`):
// whose threads the call joins, there are none of there.
const std::map<Phases::Edge, std::vector<const CallBase *>> &
Phases::without(const Function &function) {
  const auto [known, fresh] = without_.try_emplace(&function);
  if (!fresh || !likely_only_)
    return known->second;
  std::optional<Loops> loops;
  for (const Instruction &instruction : instructions(function)) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    if (callee == nullptr || !does_.contains(callee))
      continue;
    if (!loops)
      loops.emplace(function);
    for (const auto &[branch, side] : loops->conditions_of(*call->getParent())) {
      const auto *asks = dyn_cast<ICmpInst>(branch->getCondition());
      if (asks == nullptr || !asks->isEquality() ||
          !isa<ConstantPointerNull>(asks->getOperand(1)) ||
          side != (asks->getPredicate() == ICmpInst::ICMP_NE) ||
          none_of(call->args(), [&](const Value *argument) {
            return same_value(*argument, *asks->getOperand(0));
          }))
        continue;
      known->second[{branch->getParent(), branch->getSuccessor(side ? 1 : 0)}].push_back(call);
    }
  }
  return known->second;
}

// Finds what a function does; whether that is news.
bool Phases::run(const Function &function) {
  const Change nothing{Sites(count_), Sites(count_)};
  const Flags flags(function, nullptr);
  const auto &without = this->without(function);
  using Way = std::pair<const BasicBlock *, Flags::Values>; // to a block
  std::map<Way, Change> reached;
  std::map<const BasicBlock *, unsigned> ways;
  std::deque<std::map<Way, Change>::const_iterator> work;
  const auto reach = [&](Way way, const Change &state) {
    if (!reached.contains(way) && ++ways[way.first] > kMostWays)
      std::fill(way.second.begin(), way.second.end(), Flags::Value{}); // nothing known
    const auto [known, fresh] = reached.try_emplace(std::move(way), state);
    const Change before = known->second;
    merge(known->second, state);
    if (fresh || !(known->second == before))
      work.push_back(known);
  };
  const BasicBlock &entry = function.getEntryBlock();
  reach({&entry, flags.before(entry.front())}, nothing);
  while (!work.empty()) {
    const auto &[way, before] = *work.front();
    work.pop_front();
    const BasicBlock *block = way.first;
    Change state = before;
    Flags::Values values = way.second;
    for (const Instruction &instruction : *block) {
      step(instruction, state);
      flags.apply(instruction, values);
    }
    const Instruction &branch = *block->getTerminator();
    for (unsigned i = 0; i < branch.getNumSuccessors(); ++i) {
      const BasicBlock *next = branch.getSuccessor(i);
      std::optional<Flags::Values> values_there = flags.follow(branch, i, values);
      if (!values_there)
        continue;
      Change there = state;
      for (const std::uint32_t gone : joins_.on_edge(block, next))
        end(gone, there);
      if (const auto calls = without.find({block, next}); calls != without.end())
        for (const CallBase *call : calls->second) {
          Change done{Sites(count_), Sites(count_)};
          step(*call, done);
          done.ends.reset(done.begins);
          there.begins.reset(done.ends);
          there.ends |= done.ends;
        }
      reach({next, std::move(*values_there)}, there);
    }
  }
  for (const BasicBlock &block : function)
    done_.erase(&block);
  for (const auto &[way, state] : reached)
    if (const auto [known, fresh] = done_.try_emplace(way.first, state); !fresh)
      merge(known->second, state);
  std::optional<Change> at_return;
  for (const BasicBlock &block : function)
    if (done_.contains(&block) && isa<ReturnInst>(block.getTerminator())) {
      Change state = done_[&block];
      for (const Instruction &instruction : block)
        step(instruction, state);
      if (at_return)
        merge(*at_return, state);
      else
        at_return = state;
    }
  const Change before = does_[&function];
  does_[&function] = at_return.value_or(nothing);
  return !(does_[&function] == before);
}

void Phases::summarise() {
  for (unsigned round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    for (const Function *function : functions_)
      if (!function->isDeclaration())
        changed |= run(*function);
    if (!changed)
      return;
  }
}

// What was done in the function before an instruction.
Phases::Change Phases::before(const Instruction &instruction) const {
  const auto known = done_.find(instruction.getParent());
  if (known == done_.end())
    return {Sites(count_), Sites(count_)};
  Change state = known->second;
  for (const Instruction &earlier : *instruction.getParent()) {
    if (&earlier == &instruction)
      break;
    step(earlier, state);
  }
  return state;
}

bool Phases::is_followed(std::uint32_t entry) const {
  const Entry &what = sharing_.entries()[entry];
  return what.kind == EntryKind::main || (what.kind == EntryKind::thread && !what.many);
}

// Which threads may exist when an entry's thread comes to each function.
void Phases::follow(std::uint32_t entry) {
  Followed &followed = followed_[entry];
  followed.known = true;
  std::deque<std::variant<const Function *, ArrayRef<const Function *>>> work;
  const auto add = [&](const void *place, const Sites &more, auto next) {
    const auto [known, fresh] = followed.before.try_emplace(place, Sites(count_));
    if (!fresh && !more.test(known->second)) // nothing new
      return;
    known->second |= more;
    work.push_back(next);
  };
  const Sites others = at_begin(entry);
  const Entry &what = sharing_.entries()[entry];
  add(what.function, others, what.function);
  if (what.kind == EntryKind::main)
    for (const Function *function : sharing_.start().before)
      add(function, others, function);
  while (!work.empty()) {
    const auto next = work.front();
    work.pop_front();
    if (const auto *array = std::get_if<ArrayRef<const Function *>>(&next)) {
      const Sites all = followed.before.at(array->data());
      for (const Function *target : *array)
        add(target, all, target);
      continue;
    }
    const Function &function = *std::get<const Function *>(next);
    if (function.isDeclaration())
      continue;
    const Sites at_entry = followed.before.at(&function);
    const bool changes = does_.contains(&function);
    for (const BasicBlock &block : function) {
      Change state = changes ? done_.lookup(&block) : Change{};
      if (changes && state.begins.size() != count_)
        continue; // never reached
      for (const Instruction &instruction : block) {
        const auto *call = dyn_cast<CallBase>(&instruction);
        if (call == nullptr)
          continue;
        Sites here = at_entry;
        if (changes) {
          here.reset(state.ends);
          here |= state.begins;
          step(instruction, state);
        }
        if (const auto site = joins_.creation(instruction)) {
          beside_[*site] |= here;
          if (own_[entry].test(*site) &&
              all_of(creates_[*site], [&](std::uint32_t by) { return is_followed(by); }))
            settled_.set(*site);
        }
        if (const auto targets = targets_of(*call); !targets.empty()) {
          if (targets.size() == 1)
            add(targets.front(), here, targets.front());
          else
            add(static_cast<const void *>(targets.data()), here, targets);
        }
      }
    }
  }
}

Phases::Sites Phases::at_begin(std::uint32_t entry) const {
  Sites others(count_, true);
  others.reset(own_[entry]);
  return others;
}

Phases::Sites Phases::at(const Instruction &instruction, Sites entered) const {
  if (does_.contains(instruction.getFunction())) {
    const Change done = before(instruction);
    entered.reset(done.ends);
    entered |= done.begins;
  }
  return entered;
}

bool Phases::may_run(std::uint32_t other, std::uint32_t entry, const Sites &sites) {
  const bool beside_main = sharing_.entries()[entry].kind == EntryKind::main;
  if (!at_end_[other] || !beside_main)
    return sites_of_[other].none() ||
           (sites_of_[other].anyCommon(sites) &&
            !(beside_main && later_[other] && !calls_back_.anyCommon(sites)));
  Sites threads = sites;
  threads.reset(registers_);
  return threads.any() && another_exits();
}

namespace {

// Functions that do not return and end no process, or end it without what is registered for that.
bool ends_otherwise(StringRef name) {
  static constexpr StringRef kNames[] = {
      "abort",          "_exit",     "_Exit",   "__assert_fail", "__stack_chk_fail",
      "pthread_exit",   "thrd_exit", "longjmp", "_longjmp",      "siglongjmp",
      "_Unwind_Resume", "execl",     "execv"};
  return is_contained(kNames, name) || name.starts_with("__cxa_") || name.starts_with("_ZSt");
}

} // namespace

// Whether a call may end the process as exit() does. If not `likely_only_`, code outside the
// program of which nothing is known may, too.
bool Phases::may_exit(const CallBase &call) const {
  const Function *callee = called_function(call);
  if (callee == nullptr || !callee->isDeclaration() || callee->isIntrinsic() ||
      ends_otherwise(callee->getName()))
    return false;
  return call.doesNotReturn() || callee->getName() == "error" ||
         callee->getName() == "error_at_line" ||
         (!likely_only_ && points_to_.entry(*callee).touches_anything);
}

// The process ends where main returns, and where main's thread, or another one, calls exit().
const Phases::Sites &Phases::at_ends() {
  if (at_ends_)
    return *at_ends_;
  at_ends_.emplace(count_);
  another_exits_ = false;
  const auto is_main = [](const Entry &entry) { return entry.kind == EntryKind::main; };
  const auto main =
      static_cast<std::uint32_t>(find_if(sharing_.entries(), is_main) - sharing_.entries().begin());
  if (!followed_[main].known)
    follow(main);
  if (const Function *exit = module_.getFunction("exit");
      exit != nullptr && exit->hasAddressTaken()) {
    at_ends_->set();
    another_exits_ = true;
  }
  for (const Function &function : module_)
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (!(call != nullptr && may_exit(*call)) &&
          !(isa<ReturnInst>(instruction) && &function == sharing_.start().main))
        continue;
      for (const std::uint32_t entry : sharing_.entries_of(instruction))
        if (entry == main) {
          const auto entered = followed_[main].before.find(&function);
          *at_ends_ |= at(instruction, entered == followed_[main].before.end() ? Sites(count_, true)
                                                                               : entered->second);
        } else if (!at_end_[entry] && !(likely_only_ && !is_known(entry))) {
          at_ends_->set();
          another_exits_ = true;
        }
    }
  return *at_ends_;
}

bool Phases::another_exits() {
  at_ends();
  return another_exits_;
}

bool Phases::may_exist(std::uint32_t other, std::uint32_t entry, const Instruction &instruction) {
  if (at_end_[entry] && sharing_.entries()[other].kind == EntryKind::main)
    return another_exits();
  if (at_end_[entry] && sites_of_[other].any() && !at_end_[other])
    return sites_of_[other].anyCommon(at_ends());
  if (count_ == 0 || !is_followed(entry) || (sites_of_[other].none() && !at_end_[other]))
    return true;
  if (!followed_[entry].known)
    follow(entry);
  const auto entered = followed_[entry].before.find(instruction.getFunction());
  return entered == followed_[entry].before.end() || // not known how it gets there
         may_run(other, entry, at(instruction, entered->second));
}

bool Phases::may_coexist(std::uint32_t a, std::uint32_t b) {
  const Sites &first = sites_of_[a];
  const Sites &second = sites_of_[b];
  if (first.none() || second.none())
    return true;
  for (std::uint32_t entry = 0; entry < followed_.size(); ++entry)
    if (is_followed(entry) && !followed_[entry].known)
      follow(entry);
  // Whichever was created last, the other one existed then.
  const auto meet = [&](const Sites &later, const Sites &earlier) {
    return any_of(later.set_bits(), [&](unsigned site) {
      return !settled_.test(site) || beside_[site].anyCommon(earlier);
    });
  };
  // A thread and what it creates itself.
  const auto descends = [&](const Sites &from, const Sites &what) {
    return any_of(from.set_bits(), [&](unsigned site) {
      Sites below = starts_[site];
      below.reset(site);
      return below.anyCommon(what);
    });
  };
  return meet(first, second) || meet(second, first) || descends(first, second) ||
         descends(second, first);
}

bool Phases::may_meet(std::uint32_t a, const Instruction &at, std::uint32_t b,
                      const Instruction &other) {
  if (likely_only_ && (are_alternatives(a, at, b) || are_alternatives(b, other, a)))
    return false;
  return !shadows_[a] && !shadows_[b] && sharing_.may_overlap({a}, {b}) && may_coexist(a, b) &&
         (a == b || may_exist(b, a, at)) && (a == b || may_exist(a, b, other)) &&
         !barriers_.keep_apart(a, at, b, other);
}

bool Phases::is_known(std::uint32_t entry) const {
  const Entry &what = sharing_.entries()[entry];
  return what.kind == EntryKind::signal_handler
             ? takes_signal(*what.function)
             : sharing_.start().main == nullptr || what.kind != EntryKind::exported;
}

bool Phases::is_run_by_others(std::uint32_t entry) const {
  const EntryKind kind = sharing_.entries()[entry].kind;
  return kind == EntryKind::callback || kind == EntryKind::signal_handler;
}

bool Phases::changes_at(const CallBase &call) const {
  return joins_.changes_at(call) ||
         any_of(targets_of(call), [&](const Function *target) { return changes_in(*target); });
}

std::vector<const CallBase *> Phases::creations_of(std::uint32_t entry) const {
  std::vector<const CallBase *> calls;
  for (const unsigned site : sites_of_[entry].set_bits())
    calls.push_back(joins_.creations()[site]);
  return calls;
}

// Whether an instruction belongs to an alternative in which no thread of `other` is created.
bool Phases::are_alternatives(std::uint32_t entry, const Instruction &at,
                              std::uint32_t other) const {
  return entry != other && sites_of_[other].any() &&
         all_of(sites_of_[other].set_bits(), [&](unsigned site) {
           return alternatives_.exclude(*at.getFunction(),
                                        *joins_.creations()[site]->getFunction());
         });
}

Phases &Phases::likely() {
  if (count_ == 0 || likely_only_)
    return *this;
  if (likely_ == nullptr)
    likely_ = std::make_unique<Phases>(module_, points_to_, sharing_, JoinMode::likely);
  return *likely_;
}

bool Phases::certainly_meet(std::uint32_t a, const Instruction &at, std::uint32_t b,
                            const Instruction &other) {
  return !(is_run_by_others(a) && is_run_by_others(b)) && may_meet(a, at, b, other) &&
         (count_ == 0 || likely().may_meet(a, at, b, other));
}

} // namespace tandem
