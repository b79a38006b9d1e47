// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/trace/foreign.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace tandem::machine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct File {
  explicit File(const std::string &content) {
    std::string name = (std::filesystem::temp_directory_path() / "tandem-foreign-XXXXXX").string();
    ::close(::mkstemp(name.data()));
    path = name;
    std::ofstream(path, std::ios::binary) << content;
  }
  ~File() { std::filesystem::remove(path); }
  std::filesystem::path path;
};

struct Read {
  std::vector<std::string> lines; // as text of ours
  unsigned cores = 0;
  std::uint64_t left_out = 0;
  std::string error;
};

Read read(TraceFormat format, const std::string &content, std::uint64_t ticks = 500) {
  const File file(content);
  Result<std::unique_ptr<ForeignTrace>> trace = open_foreign(file.path.string(), {format, ticks});
  Read result;
  if (!trace) {
    result.error = trace.error().message;
    return result;
  }
  TracedAccess access;
  std::uint64_t time = 0;
  while ((*trace)->next(access)) {
    EXPECT_GE(access.time, time);
    time = access.time;
    std::string line = to_text_line(access.core, access.operation);
    line.pop_back();
    result.lines.push_back(line);
  }
  result.cores = (*trace)->cores();
  result.left_out = (*trace)->left_out();
  result.error = (*trace)->error();
  return result;
}

TEST(Foreign, TextIsWhatItSays) {
  const Read text = read(TraceFormat::text, "# a comment\n"
                                            "tandem-trace 1 cores 4\n"
                                            "\n"
                                            "0 load 0x1040 3 dependent # why\n"
                                            "3 store 4096\n"
                                            "1 atomic 0x7f 0\n"
                                            "2 load-reserved 0 4294967295\n"
                                            "2 store-conditional 0x0\n"
                                            "0 fetch 64");
  EXPECT_EQ(text.error, "");
  EXPECT_EQ(text.cores, 4u);
  EXPECT_THAT(text.lines, ElementsAre("0 load 0x1040 3 dependent", "3 store 0x1000 0",
                                      "1 atomic 0x40 0", "2 load-reserved 0x0 4294967295",
                                      "2 store-conditional 0x0 0", "0 fetch 0x40 0"));
}

TEST(Foreign, MistakesOfTextNameTheirLine) {
  const std::string head = "tandem-trace 1 cores 2\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "is empty"},
      {"0 load 0x40\n", ":1: is not 'tandem-trace 1 cores N'"},
      {"tandem-trace 2 cores 2\n", ":1: is not"},
      {"tandem-trace 1 cores 65\n", ":1: is not"},
      {head + "2 load 0x40\n", ":2: has core '2'; cores are 0 to 1"},
      {head + "0 read 0x40\n", ":2: has kind 'read'"},
      {head + "0 load 0x40g\n", ":2: has address '0x40g'"},
      {head + "0 load 0x40 -1\n", ":2: has '-1' instructions"},
      {head + "0 load 0x40 1 soon\n", ":2: ends with 'soon'"},
      {head + "0 load\n", ":2: is not CORE KIND ADDRESS"},
      {head + std::string(100'000, 'x'), ":2: is longer than 64 KiB"},
      {std::string("\x1f\x8b\x08", 3), "is compressed; give the output of `gzip -dc`"},
  };
  for (const auto &[content, message] : cases)
    EXPECT_THAT(read(TraceFormat::text, content).error, HasSubstr(message))
        << content.substr(0, 60);
}

TEST(Foreign, PacketsOfGem5) {
  // Fields as util/decode_packet_trace.py writes them: with an id, flags and a pc, or without.
  const Read packets = read(TraceFormat::gem5, "r,4096,8,0,500\n"
                                               "7,w,4160,8,0,3000,4194304\n"
                                               "r,64,4,256,3000\n"      // a fetch
                                               "u,4096,64,0,3100\n"     // a write-back
                                               "r,8192,8,1024,3200\n"   // uncacheable
                                               "w,4220,8,3500\n"        // over two blocks
                                               "r,128,8,1048576,4000\n" // a locked update ...
                                               "w,128,8,1048576,4500\n" // ... and its write
                                               "r,192,8,2097152,5000\n"
                                               "w,192,8,2097152,5500\n");
  EXPECT_EQ(packets.error, "");
  EXPECT_EQ(packets.cores, 1u);
  EXPECT_EQ(packets.left_out, 2u);
  EXPECT_THAT(packets.lines, ElementsAre("0 load 0x1000 0", "0 store 0x1040 4", "0 fetch 0x40 0",
                                         "0 store 0x1040 0", "0 store 0x1080 0", "0 atomic 0x80 1",
                                         "0 load-reserved 0xc0 0", "0 store-conditional 0xc0 0"));
}

TEST(Foreign, InstructionsOfGem5) {
  const Read instructions = read(
      TraceFormat::gem5,
      "       0: system.cpu0: started\n"
      "     500: system.cpu0: A0 T0 : 0x10148 @main+4    : addi sp, sp, -16 : IntAlu :  D=0x1\n"
      "    1000: system.cpu1: A0 T0 : 0x10200 : lw a0, 0(a1) : MemRead :  D=0x0 A=0x3000\n"
      "    1000: system.cpu0: A0 T0 : 0x1014a : c_sdsp ra, 8(sp) : MemWrite :  D=0x2 A=0x2ff8\n"
      "    1200: system.cpu0.dcache: access for WriteReq\n"
      "    1500: system.cpu0: A0 T0 : 0x1014c.1 : ld ra, 8(sp) : MemRead :  D=0x2 A=0x2ff8\n");
  EXPECT_EQ(instructions.error, "");
  EXPECT_EQ(instructions.cores, 2u);
  EXPECT_THAT(instructions.lines,
              ElementsAre("0 fetch 0x10140 0", "1 fetch 0x10200 0", "1 load 0x3000 0",
                          "0 store 0x2fc0 1", "0 load 0x2fc0 0"));
}

TEST(Foreign, MistakesOfGem5NameTheirLine) {
  EXPECT_THAT(read(TraceFormat::gem5, "").error, HasSubstr("without a packet"));
  EXPECT_THAT(read(TraceFormat::gem5, "0: global: started\n").error,
              HasSubstr(":1: the file ends without a packet or an instruction"));
  EXPECT_THAT(read(TraceFormat::gem5, "x,1,2,3\n").error, HasSubstr(":1: is no line of gem5"));
  EXPECT_THAT(read(TraceFormat::gem5, "r,1,2,0,100\nr,1,8,0,end\n").error,
              HasSubstr(":2: has a field that is no number"));
  EXPECT_THAT(read(TraceFormat::gem5, "hello\n").error, HasSubstr(":1: is no line of gem5"));
}

struct Record {
  std::uint64_t ip = 0;
  std::uint8_t branch[2] = {};
  std::uint8_t to[2] = {};
  std::uint8_t from[4] = {};
  std::uint64_t writes[2] = {};
  std::uint64_t reads[4] = {};
};

std::string bytes_of(const std::vector<Record> &records) {
  static_assert(sizeof(Record) == 64);
  return {reinterpret_cast<const char *>(records.data()), records.size() * sizeof(Record)};
}

TEST(Foreign, RecordsOfChampSim) {
  std::vector<Record> records(5);
  records[0].ip = 0x401000;
  records[1] = {0x401004, {}, {3, 25}, {6}, {}, {0x7000}}; // a load, whose result ...
  records[2] = {0x401008, {}, {4}, {3}, {}, {}};           // ... the next one uses
  records[3] = {0x40100c, {1, 1}, {26}, {25}, {}, {}};
  records[4] = {0x401100, {}, {}, {4}, {0x8000}, {0x7040, 0x7080}};
  const Read read_all = read(TraceFormat::champsim, bytes_of(records));
  EXPECT_EQ(read_all.error, "");
  EXPECT_THAT(read_all.lines,
              ElementsAre("0 fetch 0x401000 0", "0 load 0x7000 1 dependent", "0 fetch 0x401100 0",
                          "0 load 0x7040 2", "0 load 0x7080 0", "0 store 0x8000 0"));
}

TEST(Foreign, MistakesOfChampSimNameTheirRecord) {
  std::vector<Record> records(2);
  EXPECT_THAT(read(TraceFormat::champsim, bytes_of(records) + "x").error,
              HasSubstr("ends within record 2; records have 64 bytes"));
  records[1].branch[0] = 7;
  EXPECT_THAT(read(TraceFormat::champsim, bytes_of(records)).error,
              HasSubstr("record 1 is no instruction of ChampSim"));
  EXPECT_THAT(read(TraceFormat::champsim, "").error, HasSubstr("is empty"));
  EXPECT_THAT(read(TraceFormat::champsim, std::string("\xfd"
                                                      "7zXZ\0",
                                                      6))
                  .error,
              HasSubstr("`xz -dc`"));
}

} // namespace
} // namespace tandem::machine
