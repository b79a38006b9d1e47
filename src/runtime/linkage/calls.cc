// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/linkage/calls.h"

#include "runtime/linkage/lookup.h"
#include "runtime/linkage/objects.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <elf.h>
#include <span>

namespace tandem::linkage {
namespace {

void look_up(const Object &object, std::span<const Object> scope) noexcept {
  for (const ElfW(Rela) & call : std::span(object.calls, object.call_count)) {
    if (ELF64_R_TYPE(call.r_info) != R_X86_64_JUMP_SLOT)
      continue;
    auto *slot = reinterpret_cast<std::uintptr_t *>(object.base + call.r_offset);
    // Not yet looked up: it points to the object's own code that asks the dynamic linker.
    if (__atomic_load_n(slot, __ATOMIC_RELAXED) - object.code_low >=
        object.code_high - object.code_low)
      continue;
    const std::uintptr_t found = function_of(object, ELF64_R_SYM(call.r_info), scope);
    if (found != 0)
      __atomic_store_n(slot, found, __ATOMIC_RELEASE);
  }
}

using IsWanted = bool (*)(const char *name) noexcept;

// Whether one of the entries is about such a function of others.
bool any_wanted(const Object &object, std::span<const ElfW(Rela)> entries,
                IsWanted is_wanted) noexcept {
  return std::any_of(entries.begin(), entries.end(), [&](const ElfW(Rela) & entry) {
    const ElfW(Sym) &symbol = object.symbols[ELF64_R_SYM(entry.r_info)];
    return symbol.st_shndx == SHN_UNDEF && is_wanted(object.names + symbol.st_name);
  });
}

} // namespace

void look_up_calls() noexcept {
  if (std::getenv("LD_AUDIT") != nullptr || std::getenv("LD_PROFILE") != nullptr)
    return;
  const Objects loaded;
  const std::span<const Object> scope = loaded.program();
  for (const Object &object : scope)
    if (!object.eager)
      look_up(object, scope);
}

bool anything_calls(bool (*is_wanted)(const char *name) noexcept) noexcept {
  const Objects loaded;
  const std::span<const Object> objects = loaded.all();
  return std::any_of(objects.begin(), objects.end(), [&](const Object &object) {
    return any_wanted(object, {object.calls, object.call_count}, is_wanted) ||
           any_wanted(object, {object.addresses, object.address_count}, is_wanted);
  });
}

} // namespace tandem::linkage
