// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/observe/instrument.h"

#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "tandem/observe.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace tandem {
namespace {

using namespace llvm;

const Align kWord(8);

bool releases(const Function &callee) {
  static const StringSet<> kNames = {"free", "realloc", "reallocarray", "cfree"};
  return callee.isDeclaration() &&
         (kNames.contains(callee.getName()) || callee.getName().starts_with("_Zdl") ||
          callee.getName().starts_with("_Zda"));
}

// Resolvers of IFUNCs and what they call: they run before the linker has found the recorder.
SmallPtrSet<const Function *, 8> run_by_the_linker(const Module &module) {
  SmallPtrSet<const Function *, 8> found;
  std::vector<const Function *> work;
  const auto add = [&](const Function *function) {
    if (function != nullptr && !function->isDeclaration() && found.insert(function).second)
      work.push_back(function);
  };
  for (const GlobalIFunc &ifunc : module.ifuncs())
    add(ifunc.getResolverFunction());
  while (!work.empty()) {
    const Function *function = work.back();
    work.pop_back();
    for (const Instruction &instruction : instructions(*function))
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        add(called_function(*call));
  }
  return found;
}

class Instrumenter {
public:
  Instrumenter(Module &module, const std::vector<Section> &sections, Observation observation)
      : module_(module), observation_(std::move(observation)), table_(observation_.table),
        layout_(module.getDataLayout()), void_(Type::getVoidTy(module.getContext())),
        word_(Type::getInt64Ty(module.getContext())), half_(Type::getInt32Ty(module.getContext())),
        pointer_(PointerType::getUnqual(module.getContext())) {
    access_ = hook("_TANDEM_observe_access", void_, {pointer_, word_, half_, half_});
    allocated_ = hook("_TANDEM_observe_allocated", void_, {pointer_, word_, word_});
    renamed_ = hook("_TANDEM_observe_renamed", void_, {pointer_, word_});
    released_ = hook("_TANDEM_observe_released", void_, {pointer_, word_});
    depth_ = hook("_TANDEM_observe_depth", half_, {});
    push_ = hook("_TANDEM_observe_push", void_, {half_});
    restore_ = hook("_TANDEM_observe_restore", void_, {half_});
    threads_ = hook("_TANDEM_observe_threads", void_, {});
    number_sections(sections);
    for (const ExternalAccess &access : observation_.externals)
      externals_[access.call].push_back(access);
    for (const CallBase *call : observation_.spawns)
      spawns_.insert(call);
    for (const auto &[value, label] : observation_.allocations)
      labels_[value] = label;
  }

  void run() {
    const auto early = run_by_the_linker(module_);
    std::vector<Function *> functions;
    for (Function &function : module_)
      if (!function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
          !early.contains(&function))
        functions.push_back(&function);
    for (Function *function : functions)
      instrument(*function);
    begin();
  }

private:
  FunctionCallee hook(StringRef name, Type *result, ArrayRef<Type *> parameters) {
    FunctionCallee callee =
        module_.getOrInsertFunction(name, FunctionType::get(result, parameters, false));
    cast<Function>(callee.getCallee())->setDoesNotThrow();
    return callee;
  }

  void number_sections(const std::vector<Section> &sections) {
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const auto number = static_cast<std::uint32_t>(i + 1);
      // A region between two calls that follow each other has no body.
      if (sections[i].kind == SectionKind::function || sections[i].kind == SectionKind::lambda)
        for (const Instruction &instruction : instructions(*sections[i].function))
          inside_[&instruction].push_back(number);
      else
        for (const Instruction *instruction : sections[i].body)
          inside_[instruction].push_back(number);
    }
  }

  // The number of the set of sections that an instruction lies in.
  std::uint32_t set_of(const Instruction &instruction) {
    const auto found = inside_.find(&instruction);
    if (found == inside_.end())
      return 0;
    const auto [entry, fresh] =
        sets_.try_emplace(found->second, static_cast<std::uint32_t>(sets_.size() + 1));
    if (fresh) {
      table_ += fmt::format("set {}", entry->second);
      for (const std::uint32_t section : found->second)
        table_ += fmt::format(" {}", section);
      table_ += '\n';
    }
    return entry->second;
  }

  std::uint32_t site_of(const Instruction &instruction) {
    const std::string place = source_place(instruction);
    table_ += fmt::format("site {} {} {} ({})\n", ++sites_, set_of(instruction),
                          place.empty() ? "(unknown place)" : place,
                          source_name(*instruction.getFunction()));
    return sites_;
  }

  // Memory that nothing but the function's own instructions reaches, or that nobody writes.
  bool is_local(const Value *address) {
    const Value *object = getUnderlyingObject(address, 0);
    if (const auto *global = dyn_cast<GlobalVariable>(object))
      return global->isConstant();
    if (!isa<AllocaInst>(object))
      return isa<ConstantPointerNull>(object) || isa<UndefValue>(object);
    return !is_captured(object);
  }

  bool is_captured(const Value *object) {
    const auto [entry, fresh] = captured_.try_emplace(object, false);
    if (fresh)
      entry->second = PointerMayBeCaptured(object, /*ReturnCaptures=*/true, /*StoreCaptures=*/true);
    return captured_.lookup(object);
  }

  void add_access(Instruction &instruction, Value *address, Value *size, unsigned how) {
    if (address->getType()->getPointerAddressSpace() != 0 || is_local(address))
      return;
    IRBuilder<> builder(&instruction);
    const std::uint32_t site = site_of(instruction);
    builder.CreateCall(access_, {address, builder.CreateZExtOrTrunc(size, word_),
                                 builder.getInt32(how), builder.getInt32(site)});
  }

  void add_access(Instruction &instruction, Value *address, Type *type, unsigned how) {
    add_access(instruction, address,
               ConstantInt::get(word_, layout_.getTypeStoreSize(type).getFixedValue()), how);
  }

  void add_accesses(Instruction &instruction) {
    constexpr unsigned kBoth = TANDEM_OBSERVE_READS | TANDEM_OBSERVE_WRITES;
    if (auto *load = dyn_cast<LoadInst>(&instruction)) {
      add_access(*load, load->getPointerOperand(), load->getType(), TANDEM_OBSERVE_READS);
    } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
      add_access(*store, store->getPointerOperand(), store->getValueOperand()->getType(),
                 TANDEM_OBSERVE_WRITES);
    } else if (auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
      add_access(*update, update->getPointerOperand(), update->getType(), kBoth);
    } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
      add_access(*exchange, exchange->getPointerOperand(), exchange->getNewValOperand()->getType(),
                 kBoth);
    } else if (auto *memory = dyn_cast<AnyMemIntrinsic>(&instruction)) {
      add_access(*memory, memory->getRawDest(), memory->getLength(), TANDEM_OBSERVE_WRITES);
      if (auto *transfer = dyn_cast<AnyMemTransferInst>(memory))
        add_access(*transfer, transfer->getRawSource(), transfer->getLength(),
                   TANDEM_OBSERVE_READS);
    } else if (const std::optional<ListOperation> list = list_operation(instruction)) {
      Value *bytes = ConstantInt::get(word_, list->bytes);
      add_access(instruction, list->written, bytes, TANDEM_OBSERVE_WRITES);
      if (list->read != nullptr)
        add_access(instruction, list->read, bytes, TANDEM_OBSERVE_READS);
    } else if (auto *call = dyn_cast<CallBase>(&instruction)) {
      // How much it touches is not known here; its first byte stands for all.
      if (const auto found = externals_.find(call); found != externals_.end())
        for (const ExternalAccess &access : found->second)
          if (!isa<Function>(call->getArgOperand(access.argument)))
            add_access(*call, call->getArgOperand(access.argument), ConstantInt::get(word_, 1),
                       (access.reads ? TANDEM_OBSERVE_READS : 0) |
                           (access.writes ? TANDEM_OBSERVE_WRITES : 0));
    }
  }

  // Where what follows a call begins; null where it has no one such place.
  static Instruction *after(CallBase &call) {
    if (auto *invoke = dyn_cast<InvokeInst>(&call))
      return &*invoke->getNormalDest()->getFirstInsertionPt();
    return call.isTerminator() || call.isMustTailCall() ? nullptr : call.getNextNode();
  }

  void add_call(CallBase &call, Value *depth) {
    if (isa<IntrinsicInst>(call) || call.isInlineAsm())
      return;
    const Function *callee = called_function(call);
    IRBuilder<> before(&call);
    if (spawns_.contains(&call))
      before.CreateCall(threads_, {});
    if (callee != nullptr && releases(*callee) && call.arg_size() > 0)
      before.CreateCall(released_, {call.getArgOperand(0), ConstantInt::get(word_, 0)});
    Instruction *next = after(call);
    if (next == nullptr)
      return;
    if (const std::uint32_t set = set_of(call); set != 0) {
      before.CreateCall(push_, {before.getInt32(set)});
      IRBuilder<>(next).CreateCall(restore_, {depth});
    } else if (call.hasFnAttr(Attribute::ReturnsTwice)) {
      IRBuilder<>(next).CreateCall(restore_, {depth});
    }
    const auto label = labels_.find(&call);
    if (label == labels_.end() || callee == nullptr)
      return;
    IRBuilder<> builder(next);
    Value *memory = &call;
    if (!callee->isDeclaration()) { // from a pool of the program's own
      builder.CreateCall(renamed_, {memory, ConstantInt::get(word_, label->second)});
      return;
    }
    if (!allocates(*callee)) { // posix_memalign; where it fails, what it left is an old pointer
      const auto *call_inst = dyn_cast<CallInst>(&call);
      if (call_inst == nullptr)
        return;
      memory = builder.CreateSelect(builder.CreateIsNull(&call),
                                    builder.CreateLoad(pointer_, call.getArgOperand(0)),
                                    ConstantPointerNull::get(cast<PointerType>(pointer_)));
    }
    builder.CreateCall(
        allocated_, {memory, ConstantInt::get(word_, 0), ConstantInt::get(word_, label->second)});
  }

  // Stack variables that others may reach: from here to the end of the function.
  void add_variables(Function &function, ArrayRef<AllocaInst *> allocas) {
    std::vector<std::pair<Value *, Value *>> registered;
    for (AllocaInst *variable : allocas) {
      variable->setAlignment(std::max(variable->getAlign(), kWord));
      IRBuilder<> builder(variable->getNextNode());
      Value *size = ConstantInt::get(
          word_, layout_.getTypeAllocSize(variable->getAllocatedType()).getFixedValue());
      if (variable->isArrayAllocation())
        size = builder.CreateMul(size, builder.CreateZExtOrTrunc(variable->getArraySize(), word_));
      builder.CreateCall(allocated_,
                         {variable, size, ConstantInt::get(word_, labels_.lookup(variable))});
      if (variable->isStaticAlloca())
        registered.emplace_back(variable, size);
    }
    for (Argument &argument : function.args()) {
      if (!labels_.contains(&argument))
        continue;
      IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      if (!argument.hasByValAttr()) { // goes back to a pool of the program's own
        builder.CreateCall(renamed_,
                           {&argument, ConstantInt::get(word_, labels_.lookup(&argument))});
        continue;
      }
      Value *size = ConstantInt::get(
          word_, layout_.getTypeAllocSize(argument.getParamByValType()).getFixedValue());
      builder.CreateCall(allocated_,
                         {&argument, size, ConstantInt::get(word_, labels_.lookup(&argument))});
      registered.emplace_back(&argument, size);
    }
    if (registered.empty())
      return;
    for (BasicBlock &block : function) {
      Instruction *end = block.getTerminator();
      if (!(isa<ReturnInst>(end) || isa<ResumeInst>(end)) ||
          block.getTerminatingMustTailCall() != nullptr)
        continue;
      IRBuilder<> builder(end);
      for (const auto &[address, size] : registered)
        builder.CreateCall(released_, {address, size});
    }
  }

  void instrument(Function &function) {
    std::vector<Instruction *> all;
    std::vector<AllocaInst *> variables;
    bool counts_depth = false;
    for (Instruction &instruction : instructions(function)) {
      all.push_back(&instruction);
      // Calls of the recorder capture variables too: before there are any.
      auto *variable = dyn_cast<AllocaInst>(&instruction);
      if (variable != nullptr && is_captured(variable) && labels_.contains(variable))
        variables.push_back(variable);
      const auto *call = dyn_cast<CallBase>(&instruction);
      counts_depth =
          counts_depth || isa<LandingPadInst>(instruction) ||
          (call != nullptr && (inside_.contains(call) || call->hasFnAttr(Attribute::ReturnsTwice)));
    }
    Value *depth = nullptr;
    if (counts_depth) {
      IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      depth = builder.CreateCall(depth_, {});
    }
    for (Instruction *instruction : all) {
      add_accesses(*instruction);
      if (auto *call = dyn_cast<CallBase>(instruction))
        add_call(*call, depth);
      else if (isa<LandingPadInst>(instruction))
        IRBuilder<>(instruction->getNextNode()).CreateCall(restore_, {depth});
    }
    add_variables(function, variables);
  }

  // The module's globals, in a constructor that runs before all others.
  void begin() {
    LLVMContext &context = module_.getContext();
    auto *entry_type = StructType::get(context, {pointer_, word_, word_});
    std::vector<Constant *> entries;
    auto *locals = Function::Create(FunctionType::get(void_, false), Function::InternalLinkage,
                                    "tandem.observe.thread_locals", module_);
    IRBuilder<> body(BasicBlock::Create(context, "", locals));
    for (const auto &[value, label] : observation_.allocations) {
      auto *global = const_cast<GlobalVariable *>(dyn_cast<GlobalVariable>(value));
      if (global == nullptr)
        continue;
      if (!global->hasSection())
        global->setAlignment(std::max(layout_.getPreferredAlign(global), kWord));
      Constant *size =
          ConstantInt::get(word_, layout_.getTypeAllocSize(global->getValueType()).getFixedValue());
      Constant *number = ConstantInt::get(word_, label);
      if (global->isThreadLocal())
        body.CreateCall(allocated_, {body.CreateThreadLocalAddress(global), size, number});
      else if (size->isNullValue() == false)
        entries.push_back(ConstantStruct::get(entry_type, {global, size, number}));
    }
    body.CreateRetVoid();
    entries.push_back(ConstantAggregateZero::get(entry_type));
    auto *list_type = ArrayType::get(entry_type, entries.size());
    auto *list =
        new GlobalVariable(module_, list_type, true, GlobalValue::PrivateLinkage,
                           ConstantArray::get(list_type, entries), "tandem.observe.globals");
    Constant *text = ConstantDataArray::getString(context, table_);
    auto *table = new GlobalVariable(module_, text->getType(), true, GlobalValue::PrivateLinkage,
                                     text, "tandem.observe.table");
    auto *constructor = Function::Create(FunctionType::get(void_, false), Function::InternalLinkage,
                                         "tandem.observe.begin", module_);
    IRBuilder<> builder(BasicBlock::Create(context, "", constructor));
    builder.CreateCall(hook("_TANDEM_observe_begin", void_, {pointer_, pointer_, pointer_}),
                       {table, list, locals});
    builder.CreateRetVoid();
    appendToGlobalCtors(module_, constructor, 0);
  }

  Module &module_;
  const Observation observation_;
  std::string table_;
  const DataLayout &layout_;
  Type *void_;
  IntegerType *word_;
  IntegerType *half_;
  Type *pointer_;
  FunctionCallee access_, allocated_, renamed_, released_, depth_, push_, restore_, threads_;
  DenseMap<const Instruction *, std::vector<std::uint32_t>> inside_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> sets_;
  DenseMap<const Value *, std::uint64_t> labels_;
  DenseMap<const Value *, bool> captured_;
  DenseMap<const CallBase *, std::vector<ExternalAccess>> externals_;
  DenseSet<const CallBase *> spawns_;
  std::uint32_t sites_ = 0;
};

} // namespace

void instrument_observation(Module &module, const std::vector<Section> &sections,
                            Observation observation) {
  Instrumenter(module, sections, std::move(observation)).run();
}

} // namespace tandem
