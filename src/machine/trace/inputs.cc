// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/trace/inputs.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fmt/format.h>

namespace tandem::machine::trace {
namespace {

// A line of a trace is far shorter; one above is no text.
constexpr std::size_t kMostLine = 64 * 1024;

struct Packer {
  std::string_view first; // bytes of a file that it has made
  const char *unpack;
};
constexpr std::array<Packer, 4> kPackers = {
    {{std::string_view("\x1f\x8b", 2), "gzip -dc"},
     {std::string_view("\xfd"
                       "7zXZ",
                       5),
      "xz -dc"},
     {"BZh", "bzip2 -dc"},
     {std::string_view("\x28\xb5\x2f\xfd", 4), "zstd -dc"}}};

} // namespace

Result<Input> Input::open(const std::string &path) {
  Input input;
  input.name_ = path == "-" ? "standard input" : path;
  input.file_.reset(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (input.file_ == nullptr)
    return Error{fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
  std::array<char, 8> first{};
  const std::size_t count = std::fread(first.data(), 1, first.size(), input.file_.get());
  if (std::ferror(input.file_.get()) != 0)
    return Error{fmt::format("{}: cannot be read: {}", input.name_, std::strerror(errno))};
  input.first_.assign(first.data(), count);
  for (const Packer &packer : kPackers)
    if (input.first_.starts_with(packer.first))
      return Error{fmt::format("{}: is compressed; give the output of `{}` as '-'", input.name_,
                               packer.unpack)};
  return input;
}

std::size_t Input::read(std::span<char> to, std::string &error) {
  const std::size_t kept = std::min(first_.size(), to.size());
  std::memcpy(to.data(), first_.data(), kept);
  first_.erase(0, kept);
  const std::size_t count = kept + std::fread(to.data() + kept, 1, to.size() - kept, file_.get());
  if (std::ferror(file_.get()) != 0)
    error = fmt::format("{}: cannot be read: {}", name_, std::strerror(errno));
  return count;
}

bool Lines::next(std::string &line, std::string &error, bool comments) {
  std::size_t end = buffer_.find('\n', head_);
  while (end == std::string::npos) {
    buffer_.erase(0, head_);
    head_ = 0;
    std::array<char, kMostLine> more{};
    const std::size_t count = input_.read(more, error);
    if (!error.empty())
      return false;
    const std::size_t before = buffer_.size();
    buffer_.append(more.data(), count);
    end = buffer_.find('\n', before);
    if (count == 0) {
      if (buffer_.empty())
        return false;
      end = buffer_.size();
      buffer_ += '\n';
    } else if (end == std::string::npos && buffer_.size() > kMostLine) {
      ++line_;
      error = at("is longer than 64 KiB: no text");
      return false;
    }
  }
  line.assign(buffer_, head_, end - head_);
  head_ = end + 1;
  ++line_;
  if (const std::size_t comment = line.find('#'); comments && comment != std::string::npos)
    line.resize(comment);
  return true;
}

std::string Lines::at(std::string_view what) const {
  return fmt::format("{}:{}: {}", input_.name(), line_, what);
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::optional<std::uint64_t> number_of(std::string_view word) {
  const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
  if (hexadecimal)
    word.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), value, hexadecimal ? 16 : 10);
  if (word.empty() || error != std::errc() || end != word.data() + word.size())
    return std::nullopt;
  return value;
}

} // namespace tandem::machine::trace
