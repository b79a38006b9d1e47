// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traces: what cores accessed, in a file that other tools can write. Format: docs/formats/
// machine-trace.md. A trace has the accesses of each core in the order of its program, and none of
// their times: the machine decides when they happen.
#pragma once

#include "base/output_file.h"
#include "base/result.h"
#include "machine/traffic/source.h"

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace tandem::machine {

inline constexpr std::array<char, 8> kTraceMagic = {'T', 'N', 'D', 'M', 'T', 'R', 'C', '\n'};
inline constexpr std::uint32_t kTraceVersion = 1;
// Of a trace, ours or another tool's.
inline constexpr std::uint32_t kMostTracedCores = 64;

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

// Writes a trace; nothing is there until close() has succeeded (base/output_file.h).
class TraceWriter {
public:
  // `text`: as text, else as records.
  static Result<TraceWriter> create(const std::string &path, std::uint32_t cores,
                                    bool text = false);
  void add(unsigned core, const Operation &operation);
  [[nodiscard]] Status close();
  // Nothing more can be written: close() says why.
  [[nodiscard]] bool failed() const { return error_ != 0; }

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  void write(const void *record, std::size_t bytes);
  explicit TraceWriter(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::unique_ptr<OutputFile> output_;
  std::unique_ptr<std::FILE, Close> file_; // its descriptor, once more
  int error_ = 0;                          // the first
  bool text_ = false;
};

// A source of accesses (traffic/cores.h). Reads ahead only as far as the slowest core asks: the
// records of the others wait in memory.
class TraceReader final : public Source {
public:
  // Error: not a trace, another version, or more cores than `cores`.
  static Result<TraceReader> open(const std::string &path, std::uint32_t cores);

  [[nodiscard]] unsigned cores() const override { return static_cast<unsigned>(waiting_.size()); }
  // Of the trace: those above have no accesses.
  [[nodiscard]] unsigned traced_cores() const { return traced_cores_; }
  // False: also where the file is broken, which error() then says.
  bool next(unsigned core, Operation &operation) override;
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
