// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/convert/convert.h"

#include "compiler/convert/balance.h"
#include "compiler/convert/file.h"
#include "compiler/convert/guards.h"
#include "compiler/convert/limits.h"
#include "compiler/convert/modes.h"
#include "compiler/convert/order.h"
#include "compiler/convert/real.h"
#include "compiler/convert/sites.h"
#include "compiler/convert/waits.h"
#include "compiler/convert/words.h"
#include "compiler/effects/condition_changes.h"
#include "compiler/effects/effects.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/converted_operations.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tandem {
namespace {

using namespace llvm;

// Functions put into their callers one after another, at most.
constexpr unsigned kMostRounds = 32;

// The first few of these names, and how many more there are.
std::string first_names(const std::vector<std::string> &names) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
  return names.size() <= kShown ? text : fmt::format("{} and {} more", text, names.size() - kShown);
}

class Converter {
public:
  Converter(Module &module, const ConversionFile &file, const PassOptions &options,
            const Catalogue &catalogue, bool keep_locks)
      : module_(module), file_(file), options_(options), catalogue_(catalogue),
        keep_locks_(keep_locks) {}

  Result<Conversion> run() {
    look_at_library_locks();
    if (library_.converted) {
      take_guards_apart(module_);
      if (Status trusted = trust_acquisitions(); !trusted)
        return trusted.error();
    }
    if (Status trusted = trust_wrappers(); !trusted)
      return trusted.error();
    if (Status good = check_words(); !good)
      return good.error();
    if (Status made = make_lock_regions(module_, file_, catalogue_, known_); !made)
      return made.error();
    Result<std::vector<ConditionOperation>> waits = convert_waits(module_, file_, known_);
    if (!waits)
      return waits.error();
    result_.conditions = std::move(waits).value();
    if (Status made = make_words(); !made)
      return made.error();
    if (Status prepared = make_balanced(); !prepared)
      return prepared.error();
    const LockCalls calls(module_);
    const Result<NamedLocks> named = NamedLocks::match(module_, file_, calls, known_);
    if (!named)
      return named.error();
    {
      const PointsToAnalysis points_to(module_, catalogue_, options_.points_to);
      if (Status good = check(calls, *named, points_to); !good)
        return good.error();
      const Result<std::vector<ConditionOperation>> signals =
          convert_signals(module_, calls, points_to);
      if (!signals)
        return signals.error();
      append_range(result_.conditions, *signals);
    }
    count(calls, *named);
    std::map<const Function *, Balance> balances;
    ConditionChanges changes(module_, catalogue_);
    for (const Function &function : module_)
      if (!function.isDeclaration() && !is_balanced(function))
        if (Balance balance = balance_of(function, calls, *named, changes); balance.good())
          balances.emplace(&function, std::move(balance));
    std::map<const Function *, DenseSet<const Instruction *>> always;
    for (const Function &function : module_)
      if (!function.isDeclaration() && is_balanced(function))
        always.emplace(&function, always_inside(function, calls, *named));
    BlocksInside inside;
    result_.keeps_locks = keep_locks_ && can_keep_locks(module_, calls, *named);
    for (auto &[function, sites] : take_over(module_, calls, *named, result_.keeps_locks)) {
      const auto balance = balances.find(function);
      const ModesResult modes = split_modes(
          *function, sites, balance == balances.end() ? nullptr : &balance->second.inside,
          always[function]);
      result_.sections += modes.sections;
      result_.counted += modes.counted;
      result_.merged += modes.merged;
      if (modes.looks_inside != nullptr)
        return waits_inside(*modes.looks_inside, "");
      if (const auto *balanced = balanced_entry(*function);
          modes.sleeps_inside && (balanced == nullptr || !balanced->waits_outside))
        return sleeps_inside(*modes.sleeps_inside);
      if (Status good = check_function(*function, modes.inside); !good)
        return good.error();
      inside.insert(modes.inside.begin(), modes.inside.end());
    }
    if (Status good = check_waits(inside); !good)
      return good.error();
    result_.holds = finish_stand_ins(module_);
    result_.changed = true;
    return std::move(result_);
  }

private:
  void look_at_library_locks() {
    const LockCalls calls(module_);
    known_ = NamedLocks::all_names(module_, calls);
    const Result<NamedLocks> named = NamedLocks::match(module_, file_, calls, known_);
    for (const Function &function : module_)
      for (const LockSite *site : calls.sites(function)) {
        const StringRef primitive = site->primitive;
        library_.converted = library_.converted || (named && primitive.starts_with("std-") &&
                                                    named->section_of(*site).has_value());
        if (library_.recursive.empty() && primitive.starts_with("std-recursive"))
          library_.recursive = source_place(*site->call);
      }
  }

  // An acquisition of a section's lock gives 0. The C++ library looks at it: it throws, or tries
  // again, where the thread has the lock already, or too many have it.
  Status trust_acquisitions() {
    const LockCalls calls(module_);
    const Result<NamedLocks> named = NamedLocks::match(module_, file_, calls, known_);
    if (!named)
      return named.error();
    SetVector<Function *> changed;
    for (Function &function : module_)
      for (const LockSite *site : calls.sites(function))
        if (site->wrapper == nullptr && site->operation == LockOperation::lock &&
            site->call->getType()->isIntegerTy() && named->section_of(*site)) {
          auto *call = const_cast<CallBase *>(site->call);
          call->replaceAllUsesWith(Constant::getNullValue(call->getType()));
          changed.insert(&function);
        }
    fold_guards(changed.getArrayRef());
    return Unit{};
  }

  // A call of a wrapper, such as a constructor of the program's own guards, throws nothing where
  // the wrapper could throw only because it does not get its lock.
  Status trust_wrappers() {
    if (none_of(module_, [](const Function &function) {
          return any_of(instructions(function),
                        [](const Instruction &by) { return isa<InvokeInst>(by); });
        }))
      return Unit{};
    SetVector<InvokeInst *> acquire;
    {
      const LockCalls calls(module_);
      const Result<NamedLocks> named = NamedLocks::match(module_, file_, calls, known_);
      if (!named)
        return named.error();
      std::map<const Function *, bool> throws;
      for (Function &function : module_)
        for (const LockSite *site : calls.sites(function))
          if (const auto *invoke = dyn_cast<InvokeInst>(site->call);
              invoke != nullptr && site->wrapper != nullptr &&
              site->operation == LockOperation::lock && named->section_of(*site))
            acquire.insert(const_cast<InvokeInst *>(invoke));
      acquire.remove_if([&](InvokeInst *invoke) {
        const Function *wrapper = calls.at(*invoke)->wrapper;
        const auto [known, fresh] = throws.try_emplace(wrapper, false);
        if (fresh)
          known->second = throws_with_lock(*wrapper, calls);
        return known->second;
      });
    }
    SetVector<Function *> changed;
    for (InvokeInst *invoke : acquire) {
      changed.insert(invoke->getFunction());
      changeToCall(invoke);
    }
    fold_guards(changed.getArrayRef());
    return Unit{};
  }

  Status check_words() const {
    if (!has_word_locks(file_))
      return Unit{};
    const LockCalls calls(module_);
    const Result<NamedLocks> named = NamedLocks::match(module_, file_, calls, known_);
    return named ? check_word_locks(module_, file_, calls, *named) : Status(named.error());
  }

  // What of the file cannot be done with the program's locks.
  Status check(const LockCalls &calls, const NamedLocks &named, const PointsToAnalysis &points_to) {
    if (Status good = check_locks(module_, file_, calls, named, points_to); !good)
      return good;
    return check_limits(module_, calls, named, points_to, library_, options_.link_shared);
  }

  Status make_words() {
    if (!has_word_locks(file_))
      return Unit{};
    const LockCalls calls(module_);
    const Result<NamedLocks> named = NamedLocks::match(module_, file_, calls, known_);
    if (!named)
      return named.error();
    const PointsToAnalysis points_to(module_, catalogue_, options_.points_to);
    if (Status good = check(calls, *named, points_to); !good)
      return good;
    file_ = make_word_locks(module_, file_, calls, *named);
    return Unit{};
  }

  // A wait gives up one lock, and the section goes on.
  static Error sleeps_inside(const SleepInside &found) {
    return Error{fmt::format(
        "{}: a thread waits here {}, and {} may be held too: a section cannot give up the middle "
        "of itself; keep {} a lock",
        source_place(*found.sleep), describe_wait(*found.sleep),
        found.also.empty() ? fmt::format("a lock that is acquired at {}", source_place(*found.from))
        : found.also == lock_of_wait(*found.sleep) ? "that lock a second time"
                                                   : fmt::format("'{}'", found.also),
        found.also.empty() ? "that lock" : fmt::format("'{}'", found.also))};
  }

  // A section that may be a transaction becomes a function of its own (enforce/outline). Not where
  // its function is called in sections: those are its callers'.
  Status check_function(const Function &function, const std::vector<BasicBlock *> &inside) const {
    const Enforcement mode = options_.enforcement;
    if (is_balanced(function) || mode == Enforcement::locks || mode == Enforcement::global_lock)
      return Unit{};
    for (const BasicBlock *block : inside)
      for (const Instruction &instruction : *block)
        if (isa<VAStartInst, AllocaInst>(instruction))
          if (const auto lock = converted_lock_before(instruction))
            return Error{fmt::format("{}: lock '{}' is held where the function {}, which a "
                                     "transaction cannot do for it; "
                                     "keep it a lock, or move that into a function",
                                     source_place(instruction), file_.sections[*lock].names.front(),
                                     isa<AllocaInst>(instruction)
                                         ? "allocates on the stack"
                                         : "begins to read its variable arguments")};
    return Unit{};
  }

  Status check_waits(const BlocksInside &inside) {
    {
      const LockCalls calls(module_);
      for (Function &function : module_)
        if (const auto *balanced = balanced_entry(function); balanced && balanced->waits_outside)
          trap_waits(function, calls, inside);
    }
    const LockCalls calls(module_);
    const PointsToAnalysis points_to(module_, catalogue_, options_.points_to);
    const bool outermost = all_of(file_.lock_regions, [](const ConversionFile::LockRegion &region) {
      return region.outermost;
    });
    const Result<std::vector<CallBase *>> nested =
        check_order(module_, inside, calls, points_to, file_, outermost);
    if (!nested)
      return nested.error();
    for (CallBase *call : *nested)
      mark_nested(*call);
    return Unit{};
  }

  // Around a call in a section that may acquire a lock of which some regions stay real: that it has
  // to wait for such a region there is a mistake of the file.
  void mark_nested(CallBase &call) {
    IRBuilder<> builder(&call);
    FunctionCallee nest = module_.getOrInsertFunction(
        kHeldNest, FunctionType::get(builder.getInt32Ty(), {builder.getInt32Ty()}, false));
    cast<Function>(nest.getCallee())->setDoesNotThrow();
    Value *before = builder.CreateCall(nest, {builder.getInt32(1)});
    builder.SetInsertPoint(call.getNextNode());
    builder.CreateCall(nest, {before});
  }

  // Puts functions that return with a converted lock held, or release their caller's, into their
  // callers, until none is left.
  Status make_balanced() {
    for (unsigned round = 0; round < kMostRounds; ++round) {
      const LockCalls calls(module_);
      const Result<NamedLocks> named = NamedLocks::match(module_, file_, calls, known_);
      if (!named)
        return named.error();
      bool changed = false;
      ConditionChanges changes(module_, catalogue_);
      for (Function *function : callees_first()) {
        if (calls.is_wrapper(*function) || is_balanced(*function) ||
            none_of(calls.sites(*function),
                    [&](const LockSite *site) { return named->section_of(*site).has_value(); }))
          continue;
        const Balance balance = balance_of(*function, calls, *named, changes);
        if (balance.good())
          continue;
        if (Status done = put_into_callers(*function, balance, calls, *named); !done)
          return done;
        changed = true;
        break; // the calls' sites have changed
      }
      if (!changed)
        return Unit{};
    }
    return Error{
        fmt::format("{}: more than {} functions would have to be put into their callers ({}); "
                    "keep their locks, or add [[balanced]]",
                    file_.path, kMostRounds, first_names(result_.inlined))};
  }

  // The functions with bodies, each behind those that it calls, as far as they do not call it.
  [[nodiscard]] std::vector<Function *> callees_first() {
    std::vector<Function *> order;
    CallGraph graph(module_);
    for (auto component = scc_begin(&graph); !component.isAtEnd(); ++component)
      for (const CallGraphNode *node : *component)
        if (Function *function = node->getFunction();
            function != nullptr && !function->isDeclaration())
          order.push_back(function);
    return order;
  }

  [[nodiscard]] const ConversionFile::Balanced *balanced_entry(const Function &function) const {
    for (const ConversionFile::Balanced &balanced : file_.balanced)
      if (balanced.function == function.getName())
        return &balanced;
    return nullptr;
  }

  [[nodiscard]] bool is_balanced(const Function &function) const {
    return balanced_entry(function) != nullptr;
  }

  // The first function that `function` calls which acquires its caller's lock and does more than a
  // wrapper: "'take' (a.c:7)"; empty where there is none.
  static std::string acquires_unseen(const Function &function, const LockCalls &calls) {
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const Function *callee = call == nullptr ? nullptr : called_function(*call);
      if (callee == nullptr || callee->isDeclaration() || calls.is_wrapper(*callee))
        continue;
      for (const LockSite *site : calls.sites(*callee))
        if (!site->named && site->operation != LockOperation::unlock)
          return fmt::format("'{}' ({})", source_name(*callee), source_place(*site->call));
    }
    return "";
  }

  Status put_into_callers(Function &function, const Balance &balance, const LockCalls &calls,
                          const NamedLocks &named) {
    const std::string name = source_name(function);
    const LockSite *site = balance.at == nullptr ? nullptr : calls.at(*balance.at);
    // As the file has it, whose entry is to be changed.
    const auto section = site == nullptr ? std::nullopt : named.section_of(*site);
    const std::string lock = section           ? file_.sections[*section].names.front()
                             : site == nullptr ? "a converted lock"
                                               : site->locks.front();
    const std::string unknown =
        balance.returns_inside ? std::string() : acquires_unseen(function, calls);
    const auto cannot = [&](std::string_view why) {
      if (!unknown.empty())
        return Error{
            fmt::format("{}: {} releases '{}', which it has by {}: how that acquires it is "
                        "not understood; make it do nothing but acquire, or keep the "
                        "lock",
                        source_place(*balance.at), name, lock, unknown)};
      return Error{fmt::format(
          "{}: {} '{}', and it cannot be put into its callers: {}; keep the lock, or say "
          "with [[balanced]] that no such path is taken",
          balance.at == nullptr ? name : source_place(*balance.at),
          balance.by_exception     ? fmt::format("{} may hand on an exception and hold", name)
          : balance.returns_inside ? fmt::format("{} may return and hold", name)
                                   : fmt::format("{} may release its caller's", name),
          lock, why)};
    };
    if (!balance.doubt.empty())
      return Error{fmt::format(
          "{}: {} may not release as often as it acquires: {}; keep the lock, or say with "
          "[[balanced]] that this does not happen",
          balance.at == nullptr ? name : source_place(*balance.at), name, balance.doubt)};
    if (function.use_empty())
      return cannot("nothing in the program calls it");
    if (!function.hasLocalLinkage())
      return cannot("code outside the program may call it");
    std::vector<CallBase *> callers;
    for (User *user : function.users()) {
      auto *call = dyn_cast<CallBase>(user);
      if (call == nullptr || call->getCalledOperand() != &function)
        return cannot("it is called by pointer");
      if (call->getFunction() == &function)
        return cannot("it calls itself");
      callers.push_back(call);
    }
    for (CallBase *call : callers) {
      InlineFunctionInfo info;
      if (const InlineResult done = InlineFunction(*call, info); !done.isSuccess())
        return cannot(done.getFailureReason());
    }
    function.eraseFromParent();
    result_.inlined.push_back(name);
    return Unit{};
  }

  void count(const LockCalls &calls, const NamedLocks &named) {
    for (const ConversionFile::Locks &section : file_.sections)
      result_.locks.push_back({section.names.front(), section.reason});
    for (const Function &function : module_) {
      if (calls.is_wrapper(function))
        continue;
      for (const LockSite *site : calls.sites(function))
        if (const auto section = named.section_of(*site)) {
          ConvertedLock &lock = result_.locks[*section];
          ++(site->operation == LockOperation::lock      ? lock.acquisitions
             : site->operation == LockOperation::trylock ? lock.tries
                                                         : lock.releases);
        }
    }
  }

  Module &module_;
  ConversionFile file_; // behind make_words() without locks that are words
  const PassOptions &options_;
  const Catalogue &catalogue_;
  const bool keep_locks_;
  LibraryLocks library_;
  std::set<std::string> known_; // names of locks, before guards were taken apart
  Conversion result_;
};

// Tries the file on copies of the program, each time without the lock that was refused.
Result<Conversion> convert_what_can(Module &module, ConversionFile file, const PassOptions &options,
                                    const Catalogue &catalogue, bool keep_locks) {
  std::vector<std::string> kept;
  while (!file.sections.empty()) {
    const std::unique_ptr<Module> copy = CloneModule(module);
    const Result<Conversion> tried = Converter(*copy, file, options, catalogue, keep_locks).run();
    if (tried)
      break;
    kept.push_back(tried.error().message);
    file.keep_lock(kept.back());
  }
  Result<Conversion> converted =
      file.sections.empty() ? Result<Conversion>(Conversion{})
                            : Converter(module, file, options, catalogue, keep_locks).run();
  if (converted)
    converted->kept = std::move(kept);
  return converted;
}

} // namespace

Result<Conversion> convert_locks(Module &module, const PassOptions &options,
                                 const Catalogue &catalogue, bool keep_locks) {
  const Result<ConversionFile> file = read_conversion(options.convert);
  if (!file)
    return file.error();
  if (!file->applies_to(options.link_output))
    return Conversion{};
  Result<Conversion> converted =
      !file->refused_stay_locks ? Converter(module, *file, options, catalogue, keep_locks).run()
                                : convert_what_can(module, *file, options, catalogue, keep_locks);
  if (converted)
    converted->warnings.insert(converted->warnings.begin(), file->warnings.begin(),
                               file->warnings.end());
  return converted;
}

} // namespace tandem
