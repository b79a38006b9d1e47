// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON into a stream, for the end of a process: no allocation.
#pragma once

#include "base/characters.h"

#include <cstdint>
#include <cstdio>
#include <string_view>

namespace tandem::profile {

// Line breaks between members are the caller's; commas are this class's.
class Json {
public:
  explicit Json(std::FILE *file) : file_(file) {}

  void open(char bracket, const char *key = nullptr) noexcept {
    begin(key);
    std::fputc(bracket, file_);
    first_ = true;
  }
  void close(char bracket) noexcept {
    std::fputc(bracket, file_);
    first_ = false;
  }
  void line() noexcept { newline_ = true; }
  void text(const char *key, const char *value) noexcept {
    begin(key);
    quote(value);
  }
  void number(const char *key, std::uint64_t value) noexcept {
    begin(key);
    std::fprintf(file_, "%llu", static_cast<unsigned long long>(value));
  }
  void seconds(const char *key, std::int64_t ns) noexcept {
    begin(key);
    std::fprintf(file_, "%lld.%09lld", static_cast<long long>(ns / 1'000'000'000),
                 static_cast<long long>(ns % 1'000'000'000));
  }

private:
  void begin(const char *key) noexcept {
    if (!first_)
      std::fputs(newline_ ? "," : ", ", file_);
    if (newline_)
      std::fputc('\n', file_);
    newline_ = false;
    first_ = false;
    if (key != nullptr) {
      quote(key);
      std::fputs(": ", file_);
    }
  }
  void quote(const char *value) noexcept {
    std::fputc('"', file_);
    for (std::string_view text = value; !text.empty();) {
      const Character next = take_character(text);
      if (next.code == '"' || next.code == '\\')
        std::fprintf(file_, "\\%c", static_cast<char>(next.code));
      else if (!next.valid || is_control(next.code)) // JSON is UTF-8
        std::fprintf(file_, "\\u%04x", next.valid ? static_cast<unsigned>(next.code) : 0xfffdU);
      else
        std::fwrite(next.bytes.data(), 1, next.bytes.size(), file_);
    }
    std::fputc('"', file_);
  }

  std::FILE *file_;
  bool first_ = true;
  bool newline_ = false;
};

} // namespace tandem::profile
