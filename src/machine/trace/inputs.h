// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What readers of other tools' traces share: files, lines, words, numbers.
#pragma once

#include "machine/trace/foreign.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace tandem::machine::trace {

class Input {
public:
  // "-" is standard input. Error: it cannot be read, or its first bytes are those of gzip, xz,
  // bzip2 or zstd.
  static Result<Input> open(const std::string &path);
  [[nodiscard]] const std::string &name() const { return name_; }
  // Bytes read, fewer than asked for at the end. `error` gets a failure to read.
  std::size_t read(std::span<char> to, std::string &error);

private:
  struct Close {
    void operator()(std::FILE *file) const {
      if (file != stdin)
        std::fclose(file);
    }
  };
  std::string name_;
  std::unique_ptr<std::FILE, Close> file_;
  std::string first_; // looked at, and not read yet
};

// The lines of a text, without what follows a '#'.
class Lines {
public:
  explicit Lines(Input input) : input_(std::move(input)) {}
  // False at the end, and where `error` says that the input cannot be read or a line is too long.
  bool next(std::string &line, std::string &error, bool comments = true);
  // "FILE:LINE: what", of the latest line.
  [[nodiscard]] std::string at(std::string_view what) const;

private:
  Input input_;
  std::string buffer_;
  std::size_t head_ = 0;
  std::uint64_t line_ = 0;
};

// Separated by blanks.
std::vector<std::string_view> words_of(std::string_view line);
// Decimal, or hexadecimal behind 0x. Nothing where the word is not that, or above 64 bits.
std::optional<std::uint64_t> number_of(std::string_view word);

std::unique_ptr<ForeignTrace> gem5(Input input, std::uint64_t ticks_per_instruction);
std::unique_ptr<ForeignTrace> champsim(Input input);

} // namespace tandem::machine::trace
