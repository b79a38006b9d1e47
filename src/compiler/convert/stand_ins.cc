// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What operations on converted locks become, from the conversion to the end of the pass: stand-ins
// (take_over), then nothing, or functions of held.c, the runtime or the library (finish_...).
#include "compiler/convert/real.h"
#include "compiler/convert/sites.h"
#include "compiler/convert/waits.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/section.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

#include <deque>
#include <set>

namespace tandem {

using namespace llvm;

namespace {

ConvertedSite::Kind kind_of(LockOperation operation) {
  switch (operation) {
  case LockOperation::lock:
    return ConvertedSite::Kind::acquire;
  case LockOperation::trylock:
    return ConvertedSite::Kind::try_acquire;
  case LockOperation::unlock:
    return ConvertedSite::Kind::release;
  case LockOperation::wait:
    break;
  }
  CHECK(false, "a converted wait");
}

// On an operation on a converted lock: its entry of the file.
constexpr const char *kConvertedLock = "tandem.converted_lock";

constexpr const char *kOperations[] = {"acquire", "try", "release"};

} // namespace

void mark_converted_lock(CallBase &call, std::size_t section) {
  LLVMContext &context = call.getContext();
  Constant *number = ConstantInt::get(Type::getInt64Ty(context), section);
  call.setMetadata(kConvertedLock, MDNode::get(context, {ConstantAsMetadata::get(number)}));
}

std::optional<std::size_t> converted_lock(const CallBase &call) {
  const MDNode *marked = call.getMetadata(kConvertedLock);
  if (marked == nullptr)
    return std::nullopt;
  return mdconst::extract<ConstantInt>(marked->getOperand(0))->getZExtValue();
}

std::optional<std::size_t> converted_lock_before(const Instruction &instruction) {
  std::set<const BasicBlock *> seen;
  std::deque<const Instruction *> work{&instruction}; // what is before each is looked at
  while (!work.empty()) {
    const Instruction *before = work.front();
    const BasicBlock *block = before->getParent();
    work.pop_front();
    while ((before = before->getPrevNode()) != nullptr)
      if (const auto *call = dyn_cast<CallBase>(before))
        if (const auto lock = converted_lock(*call))
          return lock;
    for (const BasicBlock *from : predecessors(block))
      if (seen.insert(from).second)
        work.push_back(from->getTerminator());
  }
  return std::nullopt;
}

FunctionCallee guarded_by_mark(Module &module, StringRef name) {
  LLVMContext &context = module.getContext();
  FunctionCallee mark = module.getOrInsertFunction(
      name, FunctionType::get(Type::getInt32Ty(context), {PointerType::getUnqual(context)}, false));
  // No promise about memory: what was read before an acquisition is read again behind it.
  cast<Function>(mark.getCallee())->setDoesNotThrow();
  return mark;
}

namespace {

bool has_marks(Module &module) {
  return any_of(discover_sections(module),
                [](const Section &section) { return section.kind != SectionKind::lock_region; });
}

class TakeOver {
public:
  TakeOver(Module &module, const LockCalls &calls, const NamedLocks &named, bool keeps_locks)
      : module_(module), calls_(calls), named_(named), keeps_locks_(keeps_locks),
        guarded_by_(named.has_guarded_by() && !has_marks(module)) {}

  ConvertedSites run() {
    find_tried();
    ConvertedSites sites;
    std::vector<std::pair<CallBase *, const LockSite *>> work;
    for (Function &function : module_)
      if (!calls_.is_wrapper(function))
        for (const LockSite *site : calls_.sites(function))
          if (named_.section_of(*site))
            work.emplace_back(const_cast<CallBase *>(site->call), site);
    for (const auto &[call, site] : work) {
      Function *function = call->getFunction();
      const std::size_t section = *named_.section_of(*site);
      const bool looks = site->operation == LockOperation::lock &&
                         named_.has_lock_regions(section) && !ends_real(*call);
      CallBase *now = site->wrapper == nullptr ? replace(*call, *site, section)
                                               : redirect(*call, *site, section);
      sites[function].push_back({now, kind_of(site->operation), site->acquired, looks,
                                 named_.is_outermost(section),
                                 guarded_by_ && named_.is_guarded_by(section)});
    }
    // A wrapper whose callers are all converted would go on using the real lock if someone called
    // it.
    for (Function *wrapper : replaced_)
      if (wrapper->use_empty() && wrapper->hasLocalLinkage())
        wrapper->eraseFromParent();
    return sites;
  }

private:
  void find_tried() {
    for (Function &function : module_)
      for (const LockSite *site : calls_.sites(function))
        if (const auto section = named_.section_of(*site);
            section && site->operation == LockOperation::trylock)
          tried_.insert(*section);
  }

  // What stands for the operation that the library has as `library`.
  FunctionCallee stand_in(StringRef library, ConvertedSite::Kind kind, std::size_t section) {
    const bool held = tried_.contains(section);
    const std::string name =
        keeps_locks_ ? std::string(kOwnLock) + (held ? "held_" : "plain_") + library.str()
                     : std::string(kStandIn) + (held ? "held." : "plain.") +
                           kOperations[static_cast<int>(kind)];
    LLVMContext &context = module_.getContext();
    FunctionCallee callee = module_.getOrInsertFunction(
        name,
        FunctionType::get(Type::getInt32Ty(context), {PointerType::getUnqual(context)}, false));
    cast<Function>(callee.getCallee())->setDoesNotThrow();
    return callee;
  }

  // `operation`, the stand-in of an acquisition, behind the mark that says what kind of lock it is:
  // what a section looks at comes behind that.
  Function &marked(FunctionCallee operation, StringRef mark, StringRef kind) {
    const std::string name = "tandem." + kind.str() + "." + operation.getCallee()->getName().str();
    if (Function *known = module_.getFunction(name))
      return *known;
    Function &function = new_operation(name);
    IRBuilder<> builder(BasicBlock::Create(module_.getContext(), "entry", &function));
    builder.CreateCall(guarded_by_mark(module_, mark), {function.getArg(0)});
    builder.CreateRet(builder.CreateCall(operation, {function.getArg(0)}));
    return function;
  }

  Function &new_operation(const std::string &name) {
    LLVMContext &context = module_.getContext();
    Function *function = Function::Create(
        FunctionType::get(Type::getInt32Ty(context), {PointerType::getUnqual(context)}, false),
        GlobalValue::InternalLinkage, name, module_);
    function->setDoesNotThrow();
    return *function;
  }

  // `operation`, a trylock's stand-in, for a lock that guards its data: fails where another thread
  // is in one of its sections, too.
  Function &guarded_by_try(FunctionCallee operation, FunctionCallee release) {
    const std::string name = "tandem.guarded_by." + operation.getCallee()->getName().str();
    if (Function *known = module_.getFunction(name))
      return *known;
    Function *function = &new_operation(name);
    LLVMContext &context = module_.getContext();
    IRBuilder<> builder(BasicBlock::Create(context, "entry", function));
    Value *lock = function->getArg(0);
    BasicBlock *enter = BasicBlock::Create(context, "enter", function);
    BasicBlock *taken = BasicBlock::Create(context, "taken", function);
    BasicBlock *done = BasicBlock::Create(context, "done", function);
    Value *busy = builder.CreateCall(operation, {lock});
    PHINode *answer = PHINode::Create(builder.getInt32Ty(), 3, "answer", done);
    answer->addIncoming(busy, builder.GetInsertBlock());
    builder.CreateCondBr(builder.CreateICmpEQ(busy, builder.getInt32(0)), enter, done);
    builder.SetInsertPoint(enter);
    Value *entered = builder.CreateCall(guarded_by_mark(module_, kGuardedByTry), {lock});
    answer->addIncoming(entered, enter);
    builder.CreateCondBr(builder.CreateICmpEQ(entered, builder.getInt32(0)), done, taken);
    builder.SetInsertPoint(taken);
    builder.CreateCall(release, {lock});
    answer->addIncoming(entered, taken);
    builder.CreateBr(done);
    builder.SetInsertPoint(done);
    builder.CreateRet(answer);
    return *function;
  }

  // The call of the library's operation becomes one of a stand-in.
  CallBase *replace(CallBase &call, const LockSite &site, std::size_t section) {
    IRBuilder<> builder(&call);
    const StringRef library = called_function(call)->getName();
    FunctionCallee now_called = stand_in(library, kind_of(site.operation), section);
    const bool acquires = site.operation != LockOperation::unlock;
    const bool tries = site.operation == LockOperation::trylock;
    if (guarded_by_ && acquires) {
      if (!named_.is_guarded_by(section))
        now_called = &marked(now_called, kGuardedByOther, "other");
      else if (!tries)
        now_called = &marked(now_called, kGuardedByAcquire, "guarded_by");
      else
        now_called = &guarded_by_try(
            now_called, stand_in("pthread_mutex_unlock", ConvertedSite::Kind::release, section));
    }
    if (named_.has_lock_regions(section) && acquires && !ends_real(call)) {
      const std::string name = "tandem.looking." + now_called.getCallee()->getName().str();
      now_called =
          &looking(module_, name, now_called,
                   stand_in("pthread_mutex_unlock", ConvertedSite::Kind::release, section), tries);
    }
    CallInst *now = builder.CreateCall(now_called, {call.getArgOperand(0)});
    mark_converted_lock(*now, section);
    call.replaceAllUsesWith(now);
    call.eraseFromParent();
    return now;
  }

  // A trylock in a loop that ends with the lock held.
  void replace_loop(CallBase &call, const LockSite &site, std::size_t section) {
    Function &function = *call.getFunction();
    const bool spins = called_function(call)->getName().starts_with("pthread_spin_");
    call.setCalledFunction(module_.getOrInsertFunction(
        spins ? "pthread_spin_lock" : "pthread_mutex_lock", call.getFunctionType()));
    LockSite lock = site;
    lock.operation = LockOperation::lock;
    CallBase *now = replace(call, lock, section);
    now->replaceAllUsesWith(Constant::getNullValue(now->getType()));
    for (BasicBlock &block : function) {
      for (Instruction &instruction : make_early_inc_range(block))
        if (Constant *value = ConstantFoldInstruction(&instruction, module_.getDataLayout())) {
          instruction.replaceAllUsesWith(value);
          if (isInstructionTriviallyDead(&instruction))
            instruction.eraseFromParent();
        }
      ConstantFoldTerminator(&block);
    }
    removeUnreachableBlocks(function);
  }

  // The call of a wrapper becomes one of its copy.
  CallBase *redirect(CallBase &call, const LockSite &site, std::size_t section) {
    call.setCalledOperand(&copy_of(*const_cast<Function *>(site.wrapper), section,
                                   site.operation == LockOperation::lock));
    return &call;
  }

  // `acquires`: the wrapper comes back with the lock held. One that tries in a loop acquires then
  // as others do, without the loop.
  Function &copy_of(Function &wrapper, std::size_t section, bool acquires) {
    Function *&copy = copies_[{&wrapper, section}];
    if (copy != nullptr)
      return *copy;
    ValueToValueMapTy map;
    copy = CloneFunction(&wrapper, map);
    copy->setLinkage(GlobalValue::InternalLinkage);
    copy->setVisibility(GlobalValue::DefaultVisibility);
    copy->setDSOLocal(true);
    copy->setComdat(nullptr);
    copy->setName(wrapper.getName() + ".tandem.converted");
    if (!is_contained(replaced_, &wrapper)) // one section's may be another's
      replaced_.push_back(&wrapper);
    for (const LockSite *inner : calls_.sites(wrapper)) {
      auto *call = cast<CallBase>(&*map[inner->call]);
      if (inner->wrapper != nullptr) {
        redirect(*call, *inner, section);
      } else if (acquires && inner->operation == LockOperation::trylock) {
        replace_loop(*call, *inner, section);
      } else {
        replace(*call, *inner, section);
      }
    }
    return *copies_[{&wrapper, section}];
  }

  Module &module_;
  const LockCalls &calls_;
  const NamedLocks &named_;
  const bool keeps_locks_;
  // Some locks guard their data. Not where the program marks sections itself: those touch what they
  // like.
  const bool guarded_by_;
  std::set<std::size_t> tried_;
  std::map<std::pair<Function *, std::size_t>, Function *> copies_;
  std::vector<Function *> replaced_;
};

} // namespace

ConvertedSites take_over(Module &module, const LockCalls &calls, const NamedLocks &named,
                         bool keeps_locks) {
  return TakeOver(module, calls, named, keeps_locks).run();
}

namespace {

struct OwnOperation {
  const char *name; // the library's
  const char *held; // held.c's
};
constexpr OwnOperation kOwnOperations[] = {
    {"pthread_mutex_lock", kHeldAcquire},         {"pthread_mutex_trylock", "_TANDEM_held_try"},
    {"pthread_mutex_unlock", kHeldRelease},       {"pthread_spin_lock", kHeldAcquire},
    {"pthread_spin_trylock", "_TANDEM_held_try"}, {"pthread_spin_unlock", kHeldRelease},
    {"pthread_rwlock_rdlock", kHeldAcquire},      {"pthread_rwlock_wrlock", kHeldAcquire},
    {"pthread_rwlock_unlock", kHeldRelease},
};

// Whether the module calls functions of held.c that are no operations on locks.
bool calls_held(const Module &module) {
  return module.getFunction(kHeldReally) != nullptr || module.getFunction(kHeldYield) != nullptr;
}

bool can_keep(const LockSite &site) {
  if (site.wrapper != nullptr)
    return true; // what it calls is asked for by itself
  const Function *callee = called_function(*site.call);
  return callee != nullptr && any_of(kOwnOperations, [&](const OwnOperation &operation) {
           return callee->getName() == operation.name;
         });
}

} // namespace

bool can_keep_locks(const Module &module, const LockCalls &calls, const NamedLocks &named) {
  return all_of(module, [&](const Function &function) {
    return all_of(calls.sites(function), [&](const LockSite *site) {
      return (!named.section_of(*site) && !calls.is_wrapper(function)) || can_keep(*site);
    });
  });
}

bool keeps_held(const Module &module) {
  return module.getFunction(kHeldReally) != nullptr ||
         any_of(kOperations,
                [&](const char *operation) {
                  return module.getFunction(std::string(kStandIn) + "held." + operation) != nullptr;
                }) ||
         any_of(kOwnOperations, [&](const OwnOperation &operation) {
           return module.getFunction(std::string(kOwnLock) + "held_" + operation.name) != nullptr;
         });
}

namespace {

// Every call of it has done nothing, and gave 0.
void erase_with_calls(Function &function) {
  for (User *user : make_early_inc_range(function.users())) {
    auto *call = cast<CallBase>(user);
    call->replaceAllUsesWith(Constant::getNullValue(call->getType()));
    call->eraseFromParent();
  }
  function.eraseFromParent();
}

} // namespace

void finish_guarded_by(Module &module) {
  for (const char *name : {kGuardedByAcquire, kGuardedByTry, kGuardedByOther, kGuardedByFirst}) {
    Function *mark = module.getFunction(name);
    if (mark != nullptr)
      erase_with_calls(*mark);
  }
}

bool finish_stand_ins(Module &module) {
  bool held = calls_held(module) || has_sleepers(module);
  for (const char *operation : kOperations)
    for (const bool counted : {false, true}) {
      Function *stand_in =
          module.getFunction(std::string(kStandIn) + (counted ? "held." : "plain.") + operation);
      if (stand_in == nullptr)
        continue;
      if (counted) {
        stand_in->setName(std::string("_TANDEM_held_") + operation);
        held = true;
        continue;
      }
      erase_with_calls(*stand_in);
    }
  return held;
}

namespace {

void resolve_own_lock(CallBase &call, const OwnOperation &operation, bool held,
                      bool transactional) {
  Module &module = *call.getModule();
  FunctionType *type = call.getFunctionType();
  if (!transactional) {
    const bool notices = StringRef(operation.name) == "pthread_mutex_lock";
    call.setCalledFunction(
        module.getOrInsertFunction(notices ? kOwnMutexLock : operation.name, type));
  } else if (held) {
    call.setCalledFunction(module.getOrInsertFunction(operation.held, type));
  } else {
    call.replaceAllUsesWith(Constant::getNullValue(call.getType()));
    call.eraseFromParent();
  }
}

} // namespace

bool finish_own_locks(Module &module, function_ref<bool(const Function &)> transactional) {
  bool keeps = calls_held(module);
  for (const OwnOperation &operation : kOwnOperations)
    for (const bool held : {false, true}) {
      Function *stand_in =
          module.getFunction(std::string(kOwnLock) + (held ? "held_" : "plain_") + operation.name);
      if (stand_in == nullptr)
        continue;
      keeps = keeps || held;
      for (User *user : make_early_inc_range(stand_in->users())) {
        auto &call = *cast<CallBase>(user);
        resolve_own_lock(call, operation, held, transactional(*call.getFunction()));
      }
      stand_in->eraseFromParent();
    }
  // Code that holds the program's locks needs no list of them. A section begins with an empty one.
  for (const char *name : {kHeldCount, kHeldRestore})
    if (Function *function = keeps ? module.getFunction(name) : nullptr; function != nullptr)
      for (User *user : make_early_inc_range(function->users()))
        if (auto *call = cast<CallBase>(user); !transactional(*call->getFunction())) {
          if (!call->getType()->isVoidTy())
            call->replaceAllUsesWith(Constant::getNullValue(call->getType()));
          call->eraseFromParent();
        }
  return keeps || has_sleepers(module);
}

} // namespace tandem
