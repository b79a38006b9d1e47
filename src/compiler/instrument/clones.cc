// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/instrument/clones.h"

#include "compiler/sections/called_function.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace tandem {
namespace {

using namespace llvm;

// _ITM_transactionState modes of libitm.h: modeSerialIrrevocable.
constexpr std::uint32_t kModeSerialIrrevocable = 0;

// Whether the instruction accesses memory through a pointer that no barrier takes (__seg_gs and the
// like).
bool touches_other_address_space(const Instruction &instruction) {
  const auto elsewhere = [](const Value *address) {
    return address->getType()->getPointerAddressSpace() != 0;
  };
  if (const Value *address = getLoadStorePointerOperand(&instruction))
    return elsewhere(address);
  if (const auto *transfer = dyn_cast<MemTransferInst>(&instruction))
    return elsewhere(transfer->getSource()) || elsewhere(transfer->getDest());
  const auto *set = dyn_cast<MemSetInst>(&instruction);
  return set != nullptr && elsewhere(set->getDest());
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

} // namespace

TransactionalClones::TransactionalClones(Module &module, const Actions &actions,
                                         const Catalogue &catalogue)
    : module_(module), actions_(actions), catalogue_(catalogue), barriers_(module) {}

bool TransactionalClones::can_clone(const Function &function) const {
  const auto body = bodies_.find(&function);
  return none_of(body == bodies_.end() ? function : *body->second,
                 [](const BasicBlock &block) { return block.hasAddressTaken(); });
}

void TransactionalClones::stands_for(Function &called, Function &body) { bodies_[&called] = &body; }

Function &TransactionalClones::clone_of(Function &function) {
  const auto body = bodies_.find(&function);
  Function *source = body == bodies_.end() ? &function : body->second;
  const auto [entry, fresh] = clones_.try_emplace(&function, nullptr);
  if (!fresh)
    return *entry->second;
  ValueToValueMapTy map;
  Function *clone = CloneFunction(source, map);
  clone->setName(function.getName() + ".tandem.tm");
  clone->setLinkage(GlobalValue::InternalLinkage);
  clone->setVisibility(GlobalValue::DefaultVisibility);
  clone->setDSOLocal(true);
  clone->setComdat(nullptr);
  drop_memory_promises(*clone);
  clones_[&function] = clone;
  work_.push_back(clone);
  return *clone;
}

void TransactionalClones::instrument() {
  while (!work_.empty()) {
    while (!work_.empty())
      instrument(*work_.pop_back_val());
    for (Function *function : called_by_pointer_)
      clone_of(*function);
  }
  if (!called_by_pointer_.empty())
    emit_table();
}

void TransactionalClones::instrument(Function &clone) {
  SmallVector<Instruction *> all;
  for (Instruction &instruction : instructions(clone))
    all.push_back(&instruction);
  for (Instruction *instruction : all)
    instrument(*instruction);
}

void TransactionalClones::instrument(Instruction &instruction) {
  if (instruction.isAtomic() || touches_other_address_space(instruction)) {
    become_irrevocable(instruction);
  } else if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    if (!Barriers::is_private(load->getPointerOperand()))
      barriers_.replace_load(*load);
  } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    if (!Barriers::is_private(store->getPointerOperand()))
      barriers_.replace_store(*store);
  } else if (auto *arguments = dyn_cast<VAArgInst>(&instruction)) {
    if (!Barriers::is_private(arguments->getPointerOperand()))
      become_irrevocable(instruction);
  } else if (auto *copy = dyn_cast<MemTransferInst>(&instruction)) {
    barriers_.replace_copy(*copy);
  } else if (auto *set = dyn_cast<MemSetInst>(&instruction)) {
    barriers_.replace_set(*set);
  } else if (auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction)) {
    if (!is_harmless(*intrinsic))
      become_irrevocable(instruction);
  } else if (auto *call = dyn_cast<CallBase>(&instruction)) {
    instrument_call(*call);
  }
}

void TransactionalClones::become_irrevocable(Instruction &before) {
  IRBuilder<> builder(&before);
  FunctionCallee change = module_.getOrInsertFunction(
      "_ITM_changeTransactionMode",
      FunctionType::get(builder.getVoidTy(), {builder.getInt32Ty()}, false));
  builder.CreateCall(change, {builder.getInt32(kModeSerialIrrevocable)});
}

void TransactionalClones::instrument_call(CallBase &call) {
  if (call.isInlineAsm()) {
    if (!actions_.irrevocable_action(call).empty())
      become_irrevocable(call);
    return;
  }
  Function *callee = called_function(call);
  if (callee == nullptr) {
    for (const Function *target : actions_.targets(call))
      if (auto *function = const_cast<Function *>(target);
          can_clone(*function) && (!function->isVarArg() || !bodies_.contains(function)))
        called_by_pointer_.insert(function);
    IRBuilder<> builder(&call);
    FunctionCallee find = module_.getOrInsertFunction(
        "_ITM_getTMCloneOrIrrevocable",
        FunctionType::get(builder.getPtrTy(), {builder.getPtrTy()}, false));
    call.setCalledOperand(builder.CreateCall(find, {call.getCalledOperand()}));
  } else if (callee->isVarArg() && bodies_.contains(callee)) {
    return; // its body takes another argument: the wrapper nests in this transaction
  } else if (!callee->isDeclaration() && !can_clone(*callee)) {
    become_irrevocable(call);
    return;
  } else if (!callee->isDeclaration()) {
    // The call keeps its own type; only the target changes.
    call.setCalledOperand(&clone_of(*callee));
  } else if (!actions_.irrevocable_action(call).empty()) {
    become_irrevocable(call);
    return;
  } else {
    const CatalogueEntry entry = catalogue_.lookup(callee->getName().str());
    if (entry.effect == ExternalEffect::reads && !call.doesNotAccessMemory()) {
      // It reads memory behind the runtime's back: only in place, when nothing is buffered or
      // stolen.
      become_irrevocable(call);
      return;
    }
    if (entry.effect != ExternalEffect::tm_safe)
      return;
    // libitm's memory functions return nothing where C's return their first argument.
    if (StringRef(entry.replacement).starts_with("_ITM_mem") && !call.getType()->isVoidTy())
      call.replaceAllUsesWith(call.getArgOperand(0));
    call.setCalledOperand(
        module_.getOrInsertFunction(entry.replacement, call.getFunctionType()).getCallee());
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
    entries.push_back(ConstantStruct::get(pair, {function, &clone_of(*function)}));
  ArrayType *type = ArrayType::get(pair, entries.size());
  auto *table =
      new GlobalVariable(module_, type, /*isConstant=*/false, GlobalValue::InternalLinkage,
                         ConstantArray::get(type, entries), "tandem.clone_table");
  table->setSection(".tm_clone_table");
  table->setAlignment(Align(8));
  appendToUsed(module_, {table});
}

} // namespace tandem
