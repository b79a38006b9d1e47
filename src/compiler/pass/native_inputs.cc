// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pass/native_inputs.h"

#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tandem {
namespace {

using namespace llvm;

void archive_members(const std::string &path, MemoryBufferRef buffer,
                     std::vector<std::string> &found) {
  Expected<std::unique_ptr<object::Archive>> archive = object::Archive::create(buffer);
  if (!archive) {
    consumeError(archive.takeError()); // lld says what is wrong with it
    return;
  }
  Error failed = Error::success();
  for (const object::Archive::Child &child : (*archive)->children(failed)) {
    Expected<StringRef> content = child.getBuffer();
    Expected<StringRef> name = child.getName();
    if (content && name && identify_magic(*content) == file_magic::elf_relocatable)
      found.push_back(path + "(" + name->str() + ")");
    if (!content)
      consumeError(content.takeError());
    if (!name)
      consumeError(name.takeError());
  }
  consumeError(std::move(failed));
}

} // namespace

std::vector<std::string> native_inputs(const std::vector<std::string> &inputs) {
  std::vector<std::string> found;
  for (const std::string &path : inputs) {
    const auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer)
      continue;
    const MemoryBufferRef content = (*buffer)->getMemBufferRef();
    const file_magic magic = identify_magic(content.getBuffer());
    if (magic == file_magic::elf_relocatable)
      found.push_back(path);
    else if (magic == file_magic::archive)
      archive_members(path, content, found);
  }
  return found;
}

} // namespace tandem
