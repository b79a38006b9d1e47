// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/linkage/calls.h"

#include "runtime/linkage/lookup.h"
#include "runtime/linkage/objects.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
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

// Whether one of the entries is about such a function of others.
bool any_wanted(const Object &object, std::span<const ElfW(Rela)> entries,
                IsWanted is_wanted) noexcept {
  return std::any_of(entries.begin(), entries.end(), [&](const ElfW(Rela) & entry) {
    const ElfW(Sym) &symbol = object.symbols[ELF64_R_SYM(entry.r_info)];
    return symbol.st_shndx == SHN_UNDEF && is_wanted(object.names + symbol.st_name);
  });
}

bool asks_for(const Object &object, IsWanted is_wanted) noexcept {
  return any_wanted(object, {object.calls, object.call_count}, is_wanted) ||
         any_wanted(object, {object.addresses, object.address_count}, is_wanted);
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

bool anything_calls(IsWanted is_wanted) noexcept {
  const Objects loaded;
  const std::span<const Object> objects = loaded.all();
  return std::any_of(objects.begin(), objects.end(),
                     [&](const Object &object) { return asks_for(object, is_wanted); });
}

bool calls_from(std::uintptr_t address, IsWanted is_wanted, Place &place) noexcept {
  dl_find_object found;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (::_dl_find_object(reinterpret_cast<void *>(address), &found) != 0)
    return false;
  place.low = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  place.bytes = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end) - place.low;
  Object object;
  return read(object, *found.dlfo_link_map) && asks_for(object, is_wanted);
}

} // namespace tandem::linkage
