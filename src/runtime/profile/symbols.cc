// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sources: ELF-64 object file format; DWARF 5, section 6.2 (line number information); GDB's manual,
// "Separate debug files"; debuginfod_find_debuginfo(3), on its cache.
#include "runtime/profile/symbols.h"

#include "runtime/memory/log.h"
#include "runtime/profile/line_table.h"
#include "runtime/settings/environment.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tandem::profile {
namespace {

bool by_address(const Place &a, const Place &b) { return a.address < b.address; }

// The file of a module, mapped; never unmapped, because names point into it.
class File {
public:
  explicit File(const char *path) noexcept {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
      return;
    struct stat status;
    if (::fstat(file, &status) == 0 && status.st_size > static_cast<off_t>(sizeof(Elf64_Ehdr))) {
      bytes_ = static_cast<std::size_t>(status.st_size);
      void *start = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
      start_ = start == MAP_FAILED ? nullptr : static_cast<const std::uint8_t *>(start);
    }
    ::close(file);
    if (start_ != nullptr && !is_elf())
      start_ = nullptr;
  }

  // An empty span where there is no such section, or it cannot be read.
  [[nodiscard]] Span section(const char *name) const noexcept {
    const Elf64_Shdr *found = header_of(name);
    return found == nullptr ? Span() : content(*found);
  }
  [[nodiscard]] const Elf64_Shdr *header_of(const char *name) const noexcept {
    if (start_ == nullptr)
      return nullptr;
    const Elf64_Ehdr &elf = *reinterpret_cast<const Elf64_Ehdr *>(start_);
    const auto *headers = reinterpret_cast<const Elf64_Shdr *>(start_ + elf.e_shoff);
    const Span names = content(headers[elf.e_shstrndx]);
    for (std::size_t i = 0; i < elf.e_shnum; ++i)
      if (headers[i].sh_name < names.size &&
          std::strcmp(reinterpret_cast<const char *>(names.start) + headers[i].sh_name, name) == 0)
        return &headers[i];
    return nullptr;
  }
  [[nodiscard]] Span content(const Elf64_Shdr &header) const noexcept {
    if (header.sh_type == SHT_NOBITS || (header.sh_flags & SHF_COMPRESSED) != 0 ||
        header.sh_offset > bytes_ || header.sh_size > bytes_ - header.sh_offset)
      return {};
    return {start_ + header.sh_offset, static_cast<std::size_t>(header.sh_size)};
  }
  [[nodiscard]] bool readable() const noexcept { return start_ != nullptr; }

private:
  [[nodiscard]] bool is_elf() const noexcept {
    const Elf64_Ehdr &elf = *reinterpret_cast<const Elf64_Ehdr *>(start_);
    return std::memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 && elf.e_ident[EI_CLASS] == ELFCLASS64 &&
           elf.e_shentsize == sizeof(Elf64_Shdr) && elf.e_shoff <= bytes_ &&
           elf.e_shnum * sizeof(Elf64_Shdr) <= bytes_ - elf.e_shoff && elf.e_shstrndx < elf.e_shnum;
  }

  const std::uint8_t *start_ = nullptr;
  std::size_t bytes_ = 0;
};

// The places of one module: begin to end are within `low` to `high`.
struct Range {
  Place *begin;
  Place *end;
};

void find_symbols(const File &file, const char *table, const char *strings, std::uint64_t base,
                  Range range) noexcept {
  const Span names = file.section(strings);
  const Span entries = file.section(table);
  if (names.size == 0)
    return;
  const auto *symbols = reinterpret_cast<const Elf64_Sym *>(entries.start);
  for (std::size_t i = 0; i < entries.size / sizeof(Elf64_Sym); ++i) {
    const Elf64_Sym &symbol = symbols[i];
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    const bool data = type == STT_OBJECT;
    if ((!data && type != STT_FUNC) || symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size)
      continue;
    const std::uint64_t start = base + symbol.st_value;
    Place key;
    key.address = start;
    for (Place *place = std::lower_bound(range.begin, range.end, key, by_address);
         place != range.end && place->address < start + symbol.st_size; ++place) {
      if (place->data != data)
        continue;
      place->symbol = reinterpret_cast<const char *>(names.start) + symbol.st_name;
      place->offset = place->address - start;
    }
  }
}

const char *file_name(const char *path) noexcept {
  const char *slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

char program_path[4096]; // find_program

// The module's build-id as digits, by malloc; empty where it has none.
const char *build_id_of(const File &file) noexcept {
  const Span note = file.section(".note.gnu.build-id");
  if (note.size < sizeof(Elf64_Nhdr))
    return "";
  const auto &header = *reinterpret_cast<const Elf64_Nhdr *>(note.start);
  const std::size_t begin = sizeof header + ((header.n_namesz + 3U) & ~3U);
  if (header.n_type != NT_GNU_BUILD_ID || begin > note.size || header.n_descsz > note.size - begin)
    return "";
  auto *digits = static_cast<char *>(std::malloc(2 * header.n_descsz + 1));
  if (digits == nullptr)
    return "";
  digits[0] = '\0';
  for (std::size_t i = 0; i < header.n_descsz; ++i)
    std::snprintf(digits + 2 * i, 3, "%02x", note.start[begin + i]);
  return digits;
}

// What the module's symbols and lines say of the places.
bool find_names(const File &file, std::uint64_t base, Range range) noexcept {
  find_symbols(file, ".symtab", ".strtab", base, range);
  const LineSections lines = {file.section(".debug_line"), file.section(".debug_str"),
                              file.section(".debug_line_str")};
  find_lines(lines, base, range.begin, range.end);
  return file.section(".symtab").size != 0;
}

// The separate debug file with that build-id, where the machine has it.
void find_in_debug_file(const char *id, std::uint64_t base, Range range) noexcept {
  if (std::strlen(id) < 3)
    return;
  const auto look = [&](const char *format, const char *folder, const char *first,
                        const char *rest) {
    char path[4096];
    if (folder == nullptr || *folder != '/' ||
        std::snprintf(path, sizeof path, format, folder, first, rest) >=
            static_cast<int>(sizeof path))
      return false;
    const File file(path);
    return file.readable() && find_names(file, base, range);
  };
  const char two[] = {id[0], id[1], '\0'};
  if (look("%s/.build-id/%s/%s.debug", "/usr/lib/debug", two, id + 2))
    return;
  const char *kept = variable("DEBUGINFOD_CACHE_PATH");
  const char *caches = variable("XDG_CACHE_HOME");
  if (look("%s/%s%s/debuginfo", kept, id, "") ||
      look("%s/debuginfod_client/%s%s/debuginfo", caches, id, ""))
    return;
  look("%s/.cache/debuginfod_client/%s%s/debuginfo", variable("HOME"), id, "");
}

void find_in_file(const char *path, std::uint64_t base, Range range) noexcept {
  const char *name = ::strdup(file_name(path));
  for (Place *place = range.begin; place != range.end; ++place) {
    place->output = name != nullptr ? name : "";
    place->offset = place->address - base;
  }
  const File file(path);
  if (!file.readable())
    return;
  const char *id = build_id_of(file);
  for (Place *place = range.begin; place != range.end; ++place)
    place->build_id = id;
  find_symbols(file, ".dynsym", ".dynstr", base, range);
  if (!find_names(file, base, range))
    find_in_debug_file(id, base, range);
}

struct Request {
  Place *places;
  std::size_t count;
};

int visit_module(dl_phdr_info *module, std::size_t, void *argument) noexcept {
  const auto &request = *static_cast<const Request *>(argument);
  const char *path = *module->dlpi_name != '\0' ? module->dlpi_name : program_path;
  std::uint64_t low = UINT64_MAX;
  std::uint64_t high = 0;
  for (std::size_t i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = module->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD)
      continue;
    low = std::min(low, module->dlpi_addr + segment.p_vaddr);
    high = std::max(high, module->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  Place key;
  key.address = low;
  Place *last = request.places + request.count;
  Range range{std::lower_bound(request.places, last, key, by_address), nullptr};
  key.address = high;
  range.end = std::lower_bound(range.begin, last, key, by_address);
  if (low > high || range.begin == range.end)
    return 0;
  find_in_file(path, module->dlpi_addr, range);
  return 0;
}

void find_program() noexcept {
  const ssize_t length = ::readlink("/proc/thread-self/exe", program_path, sizeof program_path - 1);
  program_path[length > 0 ? length : 0] = '\0';
}

} // namespace

void find_places(Place *places, std::size_t count) noexcept {
  std::sort(places, places + count, by_address);
  find_program();
  Request request{places, count};
  ::dl_iterate_phdr(visit_module, &request);
}

void find_places_in(const char *path, std::uint64_t base, Place *places,
                    std::size_t count) noexcept {
  std::sort(places, places + count, by_address);
  find_program();
  find_in_file(*path != '\0' ? path : program_path, base, {places, places + count});
}

const Place *place_of(const Place *places, std::size_t count, std::uint64_t address) noexcept {
  Place key;
  key.address = address;
  const Place *found = std::lower_bound(places, places + count, key, by_address);
  return found != places + count && found->address == address ? found : nullptr;
}

} // namespace tandem::profile
