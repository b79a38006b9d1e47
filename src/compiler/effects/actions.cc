// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/effects/actions.h"

#include "base/check.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/promises.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Triple.h"

#include <set>

namespace tandem {

using namespace llvm;

namespace {

constexpr StringRef kMixed = "tandem.mixed";

// Whether all memory that an access may touch is the function's own.
bool is_own(const Value *address) {
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(address, objects, nullptr, /*MaxLookup=*/0);
  return all_of(objects, [](const Value *object) {
    if (const auto *global = dyn_cast<GlobalVariable>(object))
      return global->isConstant();
    const auto *argument = dyn_cast<Argument>(object);
    if (!isa<AllocaInst>(object) && (argument == nullptr || !argument->hasByValAttr()))
      return isa<UndefValue>(object) || isa<ConstantPointerNull>(object);
    return !PointerMayBeCaptured(object, /*ReturnCaptures=*/true, /*StoreCaptures=*/true);
  });
}

// Whether addresses in a variable are used for nothing but accesses and comparisons.
bool is_only_accessed(const AllocaInst &variable) {
  SmallSetVector<const Value *, 8> addresses;
  addresses.insert(&variable);
  for (unsigned i = 0; i < addresses.size(); ++i) {
    const Value *address = addresses[i];
    for (const User *user : address->users()) {
      if (isa<GetElementPtrInst, PHINode, SelectInst>(user)) {
        addresses.insert(user);
        continue;
      }
      const auto *store = dyn_cast<StoreInst>(user);
      const auto *intrinsic = dyn_cast<IntrinsicInst>(user);
      if (store != nullptr ? store->getPointerOperand() != address
                           : !isa<LoadInst, ICmpInst>(user) &&
                                 (intrinsic == nullptr || !(isa<AnyMemIntrinsic>(intrinsic) ||
                                                            intrinsic->isLifetimeStartOrEnd())))
        return false;
    }
  }
  return true;
}

// is_own() of a volatile access, by which LLVM takes an address to be known.
bool is_own_volatile(const Value *address) {
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(address, objects, nullptr, /*MaxLookup=*/0);
  return all_of(objects, [](const Value *object) {
    if (const auto *variable = dyn_cast<AllocaInst>(object))
      return is_only_accessed(*variable);
    const auto *global = dyn_cast<GlobalVariable>(object); // an initialiser of the compiler's
    return global != nullptr && global->isConstant() && global->hasGlobalUnnamedAddr();
  });
}

// Whether an instruction makes a volatile access to memory that is not the function's own.
bool is_foreign_volatile(const Instruction &instruction) {
  if (!instruction.isVolatile())
    return false;
  if (const auto *copy = dyn_cast<AnyMemTransferInst>(&instruction))
    return !is_own_volatile(copy->getRawDest()) || !is_own_volatile(copy->getRawSource());
  if (const auto *fill = dyn_cast<AnyMemIntrinsic>(&instruction))
    return !is_own_volatile(fill->getRawDest());
  const Value *address = getLoadStorePointerOperand(&instruction);
  return address == nullptr || !is_own_volatile(address); // an atomic update, or an intrinsic
}

// Whether nobody looks at what the call returns: not here, and not in the callers of a function
// that only hands it on, as glibc's inline putchar does with putc's.
bool result_is_ignored(const CallBase &call, unsigned levels = 4) {
  return all_of(call.users(), [&](const User *user) {
    const auto *handed_on = dyn_cast<ReturnInst>(user);
    if (handed_on == nullptr || levels == 0)
      return false;
    const Function &by = *handed_on->getFunction();
    return (by.hasLocalLinkage() || by.hasAvailableExternallyLinkage()) &&
           all_of(by.uses(), [&](const Use &use) {
             const auto *caller = dyn_cast<CallBase>(use.getUser());
             return caller != nullptr && caller->isCallee(&use) &&
                    result_is_ignored(*caller, levels - 1);
           });
  });
}

} // namespace

bool is_harmless(const IntrinsicInst &intrinsic) {
  if (intrinsic.isAssumeLikeIntrinsic() || intrinsic.doesNotAccessMemory())
    return true;
  if (isa<ConstrainedFPIntrinsic>(intrinsic)) // the processor's flags, as all arithmetic
    return true;
  switch (intrinsic.getIntrinsicID()) {
  case Intrinsic::vaend:
  case Intrinsic::stacksave:
  case Intrinsic::stackrestore:
  case Intrinsic::prefetch:
  case Intrinsic::trap:
  case Intrinsic::ubsantrap:
  case Intrinsic::eh_typeid_for:
  case Intrinsic::experimental_noalias_scope_decl:
    return true;
  default:
    return false;
  }
}

namespace {

// sizeof(va_list).
std::optional<std::uint64_t> list_bytes(const Module &module) {
  const Triple target(module.getTargetTriple());
  if (target.getArch() == Triple::x86_64 && !target.isOSWindows())
    return 24; // System V ABI, x86-64, 3.5.7
  if (target.getArch() == Triple::aarch64 && target.isOSLinux())
    return 32; // Procedure Call Standard for the Arm 64-bit Architecture, appendix B
  return std::nullopt;
}

// Whether the instruction accesses memory through a pointer that no barrier takes (__seg_gs and the
// like).
bool touches_other_address_space(const Instruction &instruction) {
  if (isa<CallBase>(instruction) && !isa<AnyMemIntrinsic>(instruction))
    return false; // the callee is looked at by itself
  return instruction.mayReadOrWriteMemory() && any_of(instruction.operands(), [](const Use &use) {
           return use->getType()->isPointerTy() && use->getType()->getPointerAddressSpace() != 0;
         });
}

} // namespace

std::optional<ListOperation> list_operation(const Instruction &instruction) {
  const auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
  const std::optional<std::uint64_t> bytes =
      intrinsic == nullptr ? std::nullopt : list_bytes(*intrinsic->getModule());
  if (!bytes)
    return std::nullopt;
  if (const auto *start = dyn_cast<VAStartInst>(intrinsic))
    return ListOperation{start->getArgList(), nullptr, *bytes};
  if (const auto *copy = dyn_cast<VACopyInst>(intrinsic))
    return ListOperation{copy->getDest(), copy->getSrc(), *bytes};
  return std::nullopt;
}

namespace {

bool cannot_be_undone(const CatalogueEntry &entry) {
  return entry.effect == ExternalEffect::irrevocable || entry.effect == ExternalEffect::deferrable;
}

// The function of C's library that a copy or fill is written as.
std::string_view library_name(const AnyMemIntrinsic &intrinsic) {
  if (isa<AnyMemMoveInst>(intrinsic))
    return "memmove";
  return isa<AnyMemCpyInst>(intrinsic) ? "memcpy" : "memset";
}

// Whether all memory that a copy or fill touches is the function's own.
bool is_own_copy(const AnyMemIntrinsic &intrinsic) {
  const auto *transfer = dyn_cast<AnyMemTransferInst>(&intrinsic);
  return is_own(intrinsic.getDest()) && (transfer == nullptr || is_own(transfer->getSource()));
}

// Of names that are irrevocable only where a catalogue says so.
bool says_irrevocable(const Catalogue &catalogue, std::string_view name) {
  const auto found = catalogue.entries().find(name);
  return found != catalogue.entries().end() && cannot_be_undone(found->second);
}

// A unit names its file another way than its functions do.
SmallString<128> path_of(const DIFile &file) {
  SmallString<128> path(file.getFilename());
  if (!sys::path::is_absolute(path)) {
    path = file.getDirectory();
    sys::path::append(path, file.getFilename());
  }
  sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return path;
}

// Whether debug information has the two in different source files. What a header of C++ defines is
// in each file that includes it, though the linker keeps one.
bool other_source(const Function &caller, const Function &callee) {
  const DISubprogram *one = caller.getSubprogram();
  const DISubprogram *other = callee.getSubprogram();
  if (one == nullptr || other == nullptr || one->getUnit() == other->getUnit())
    return false;
  const DICompileUnit &unit = *other->getUnit();
  return !dwarf::isCPlusPlus(static_cast<dwarf::SourceLanguage>(unit.getSourceLanguage())) ||
         path_of(*other->getFile()) == path_of(*unit.getFile());
}

} // namespace

Actions::Actions(const Module &module, const Catalogue &catalogue)
    : catalogue_(catalogue),
      copies_(is_irrevocable("memcpy") || is_irrevocable("memmove") || is_irrevocable("memset")),
      volatile_(says_irrevocable(catalogue, kVolatileAccess)),
      others_(says_irrevocable(catalogue, kOtherSource)) {
  for (const Function &function : module)
    if (!function.isIntrinsic() && !function.isDeclaration() &&
        function.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/false,
                                 /*IgnoreAssumeLikeCalls=*/true, /*IngoreLLVMUsed=*/true))
      address_taken_.push_back(&function);
}

std::vector<const Function *> Actions::targets(const CallBase &call) const {
  if (const Function *callee = called_function(call))
    return callee->isDeclaration() ? std::vector<const Function *>{}
                                   : std::vector<const Function *>{callee};
  if (call.isInlineAsm())
    return {};
  std::vector<const Function *> possible;
  for (const Function *function : address_taken_)
    if (function->arg_size() == call.arg_size() ||
        (function->isVarArg() && function->arg_size() <= call.arg_size()))
      possible.push_back(function);
  return possible;
}

std::string Actions::irrevocable_call(const CallBase &call, const Function &callee) const {
  if (is_unsafe(callee))
    return source_name(callee);
  if (call.doesNotAccessMemory() || is_pure(callee))
    return "";
  const CatalogueEntry entry = catalogue_.lookup(callee.getName().str());
  switch (entry.effect) {
  case ExternalEffect::pure:
  case ExternalEffect::thread_local_:
  case ExternalEffect::reads:
  case ExternalEffect::tm_safe:
    return "";
  case ExternalEffect::deferrable:
    // Put off to the commit where nobody looks at the result.
    return !entry.replacement.empty() && result_is_ignored(call) ? "" : source_name(callee);
  case ExternalEffect::irrevocable:
    return source_name(callee);
  }
  CHECK(false);
}

bool Actions::is_irrevocable(std::string_view name) const {
  return cannot_be_undone(catalogue_.lookup(name));
}

void Actions::mark_mixed(Instruction &atomic) {
  atomic.setMetadata(kMixed, MDNode::get(atomic.getContext(), {}));
}

std::string Actions::irrevocable_copy(const AnyMemIntrinsic &intrinsic) const {
  const std::string_view name = library_name(intrinsic);
  return copies_ && intrinsic.getMetadata(LLVMContext::MD_tbaa_struct) == nullptr &&
                 is_irrevocable(name) && !is_own_copy(intrinsic)
             ? std::string(name)
             : std::string();
}

std::string Actions::irrevocable_action(const Instruction &instruction) const {
  const auto special = [&](std::string_view name) {
    return is_irrevocable(name) ? std::string(name) : std::string();
  };
  if (instruction.isAtomic())
    if (std::string atomic = instruction.hasMetadata(kMixed) ? std::string(kAtomicOperation)
                                                             : special(kAtomicOperation);
        !atomic.empty())
      return atomic;
  if (touches_other_address_space(instruction))
    return "(other address space)";
  if (volatile_ && is_foreign_volatile(instruction))
    return std::string(kVolatileAccess);
  if (instruction.isAtomic())
    return "";
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (call == nullptr)
    return isa<LoadInst, StoreInst>(instruction) || !instruction.mayReadOrWriteMemory()
               ? ""
               : fmt::format("({})", instruction.getOpcodeName());
  if (call->isInlineAsm())
    // Empty assembly is a compiler barrier: it orders, and does nothing.
    return cast<InlineAsm>(call->getCalledOperand())->getAsmString().empty()
               ? ""
               : special(kInlineAssembly);
  const Function *callee = called_function(*call);
  if (callee == nullptr)
    return "(indirect call)";
  if (isa<MemIntrinsic>(call))
    return irrevocable_copy(*cast<AnyMemIntrinsic>(call));
  if (const auto *intrinsic = dyn_cast<IntrinsicInst>(call))
    return is_harmless(*intrinsic) || list_operation(*intrinsic) ? "" : callee->getName().str();
  if (callee->isDeclaration() || is_unsafe(*callee))
    return irrevocable_call(*call, *callee);
  return others_ && !is_pure(*callee) && other_source(*call->getFunction(), *callee)
             ? source_name(*callee)
             : "";
}

bool Actions::computes_only(const Instruction &instruction) const {
  if (instruction.isAtomic() || isa<VAArgInst>(instruction))
    return false;
  if (const auto *load = dyn_cast<LoadInst>(&instruction))
    return is_own(load->getPointerOperand());
  if (const auto *store = dyn_cast<StoreInst>(&instruction))
    return is_own(store->getPointerOperand());
  if (const auto *transfer = dyn_cast<MemTransferInst>(&instruction))
    return is_own(transfer->getDest()) && is_own(transfer->getSource());
  if (const auto *set = dyn_cast<MemSetInst>(&instruction))
    return is_own(set->getDest());
  if (const std::optional<ListOperation> list = list_operation(instruction))
    return is_own(list->written) && (list->read == nullptr || is_own(list->read));
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (call == nullptr)
    return !instruction.mayReadOrWriteMemory();
  if (const auto *intrinsic = dyn_cast<IntrinsicInst>(call))
    return is_harmless(*intrinsic);
  for (unsigned i = 0; i < call->arg_size(); ++i) // the call copies it
    if (call->isByValArgument(i) && !is_own(call->getArgOperand(i)))
      return false;
  const Function *callee = called_function(*call);
  if (callee == nullptr)
    return false;
  if (!callee->isDeclaration())
    return irrevocable_action(*call).empty(); // the callee is looked at by itself
  if (call->doesNotAccessMemory())
    return true;
  const CatalogueEntry entry = catalogue_.lookup(callee->getName().str());
  return entry.effect == ExternalEffect::pure && entry.callbacks.empty();
}

bool Actions::computes_only(const Function &function) const {
  std::set<const Function *> seen{&function};
  std::vector<const Function *> work{&function};
  while (!work.empty()) {
    const Function *next = work.back();
    work.pop_back();
    if (next->isDeclaration())
      return false;
    for (const Instruction &instruction : instructions(*next)) {
      if (!computes_only(instruction))
        return false;
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        if (const Function *callee = called_function(*call);
            callee != nullptr && !callee->isDeclaration() && seen.insert(callee).second)
          work.push_back(callee);
    }
  }
  return true;
}

} // namespace tandem
