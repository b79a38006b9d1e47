// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/linkage/calls.h"

#include "runtime/linkage/lookup.h"
#include "runtime/linkage/objects.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <iterator>
#include <span>

namespace tandem::linkage {
namespace {

// What tells the dynamic linker to treat calls in its own way.
#if defined(__x86_64__)
constexpr unsigned kCallSlot = R_X86_64_JUMP_SLOT;
#else
constexpr unsigned kCallSlot = R_RISCV_JUMP_SLOT;
#endif

constexpr const char *kOtherwise[] = {"LD_AUDIT", "LD_PROFILE", "LD_BIND_NOT", "LD_DYNAMIC_WEAK"};

// Whether the slot of the object's call by that index was not looked up: it has the address of the
// object's own code that asks the dynamic linker, which pushes the index.
bool asks(const Object &object, std::uintptr_t value, std::size_t index) noexcept {
  constexpr unsigned char kBranchTarget[] = {0xf3, 0x0f, 0x1e, 0xfa};
  constexpr unsigned char kPush = 0x68;
  constexpr std::size_t kMost = sizeof kBranchTarget + 1 + sizeof(std::uint32_t);
  if (!has(object, value, PF_X) || !has(object, value + kMost, PF_X))
    return false;
  const auto *code = reinterpret_cast<const unsigned char *>(value);
  if (std::memcmp(code, kBranchTarget, sizeof kBranchTarget) == 0)
    code += sizeof kBranchTarget;
  std::uint32_t pushed = 0;
  std::memcpy(&pushed, code + 1, sizeof pushed);
  return *code == kPush && pushed == index;
}

void look_up(const Object &object, std::span<const Object> scope) noexcept {
  for (std::size_t i = 0; i < object.call_count; ++i) {
    const ElfW(Rela) &call = object.calls[i];
    if (ELF64_R_TYPE(call.r_info) != kCallSlot)
      continue;
    auto *slot = reinterpret_cast<std::uintptr_t *>(object.base + call.r_offset);
    std::uintptr_t seen = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (!asks(object, seen, i))
      continue;
    const std::uintptr_t found = function_of(object, ELF64_R_SYM(call.r_info), scope);
    // Another thread's call may have had the dynamic linker fill it in meanwhile.
    if (found != 0)
      __atomic_compare_exchange_n(slot, &seen, found, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  }
}

} // namespace

bool decides_alone() noexcept {
  return Objects::are_watched() ||
         std::any_of(std::begin(kOtherwise), std::end(kOtherwise), [](const char *name) {
           const char *value = std::getenv(name);
           return value != nullptr && *value != '\0';
         });
}

void look_up_calls(std::span<const Object> started) noexcept {
  for (const Object &object : started)
    if (!object.eager)
      look_up(object, started);
}

unsigned kinds_asked_for(const Object &object, KindOf kind_of) noexcept {
  unsigned kinds = 0;
  const auto add = [&](const ElfW(Rela) & entry) {
    const std::size_t index = ELF64_R_SYM(entry.r_info);
    const ElfW(Sym) &symbol = object.symbols[index];
    // A program that is not position-independent has a value for what it takes the address of.
    const bool is_call = ELF64_R_TYPE(entry.r_info) == kCallSlot && symbol.st_value == 0;
    if (index != STN_UNDEF && symbol.st_shndx == SHN_UNDEF)
      kinds |= kind_of(object.names + symbol.st_name, !is_call);
  };
  std::for_each(object.calls, object.calls + object.call_count, add);
  std::for_each(object.addresses + object.relative_count, object.addresses + object.address_count,
                add);
  return kinds;
}

} // namespace tandem::linkage
