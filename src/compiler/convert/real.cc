// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/convert/real.h"

#include "compiler/convert/balance.h"
#include "compiler/convert/sites.h"
#include "compiler/effects/condition_changes.h"
#include "compiler/effects/effects.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/converted_operations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <cerrno>

namespace tandem {
namespace {

using namespace llvm;

// Wrappers in wrappers, at most.
constexpr unsigned kMostRounds = 64;
// On the acquisition in the section that clears the word.
constexpr const char *kEndsReal = "tandem.ends.real";

constexpr const char *kLock = "pthread_mutex_lock";
constexpr const char *kUnlock = "pthread_mutex_unlock";

Value *word_of(IRBuilder<> &builder, Value *lock) {
  return builder.CreateConstGEP1_64(builder.getInt8Ty(), lock, kHeldWord);
}

class Region {
public:
  Region(Module &module, const ConversionFile &file, const ConversionFile::LockRegion &region,
         const Catalogue &catalogue, const std::set<std::string> &known)
      : module_(module), file_(file), region_(region), catalogue_(catalogue), known_(known) {}

  Status make() {
    function_ = module_.getFunction(region_.function);
    if (function_ == nullptr || function_->isDeclaration())
      return mistake(fmt::format("the program has no function '{}'", region_.function));
    const auto section = find_if(file_.sections, [&](const ConversionFile::Locks &locks) {
      return is_contained(locks.names, region_.lock);
    });
    if (section == file_.sections.end())
      return mistake(fmt::format("no [[section]] names lock '{}'", region_.lock));
    section_ = static_cast<std::size_t>(section - file_.sections.begin());
    for (const ConversionFile::LockRegion &earlier : file_.lock_regions) {
      if (&earlier == &region_)
        break;
      // That entry has made all locks of the section real in the function.
      if (earlier.function == region_.function && is_contained(section->names, earlier.lock))
        return mistake(fmt::format("line {} says the same of '{}': one entry is about all locks of "
                                   "a [[section]]",
                                   earlier.line, region_.function));
    }
    if (const auto others = count_if(module_,
                                     [&](const Function &other) {
                                       return !other.isDeclaration() &&
                                              source_name(other) == region_.function;
                                     });
        others > 1)
      return mistake(fmt::format("the program has {} functions '{}': give them different names",
                                 others, region_.function));
    std::string latest; // of the functions that were put into it
    for (unsigned round = 0; round < kMostRounds; ++round) {
      const LockCalls calls(module_);
      const Result<NamedLocks> named = NamedLocks::match(module_, file_, calls, known_);
      if (!named)
        return named.error();
      const std::vector<const LockSite *> sites = sites_in(calls, *named);
      if (sites.empty())
        return mistake(fmt::format(
            "'{}' does not itself acquire lock '{}', or by a function that does only that",
            region_.function, region_.lock));
      const auto wrapper =
          find_if(sites, [](const LockSite *site) { return site->wrapper != nullptr; });
      if (wrapper == sites.end())
        return expand(sites, calls, *named);
      latest = source_name(*(*wrapper)->wrapper);
      InlineFunctionInfo info;
      if (const InlineResult done = InlineFunction(*const_cast<CallBase *>((*wrapper)->call), info);
          !done.isSuccess())
        return at(**wrapper, done.getFailureReason());
    }
    return mistake(
        fmt::format("its lock is acquired through more than {} functions, '{}' the latest "
                    "that was looked into",
                    kMostRounds, latest));
  }

private:
  [[nodiscard]] Error mistake(std::string_view message) const {
    return Error{fmt::format("{}:{}: {}", file_.path, region_.line, message)};
  }

  [[nodiscard]] Error at(const LockSite &site, std::string_view why) const {
    return Error{fmt::format("{}: a region of lock '{}' cannot stay real here, as {}:{} has it: {}",
                             source_place(*site.call), site.locks.front(), file_.path, region_.line,
                             why)};
  }

  // Not what is tried, and released by the pointer that the trylock has returned: within a region,
  // that is a section like any other.
  [[nodiscard]] bool counts(const LockSite &site, const NamedLocks &named) const {
    return named.section_of(site) == section_ && site.operation != LockOperation::trylock &&
           !site.own;
  }

  [[nodiscard]] std::vector<const LockSite *> sites_in(const LockCalls &calls,
                                                       const NamedLocks &named) const {
    std::vector<const LockSite *> sites;
    for (const LockSite *site : calls.sites(*function_))
      if (counts(*site, named))
        sites.push_back(site);
    return sites;
  }

  Status expand(const std::vector<const LockSite *> &sites, const LockCalls &calls,
                const NamedLocks &named) {
    for (const LockSite *site : sites) {
      const Function *callee = called_function(*site->call);
      if (!isa<CallInst>(site->call) || callee == nullptr ||
          (callee->getName() != kLock && callee->getName() != kUnlock))
        return at(*site, "it is not between pthread_mutex_lock and pthread_mutex_unlock");
    }
    ConditionChanges changes(module_, catalogue_);
    const Balance balance = balance_of(
        *function_, calls, [&](const LockSite &site) { return counts(site, named); }, changes);
    if (!balance.good())
      return at(balance.at == nullptr ? *sites.front() : *calls.at(*balance.at),
                balance.doubt.empty() ? "it does not begin and end in this function on every path"
                                      : std::string_view(balance.doubt));
    std::vector<std::pair<CallInst *, LockOperation>> operations;
    for (const LockSite *site : sites)
      operations.emplace_back(cast<CallInst>(const_cast<CallBase *>(site->call)), site->operation);
    for (const auto &[call, operation] : operations)
      if (operation == LockOperation::lock)
        begin(*call);
      else
        end(*call);
    return Unit{};
  }

  void call(IRBuilder<> &builder, const char *name, Value *lock) {
    FunctionCallee callee = module_.getOrInsertFunction(
        name, FunctionType::get(builder.getInt32Ty(), {builder.getPtrTy()}, false));
    cast<Function>(callee.getCallee())->setDoesNotThrow();
    builder.CreateCall(callee, {lock});
  }

  // The region's acquisition becomes a section that sets the word.
  void begin(CallInst &acquisition) {
    Value *lock = acquisition.getArgOperand(0);
    IRBuilder<> builder(acquisition.getNextNode());
    builder.SetCurrentDebugLocation(acquisition.getDebugLoc());
    builder.CreateStore(builder.getInt32(1), word_of(builder, lock));
    call(builder, kUnlock, lock);
    call(builder, kHeldReally, lock);
  }

  void end(CallInst &release) {
    Value *lock = release.getArgOperand(0);
    IRBuilder<> builder(&release);
    auto *acquisition =
        builder.CreateCall(module_.getOrInsertFunction(kLock, release.getFunctionType()), {lock});
    acquisition->setMetadata(kEndsReal, MDNode::get(module_.getContext(), {}));
    builder.CreateStore(builder.getInt32(0), word_of(builder, lock));
    builder.SetInsertPoint(release.getNextNode());
    builder.SetCurrentDebugLocation(release.getDebugLoc());
    call(builder, kHeldNoMore, lock);
  }

  Module &module_;
  const ConversionFile &file_;
  const ConversionFile::LockRegion &region_;
  const Catalogue &catalogue_;
  const std::set<std::string> &known_;
  Function *function_ = nullptr;
  std::size_t section_ = 0;
};

} // namespace

Status make_lock_regions(Module &module, const ConversionFile &file, const Catalogue &catalogue,
                         const std::set<std::string> &known) {
  for (const ConversionFile::LockRegion &region : file.lock_regions)
    if (Status made = Region(module, file, region, catalogue, known).make(); !made)
      return made;
  return Unit{};
}

bool is_real(const LockSite &site) {
  const Function *callee = called_function(*site.call);
  return callee != nullptr &&
         (callee->getName() == kHeldReally || callee->getName() == kHeldNoMore);
}

bool ends_real(const CallBase &call) { return call.hasMetadata(kEndsReal); }

Function &looking(Module &module, StringRef name, FunctionCallee operation, FunctionCallee release,
                  bool tries) {
  if (Function *known = module.getFunction(name))
    return *known;
  LLVMContext &context = module.getContext();
  IRBuilder<> builder(context);
  Function *function =
      Function::Create(FunctionType::get(builder.getInt32Ty(), {builder.getPtrTy()}, false),
                       GlobalValue::InternalLinkage, name, module);
  function->setDoesNotThrow();
  Value *lock = function->getArg(0);
  Constant *none = ConstantPointerNull::get(builder.getPtrTy());
  const auto refuse = [&](Value *which) {
    FunctionCallee callee = module.getOrInsertFunction(
        kHeldRefuse, FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false));
    cast<Function>(callee.getCallee())->setDoesNotThrow();
    if (!tries)
      builder.CreateCall(callee, {which});
  };
  BasicBlock *entry = BasicBlock::Create(context, "entry", function);
  BasicBlock *look = BasicBlock::Create(context, "look", function);
  BasicBlock *real = BasicBlock::Create(context, "real", function);
  BasicBlock *done = BasicBlock::Create(context, "done", function);
  builder.SetInsertPoint(entry);
  CallInst *result = builder.CreateCall(operation, {lock});
  refuse(none);
  if (tries)
    builder.CreateCondBr(builder.CreateICmpEQ(result, builder.getInt32(0)), look, done);
  else
    builder.CreateBr(look);
  builder.SetInsertPoint(look);
  Value *held = builder.CreateLoad(builder.getInt32Ty(), word_of(builder, lock));
  builder.CreateCondBr(builder.CreateICmpEQ(held, builder.getInt32(0)), done, real,
                       MDBuilder(context).createLikelyBranchWeights());
  builder.SetInsertPoint(real);
  builder.CreateCall(release, {lock});
  refuse(lock);
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
  PHINode *answer = builder.CreatePHI(builder.getInt32Ty(), 3);
  answer->addIncoming(result, look);
  answer->addIncoming(tries ? static_cast<Value *>(builder.getInt32(EBUSY)) : result, real);
  if (tries)
    answer->addIncoming(result, entry);
  builder.CreateRet(answer);
  return *function;
}

} // namespace tandem
