// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/platform/elf.h"

#include "machine/platform/testing/tiny_elf.h"

#include <gmock/gmock.h>
#include <random>

namespace tandem::machine {
namespace {

using ::testing::HasSubstr;
using testing::TinyElf;

std::string mistake(TinyElf elf) {
  const Result<ElfFile> file = ElfFile::parse("program", elf.bytes());
  return file ? "" : file.error().message;
}

TEST(Elf, ReadsSegmentsAndSymbols) {
  TinyElf elf;
  elf.code = std::string(32, 'c');
  elf.symbols = {{"main", 0x1'0010, 8}, {"end", 0x1'0018, 0}, {"$x", 0x1'0000, 0}};
  const Result<ElfFile> file = ElfFile::parse("program", elf.bytes());
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->entry, 0x1'0000U);
  ASSERT_EQ(file->segments.size(), 1U);
  EXPECT_EQ(file->segments[0].file_size, 32U);
  EXPECT_EQ(file->lowest(), 0x1'0000U);
  EXPECT_EQ(file->highest(), 0x1'0000U + 32);
  EXPECT_EQ(file->symbols.describe(0x1'0012), "main+0x2");
  EXPECT_EQ(file->symbols.describe(0x1'0010), "main");
  EXPECT_EQ(file->symbols.describe(0x1'0000), "0x10000"); // $x names nothing
  EXPECT_EQ(file->symbols.describe(0x1'0100), "end+0xe8");
  EXPECT_EQ(file->symbols.named("main")->size, 8U);
  EXPECT_EQ(file->symbols.moved(0x1000).describe(0x1'1010), "main");
}

TEST(Elf, SaysWhatIsWrong) {
  const Result<ElfFile> text = ElfFile::parse("notes.txt", "hello");
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.error().message, HasSubstr("notes.txt: is not an ELF file"));
  EXPECT_THAT(mistake({.machine = EM_X86_64}), HasSubstr("is a program for x86-64"));
  EXPECT_THAT(mistake({.machine = EM_AARCH64}), HasSubstr("aarch64"));
  EXPECT_THAT(mistake({.elf_class = ELFCLASS32}), HasSubstr("32-bit RISC-V"));
  EXPECT_THAT(mistake({.data = ELFDATA2MSB}), HasSubstr("big-endian"));
  EXPECT_THAT(mistake({.type = ET_REL}), HasSubstr("object file"));
  EXPECT_THAT(mistake({.type = ET_CORE}), HasSubstr("not an executable"));
  EXPECT_THAT(mistake({.flags = 8}), HasSubstr("RV64E"));
  EXPECT_THAT(mistake({.file_size = 1 << 20}), HasSubstr("segment 0 reaches beyond the end"));
  EXPECT_THAT(mistake({.memory_size = 2}), HasSubstr("more bytes in the file"));
  EXPECT_THAT(mistake({.address = ~0ULL - 2}), HasSubstr("address space"));
  EXPECT_THAT(mistake({.segment_type = PT_NOTE}), HasSubstr("nothing to load"));
}

TEST(Elf, EveryPrefixIsRefusedOrWhole) {
  TinyElf elf;
  elf.symbols = {{"main", 0x1'0000, 4}};
  const std::string bytes = elf.bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Result<ElfFile> file = ElfFile::parse("program", bytes.substr(0, size));
    if (!file)
      EXPECT_THAT(file.error().message, HasSubstr("program: ")) << size;
  }
}

// Any byte changed, several at once: refused or read, and every segment that is read lies inside.
TEST(Elf, DamagedFilesHarmNothing) {
  const unsigned seed = 7;
  std::mt19937_64 random(seed);
  SCOPED_TRACE(seed);
  TinyElf elf;
  elf.symbols = {{"main", 0x1'0000, 4}, {"other", 0x1'0008, 4}};
  const std::string whole = elf.bytes();
  unsigned accepted = 0;
  for (unsigned round = 0; round < 20'000; ++round) {
    std::string bytes = whole;
    for (unsigned count = 1 + round % 4; count > 0; --count)
      bytes[random() % bytes.size()] = static_cast<char>(random() % 3 == 0 ? 0xFF : random());
    const Result<ElfFile> file = ElfFile::parse("program", bytes);
    if (!file)
      continue;
    ++accepted;
    for (const ElfFile::Segment &segment : file->segments) {
      EXPECT_LE(segment.offset + segment.file_size, bytes.size());
      EXPECT_LE(segment.file_size, segment.memory_size);
      EXPECT_GE(segment.address + segment.memory_size, segment.address);
    }
    (void)file->symbols.describe(0x1'0000);
  }
  EXPECT_GT(accepted, 100U);
}

} // namespace
} // namespace tandem::machine
