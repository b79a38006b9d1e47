// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/linkage/objects.h"

#include "runtime/memory/pages.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <new>
#include <sys/auxv.h>

namespace tandem::linkage {
namespace {

// glibc has added the object's address to some of the addresses in there.
template <class T> const T *at(std::uintptr_t base, ElfW(Addr) address) noexcept {
  return reinterpret_cast<const T *>(address < base ? base + address : address);
}

// False: it has no symbols.
bool read_dynamic(Object &object) noexcept {
  std::size_t soname = 0;
  for (const ElfW(Dyn) *entry = object.dynamic; entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    switch (entry->d_tag) {
    case DT_JMPREL:
      object.calls = at<ElfW(Rela)>(object.base, value);
      break;
    case DT_PLTRELSZ:
      object.call_count = value / sizeof(ElfW(Rela));
      break;
    case DT_RELA:
      object.addresses = at<ElfW(Rela)>(object.base, value);
      break;
    case DT_RELASZ:
      object.address_count = value / sizeof(ElfW(Rela));
      break;
    case DT_SYMTAB:
      object.symbols = at<ElfW(Sym)>(object.base, value);
      break;
    case DT_STRTAB:
      object.names = at<char>(object.base, value);
      break;
    case DT_VERSYM:
      object.versions = at<ElfW(Half)>(object.base, value);
      break;
    case DT_VERNEED:
      object.needed = at<ElfW(Verneed)>(object.base, value);
      break;
    case DT_VERNEEDNUM:
      object.needed_count = value;
      break;
    case DT_VERDEF:
      object.defined = at<ElfW(Verdef)>(object.base, value);
      break;
    case DT_VERDEFNUM:
      object.defined_count = value;
      break;
    case DT_GNU_HASH:
      object.gnu_hash = at<std::uint32_t>(object.base, value);
      break;
    case DT_HASH:
      object.hash = at<std::uint32_t>(object.base, value);
      break;
    case DT_SONAME:
      soname = value;
      break;
    case DT_BIND_NOW:
      object.eager = true;
      break;
    case DT_SYMBOLIC:
      object.own_first = true;
      break;
    case DT_FLAGS:
      object.eager = object.eager || (value & DF_BIND_NOW) != 0;
      object.own_first = object.own_first || (value & DF_SYMBOLIC) != 0;
      break;
    case DT_FLAGS_1:
      object.eager = object.eager || (value & DF_1_NOW) != 0;
      break;
    default:
      break;
    }
  }
  if (object.calls == nullptr)
    object.call_count = 0;
  if (object.addresses == nullptr)
    object.address_count = 0;
  if (object.names != nullptr && soname != 0)
    object.soname = object.names + soname;
  return object.symbols != nullptr && object.names != nullptr;
}

// False: there is nothing of use in it.
bool read(Object &object, const dl_phdr_info &info) noexcept {
  object.base = info.dlpi_addr;
  object.path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = info.dlpi_phdr[i];
    const std::uintptr_t start = info.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_DYNAMIC)
      object.dynamic = reinterpret_cast<const ElfW(Dyn) *>(start);
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) {
      object.code_low = std::min(object.code_low, start);
      object.code_high = std::max(object.code_high, start + part.p_memsz);
    }
  }
  return object.dynamic != nullptr && read_dynamic(object);
}

int count_one(dl_phdr_info *, std::size_t, void *count) noexcept {
  ++*static_cast<std::size_t *>(count);
  return 0;
}

struct Room {
  Object *next;
  Object *end;
};

int add(dl_phdr_info *info, std::size_t, void *given) noexcept {
  Room &room = *static_cast<Room *>(given);
  // The kernel's own object is in the list, but nothing is looked for in it.
  if (info->dlpi_addr == ::getauxval(AT_SYSINFO_EHDR) || room.next == room.end)
    return 0;
  if (Object *object = new (room.next) Object; read(*object, *info))
    ++room.next;
  return 0;
}

const char *file_name(const char *path) noexcept {
  const char *slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// Whether the library is what an object needs by this name.
bool is_named(const Object &object, const char *name) noexcept {
  return (object.soname != nullptr && std::strcmp(object.soname, name) == 0) ||
         std::strcmp(file_name(object.path), file_name(name)) == 0;
}

} // namespace

bool read(Object &object, const link_map &entry) noexcept {
  object.base = entry.l_addr;
  object.path = entry.l_name == nullptr ? "" : entry.l_name;
  object.dynamic = entry.l_ld;
  return object.dynamic != nullptr && read_dynamic(object);
}

Objects::Objects() noexcept {
  std::size_t most = 0;
  ::dl_iterate_phdr(count_one, &most);
  if (most == 0)
    return;
  bytes_ = most * sizeof(Object);
  objects_ = static_cast<Object *>(memory::allocate_pages(bytes_, "the list of libraries"));
  Room room{objects_, objects_ + most};
  ::dl_iterate_phdr(add, &room);
  count_ = static_cast<std::size_t>(room.next - objects_);
}

Objects::~Objects() {
  if (objects_ != nullptr)
    memory::release_pages(objects_, bytes_);
}

// The list begins with the program and what was preloaded; then come the libraries that an object
// needs, object by object, and at last those that were loaded later. So what the program was
// started with ends with the last library that something before it needs.
std::span<const Object> Objects::program() const noexcept {
  std::size_t last = 0;
  for (std::size_t i = 0; i <= last && i < count_; ++i)
    for (const ElfW(Dyn) *entry = objects_[i].dynamic; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag != DT_NEEDED)
        continue;
      const char *name = objects_[i].names + entry->d_un.d_val;
      const Object *found = std::find_if(
          objects_, objects_ + count_, [&](const Object &other) { return is_named(other, name); });
      if (found != objects_ + count_)
        last = std::max(last, static_cast<std::size_t>(found - objects_));
    }
  // A program without any library, or whose own dynamic section could not be read, has nothing to
  // be looked for.
  return last == 0 || objects_[0].path[0] != '\0' ? std::span<const Object>()
                                                  : std::span<const Object>(objects_, last + 1);
}

const char *version_of(const Object &object, std::size_t symbol) noexcept {
  if (object.versions == nullptr)
    return nullptr;
  constexpr unsigned kNumber = 0x7fff; // the highest bit: not the default one
  const unsigned number = object.versions[symbol] & kNumber;
  if (number <= VER_NDX_GLOBAL)
    return nullptr;
  const auto *need = reinterpret_cast<const char *>(object.needed);
  for (std::size_t i = 0; i < object.needed_count && need != nullptr; ++i) {
    const auto *library = reinterpret_cast<const ElfW(Verneed) *>(need);
    const char *place = need + library->vn_aux;
    for (unsigned j = 0; j < library->vn_cnt; ++j) {
      const auto *wanted = reinterpret_cast<const ElfW(Vernaux) *>(place);
      if ((wanted->vna_other & kNumber) == number)
        return object.names + wanted->vna_name;
      place += wanted->vna_next;
    }
    need += library->vn_next;
  }
  const auto *define = reinterpret_cast<const char *>(object.defined);
  for (std::size_t i = 0; i < object.defined_count && define != nullptr; ++i) {
    const auto *version = reinterpret_cast<const ElfW(Verdef) *>(define);
    // The first one is the name of the object itself.
    if (version->vd_ndx == number && (version->vd_flags & VER_FLG_BASE) == 0)
      return object.names +
             reinterpret_cast<const ElfW(Verdaux) *>(define + version->vd_aux)->vda_name;
    define += version->vd_next;
  }
  return nullptr;
}

} // namespace tandem::linkage
