// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/transaction/calls.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

namespace tandem::transaction {
namespace {

// Objects that the process has ever loaded, when it was done last.
constinit std::atomic<unsigned long long> done{0};

// What an object's dynamic section says. Source: System V ABI, chapter 5, and its supplement for
// x86-64; the GNU symbol versions of the LSB.
struct Dynamic {
  const ElfW(Rela) *calls = nullptr;
  std::size_t count = 0;
  const ElfW(Sym) *symbols = nullptr;
  const char *names = nullptr;
  const ElfW(Half) *versions = nullptr; // of each symbol
  const ElfW(Verneed) *needed = nullptr;
  std::size_t needed_count = 0;
  bool eager = false;     // the dynamic linker has looked up all of its calls
  bool own_first = false; // it finds its own functions before others'
};

// glibc has added the object's address to most of the addresses in there.
template <class T> const T *at(std::uintptr_t base, ElfW(Addr) address) noexcept {
  return reinterpret_cast<const T *>(address < base ? base + address : address);
}

Dynamic read(std::uintptr_t base, const ElfW(Dyn) * entry) noexcept {
  Dynamic found;
  for (; entry->d_tag != DT_NULL; ++entry)
    switch (entry->d_tag) {
    case DT_JMPREL:
      found.calls = at<ElfW(Rela)>(base, entry->d_un.d_ptr);
      break;
    case DT_PLTRELSZ:
      found.count = entry->d_un.d_val / sizeof(ElfW(Rela));
      break;
    case DT_SYMTAB:
      found.symbols = at<ElfW(Sym)>(base, entry->d_un.d_ptr);
      break;
    case DT_STRTAB:
      found.names = at<char>(base, entry->d_un.d_ptr);
      break;
    case DT_VERSYM:
      found.versions = at<ElfW(Half)>(base, entry->d_un.d_ptr);
      break;
    case DT_VERNEED:
      found.needed = at<ElfW(Verneed)>(base, entry->d_un.d_ptr);
      break;
    case DT_VERNEEDNUM:
      found.needed_count = entry->d_un.d_val;
      break;
    case DT_BIND_NOW:
      found.eager = true;
      break;
    case DT_SYMBOLIC:
      found.own_first = true;
      break;
    case DT_FLAGS:
      found.eager = found.eager || (entry->d_un.d_val & DF_BIND_NOW) != 0;
      found.own_first = found.own_first || (entry->d_un.d_val & DF_SYMBOLIC) != 0;
      break;
    case DT_FLAGS_1:
      found.eager = found.eager || (entry->d_un.d_val & DF_1_NOW) != 0;
      break;
    default:
      break;
    }
  return found;
}

// The version of a function that the object wants, by its number; null: none.
const char *version(const Dynamic &object, unsigned number) noexcept {
  const auto *need = object.needed;
  for (std::size_t i = 0; i < object.needed_count && need != nullptr; ++i) {
    const auto *start = reinterpret_cast<const char *>(need);
    const auto *wanted = reinterpret_cast<const ElfW(Vernaux) *>(start + need->vn_aux);
    for (unsigned j = 0; j < need->vn_cnt; ++j) {
      if ((wanted->vna_other & 0x7fffU) == number)
        return object.names + wanted->vna_name;
      wanted = reinterpret_cast<const ElfW(Vernaux) *>(reinterpret_cast<const char *>(wanted) +
                                                       wanted->vna_next);
    }
    need = reinterpret_cast<const ElfW(Verneed) *>(start + need->vn_next);
  }
  return nullptr;
}

struct Code {
  std::uintptr_t low;
  std::uintptr_t high;
};

void look_up(const Dynamic &object, std::uintptr_t base, Code code) noexcept {
  for (std::size_t i = 0; i < object.count; ++i) {
    const ElfW(Rela) &call = object.calls[i];
    if (ELF64_R_TYPE(call.r_info) != R_X86_64_JUMP_SLOT)
      continue;
    const std::size_t index = ELF64_R_SYM(call.r_info);
    auto *slot = reinterpret_cast<std::uintptr_t *>(base + call.r_offset);
    // Not yet looked up: it points to the object's own code that asks the dynamic linker.
    const std::uintptr_t present = __atomic_load_n(slot, __ATOMIC_RELAXED);
    const ElfW(Sym) &symbol = object.symbols[index];
    if (present - code.low >= code.high - code.low || symbol.st_shndx != SHN_UNDEF)
      continue;
    const char *name = object.names + symbol.st_name;
    const unsigned number = object.versions == nullptr ? 0 : object.versions[index] & 0x7fffU;
    const char *wanted = number > VER_NDX_GLOBAL ? version(object, number) : nullptr;
    void *function = wanted != nullptr
                         ? ::dlvsym(RTLD_DEFAULT, name, wanted)
                         : (number > VER_NDX_GLOBAL ? nullptr : ::dlsym(RTLD_DEFAULT, name));
    // Where a program that is not position-independent takes a function's address, that is the
    // program's own code which jumps to what the slot has.
    const auto found = reinterpret_cast<std::uintptr_t>(function);
    if (found != 0 && found - code.low >= code.high - code.low)
      __atomic_store_n(slot, found, __ATOMIC_RELEASE);
  }
}

int visit(dl_phdr_info *object, std::size_t, void *) noexcept {
  const ElfW(Dyn) *dynamic = nullptr;
  Code code{~std::uintptr_t{0}, 0};
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = object->dlpi_phdr[i];
    const std::uintptr_t start = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const ElfW(Dyn) *>(start);
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) {
      code.low = code.low < start ? code.low : start;
      code.high = code.high > start + part.p_memsz ? code.high : start + part.p_memsz;
    }
  }
  if (dynamic == nullptr)
    return 0;
  const Dynamic found = read(object->dlpi_addr, dynamic);
  // The kernel's object has addresses that nobody has added anything to; it calls nothing.
  if (found.calls != nullptr && found.symbols != nullptr && found.names != nullptr &&
      !found.eager && !found.own_first)
    look_up(found, object->dlpi_addr, code);
  return 0;
}

int count(dl_phdr_info *object, std::size_t, void *loaded) noexcept {
  *static_cast<unsigned long long *>(loaded) = object->dlpi_adds;
  return 1;
}

} // namespace

void look_up_calls() noexcept {
  unsigned long long loaded = 0;
  ::dl_iterate_phdr(count, &loaded);
  if (done.exchange(loaded, std::memory_order_relaxed) != loaded)
    ::dl_iterate_phdr(visit, nullptr);
}

} // namespace tandem::transaction
