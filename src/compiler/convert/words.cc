// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/convert/words.h"

#include "compiler/effects/effects.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/converted_operations.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <cerrno>

namespace tandem {
namespace {

using namespace llvm;

constexpr char kLock[] = "pthread_mutex_lock";
constexpr char kUnlock[] = "pthread_mutex_unlock";
// The lock that all sections on words acquire; as it is converted, they conflict by words only.
constexpr const char *kWords = "_TANDEM_words";
constexpr std::uint64_t kMutexBytes = 40;

// What an operation of the library becomes; null: it has no counterpart.
const char *counterpart(const LockSite &site) {
  const Function *callee = called_function(*site.call);
  if (callee == nullptr || !isa<CallInst>(site.call))
    return nullptr;
  return StringSwitch<const char *>(callee->getName())
      .Case(kLock, kWordLock)
      .Case("pthread_mutex_trylock", kWordTrylock)
      .Case(kUnlock, kWordUnlock)
      .Default(nullptr);
}

// Whether the site is such an operation, or a wrapper of such.
bool has_counterpart(const LockSite &site, const LockCalls &calls) {
  if (site.operation == LockOperation::wait || site.guard)
    return false;
  if (site.wrapper == nullptr)
    return counterpart(site) != nullptr;
  return all_of(calls.sites(*site.wrapper),
                [&](const LockSite *inner) { return has_counterpart(*inner, calls); });
}

class Words {
public:
  Words(Module &module, const LockCalls &calls) : module_(module), calls_(calls) {}

  void replace(CallBase &call, const LockSite &site) {
    if (site.wrapper == nullptr)
      call.setCalledFunction(&operation(counterpart(site)));
    else
      call.setCalledOperand(&copy_of(*const_cast<Function *>(site.wrapper)));
  }

  // Removes wrappers without callers left: their bodies still call pthread_mutex_lock.
  void erase_unused() {
    const auto unused = [](Function *wrapper) {
      return wrapper->use_empty() && wrapper->hasLocalLinkage();
    };
    // One that only another one calls is unused behind that.
    for (auto at = find_if(copied_, unused); at != copied_.end(); at = find_if(copied_, unused)) {
      Function *wrapper = *at;
      copied_.remove(wrapper);
      wrapper->eraseFromParent();
    }
  }

private:
  Function &copy_of(Function &wrapper) {
    Function *&copy = copies_[&wrapper];
    if (copy != nullptr)
      return *copy;
    ValueToValueMapTy map;
    Function *made = CloneFunction(&wrapper, map);
    made->setLinkage(GlobalValue::InternalLinkage);
    made->setVisibility(GlobalValue::DefaultVisibility);
    made->setDSOLocal(true);
    made->setComdat(nullptr);
    made->setName(wrapper.getName() + ".tandem.word");
    copy = made;
    copied_.insert(&wrapper);
    for (const LockSite *inner : calls_.sites(wrapper))
      replace(*cast<CallBase>(&*map[inner->call]), *inner);
    return *made;
  }

  Value *lock_of_words() {
    if (GlobalVariable *known = module_.getGlobalVariable(kWords, true))
      return known;
    auto *type = ArrayType::get(Type::getInt8Ty(module_.getContext()), kMutexBytes);
    auto *made = new GlobalVariable(module_, type, false, GlobalValue::InternalLinkage,
                                    ConstantAggregateZero::get(type), kWords);
    made->setAlignment(Align(8));
    return made;
  }

  // int (void *lock), as the library's: 0, or EBUSY of a trylock.
  Function &operation(StringRef name) {
    if (Function *known = module_.getFunction(name))
      return *known;
    LLVMContext &context = module_.getContext();
    IRBuilder<> builder(context);
    auto *type = FunctionType::get(builder.getInt32Ty(), {builder.getPtrTy()}, false);
    Function *function = Function::Create(type, GlobalValue::InternalLinkage, name, module_);
    function->setDoesNotThrow();
    Value *word = nullptr;
    const auto block = [&](const char *called) {
      return BasicBlock::Create(context, called, function);
    };
    const auto call = [&](const char *callee) {
      builder.CreateCall(module_.getOrInsertFunction(callee, type), {lock_of_words()});
    };
    const auto set = [&](unsigned value) { builder.CreateStore(builder.getInt32(value), word); };
    const auto leave = [&](int result) {
      call(kUnlock);
      builder.CreateRet(builder.getInt32(static_cast<std::uint32_t>(result)));
    };
    builder.SetInsertPoint(block("entry"));
    word = builder.CreateConstGEP1_64(builder.getInt8Ty(), function->getArg(0), kHeldWord);
    if (name == kWordUnlock) {
      call(kLock);
      set(0);
      leave(0);
      return *function;
    }
    BasicBlock *look = block("look");
    BasicBlock *take = block("take");
    BasicBlock *busy = block("busy");
    builder.CreateBr(look);
    builder.SetInsertPoint(look);
    call(kLock);
    Value *held = builder.CreateLoad(builder.getInt32Ty(), word);
    builder.CreateCondBr(builder.CreateICmpEQ(held, builder.getInt32(0)), take, busy);
    builder.SetInsertPoint(take);
    set(1);
    leave(0);
    builder.SetInsertPoint(busy);
    if (name == kWordTrylock) {
      leave(EBUSY);
      return *function;
    }
    call(kUnlock);
    FunctionCallee yield =
        module_.getOrInsertFunction(kHeldYield, FunctionType::get(builder.getInt32Ty(), false));
    cast<Function>(yield.getCallee())->setDoesNotThrow();
    builder.CreateCall(yield);
    builder.CreateBr(look);
    return *function;
  }

  Module &module_;
  const LockCalls &calls_;
  DenseMap<const Function *, Function *> copies_;
  SetVector<Function *> copied_;
};

// The sites on such locks, but for those in wrappers.
std::vector<const LockSite *> sites_of_words(const Module &module, const ConversionFile &file,
                                             const LockCalls &calls, const NamedLocks &named) {
  std::vector<const LockSite *> sites;
  for (const Function &function : module)
    if (!calls.is_wrapper(function))
      for (const LockSite *site : calls.sites(function))
        if (const auto section = named.section_of(*site);
            section && file.sections[*section].as_word)
          sites.push_back(site);
  return sites;
}

} // namespace

bool has_word_locks(const ConversionFile &file) {
  return any_of(file.sections, [](const ConversionFile::Locks &locks) { return locks.as_word; });
}

Status check_word_locks(const Module &module, const ConversionFile &file, const LockCalls &calls,
                        const NamedLocks &named) {
  for (const LockSite *site : sites_of_words(module, file, calls, named))
    if (!has_counterpart(*site, calls))
      return Error{fmt::format("{}: lock '{}' cannot become a word: it is no mutex that is only "
                               "locked, tried and unlocked, by pthread_mutex_lock, _trylock and "
                               "_unlock; keep it a lock",
                               source_place(*site->call), named.name_in_file(*site))};
  return Unit{};
}

ConversionFile make_word_locks(Module &module, const ConversionFile &file, const LockCalls &calls,
                               const NamedLocks &named) {
  Words words(module, calls);
  for (const LockSite *site : sites_of_words(module, file, calls, named))
    words.replace(*const_cast<CallBase *>(site->call), *site);
  words.erase_unused();
  ConversionFile behind = file;
  behind.sections.clear();
  for (const ConversionFile::Locks &locks : file.sections)
    (locks.as_word ? behind.kept_locks : behind.sections).push_back(locks);
  if (module.getGlobalVariable(kWords, true) != nullptr)
    behind.sections.push_back({{kWords}, "what changes the words of locks", false, false, 0});
  return behind;
}

} // namespace tandem
