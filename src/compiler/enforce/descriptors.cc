// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/descriptors.h"

#include "tandem/abi.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"

namespace tandem {
namespace {

using namespace llvm;

std::uint8_t abi_kind(SectionKind kind) {
  switch (kind) {
  case SectionKind::function:
    return TANDEM_KIND_FUNCTION;
  case SectionKind::block:
    return TANDEM_KIND_BLOCK;
  case SectionKind::lambda:
    return TANDEM_KIND_LAMBDA;
  case SectionKind::lock_region:
    return TANDEM_KIND_LOCK_REGION;
  }
  CHECK(false);
}

std::uint8_t abi_class(SectionClass klass) {
  switch (klass) {
  case SectionClass::pure:
    return TANDEM_CLASS_PURE;
  case SectionClass::hybrid:
    return TANDEM_CLASS_HYBRID;
  case SectionClass::non_revocable:
    return TANDEM_CLASS_NON_REVOCABLE;
  }
  CHECK(false);
}

std::uint8_t abi_irrevocable_at(IrrevocableAt at) {
  switch (at) {
  case IrrevocableAt::never:
    return TANDEM_IRREVOCABLE_NEVER;
  case IrrevocableAt::begin:
    return TANDEM_IRREVOCABLE_BEGIN;
  case IrrevocableAt::reach:
    return TANDEM_IRREVOCABLE_REACH;
  }
  CHECK(false);
}

GlobalVariable *constant(Module &module, Constant *value, const Twine &name,
                         bool writable = false) {
  auto *global = new GlobalVariable(module, value->getType(), !writable,
                                    GlobalValue::InternalLinkage, value, name);
  global->setUnnamedAddr(writable ? GlobalValue::UnnamedAddr::None
                                  : GlobalValue::UnnamedAddr::Global);
  return global;
}

} // namespace

Descriptors::Descriptors(Module &module, const Report &report, const Cancels &cancels,
                         Enforcement mode)
    : module_(module), report_(report), cancels_(cancels), mode_(mode) {
  for (std::size_t number = 0; number < report.colours.size(); ++number)
    colour_numbers_[report.colours[number].name] = number;
}

bool Descriptors::has_colours() const {
  return mode_ != Enforcement::stm && mode_ != Enforcement::htm;
}

std::uint32_t Descriptors::flags_of(const ReportColour &colour) const {
  // Sections of other outputs may hold the process's colour either way.
  if (colour.name == kProcessColour)
    return TANDEM_COLOUR_IRREVOCABLE | TANDEM_COLOUR_PROCESS | TANDEM_COLOUR_SHARED;
  std::uint32_t flags = 0;
  for (const ReportSection &section : report_.sections) {
    if (!is_contained(section.colours, colour.name))
      continue;
    if (section.klass == SectionClass::non_revocable)
      flags |= TANDEM_COLOUR_IRREVOCABLE;
    if (mode_ == Enforcement::hybrid && section.kind != SectionKind::lock_region &&
        section.irrevocable_at != IrrevocableAt::begin &&
        is_contained(guard_of(section), colour.name))
      flags |= TANDEM_COLOUR_SHARED;
  }
  return flags;
}

std::vector<std::string> Descriptors::guard_of(const ReportSection &section) const {
  if (section.klass == SectionClass::non_revocable)
    return section.colours;
  std::vector<std::string> guard;
  for (const ReportLock &lock : section.locks)
    guard.push_back(lock.colour);
  return guard;
}

Constant *Descriptors::string(const std::string &text) {
  Constant *&made = strings_[text];
  if (made == nullptr)
    made = constant(module_, ConstantDataArray::getString(module_.getContext(), text),
                    "tandem.string");
  return made;
}

Constant *Descriptors::colour_set(const std::vector<std::string> &colours) {
  if (!has_colours())
    return ConstantPointerNull::get(PointerType::getUnqual(module_.getContext()));
  std::vector<std::uint64_t> words((report_.colours.size() + 63) / 64);
  for (const std::string &colour : colours) {
    const std::size_t number = colour_numbers_.at(colour);
    words[number / 64] |= std::uint64_t{1} << (number % 64);
  }
  return constant(module_, ConstantDataArray::get(module_.getContext(), words), "tandem.colours");
}

Constant *Descriptors::table() {
  if (table_ != nullptr)
    return table_;
  IRBuilder<> builder(module_.getContext());
  Type *pointer = builder.getPtrTy();
  std::vector<Constant *> colours;
  if (has_colours())
    for (const ReportColour &colour : report_.colours)
      colours.push_back(ConstantStruct::getAnon(
          {string(colour.name), builder.getInt32(flags_of(colour)), builder.getInt32(0)}));
  StructType *colour_type = StructType::get(pointer, builder.getInt32Ty(), builder.getInt32Ty());
  Constant *list = ConstantPointerNull::get(builder.getPtrTy());
  if (!colours.empty())
    list =
        constant(module_, ConstantArray::get(ArrayType::get(colour_type, colours.size()), colours),
                 "tandem.colour_list");
  const auto number = [&](std::size_t value) {
    return builder.getInt32(static_cast<std::uint32_t>(value));
  };
  Constant *value = ConstantStruct::getAnon(
      {number(TANDEM_ABI_VERSION), number(sizeof(tandem_colour_table)), number(colours.size()),
       number((colours.size() + 63) / 64), number(report_.sections.size()),
       number(mode_ == Enforcement::htm ? TANDEM_TABLE_HTM : 0),
       string(report_.output.substr(report_.output.rfind('/') + 1)), list,
       ConstantPointerNull::get(builder.getPtrTy())});
  CHECK(module_.getDataLayout().getTypeAllocSize(value->getType()) == sizeof(tandem_colour_table));
  table_ = constant(module_, value, "tandem.colour_table", /*writable=*/true);
  return table_;
}

Constant *Descriptors::of(std::size_t index) {
  Constant *&made = made_[index];
  if (made != nullptr)
    return made;
  const ReportSection &section = report_.sections[index];
  IRBuilder<> builder(module_.getContext());
  const bool coloured = has_colours();
  const bool hybrid = !cancels_[index].empty() && section.klass == SectionClass::non_revocable;
  const SectionClass klass = hybrid ? SectionClass::hybrid : section.klass;
  const IrrevocableAt at = hybrid ? IrrevocableAt::never : section.irrevocable_at;
  Constant *value = ConstantStruct::getAnon(
      {builder.getInt32(TANDEM_ABI_VERSION), builder.getInt32(sizeof(tandem_section)),
       builder.getInt8(abi_kind(section.kind)),
       builder.getInt8(abi_class(coloured ? klass : SectionClass::pure)),
       builder.getInt8(abi_irrevocable_at(coloured ? at : IrrevocableAt::never)),
       builder.getInt8(0), builder.getInt32(section.strict ? TANDEM_SECTION_STRICT : 0),
       builder.getInt32(section.line), builder.getInt32(static_cast<std::uint32_t>(index)),
       string(section.name), string(section.file), colour_set(section.colours),
       colour_set(guard_of(section)), table()});
  CHECK(module_.getDataLayout().getTypeAllocSize(value->getType()) == sizeof(tandem_section));
  GlobalVariable *global = constant(module_, value, "tandem.section." + section.name);
  global->setAlignment(Align(64)); // one cache line, as abi.h says
  return made = global;
}

} // namespace tandem
