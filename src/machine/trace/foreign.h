// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traces in other formats: our own as text (docs/formats/machine-trace.md), gem5's text of packets
// and of instructions, ChampSim's records. Each is read as a stream in the order of its time.
// For one thread.
#pragma once

#include "base/result.h"
#include "machine/traffic/generator.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tandem::machine {

enum class TraceFormat : std::uint8_t { text, gem5, champsim };

struct TracedAccess {
  std::uint64_t time = 0; // of its input: ticks, or instructions
  unsigned core = 0;      // of its input, from 0
  Operation operation;
};

struct ForeignOptions {
  TraceFormat format = TraceFormat::text;
  // gem5's packets have no count of instructions: one for so many ticks. At least 1.
  std::uint64_t ticks_per_instruction = 500;
};

class ForeignTrace {
public:
  virtual ~ForeignTrace() = default;
  // False: the end, or error() is not empty.
  virtual bool next(TracedAccess &access) = 0;
  // `FILE:LINE: ...` or `FILE: record N ...`.
  [[nodiscard]] const std::string &error() const { return error_; }
  // What the input has and a trace has not: packets that are neither reads nor writes, accesses to
  // devices.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  // Cores of which the input has told so far: accesses have lower numbers.
  [[nodiscard]] unsigned cores() const { return cores_; }

protected:
  std::string error_;
  std::uint64_t left_out_ = 0;
  unsigned cores_ = 1;
};

// `path` "-" is standard input. Error: it cannot be read, or is compressed.
Result<std::unique_ptr<ForeignTrace>> open_foreign(const std::string &path,
                                                   const ForeignOptions &options);

// "0 load 0x1f40 3 dependent", a line of the text format, with its newline.
std::string to_text_line(unsigned core, const Operation &operation);
// The text format's first line, with its newline.
std::string text_header(unsigned cores);

} // namespace tandem::machine
