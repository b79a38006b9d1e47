// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ELF files for tests, made field by field.
#pragma once

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string>
#include <vector>

namespace tandem::machine::testing {

struct TinyElf {
  struct Symbol {
    std::string name;
    std::uint64_t value;
    std::uint64_t size;
  };
  unsigned char elf_class = ELFCLASS64;
  unsigned char data = ELFDATA2LSB;
  std::uint16_t type = ET_EXEC;
  std::uint16_t machine = EM_RISCV;
  std::uint32_t flags = 5;
  std::uint32_t segment_type = PT_LOAD;
  std::uint64_t address = 0x1'0000;
  std::string code = std::string("\x73\x00\x00\x00", 4);
  std::optional<std::uint64_t> file_size{};
  std::optional<std::uint64_t> memory_size{};
  std::optional<std::uint64_t> entry{};
  std::vector<Symbol> symbols{};

  // Header, program header, code, symbols, their names, section headers.
  [[nodiscard]] std::string bytes() const {
    std::string names(1, '\0');
    std::string table(sizeof(Elf64_Sym), '\0');
    for (const Symbol &symbol : symbols) {
      Elf64_Sym entry_of{};
      entry_of.st_name = static_cast<Elf64_Word>(names.size());
      entry_of.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
      entry_of.st_shndx = 1;
      entry_of.st_value = symbol.value;
      entry_of.st_size = symbol.size;
      append(table, entry_of);
      names += symbol.name;
      names.push_back('\0');
    }
    const std::uint64_t code_at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
    const std::uint64_t table_at = code_at + code.size();
    const std::uint64_t names_at = table_at + table.size();
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = elf_class;
    header.e_ident[EI_DATA] = data;
    header.e_type = type;
    header.e_machine = machine;
    header.e_flags = flags;
    header.e_entry = entry.value_or(address);
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;
    header.e_shoff = names_at + names.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    Elf64_Phdr segment{};
    segment.p_type = segment_type;
    segment.p_flags = PF_R | PF_X;
    segment.p_offset = code_at;
    segment.p_vaddr = segment.p_paddr = address;
    segment.p_filesz = file_size.value_or(code.size());
    segment.p_memsz = memory_size.value_or(segment.p_filesz);
    Elf64_Shdr symbol_section{};
    symbol_section.sh_type = SHT_SYMTAB;
    symbol_section.sh_link = 2;
    symbol_section.sh_offset = table_at;
    symbol_section.sh_size = table.size();
    Elf64_Shdr name_section{};
    name_section.sh_type = SHT_STRTAB;
    name_section.sh_offset = names_at;
    name_section.sh_size = names.size();
    std::string all;
    append(all, header);
    append(all, segment);
    all += code + table + names;
    append(all, Elf64_Shdr{});
    append(all, symbol_section);
    append(all, name_section);
    return all;
  }

private:
  template <typename T> static void append(std::string &to, const T &value) {
    to.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
};

} // namespace tandem::machine::testing
