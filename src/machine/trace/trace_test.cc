// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/trace/trace.h"

#include "machine/traffic/generator.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

namespace tandem::machine {
namespace {

using testing::HasSubstr;

struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tandem-trace-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string file(const char *name) const { return (path / name).string(); }
  std::filesystem::path path;
};

TEST(Trace, GivesEachCoreItsAccessesInOrder) {
  const Folder folder;
  TrafficGenerator generator(*find_profile("oltp-like"), 4, 30, 5);
  std::vector<std::vector<Operation>> written(4);
  {
    Result<TraceWriter> writer = TraceWriter::create(folder.file("t"), 4);
    ASSERT_TRUE(writer.ok());
    for (int i = 0; i < 20'000; ++i) {
      const unsigned core = static_cast<unsigned>(i * 7 % 13 % 4);
      Operation operation;
      ASSERT_TRUE(generator.next(core, operation));
      written[core].push_back(operation);
      writer->add(core, operation);
    }
    ASSERT_TRUE(writer->close().ok());
  }
  Result<TraceReader> reader = TraceReader::open(folder.file("t"), 16);
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ(reader->cores(), 16u);
  // One core after the other: the most that can wait in memory.
  for (unsigned core = 4; core-- > 0;)
    for (const Operation &expected : written[core]) {
      Operation read;
      ASSERT_TRUE(reader->next(core, read));
      ASSERT_EQ(read.block, expected.block);
      ASSERT_EQ(read.gap, expected.gap);
      ASSERT_EQ(read.kind, expected.kind);
      ASSERT_EQ(read.dependent, expected.dependent);
    }
  Operation read;
  EXPECT_FALSE(reader->next(0, read));
  EXPECT_FALSE(reader->next(9, read));
  EXPECT_TRUE(reader->error().empty());
}

TEST(Trace, WhatIsNotClosedLeavesNothing) {
  const Folder folder;
  {
    Result<TraceWriter> writer = TraceWriter::create(folder.file("t"), 1);
    ASSERT_TRUE(writer.ok());
    writer->add(0, {});
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path));
}

TEST(Trace, RefusesWhatIsNoTrace) {
  const Folder folder;
  const auto open = [&](const std::string &bytes) {
    std::ofstream(folder.file("t"), std::ios::binary) << bytes;
    const Result<TraceReader> reader = TraceReader::open(folder.file("t"), 4);
    return reader ? std::string() : reader.error().message;
  };
  EXPECT_THAT(open(""), HasSubstr("is not a trace"));
  EXPECT_THAT(open("0123456789abcdef"), HasSubstr("is not a trace"));
  EXPECT_THAT(open(std::string("TNDMTRC\n\2\0\0\0\1\0\0\0", 16)), HasSubstr("version 2"));
  EXPECT_THAT(open(std::string("TNDMTRC\n\1\0\0\0\5\0\0\0", 16)), HasSubstr("of 5 cores"));
  EXPECT_EQ(open(std::string("TNDMTRC\n\1\0\0\0\4\0\0\0", 16)), "");
  EXPECT_THAT(TraceReader::open(folder.file("none"), 1).error().message,
              HasSubstr("cannot be read"));
}

TEST(Trace, SaysWhereARecordIsBroken) {
  const Folder folder;
  const std::string head("TNDMTRC\n\1\0\0\0\1\0\0\0", 16);
  const auto read = [&](const std::string &records) {
    std::ofstream(folder.file("t"), std::ios::binary) << head << records;
    Result<TraceReader> reader = TraceReader::open(folder.file("t"), 1);
    EXPECT_TRUE(reader.ok());
    Operation operation;
    while (reader->next(0, operation)) {
    }
    return reader->error();
  };
  const std::string good(16, '\0');
  EXPECT_EQ(read(good + good), "");
  EXPECT_THAT(read(good + "short"), HasSubstr("ends within record 1"));
  std::string core = good;
  core[12] = 1;
  EXPECT_THAT(read(good + core), HasSubstr("record 1 has core 1"));
  std::string kind = good;
  kind[14] = 6;
  EXPECT_THAT(read(kind), HasSubstr("kind 6"));
}

} // namespace
} // namespace tandem::machine
