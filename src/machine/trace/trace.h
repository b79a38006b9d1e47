// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traces: what cores accessed, in a file that other tools can write. Format: docs/formats/
// machine-trace.md. A trace has the accesses of each core in the order of its program, and none of
// their times: the machine decides when they happen.
#pragma once

#include "base/result.h"
#include "machine/traffic/generator.h"

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace tandem::machine {

inline constexpr std::array<char, 8> kTraceMagic = {'T', 'N', 'D', 'M', 'T', 'R', 'C', '\n'};
inline constexpr std::uint32_t kTraceVersion = 1;

struct TraceHeader {
  std::array<char, 8> magic = kTraceMagic;
  std::uint32_t version = kTraceVersion;
  std::uint32_t cores = 0;
};
static_assert(sizeof(TraceHeader) == 16);

// Little-endian, 16 bytes.
struct TraceRecord {
  std::uint64_t address = 0; // of the first byte; the block is address / 64
  std::uint32_t gap = 0;     // instructions of the core since its last record, without this one
  std::uint16_t core = 0;
  std::uint8_t kind = 0;  // RequestKind
  std::uint8_t flags = 0; // bit 0: what follows depends on the value
};
static_assert(sizeof(TraceRecord) == 16);

// Writes a trace; what was written is not a trace until close() has succeeded: it is beside its
// place under another name.
class TraceWriter {
public:
  static Result<TraceWriter> create(const std::string &path, std::uint32_t cores);
  TraceWriter(TraceWriter &&) noexcept = default;
  TraceWriter &operator=(TraceWriter &&) noexcept = default;
  ~TraceWriter();

  void add(unsigned core, const Operation &operation);
  [[nodiscard]] Status close();

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  TraceWriter(std::string path, std::FILE *file) : path_(std::move(path)), file_(file) {}
  [[nodiscard]] std::string unfinished() const { return path_ + ".unfinished"; }

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  bool failed_ = false;
};

// A source of accesses (traffic/cores.h). Reads ahead only as far as the slowest core asks: the
// records of the others wait in memory.
class TraceReader {
public:
  // Error: not a trace, another version, or more cores than `cores`.
  static Result<TraceReader> open(const std::string &path, std::uint32_t cores);

  [[nodiscard]] unsigned cores() const { return static_cast<unsigned>(waiting_.size()); }
  // False: the core has no more accesses, or the file is broken, which error() then says.
  bool next(unsigned core, Operation &operation);
  [[nodiscard]] const std::string &error() const { return error_; }

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  struct Queue { // of one core; consumed from `head`
    std::vector<Operation> operations;
    std::size_t head = 0;
  };
  bool read_block();

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<Queue> waiting_;
  std::vector<TraceRecord> buffer_;
  std::uint64_t records_ = 0;
  std::string error_;
  std::uint32_t traced_cores_ = 0;
};

} // namespace tandem::machine
