// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/trace/foreign.h"

#include "machine/trace/inputs.h"
#include "machine/trace/trace.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

namespace tandem::machine {
namespace {

constexpr std::array<std::string_view, 6> kKinds = {"load",   "fetch",         "store",
                                                    "atomic", "load-reserved", "store-conditional"};
static_assert(kKinds.size() == static_cast<std::size_t>(RequestKind::store_conditional) + 1);

constexpr std::string_view kHeader = "tandem-trace 1 cores";

// Our own format as text.
class TextTrace : public ForeignTrace {
public:
  explicit TextTrace(trace::Input input) : lines_(std::move(input)) { read_header(); }

  bool next(TracedAccess &access) override {
    std::string line;
    while (error_.empty() && lines_.next(line, error_)) {
      std::vector<std::string_view> words = trace::words_of(line);
      if (words.empty())
        continue;
      if (!read(words, access))
        return false;
      access.time = ++read_;
      return true;
    }
    return false;
  }

private:
  void read_header() {
    std::string line;
    while (error_.empty() && lines_.next(line, error_)) {
      const std::vector<std::string_view> words = trace::words_of(line);
      if (words.empty())
        continue;
      const std::optional<std::uint64_t> cores =
          words.size() == 4 ? trace::number_of(words[3]) : std::nullopt;
      if (!cores || *cores == 0 || *cores > kMostTracedCores ||
          fmt::format("{} {} {}", words[0], words[1], words[2]) != kHeader)
        error_ = lines_.at(fmt::format("is not '{} N', N from 1 to {}: the first line of a trace "
                                       "as text",
                                       kHeader, kMostTracedCores));
      else
        cores_ = static_cast<unsigned>(*cores);
      return;
    }
    if (error_.empty())
      error_ = lines_.at("is empty; a trace as text begins with '" + std::string(kHeader) + " N'");
  }

  bool read(const std::vector<std::string_view> &words, TracedAccess &access) {
    const auto wrong = [&](std::string_view what) {
      error_ = lines_.at(what);
      return false;
    };
    if (words.size() < 3 || words.size() > 5)
      return wrong("is not CORE KIND ADDRESS [INSTRUCTIONS [dependent]]");
    const std::optional<std::uint64_t> core = trace::number_of(words[0]);
    if (!core || *core >= cores_)
      return wrong(fmt::format("has core '{}'; cores are 0 to {}", words[0], cores_ - 1));
    const auto *kind = std::find(kKinds.begin(), kKinds.end(), words[1]);
    if (kind == kKinds.end())
      return wrong(fmt::format("has kind '{}'; kinds are {}", words[1], fmt::join(kKinds, ", ")));
    const std::optional<std::uint64_t> address = trace::number_of(words[2]);
    if (!address)
      return wrong(fmt::format("has address '{}', which is no number", words[2]));
    const std::optional<std::uint64_t> gap =
        words.size() > 3 ? trace::number_of(words[3]) : std::optional<std::uint64_t>(0);
    if (!gap || *gap > ~std::uint32_t{0})
      return wrong(fmt::format("has '{}' instructions; 0 to {}", words[3], ~std::uint32_t{0}));
    if (words.size() == 5 && words[4] != "dependent")
      return wrong(fmt::format("ends with '{}'; only 'dependent' may stand there", words[4]));
    access.core = static_cast<unsigned>(*core);
    access.operation = {*address / 64, static_cast<std::uint32_t>(*gap),
                        static_cast<RequestKind>(kind - kKinds.begin()), words.size() == 5};
    return true;
  }

  trace::Lines lines_;
  std::uint64_t read_ = 0;
};

} // namespace

Result<std::unique_ptr<ForeignTrace>> open_foreign(const std::string &path,
                                                   const ForeignOptions &options) {
  Result<trace::Input> input = trace::Input::open(path);
  if (!input)
    return input.error();
  std::unique_ptr<ForeignTrace> trace;
  switch (options.format) {
  case TraceFormat::text:
    trace = std::make_unique<TextTrace>(std::move(input).value());
    break;
  case TraceFormat::gem5:
    trace = trace::gem5(std::move(input).value(), options.ticks_per_instruction);
    break;
  case TraceFormat::champsim:
    trace = trace::champsim(std::move(input).value());
    break;
  }
  if (!trace->error().empty())
    return Error{trace->error()};
  return trace;
}

std::string text_header(unsigned cores) { return fmt::format("{} {}\n", kHeader, cores); }

std::string to_text_line(unsigned core, const Operation &operation) {
  return fmt::format("{} {} {:#x} {}{}\n", core, kKinds[static_cast<std::size_t>(operation.kind)],
                     operation.block * 64, operation.gap, operation.dependent ? " dependent" : "");
}

} // namespace tandem::machine
