// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/access_path.h"

#include "compiler/report/program_terms.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

namespace tandem {
namespace {

using namespace llvm;

// Chains of loads longer than this are cut: `?->next->next->...` helps nobody.
constexpr unsigned kMaxDepth = 12;

const DIType *strip_names(const DIType *type) {
  while (const auto *derived = dyn_cast_or_null<DIDerivedType>(type)) {
    switch (derived->getTag()) {
    case dwarf::DW_TAG_typedef:
    case dwarf::DW_TAG_const_type:
    case dwarf::DW_TAG_volatile_type:
    case dwarf::DW_TAG_restrict_type:
    case dwarf::DW_TAG_atomic_type:
    case dwarf::DW_TAG_member:
      type = derived->getBaseType();
      continue;
    default:
      return type;
    }
  }
  return type;
}

std::uint64_t size_of(const DIType *type) {
  const DIType *stripped = strip_names(type);
  return stripped == nullptr ? 0 : stripped->getSizeInBits() / 8;
}

const DIType *pointee(const DIType *type) {
  const auto *derived = dyn_cast_or_null<DIDerivedType>(strip_names(type));
  if (derived == nullptr)
    return nullptr;
  switch (derived->getTag()) {
  case dwarf::DW_TAG_pointer_type:
  case dwarf::DW_TAG_reference_type:
  case dwarf::DW_TAG_rvalue_reference_type:
    return derived->getBaseType();
  default:
    return nullptr;
  }
}

// What a reference means is written as the reference is.
bool is_reference(const DIType *type) {
  const DIType *stripped = strip_names(type);
  return stripped != nullptr && (stripped->getTag() == dwarf::DW_TAG_reference_type ||
                                 stripped->getTag() == dwarf::DW_TAG_rvalue_reference_type);
}

bool is_record(const DIType *type) {
  const DIType *stripped = strip_names(type);
  return stripped != nullptr && (stripped->getTag() == dwarf::DW_TAG_structure_type ||
                                 stripped->getTag() == dwarf::DW_TAG_class_type ||
                                 stripped->getTag() == dwarf::DW_TAG_union_type);
}

bool is_array(const DIType *type) {
  const DIType *stripped = strip_names(type);
  return stripped != nullptr && stripped->getTag() == dwarf::DW_TAG_array_type;
}

bool in_std(const DIScope *scope) {
  while (const auto *space = dyn_cast_or_null<DINamespace>(scope)) {
    if (space->getName() == "std")
      return true;
    scope = space->getScope();
  }
  return false;
}

// Whether a member is the system's or the C++ library's own: by its name, which no program may use,
// and by who declares its record.
bool is_implementations(const DICompositeType &record, const DIDerivedType &member) {
  const StringRef name = member.getName();
  const bool reserved =
      name.starts_with("__") || (name.size() > 1 && name[0] == '_' && isUpper(name[1]));
  return reserved && (in_std(record.getScope()) || record.getFilename().contains("/usr/"));
}

// The only member of a record, where it is as large as the record.
const DIDerivedType *only_member(const DICompositeType &record) {
  const DIDerivedType *only = nullptr;
  for (const DINode *element : record.getElements())
    if (const auto *member = dyn_cast<DIDerivedType>(element);
        member != nullptr && !member->isStaticMember() &&
        (member->getTag() == dwarf::DW_TAG_member ||
         member->getTag() == dwarf::DW_TAG_inheritance)) {
      if (only != nullptr)
        return nullptr;
      only = member;
    }
  return only != nullptr && size_of(only->getBaseType()) == size_of(&record) ? only : nullptr;
}

const DIDerivedType *member_at(const DICompositeType *record, std::uint64_t offset) {
  for (const DINode *element : record->getElements()) {
    const auto *member = dyn_cast<DIDerivedType>(element);
    if (member == nullptr ||
        (member->getTag() != dwarf::DW_TAG_member &&
         member->getTag() != dwarf::DW_TAG_inheritance) ||
        member->isStaticMember())
      continue;
    const std::uint64_t begin = member->getOffsetInBits() / 8;
    const std::uint64_t size = std::max<std::uint64_t>(size_of(member->getBaseType()), 1);
    if (begin <= offset && offset < begin + size)
      return member;
  }
  return nullptr;
}

void add_index(AccessPath &path) {
  path.text = (path.self == nullptr ? path.text : path.print()) + "[]";
  path.deref = false;
  path.self = nullptr;
}

// Of the class of a member function: whether it is a lambda's. That has no name, and declares no
// functions; others without a name declare theirs.
bool is_lambda(const DICompositeType &record) {
  return record.getName().empty() && record.getTag() == dwarf::DW_TAG_class_type &&
         none_of(record.getElements(),
                 [](const DINode *element) { return isa_and_nonnull<DISubprogram>(element); });
}

// `record` has the field.
void add_field(AccessPath &path, const DICompositeType &record, const DIDerivedType &member) {
  const StringRef field = member.getName();
  if (field.empty())
    return; // a member of an anonymous struct or union is named without it
  const bool captured = path.self != nullptr && is_lambda(record);
  if (captured && field == "this" && is_record(member.getBaseType())) { // a copy: [*this]
    path.text = field.str();
    path.deref = true;
    path.self = cast<DICompositeType>(strip_names(member.getBaseType()));
    return;
  }
  if (captured)
    path.text = "";
  else if (path.self != nullptr && !record.getName().empty())
    path.text = record_path(record, false) + "::";
  else
    path.text += path.deref ? "->" : ".";
  path.text += field.str();
  path.captured = captured;
  path.deref = false;
  path.self = nullptr;
}

// Whether an access to a whole object is one to a part of it: what a lambda has captured, or the
// only member of a record of the program.
bool is_read_by_part(const AccessPath &path, const DIType *type) {
  const auto *record = is_record(type) ? cast<DICompositeType>(type) : nullptr;
  return record != nullptr && ((type == path.self && is_lambda(*path.self)) ||
                               (!in_std(record->getScope()) && only_member(*record) != nullptr));
}

// Descends from the object of `path` to the part of `size` bytes at `offset` in it.
void descend(AccessPath &path, std::uint64_t offset, std::uint64_t size) {
  for (unsigned depth = 0; depth < kMaxDepth && path.type != nullptr; ++depth) {
    const DIType *type = strip_names(path.type);
    if (type == nullptr ||
        (offset == 0 && (size == 0 || (size_of(type) <= size && !is_read_by_part(path, type)))) ||
        is_opaque_type(path.type))
      return;
    if (is_array(type)) {
      const DIType *element = cast<DICompositeType>(type)->getBaseType();
      const std::uint64_t element_size = size_of(element);
      if (element_size == 0)
        return;
      add_index(path);
      path.type = element;
      offset %= element_size;
    } else if (is_record(type)) {
      const auto *record = cast<DICompositeType>(type);
      const DIDerivedType *member = member_at(record, offset);
      if (member == nullptr || is_implementations(*record, *member))
        return;
      if (member->getTag() != dwarf::DW_TAG_inheritance)
        add_field(path, *record, *member);
      offset -= member->getOffsetInBits() / 8;
      path.type = member->getBaseType();
    } else if (path.deref && offset != 0) {
      add_index(path); // p + 1 where p points to a scalar
      return;
    } else {
      return;
    }
  }
}

const DILocalVariable *variable_of(const Value *value) {
  auto *mutable_value = const_cast<Value *>(value);
  for (const DbgDeclareInst *declare : findDbgDeclares(mutable_value))
    return declare->getVariable();
  for (const DbgVariableRecord *declare : findDVRDeclares(mutable_value))
    return declare->getVariable();
  SmallVector<DbgValueInst *> values;
  SmallVector<DbgVariableRecord *> records;
  findDbgValues(values, mutable_value, &records);
  for (const DbgValueInst *dbg : values)
    return dbg->getVariable();
  for (const DbgVariableRecord *record : records)
    return record->getVariable();
  return nullptr;
}

// The class that a pointer of this type points to.
const DICompositeType *class_behind(const DIType *type) {
  return dyn_cast_or_null<DICompositeType>(strip_names(pointee(type)));
}

// The class whose member function has `variable` as its `this`; null for others.
const DICompositeType *class_of_this(const DILocalVariable *variable) {
  return variable != nullptr && variable->isArtificial() && variable->getName() == "this"
             ? class_behind(variable->getType())
             : nullptr;
}

// The same of what a lambda has captured, at `path`: no variable of the source is called so.
const DICompositeType *class_of_captured_this(const AccessPath &path) {
  return path.captured && path.text == "this" ? class_behind(path.type) : nullptr;
}

// The one value that is ever stored in a local variable, null pointers not counted; or null.
const Value *only_stored(const AllocaInst &slot) {
  const Value *only = nullptr;
  for (const User *user : slot.users()) {
    const auto *store = dyn_cast<StoreInst>(user);
    if (store == nullptr)
      continue;
    if (store->getPointerOperand() != &slot)
      return nullptr;
    const Value *stored = store->getValueOperand();
    if (isa<ConstantPointerNull>(stored))
      continue;
    if (only != nullptr && only != stored)
      return nullptr;
    only = stored;
  }
  return only;
}

// Whether a member function of the C++ library gives an element of a container, or what a pointer,
// an iterator or an optional is about.
bool is_librarys(const Function &function, ArrayRef<StringRef> names) {
  return function.getSubprogram() != nullptr && is_library_function(function) &&
         function.arg_size() != 0 && is_contained(names, function.getSubprogram()->getName());
}
bool gives_element(const Function &function) {
  return is_element_of_array(function) ||
         is_librarys(function, {"operator[]", "at", "front", "back"});
}
bool gives_object(const Function &function) {
  return is_librarys(function, {"operator->", "operator*", "get", "value"});
}

// A function's call without its parameters: `find(int) const` as `find()`.
std::string call_of(StringRef name) {
  name.consume_back(" const");
  int open = 0;
  for (std::size_t at = name.size(); name.ends_with(")") && at-- > 0;) {
    open += (name[at] == ')') - (name[at] == '(');
    if (open == 0)
      return (name.take_front(at) + "()").str();
  }
  return (name + "()").str();
}

class Resolver {
public:
  AccessPath address(const Value *value, std::uint64_t size, unsigned depth,
                     std::uint64_t further = 0) {
    value = value->stripPointerCasts();
    if (const auto *call = dyn_cast<IntrinsicInst>(value);
        call != nullptr && call->getIntrinsicID() == Intrinsic::threadlocal_address)
      value = call->getArgOperand(0)->stripPointerCasts();
    if (depth > kMaxDepth)
      return AccessPath{.text = "?", .deref = true};
    if (const auto *gep = dyn_cast<GEPOperator>(value))
      return element(*gep, size, depth, further);
    AccessPath path = object(value, depth);
    descend(path, further, size);
    return path;
  }

private:
  AccessPath element(const GEPOperator &gep, std::uint64_t size, unsigned depth,
                     std::uint64_t further) {
    const DataLayout &layout = layout_of(gep);
    const unsigned width = layout.getIndexTypeSizeInBits(gep.getType());
    MapVector<Value *, APInt> variable;
    APInt constant(width, 0);
    if (!gep.collectOffset(layout, width, variable, constant))
      return AccessPath{.text = "?", .deref = true};
    // The base is the outermost object: the offset decides what is meant within it.
    const Value *base = gep.getPointerOperand()->stripPointerCasts();
    std::uint64_t offset = constant.getZExtValue() + further;
    while (const auto *inner = dyn_cast<GEPOperator>(base)) {
      APInt inner_offset(width, 0);
      if (!variable.empty() || !inner->accumulateConstantOffset(layout, inner_offset))
        break;
      offset += inner_offset.getZExtValue();
      base = inner->getPointerOperand()->stripPointerCasts();
    }
    AccessPath path = address(base, 0, depth + 1);
    if (!variable.empty()) {
      index(path, variable.begin()->second.getZExtValue());
      if (const std::uint64_t stride = size_of(path.type); stride != 0)
        offset %= stride;
    }
    descend(path, offset, size);
    return path;
  }

  // The element of `stride` bytes at an unknown index of the array that `path` is, or holds.
  static void index(AccessPath &path, std::uint64_t stride) {
    // Members at offset zero leave no trace in the address: the stride tells how far in the array
    // is.
    while (is_record(path.type) && size_of(path.type) > stride) {
      const auto *record = cast<DICompositeType>(strip_names(path.type));
      const DIDerivedType *member = member_at(record, 0);
      if (member == nullptr)
        break;
      if (member->getTag() != dwarf::DW_TAG_inheritance)
        add_field(path, *record, *member);
      path.type = member->getBaseType();
    }
    for (unsigned depth = 0; depth < kMaxDepth && is_array(path.type); ++depth) {
      path.type = cast<DICompositeType>(strip_names(path.type))->getBaseType();
      if (size_of(path.type) <= stride)
        break;
    }
    add_index(path);
  }

  AccessPath object(const Value *value, unsigned depth) {
    if (const auto *global = dyn_cast<GlobalVariable>(value)) {
      SmallVector<DIGlobalVariableExpression *, 1> expressions;
      global->getDebugInfo(expressions);
      return AccessPath{.text = source_name(*global),
                        .type = expressions.empty() ? nullptr
                                                    : expressions.front()->getVariable()->getType(),
                        .global = global};
    }
    if (const auto *function = dyn_cast<Function>(value))
      return AccessPath{.text = source_name(*function)};
    if (isa<AllocaInst>(value)) {
      if (const DILocalVariable *variable = variable_of(value))
        return AccessPath{.text = variable->getName().str(), .type = variable->getType()};
      return AccessPath{.text = value->hasName() ? value->getName().str() : "?"};
    }
    return pointer(value, depth);
  }

  // What the pointer `value` points to, the pointer being computed at run time.
  AccessPath pointer(const Value *value, unsigned depth) {
    if (const auto *load = dyn_cast<LoadInst>(value)) {
      const Value *from = load->getPointerOperand()->stripPointerCasts();
      if (const AllocaInst *slot = variable_at(from))
        if (const Value *only = only_stored(*slot); only != nullptr && !isa<Argument>(only)) {
          AccessPath path = address(only, 0, depth + 1);
          if (path.global != nullptr || given(load) != load)
            return path;
        }
      AccessPath path = address(from, 8, depth + 1);
      return AccessPath{.text = path.print(),
                        .deref = !is_reference(path.type),
                        .type = pointee(path.type),
                        .global = path.global,
                        .self = path.captured ? class_of_captured_this(path)
                                              : class_of_this(variable_of(from))};
    }
    if (const auto *call = dyn_cast<CallBase>(value))
      if (const Function *callee = call->getCalledFunction()) {
        const DIType *type = nullptr;
        if (const DISubprogram *program = callee->getSubprogram(); program && program->getType())
          if (const auto types = program->getType()->getTypeArray(); types.size() > 0)
            type = pointee(types[0]);
        if (returns_its_argument(*callee))
          return address(call->getArgOperand(0), 0, depth + 1);
        if (gives_element(*callee)) {
          AccessPath path = address(call->getArgOperand(0), 1, depth + 1);
          add_index(path);
          path.type = type;
          return path;
        }
        if (gives_object(*callee)) {
          const AccessPath path = address(call->getArgOperand(0), 1, depth + 1);
          return AccessPath{.text = path.print(), .deref = true, .type = type};
        }
        return AccessPath{.text = call_of(source_name(*callee)), .deref = true, .type = type};
      }
    if (const DILocalVariable *variable = variable_of(value))
      return AccessPath{.text = variable->getName().str(),
                        .deref = !is_reference(variable->getType()),
                        .type = pointee(variable->getType()),
                        .self = class_of_this(variable)};
    if (const auto *argument = dyn_cast<Argument>(value);
        argument != nullptr && argument->hasName())
      return AccessPath{.text = argument->getName().str(), .deref = true};
    return AccessPath{.text = "?", .deref = true};
  }

  // Of constants that are in no module. Making one takes longer than most paths.
  static const DataLayout &unknown_layout() {
    static const DataLayout layout("");
    return layout;
  }

  const DataLayout &layout_of(const GEPOperator &gep) {
    if (layout_ == nullptr) {
      const auto *instruction = dyn_cast<Instruction>(&gep);
      const Value *base = gep.stripInBoundsOffsets();
      if (instruction != nullptr)
        layout_ = &instruction->getModule()->getDataLayout();
      else if (const auto *global = dyn_cast<GlobalValue>(base))
        layout_ = &global->getParent()->getDataLayout();
      else
        layout_ = &unknown_layout();
    }
    return *layout_;
  }

  const DataLayout *layout_ = nullptr;
};

} // namespace

const Value *given(const Value *value) {
  const auto *load = dyn_cast<LoadInst>(value->stripPointerCasts());
  const auto *slot = load == nullptr
                         ? nullptr
                         : dyn_cast<AllocaInst>(load->getPointerOperand()->stripPointerCasts());
  const Value *only = slot == nullptr ? nullptr : only_stored(*slot);
  if (only == nullptr || isa<Argument>(only))
    return value;
  const DILocalVariable *variable = variable_of(slot);
  return variable != nullptr && variable->isParameter() ? only : value;
}

bool is_class(const DICompositeType &record) {
  return !record.getIdentifier().empty() ||
         isa_and_nonnull<DINamespace, DICompositeType>(record.getScope());
}

bool is_opaque_type(const DIType *type) {
  constexpr StringRef kOpaque[] = {"mtx_t", "cnd_t", "sem_t", "once_flag"};
  if (const auto *record = dyn_cast_or_null<DICompositeType>(strip_names(type)))
    if (in_std(record->getScope()) && (record->getName().ends_with("mutex") ||
                                       record->getName().starts_with("condition_variable")))
      return true;
  while (const auto *derived = dyn_cast_or_null<DIDerivedType>(type)) {
    if (derived->getName().starts_with("pthread_") || is_contained(kOpaque, derived->getName()))
      return true;
    if (derived->getTag() != dwarf::DW_TAG_typedef && derived->getTag() != dwarf::DW_TAG_member)
      return false;
    type = derived->getBaseType();
  }
  return false;
}

std::string record_path(const DICompositeType &record, bool full) {
  std::string path;
  for (const DIScope *scope = &record; isa_and_nonnull<DINamespace, DICompositeType>(scope);
       scope = scope->getScope()) {
    const auto *space = dyn_cast<DINamespace>(scope);
    if (scope->getName().empty() || (space != nullptr && space->getExportSymbols()))
      continue; // an inline namespace, or one without a name
    const std::string name = full ? scope->getName().str() : shortened(scope->getName());
    path = path.empty() ? name : name + "::" + path;
  }
  return path;
}

std::string AccessPath::print() const {
  if (deref && self != nullptr)
    return self->getName().empty()
               ? ("(object of " + self->getFilename() + ":" + std::to_string(self->getLine()) + ")")
                     .str()
               : record_path(*self, false);
  return deref ? "*" + text : text;
}

AccessPath access_path(const llvm::Value *address, std::uint64_t size, std::int64_t offset) {
  return Resolver().address(address, size, 0, static_cast<std::uint64_t>(offset));
}

std::string source_name(const llvm::GlobalObject &object) {
  if (const auto *global = dyn_cast<GlobalVariable>(&object)) {
    SmallVector<DIGlobalVariableExpression *, 1> expressions;
    global->getDebugInfo(expressions);
    if (!expressions.empty() && !expressions.front()->getVariable()->getName().empty() &&
        !object.getName().starts_with("_Z"))
      return expressions.front()->getVariable()->getName().str();
  }
  if (const auto *function = dyn_cast<Function>(&object))
    if (const DISubprogram *program = function->getSubprogram();
        program != nullptr && program->getLinkageName().empty())
      return program->getName().str();
  return shortened(llvm::demangle(object.getName()));
}

std::string shown_name(const llvm::GlobalObject &object) {
  return in_program_terms(source_name(object));
}

} // namespace tandem
