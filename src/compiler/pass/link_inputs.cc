// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pass/link_inputs.h"

#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

#include <optional>

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

void inspect_symbols(MemoryBufferRef content, bool member, LinkInputs &inputs) {
  const auto object = value_if_ok(object::ObjectFile::createObjectFile(content));
  if (!object)
    return;
  for (const object::SymbolRef &symbol : (*object)->symbols()) {
    const auto name = value_if_ok(symbol.getName());
    const auto flags = value_if_ok(symbol.getFlags());
    if (!name || !flags || name->empty())
      continue;
    if ((*flags & object::SymbolRef::SF_Undefined) != 0)
      inputs.native_uses.insert(name->str());
    else if (!member && (*flags & object::SymbolRef::SF_Global) != 0)
      inputs.native_definitions.insert(name->str());
  }
}

void inspect_object(const std::string &name, MemoryBufferRef content, bool member,
                    LinkInputs &inputs) {
  switch (identify_magic(content.getBuffer())) {
  case file_magic::elf_relocatable:
    inputs.native.push_back(name);
    inspect_symbols(content, member, inputs);
    return;
  case file_magic::bitcode:
    if (const auto info = value_if_ok(getBitcodeLTOInfo(content)); info && info->IsThinLTO)
      inputs.thin.push_back(name);
    return;
  case file_magic::unknown:
    if (content.getBuffer().contains("INPUT") || content.getBuffer().contains("GROUP"))
      inputs.complete = false;
    if (content.getBuffer().contains('='))
      inputs.script_defines = true;
    return;
  default:
    return;
  }
}

void inspect_archive(const std::string &path, MemoryBufferRef content, LinkInputs &inputs) {
  const auto archive = value_if_ok(object::Archive::create(content));
  if (!archive)
    return;
  Error failed = Error::success();
  for (const object::Archive::Child &child : (*archive)->children(failed)) {
    const auto name = value_if_ok(child.getName());
    const auto member = value_if_ok(child.getMemoryBufferRef());
    if (name && member)
      inspect_object(path + "(" + name->str() + ")", *member, /*member=*/true, inputs);
  }
  consumeError(std::move(failed));
}

} // namespace

LinkInputs inspect_link_inputs(const std::vector<std::string> &paths) {
  LinkInputs inputs;
  for (const std::string &path : paths) {
    if (path.starts_with("?")) {
      inputs.complete = false;
      continue;
    }
    const auto buffer =
        MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer)
      continue;
    const MemoryBufferRef content = (*buffer)->getMemBufferRef();
    if (identify_magic(content.getBuffer()) == file_magic::archive)
      inspect_archive(path, content, inputs);
    else
      inspect_object(path, content, /*member=*/false, inputs);
  }
  return inputs;
}

} // namespace tandem
