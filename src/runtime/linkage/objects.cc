// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/linkage/objects.h"

#include "runtime/memory/pages.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <new>
#include <sys/auxv.h>

// The dynamic linker's. Weak, so that the runtime names no other library for it than the C library.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern r_debug _r_debug __attribute__((weak));

namespace tandem::linkage {
namespace {

template <class T> const T *at(std::uintptr_t address) noexcept {
  return reinterpret_cast<const T *>(address); // NOLINT(performance-no-int-to-ptr)
}

// Without strrchr, which would be looked up whenever a process starts.
const char *file_name(const char *path) noexcept {
  const char *name = path;
  for (; *path != '\0'; ++path)
    if (*path == '/')
      name = path + 1;
  return name;
}

// False: it has no symbols.
bool read_dynamic(Object &object, bool is_writable) noexcept {
  // glibc has added the base to the addresses in there where it could write, but not to those of
  // the tables of versions.
  const std::uintptr_t added = is_writable ? 0 : object.base;
  std::size_t soname = 0;
  for (const ElfW(Dyn) *entry = object.dynamic; entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    switch (entry->d_tag) {
    case DT_JMPREL:
      object.calls = at<ElfW(Rela)>(added + value);
      break;
    case DT_PLTRELSZ:
      object.call_count = value / sizeof(ElfW(Rela));
      break;
    case DT_RELA:
      object.addresses = at<ElfW(Rela)>(added + value);
      break;
    case DT_RELACOUNT:
      object.relative_count = value;
      break;
    case DT_RELASZ:
      object.address_count = value / sizeof(ElfW(Rela));
      break;
    case DT_SYMTAB:
      object.symbols = at<ElfW(Sym)>(added + value);
      break;
    case DT_STRTAB:
      object.names = at<char>(added + value);
      break;
    case DT_VERSYM:
      object.versions = at<ElfW(Half)>(added + value);
      break;
    case DT_VERNEED:
      object.needed = at<ElfW(Verneed)>(object.base + value);
      break;
    case DT_VERNEEDNUM:
      object.needed_count = value;
      break;
    case DT_VERDEF:
      object.defined = at<ElfW(Verdef)>(object.base + value);
      break;
    case DT_VERDEFNUM:
      object.defined_count = value;
      break;
    case DT_GNU_HASH:
      object.gnu_hash = at<std::uint32_t>(added + value);
      break;
    case DT_HASH:
      object.hash = at<std::uint32_t>(added + value);
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
  object.relative_count = std::min(object.relative_count, object.address_count);
  if (object.names != nullptr && soname != 0)
    object.soname = object.names + soname;
  return object.symbols != nullptr && object.names != nullptr;
}

// False: there is nothing of use in it.
bool read(Object &object, const dl_phdr_info &info) noexcept {
  object.base = info.dlpi_addr;
  object.path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
  object.file = file_name(object.path);
  object.parts = info.dlpi_phdr;
  object.part_count = info.dlpi_phnum;
  const std::span parts(object.parts, object.part_count);
  const auto part = std::find_if(parts.begin(), parts.end(),
                                 [](const ElfW(Phdr) & one) { return one.p_type == PT_DYNAMIC; });
  if (part == parts.end())
    return false;
  object.dynamic = at<ElfW(Dyn)>(object.base + part->p_vaddr);
  return read_dynamic(object, (part->p_flags & PF_W) != 0);
}

int count_one(dl_phdr_info *, std::size_t, void *count) noexcept {
  ++*static_cast<std::size_t *>(count);
  return 0;
}

struct Room {
  Object *next;
  Object *end;
  std::uintptr_t kernels; // the kernel's own object is in the list, but nothing is looked for in it
};

int add(dl_phdr_info *info, std::size_t, void *given) noexcept {
  Room &room = *static_cast<Room *>(given);
  if ((room.kernels != 0 && info->dlpi_addr == room.kernels) || room.next == room.end)
    return 0;
  if (Object *object = new (room.next) Object; read(*object, *info))
    ++room.next;
  return 0;
}

template <class Function> void for_each_needed(const Object &object, const Function &function) {
  for (const ElfW(Dyn) *entry = object.dynamic; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED)
      function(object.names + entry->d_un.d_val);
}

} // namespace

bool read_at(std::uintptr_t address, Object &object) noexcept {
  dl_find_object found;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (::_dl_find_object(reinterpret_cast<void *>(address), &found) != 0)
    return false;
  // The file's begin, in memory.
  const auto *file = static_cast<const ElfW(Ehdr) *>(found.dlfo_map_start);
  if (std::memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 || file->e_phentsize != sizeof(ElfW(Phdr)))
    return false;
  dl_phdr_info info = {};
  info.dlpi_addr = found.dlfo_link_map->l_addr;
  info.dlpi_name = found.dlfo_link_map->l_name;
  info.dlpi_phdr = at<ElfW(Phdr)>(reinterpret_cast<std::uintptr_t>(file) + file->e_phoff);
  info.dlpi_phnum = file->e_phnum;
  return read(object, info);
}

bool has(const Object &object, std::uintptr_t address, unsigned flags) noexcept {
  const std::span parts(object.parts, object.part_count);
  return std::any_of(parts.begin(), parts.end(), [&](const ElfW(Phdr) & part) {
    return part.p_type == PT_LOAD && (part.p_flags & flags) == flags &&
           address - object.base - part.p_vaddr < part.p_memsz;
  });
}

Objects::Objects() noexcept {
  std::size_t most = 0;
  ::dl_iterate_phdr(count_one, &most);
  if (most == 0)
    return;
  bytes_ = most * sizeof(Object);
  objects_ = static_cast<Object *>(memory::allocate_pages(bytes_, "the list of libraries"));
  Room room{objects_, objects_ + most, ::getauxval(AT_SYSINFO_EHDR)};
  ::dl_iterate_phdr(add, &room);
  count_ = static_cast<std::size_t>(room.next - objects_);
}

Objects::~Objects() {
  if (objects_ != nullptr && !is_kept_)
    memory::release_pages(objects_, bytes_);
}

// The library that is what an object needs by this name.
Object *Objects::find(const char *name) const noexcept {
  const char *file = file_name(name);
  Object *found = std::find_if(objects_, objects_ + count_, [&](const Object &other) {
    return (other.soname != nullptr && std::strcmp(other.soname, name) == 0) ||
           std::strcmp(other.file, file) == 0;
  });
  return found == objects_ + count_ ? nullptr : found;
}

// The list begins with the program and what was preloaded; then come the libraries that an object
// needs, object by object, and at last those that were loaded later. So what the program was
// started with ends with the last library that something before it needs.
std::span<const Object> Objects::program() const noexcept {
  std::size_t last = 0;
  for (std::size_t i = 0; i <= last && i < count_; ++i)
    for_each_needed(objects_[i], [&](const char *name) {
      if (const Object *found = find(name); found != nullptr)
        last = std::max(last, static_cast<std::size_t>(found - objects_));
    });
  // A program without any library, or whose own dynamic section could not be read, has nothing to
  // be looked for.
  return last == 0 || objects_[0].path[0] != '\0' ? std::span<const Object>()
                                                  : std::span<const Object>(objects_, last + 1);
}

namespace {
constinit std::span<const Object> kept;
} // namespace

void Objects::keep_started() noexcept {
  kept = program();
  is_kept_ = true;
}

std::span<const Object> started() noexcept { return kept; }

bool Objects::are_watched() noexcept { return &_r_debug != nullptr && _r_debug.r_version > 1; }

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
