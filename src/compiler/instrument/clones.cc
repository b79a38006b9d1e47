// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/instrument/clones.h"

#include "base/doing.h"
#include "compiler/instrument/captured.h"
#include "compiler/instrument/wrappers.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/converted_operations.h"
#include "compiler/sections/promises.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace tandem {
namespace {

using namespace llvm;

// _ITM_transactionState modes of libitm.h: modeSerialIrrevocable.
constexpr std::uint32_t kModeSerialIrrevocable = 0;

constexpr StringRef kChangeMode = "_ITM_changeTransactionMode";

// Of calls of known functions that can be undone. An attribute and no list of calls, since
// simplification may drop calls.
constexpr StringRef kRevocable = "tandem-revocable";
// Of functions whose accesses the analysis has as some section's.
constexpr StringRef kReached = "tandem-reached";
// Of copies and fills behind a change of the mode.
constexpr StringRef kIrrevocableCopy = "tandem-irrevocable-copy";

// Whether this is the transactional version of an allocation, whose memory an abort gives back.
bool is_allocator(StringRef replacement) {
  return replacement == "_ITM_malloc" || replacement == "_ITM_calloc" ||
         replacement.starts_with("_ZGTtn");
}

// Accesses that would become barriers.
std::uint64_t shared_accesses(const Function &function) {
  std::uint64_t count = 0;
  for (const Instruction &instruction : instructions(function))
    if (const Value *address = getLoadStorePointerOperand(&instruction);
        address != nullptr && !Barriers::is_private(address))
      ++count;
  return count;
}

// Attributes that promise how little memory a function touches: with barriers in it they are lies.
void drop_memory_promises(Function &function) {
  function.removeFnAttr(Attribute::Memory);
  function.removeFnAttr(Attribute::NoSync);
  function.removeFnAttr(Attribute::NoFree);
  function.removeFnAttr(Attribute::WillReturn);
  function.removeFnAttr(Attribute::Speculatable);
  for (Argument &argument : function.args()) {
    argument.removeAttr(Attribute::ReadNone);
    argument.removeAttr(Attribute::ReadOnly);
    argument.removeAttr(Attribute::WriteOnly);
    argument.removeAttr(Attribute::NoCapture);
  }
}

// Takes out what debuggers are told of the function's variables; its lines, which profiles name,
// stay. Every pass and the code generator would carry it along, a tenth of the time of a link.
void drop_variables(Function &function) {
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    instruction.dropDbgRecords();
    if (isa<DbgVariableIntrinsic>(instruction))
      instruction.eraseFromParent();
  }
}

// In Mode::guarded_by: what is behind the mark of another lock's section never runs, and it has
// begun without the mark of its own.
void cut_at_other_locks(Function &clone) {
  SmallVector<CallInst *> others;
  for (Instruction &instruction : make_early_inc_range(instructions(clone))) {
    auto *call = dyn_cast<CallInst>(&instruction);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    if (callee == nullptr)
      continue;
    if (callee->getName() == kGuardedByFirst)
      call->eraseFromParent();
    else if (callee->getName() == kGuardedByOther)
      others.push_back(call);
  }
  for (CallInst *call : others)
    if (!isa<UnreachableInst>(call->getNextNode()))
      changeToUnreachable(call->getNextNode());
  removeUnreachableBlocks(clone);
}

bool is_reached(const Function &function) { return function.hasFnAttribute(kReached); }

} // namespace

TransactionalClones::TransactionalClones(Module &module, const Actions &actions,
                                         const Catalogue &catalogue, bool inlines)
    : module_(module), actions_(actions), catalogue_(catalogue), barriers_(module, inlines) {}

bool TransactionalClones::can_clone(const Function &function) const {
  const auto body = bodies_.find(&function);
  const Function &code = body == bodies_.end() ? function : *body->second;
  return !code.isPresplitCoroutine() &&
         none_of(code, [](const BasicBlock &block) { return block.hasAddressTaken(); });
}

void TransactionalClones::stands_for(Function &called, Function &body) { bodies_[&called] = &body; }

Function &TransactionalClones::clone_of(Function &function, Version version) {
  if (nesting_.contains(&function))
    return function;
  auto &clones = clones_.at(static_cast<std::size_t>(version));
  if (Function *made = clones.lookup(&function))
    return *made;
  const auto body = bodies_.find(&function);
  Function *source = body == bodies_.end() ? &function : body->second;
  ValueToValueMapTy map;
  Function *clone = CloneFunction(source, map);
  clone->setName(function.getName() +
                 (version == Version::guarded_by ? ".tandem.guarded_by" : ".tandem.tm"));
  clone->setLinkage(GlobalValue::InternalLinkage);
  clone->setVisibility(GlobalValue::DefaultVisibility);
  clone->setDSOLocal(true);
  clone->setComdat(nullptr);
  clone->addFnAttr(kTransactionalAttribute);
  drop_memory_promises(*clone);
  if (!clone->hasOptNone())
    drop_variables(*clone);
  for (const Instruction &instruction : instructions(*source))
    if (const auto *call = dyn_cast<CallBase>(&instruction))
      if (Value *copy = map.lookup(call))
        prepare(*call, *cast<CallBase>(copy));
  if (version == Version::guarded_by)
    cut_at_other_locks(*clone);
  clones[&function] = clone;
  const std::uint64_t before = shared_accesses(*clone);
  simplifier_.run(*clone);
  merged_ += before - std::min(before, shared_accesses(*clone));
  if (clone->getReturnType()->isPointerTy())
    fresh_.at(static_cast<std::size_t>(version))[&function] =
        returns_captured(*clone, [this, version](const CallBase &call) {
          return makes_fresh_memory(call, version);
        });
  work_.emplace_back(clone, version);
  return *clone;
}

Function &TransactionalClones::version_for_pointers(Function &function) {
  return is_pure(function) ? function : clone_of(function);
}

// What only the original shows, before its copy is simplified: whether a result is looked at, and
// that a copy or fill is a call, which may become an access.
void TransactionalClones::prepare(const CallBase &original, CallBase &copy) {
  if (original.isInlineAsm() || called_function(original) == nullptr)
    return;
  if (actions_.irrevocable_action(original).empty())
    copy.addFnAttr(Attribute::get(module_.getContext(), kRevocable));
  else if (isa<MemIntrinsic>(copy)) {
    copy.addFnAttr(Attribute::get(module_.getContext(), kIrrevocableCopy));
    become_irrevocable(copy);
  }
}

bool TransactionalClones::makes_fresh_memory(const CallBase &call, Version version) {
  Function *callee = called_function(call);
  if (callee == nullptr)
    return false;
  if (callee->isDeclaration()) {
    const CatalogueEntry entry = catalogue_.lookup(callee->getName().str());
    return entry.effect == ExternalEffect::tm_safe && entry.returns.value == PointerValue::fresh &&
           is_allocator(entry.replacement);
  }
  if (!can_clone(*callee) || callee->isVarArg() || is_pure(*callee) || is_unsafe(*callee))
    return false;
  clone_of(*callee, version);
  return fresh_.at(static_cast<std::size_t>(version))
      .lookup(callee); // not while it is being made: it calls itself
}

void TransactionalClones::find_captured(Function &clone, Version version) {
  Captured captured(
      clone, [this, version](const CallBase &call) { return makes_fresh_memory(call, version); });
  Barriers::Plain plain;
  for (Instruction &instruction : instructions(clone)) {
    if (const auto *load = dyn_cast<LoadInst>(&instruction)) {
      if (captured.holds(load->getPointerOperand(), instruction))
        plain.read.insert(&instruction);
    } else if (const auto *store = dyn_cast<StoreInst>(&instruction)) {
      if (captured.holds(store->getPointerOperand(), instruction))
        plain.written.insert(&instruction);
    } else if (const auto *memory = dyn_cast<MemIntrinsic>(&instruction)) {
      if (captured.holds(memory->getDest(), instruction))
        plain.written.insert(&instruction);
      if (const auto *copy = dyn_cast<MemTransferInst>(memory);
          copy != nullptr && captured.holds(copy->getSource(), instruction))
        plain.read.insert(&instruction);
    }
  }
  barriers_.start(clone, std::move(plain));
}

void TransactionalClones::mark_reached(Function &function) { function.addFnAttr(kReached); }

void TransactionalClones::instrument() {
  while (!work_.empty()) {
    while (!work_.empty()) {
      const auto [clone, version] = work_.pop_back_val();
      instrument(*clone, version);
    }
    for (Function *function : called_by_pointer_)
      version_for_pointers(*function);
  }
  if (!called_by_pointer_.empty())
    emit_table();
}

void TransactionalClones::instrument(Function &clone, Version version) {
  const Doing what(fmt::format("instrumenting function '{}'", clone.getName().str()));
  find_captured(clone, version);
  SmallVector<Instruction *> all;
  for (Instruction &instruction : instructions(clone))
    all.push_back(&instruction);
  SmallPtrSet<const Instruction *, 16> gone;
  for (Instruction *instruction : all)
    if (auto *store = dyn_cast<StoreInst>(instruction);
        store != nullptr && store->isSimple() && version == Version::transactional)
      barriers_.replace_addition(*store, gone);
  for (Instruction *instruction : all)
    if (!gone.contains(instruction))
      instrument(*instruction, version);
}

void TransactionalClones::instrument(Instruction &instruction, Version version) {
  if (const std::optional<ListOperation> list = list_operation(instruction)) {
    if (version == Version::guarded_by)
      barriers_.log(cast<IntrinsicInst>(instruction), *list);
    else
      barriers_.replace_list(cast<IntrinsicInst>(instruction), *list);
  } else if (auto *call = dyn_cast<CallBase>(&instruction);
             call != nullptr && !isa<IntrinsicInst>(call)) {
    instrument_call(*call, version);
  } else if (const auto *copy = dyn_cast<MemIntrinsic>(&instruction)) {
    if (copy->hasFnAttr(kIrrevocableCopy))
      return; // prepare() has seen to it
    if (version == Version::guarded_by)
      log_write(instruction);
    else
      instrument_access(instruction);
  } else if (!actions_.irrevocable_action(instruction).empty()) {
    become_irrevocable(instruction); // what no barrier is known for, too
  } else if (instruction.isAtomic()) {
    return; // as it is: the catalogue says that it need not be undone
  } else if (version == Version::guarded_by) {
    log_write(instruction);
  } else {
    instrument_access(instruction);
  }
}

void TransactionalClones::log_write(Instruction &instruction) {
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    barriers_.log(*store);
  else if (auto *write = dyn_cast<MemIntrinsic>(&instruction))
    barriers_.log(*write);
}

void TransactionalClones::instrument_access(Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    barriers_.replace_load(*load);
  } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    barriers_.replace_store(*store);
  } else if (auto *copy = dyn_cast<MemTransferInst>(&instruction)) {
    barriers_.replace_copy(*copy);
  } else if (auto *set = dyn_cast<MemSetInst>(&instruction)) {
    barriers_.replace_set(*set);
  }
}

ReportInstrumentation TransactionalClones::counts() const {
  ReportInstrumentation counts = barriers_.counts();
  for (const auto &clones : clones_)
    counts.clones += clones.size();
  counts.merged = merged_;
  counts.irrevocable = irrevocable_;
  return counts;
}

void TransactionalClones::become_irrevocable(Instruction &before) {
  ++irrevocable_;
  IRBuilder<> builder(&before);
  FunctionCallee change = module_.getOrInsertFunction(
      kChangeMode, FunctionType::get(builder.getVoidTy(), {builder.getInt32Ty()}, false));
  builder.CreateCall(change, {builder.getInt32(kModeSerialIrrevocable)});
}

void TransactionalClones::instrument_call(CallBase &call, Version version) {
  if (call.isInlineAsm()) {
    if (!actions_.irrevocable_action(call).empty())
      become_irrevocable(call);
    return;
  }
  for (unsigned i = 0; i < call.arg_size() && version == Version::transactional; ++i)
    if (call.isByValArgument(i))
      barriers_.replace_by_value(call, i);
  Function *callee = called_function(call);
  if (callee != nullptr && callee->getName() == kChangeMode)
    return;
  if (callee == nullptr) {
    for (const Function *target : actions_.targets(call))
      if (auto *function = const_cast<Function *>(target);
          !is_unsafe(*function) && is_reached(*function) && can_clone(*function) &&
          (!function->isVarArg() || !bodies_.contains(function)))
        called_by_pointer_.insert(function);
    IRBuilder<> builder(&call);
    FunctionCallee find = module_.getOrInsertFunction(
        "_ITM_getTMCloneOrIrrevocable",
        FunctionType::get(builder.getPtrTy(), {builder.getPtrTy()}, false));
    call.setCalledOperand(builder.CreateCall(find, {call.getCalledOperand()}));
  } else if (!callee->isDeclaration() && !actions_.irrevocable_action(call).empty()) {
    become_irrevocable(call);
    return;
  } else if (callee->isVarArg() && bodies_.contains(callee)) {
    return; // its body takes another argument: the wrapper nests in this transaction
  } else if (is_pure(*callee)) {
    return; // as it is
  } else if (is_unsafe(*callee)) {
    become_irrevocable(call);
    return;
  } else if (!callee->isDeclaration() && !can_clone(*callee)) {
    become_irrevocable(call);
    return;
  } else if (!callee->isDeclaration()) {
    // The call keeps its own type; only the target changes.
    call.setCalledOperand(&clone_of(*callee, version));
  } else if (!call.hasFnAttr(kRevocable)) {
    become_irrevocable(call);
    return;
  } else {
    const CatalogueEntry entry = catalogue_.lookup(callee->getName().str());
    if (version == Version::guarded_by && call.onlyReadsMemory())
      return; // memory is as the transaction has it
    if (entry.effect == ExternalEffect::reads && !call.doesNotAccessMemory()) {
      // It reads memory behind the runtime's back: only in place, when nothing is buffered or
      // stolen.
      become_irrevocable(call);
      return;
    }
    if (!call_wrapper(module_, call, entry))
      return;
    for (Function *function : callbacks_of(call, entry))
      if (is_reached(*function) && can_clone(*function))
        called_by_pointer_.insert(function);
  }
  // What was promised of the plain callee does not hold of the clone.
  call.removeFnAttr(Attribute::Memory);
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    call.removeParamAttr(i, Attribute::ReadNone);
    call.removeParamAttr(i, Attribute::ReadOnly);
    call.removeParamAttr(i, Attribute::WriteOnly);
    call.removeParamAttr(i, Attribute::NoCapture);
  }
}

void TransactionalClones::emit_table() {
  Type *pointer = PointerType::getUnqual(module_.getContext());
  StructType *pair = StructType::get(pointer, pointer);
  SmallVector<Constant *> entries;
  for (Function *function : called_by_pointer_)
    entries.push_back(ConstantStruct::get(pair, {function, &version_for_pointers(*function)}));
  ArrayType *type = ArrayType::get(pair, entries.size());
  auto *table =
      new GlobalVariable(module_, type, /*isConstant=*/false, GlobalValue::InternalLinkage,
                         ConstantArray::get(type, entries), "tandem.clone_table");
  table->setAlignment(Align(8));
  register_clone_table(module_, *table, entries.size());
}

} // namespace tandem
