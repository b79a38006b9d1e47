// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/linkage/lookup.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <iterator>

namespace tandem::linkage {
namespace {

// glibc's libraries, whose functions are chosen by what the dynamic linker knows of the processor.
// Others may choose by what their constructors find out, and these may not have run.
constexpr const char *kChooseByProcessor[] = {"libc.so.6", "libm.so.6", "libmvec.so.1"};

bool chooses_by_processor(const Object &object) noexcept {
  return object.soname != nullptr &&
         std::any_of(std::begin(kChooseByProcessor), std::end(kChooseByProcessor),
                     [&](const char *name) { return std::strcmp(object.soname, name) == 0; });
}

struct Wanted {
  const char *name;
  const char *version;       // null: any
  bool for_pointers = false; // the default version, and the address that the program has of it
};

std::uint32_t gnu_hash_of(const char *name) noexcept {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name)
    hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

std::uint32_t hash_of(const char *name) noexcept {
  std::uint32_t hash = 0;
  for (; *name != '\0'; ++name) {
    hash = (hash << 4) + static_cast<unsigned char>(*name);
    hash = (hash ^ ((hash & 0xf000'0000) >> 24)) & 0x0fff'ffff;
  }
  return hash;
}

// Of an object, where no version is wanted: the only one that has one, if all have.
struct Versioned {
  const ElfW(Sym) *symbol = nullptr;
  unsigned count = 0;
};

// Whether the symbol is a definition of what is wanted.
bool fits(const Object &object, std::size_t index, const Wanted &wanted,
          Versioned &versioned) noexcept {
  const ElfW(Sym) &symbol = object.symbols[index];
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  if ((symbol.st_shndx == SHN_UNDEF && !wanted.for_pointers) ||
      (symbol.st_value == 0 && symbol.st_shndx != SHN_ABS) ||
      (type > STT_FUNC && type != STT_COMMON && type != STT_GNU_IFUNC) ||
      std::strcmp(object.names + symbol.st_name, wanted.name) != 0)
    return false;
  if (object.versions == nullptr)
    return true;
  const bool is_hidden = (object.versions[index] & 0x8000U) != 0;
  const unsigned number = object.versions[index] & 0x7fffU;
  if (wanted.version != nullptr) {
    const char *version = version_of(object, index);
    return version == nullptr ? !is_hidden : std::strcmp(version, wanted.version) == 0;
  }
  // Calls without a version are of the first one that the object ever had.
  if (number <= (wanted.for_pointers ? VER_NDX_GLOBAL : VER_NDX_GLOBAL + 1))
    return true;
  if (!is_hidden && versioned.count++ == 0)
    versioned.symbol = &symbol;
  return false;
}

const ElfW(Sym) * find_by_gnu_hash(const Object &object, const Wanted &wanted, std::uint32_t hash,
                                   Versioned &versioned) noexcept {
  const std::uint32_t bucket_count = object.gnu_hash[0];
  const std::uint32_t first = object.gnu_hash[1];
  const std::uint32_t word_count = object.gnu_hash[2];
  const auto *words = reinterpret_cast<const std::uint64_t *>(object.gnu_hash + 4);
  const auto *buckets = reinterpret_cast<const std::uint32_t *>(words + word_count);
  const std::uint32_t *chains = buckets + bucket_count;
  if (bucket_count == 0 || word_count == 0)
    return nullptr;
  const std::uint64_t word = words[hash / 64 & (word_count - 1)];
  if ((word >> hash % 64 & word >> (hash >> object.gnu_hash[3]) % 64 & 1) == 0)
    return nullptr;
  std::uint32_t index = buckets[hash % bucket_count];
  if (index < first)
    return nullptr;
  for (;; ++index) {
    const std::uint32_t there = chains[index - first];
    if ((there | 1) == (hash | 1) && fits(object, index, wanted, versioned))
      return &object.symbols[index];
    if ((there & 1) != 0)
      return nullptr;
  }
}

const ElfW(Sym) *
    find_by_hash(const Object &object, const Wanted &wanted, Versioned &versioned) noexcept {
  const std::uint32_t bucket_count = object.hash[0];
  const std::uint32_t *buckets = object.hash + 2;
  const std::uint32_t *chains = buckets + bucket_count;
  if (bucket_count == 0)
    return nullptr;
  for (std::uint32_t index = buckets[hash_of(wanted.name) % bucket_count]; index != STN_UNDEF;
       index = chains[index])
    if (fits(object, index, wanted, versioned))
      return &object.symbols[index];
  return nullptr;
}

// Null: the object does not define it for others.
const ElfW(Sym) * find(const Object &object, const Wanted &wanted, std::uint32_t hash) noexcept {
  Versioned versioned;
  const ElfW(Sym) *found = nullptr;
  if (object.gnu_hash != nullptr)
    found = find_by_gnu_hash(object, wanted, hash, versioned);
  else if (object.hash != nullptr)
    found = find_by_hash(object, wanted, versioned);
  if (found == nullptr && versioned.count == 1)
    found = versioned.symbol;
  if (found == nullptr || ELF64_ST_BIND(found->st_info) == STB_LOCAL ||
      ELF64_ST_VISIBILITY(found->st_other) == STV_HIDDEN ||
      ELF64_ST_VISIBILITY(found->st_other) == STV_INTERNAL)
    return nullptr;
  return found;
}

std::uintptr_t address_of(const Object &object, const ElfW(Sym) & symbol,
                          bool for_pointers) noexcept {
  const unsigned binding = ELF64_ST_BIND(symbol.st_info);
  if (binding != STB_GLOBAL && binding != STB_WEAK)
    return 0; // one in the whole process, by a table of the dynamic linker
  const std::uintptr_t address =
      symbol.st_shndx == SHN_ABS ? symbol.st_value : object.base + symbol.st_value;
  if (ELF64_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC)
    return address;
  // Where the program has a pointer, the dynamic linker has had it chosen already.
  if (!for_pointers && !chooses_by_processor(object))
    return 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<std::uintptr_t (*)()>(address)();
}

std::uintptr_t first_in(std::span<const Object> scope, const Wanted &wanted,
                        std::uint32_t hash) noexcept {
  for (const Object &object : scope)
    if (const ElfW(Sym) *found = find(object, wanted, hash); found != nullptr)
      return address_of(object, *found, wanted.for_pointers);
  return 0;
}

} // namespace

std::uintptr_t function_of(const Object &from, std::size_t symbol,
                           std::span<const Object> scope) noexcept {
  const ElfW(Sym) &caller = from.symbols[symbol];
  if (ELF64_ST_VISIBILITY(caller.st_other) != STV_DEFAULT)
    return 0;
  const Wanted wanted = {from.names + caller.st_name, version_of(from, symbol)};
  const std::uint32_t hash = gnu_hash_of(wanted.name);
  if (from.own_first)
    if (const ElfW(Sym) *found = find(from, wanted, hash); found != nullptr)
      return address_of(from, *found, wanted.for_pointers);
  return first_in(scope, wanted, hash);
}

std::uintptr_t function_named(const char *name, std::span<const Object> scope) noexcept {
  return first_in(scope, {name, nullptr, true}, gnu_hash_of(name));
}

} // namespace tandem::linkage
