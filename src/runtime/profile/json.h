// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON into a stream, for the end of a process: no allocation.
#pragma once

#include <cstdint>
#include <cstdio>

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
    for (; *value != '\0'; ++value) {
      const auto byte = static_cast<unsigned char>(*value);
      if (byte == '"' || byte == '\\')
        std::fprintf(file_, "\\%c", byte);
      else if (byte < 0x20 || byte == 0x7f)
        std::fprintf(file_, "\\u%04x", byte);
      else
        std::fputc(byte, file_);
    }
    std::fputc('"', file_);
  }

  std::FILE *file_;
  bool first_ = true;
  bool newline_ = false;
};

} // namespace tandem::profile
