// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/platform/elf.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <utility>

namespace tandem::machine {
namespace {

// EF_RISCV_RVE of the psABI: sixteen registers only.
constexpr std::uint32_t kEmbedded = 8;

const char *machine_name(std::uint16_t machine) {
  switch (machine) {
  case EM_X86_64:
    return "x86-64";
  case EM_386:
    return "i386";
  case EM_AARCH64:
    return "aarch64";
  case EM_ARM:
    return "ARM";
  case EM_PPC64:
    return "powerpc64";
  case EM_S390:
    return "s390x";
  default:
    return "another machine";
  }
}

template <typename T> std::optional<T> at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// The string at `offset` of a string table; empty if it does not end inside.
std::string_view string_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size())
    return {};
  const std::string_view rest = table.substr(offset);
  const std::size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

std::string_view part(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    return {};
  return bytes.substr(offset, size);
}

// What is wrong with the file header, empty if nothing.
std::string wrong_header(const Elf64_Ehdr &header) {
  const unsigned char *id = header.e_ident;
  if (id[EI_CLASS] != ELFCLASS64 && header.e_machine == EM_RISCV)
    return "is a 32-bit RISC-V program; compile it for rv64";
  if (id[EI_DATA] == ELFDATA2MSB)
    return "is a big-endian program; the machine is RV64, little-endian: compile it with "
           "riscv64-linux-gnu-gcc -static";
  if (header.e_machine != EM_RISCV)
    return fmt::format("is a program for {}; the machine is RV64: compile it with "
                       "riscv64-linux-gnu-gcc -static",
                       machine_name(header.e_machine));
  if (id[EI_CLASS] != ELFCLASS64)
    return "is not a 64-bit program";
  if (header.e_type == ET_REL)
    return "is an object file; link it first";
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return "is not an executable";
  if ((header.e_flags & kEmbedded) != 0)
    return "is for RV64E; the machine has 32 registers: compile it with -march=rv64gc";
  if (header.e_phentsize != sizeof(Elf64_Phdr) && header.e_phnum != 0)
    return fmt::format("has program headers of {} bytes instead of {}", header.e_phentsize,
                       sizeof(Elf64_Phdr));
  return {};
}

// Symbols that name code or data. Local ones that assemblers make ($x, .L) name nothing.
void add_symbols(std::string_view bytes, const Elf64_Shdr &table, std::string_view names,
                 std::vector<Symbols::Symbol> &to) {
  const std::string_view entries = part(bytes, table.sh_offset, table.sh_size);
  for (std::uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= entries.size();
       offset += sizeof(Elf64_Sym)) {
    const Elf64_Sym symbol = *at<Elf64_Sym>(entries, offset);
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_NOTYPE && type != STT_OBJECT)
      continue;
    const std::string_view name = string_at(names, symbol.st_name);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || name.empty() ||
        name.front() == '$' || name.starts_with(".L"))
      continue;
    to.push_back({symbol.st_value, symbol.st_size, std::string(name)});
  }
}

Symbols read_symbols(std::string_view bytes, const Elf64_Ehdr &header) {
  std::vector<Symbols::Symbol> found;
  const auto section = [&](std::uint64_t index) -> std::optional<Elf64_Shdr> {
    if (header.e_shentsize != sizeof(Elf64_Shdr) || index >= header.e_shnum ||
        header.e_shoff > bytes.size())
      return std::nullopt;
    return at<Elf64_Shdr>(bytes, header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (std::uint64_t index = 0; index < header.e_shnum; ++index) {
    const auto table = section(index);
    if (!table || table->sh_type != SHT_SYMTAB)
      continue;
    const auto strings = section(table->sh_link);
    if (strings)
      add_symbols(bytes, *table, part(bytes, strings->sh_offset, strings->sh_size), found);
  }
  return Symbols(std::move(found));
}

// What is wrong with a segment, empty if nothing.
std::string wrong_segment(const Elf64_Phdr &header, std::size_t size) {
  if (header.p_offset > size || header.p_filesz > size - header.p_offset)
    return "reaches beyond the end of the file; the file is damaged";
  if (header.p_memsz < header.p_filesz)
    return "has more bytes in the file than in memory; the file is damaged";
  if (header.p_vaddr + header.p_memsz < header.p_vaddr ||
      header.p_paddr + header.p_memsz < header.p_paddr)
    return "reaches beyond the end of the address space; the file is damaged";
  return {};
}

// Reads one program header into `file`; gives what is wrong, empty if nothing.
std::string add_header(ElfFile &file, const Elf64_Phdr &header) {
  if (header.p_type == PT_GNU_STACK && header.p_memsz != 0)
    file.stack_size = header.p_memsz;
  if (header.p_type != PT_LOAD && header.p_type != PT_INTERP)
    return {};
  if (std::string wrong = wrong_segment(header, file.bytes.size()); !wrong.empty())
    return wrong;
  if (header.p_type == PT_INTERP) {
    const std::string_view name = part(file.bytes, header.p_offset, header.p_filesz);
    file.interpreter = name.substr(0, name.find('\0'));
    return {};
  }
  if (header.p_memsz != 0)
    file.segments.push_back({.address = header.p_vaddr,
                             .physical = header.p_paddr,
                             .offset = header.p_offset,
                             .file_size = header.p_filesz,
                             .memory_size = header.p_memsz,
                             .readable = (header.p_flags & PF_R) != 0,
                             .writable = (header.p_flags & PF_W) != 0,
                             .executable = (header.p_flags & PF_X) != 0});
  return {};
}

} // namespace

Symbols::Symbols(std::vector<Symbol> symbols) : symbols_(std::move(symbols)) {
  std::ranges::sort(symbols_, [](const Symbol &a, const Symbol &b) {
    return a.address != b.address ? a.address < b.address
           : a.size != b.size     ? a.size > b.size
                                  : a.name < b.name;
  });
  const auto [first, last] = std::ranges::unique(symbols_, {}, &Symbol::address);
  symbols_.erase(first, last);
}

std::optional<Symbols::Place> Symbols::find(std::uint64_t address) const {
  auto next = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
  if (next == symbols_.begin())
    return std::nullopt;
  --next;
  const std::uint64_t offset = address - next->address;
  if (next->size != 0 && offset >= next->size)
    return std::nullopt;
  return Place{.symbol = &*next, .offset = offset};
}

Symbols Symbols::moved(std::uint64_t by) const {
  Symbols moved = *this;
  for (Symbol &symbol : moved.symbols_)
    symbol.address += by;
  return moved;
}

const Symbols::Symbol *Symbols::named(std::string_view name) const {
  const auto found = std::ranges::find(symbols_, name, &Symbol::name);
  return found == symbols_.end() ? nullptr : &*found;
}

std::string Symbols::describe(std::uint64_t address) const {
  const std::optional<Place> place = find(address);
  if (!place)
    return fmt::format("{:#x}", address);
  return place->offset == 0 ? place->symbol->name
                            : fmt::format("{}+{:#x}", place->symbol->name, place->offset);
}

bool ElfFile::recognised(std::string_view bytes) { return bytes.starts_with(ELFMAG); }

Result<ElfFile> ElfFile::parse(std::string path, std::string bytes) {
  const auto refuse = [&path](const std::string &what) {
    return Error{fmt::format("{}: {}", path, what)};
  };
  if (!recognised(bytes))
    return refuse("is not an ELF file; the machine runs RV64 programs: compile one with "
                  "riscv64-linux-gnu-gcc -static");
  const auto header = at<Elf64_Ehdr>(bytes, 0);
  if (!header)
    return refuse("ends within its ELF header; the file is damaged");
  if (const std::string wrong = wrong_header(*header); !wrong.empty())
    return refuse(wrong);
  ElfFile file{.path = path,
               .relocatable = header->e_type == ET_DYN,
               .entry = header->e_entry,
               .segments = {},
               .interpreter = {},
               .headers = header->e_phoff,
               .header_size = header->e_phentsize,
               .header_count = header->e_phnum,
               .symbols = {},
               .bytes = std::move(bytes)};
  for (unsigned index = 0; index < header->e_phnum; ++index) {
    const auto program =
        header->e_phoff > file.bytes.size()
            ? std::nullopt
            : at<Elf64_Phdr>(file.bytes, header->e_phoff + index * sizeof(Elf64_Phdr));
    if (!program)
      return refuse(fmt::format("ends before program header {}; the file is damaged", index));
    if (const std::string wrong = add_header(file, *program); !wrong.empty())
      return refuse(fmt::format("segment {} {}", index, wrong));
  }
  if (file.segments.empty())
    return refuse("has nothing to load");
  file.symbols = read_symbols(file.bytes, *header);
  return file;
}

std::uint64_t ElfFile::lowest() const {
  return std::ranges::min_element(segments, {}, &Segment::address)->address;
}

std::uint64_t ElfFile::highest() const {
  std::uint64_t end = 0;
  for (const Segment &segment : segments)
    end = std::max(end, segment.address + segment.memory_size);
  return end;
}

} // namespace tandem::machine
