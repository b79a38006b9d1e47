// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pass/link_inputs.h"

#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

namespace tandem {
namespace {

using namespace llvm;

// The value, or nothing where lld will find the same error and report it.
template <typename T> std::optional<T> value_if_ok(Expected<T> expected) {
  if (expected)
    return std::move(*expected);
  consumeError(expected.takeError());
  return std::nullopt;
}

// What machine code refers to, and what of it others can refer to.
struct Symbols {
  std::set<std::string> used;
  std::set<std::string> defined;
};

void inspect_symbols(MemoryBufferRef content, Symbols &symbols) {
  const auto object = value_if_ok(object::ObjectFile::createObjectFile(content));
  if (!object)
    return;
  for (const object::SymbolRef &symbol : (*object)->symbols()) {
    const auto name = value_if_ok(symbol.getName());
    const auto flags = value_if_ok(symbol.getFlags());
    if (!name || !flags || name->empty())
      continue;
    if ((*flags & object::SymbolRef::SF_Undefined) != 0)
      symbols.used.insert(name->str());
    else if ((*flags & object::SymbolRef::SF_Global) != 0)
      symbols.defined.insert(name->str());
  }
}

void inspect_object(const std::string &name, MemoryBufferRef content, LinkInputs &inputs,
                    Symbols &symbols) {
  switch (identify_magic(content.getBuffer())) {
  case file_magic::elf_relocatable:
    inputs.native.push_back(name);
    inspect_symbols(content, symbols);
    return;
  case file_magic::bitcode:
    if (const auto info = value_if_ok(getBitcodeLTOInfo(content)); info && info->IsThinLTO)
      inputs.thin.push_back(name);
    return;
  default:
    return;
  }
}

void inspect_archive(const std::string &path, MemoryBufferRef content, LinkInputs &inputs,
                     Symbols &symbols) {
  const auto archive = value_if_ok(object::Archive::create(content));
  if (!archive)
    return;
  Error failed = Error::success();
  for (const object::Archive::Child &child : (*archive)->children(failed)) {
    const auto name = value_if_ok(child.getName());
    const auto member = value_if_ok(child.getMemoryBufferRef());
    if (name && member)
      inspect_object(path + "(" + name->str() + ")", *member, inputs, symbols);
  }
  consumeError(std::move(failed));
}

} // namespace

LinkInputs inspect_link_inputs(const std::vector<std::string> &paths) {
  LinkInputs inputs;
  Symbols symbols;
  for (const std::string &path : paths) {
    const auto buffer =
        MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer)
      continue;
    const MemoryBufferRef content = (*buffer)->getMemBufferRef();
    if (identify_magic(content.getBuffer()) == file_magic::archive)
      inspect_archive(path, content, inputs, symbols);
    else
      inspect_object(path, content, inputs, symbols);
  }
  std::ranges::set_difference(symbols.used, symbols.defined,
                              std::back_inserter(inputs.native_uses));
  return inputs;
}

} // namespace tandem
