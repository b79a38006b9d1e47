// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/fuzz/targets.h"

#include "base/characters.h"
#include "base/file.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/toml.h"
#include "cli/analyze/database.h"
#include "cli/findings/suppress.h"
#include "cli/report/profile.h"
#include "compiler/catalogue/catalogue.h"
#include "compiler/convert/file.h"
#include "compiler/driver/command_line.h"
#include "compiler/driver/response_file.h"
#include "compiler/driver/settings.h"
#include "compiler/report/report.h"
#include "machine/configuration/configuration.h"
#include "machine/platform/device_tree.h"
#include "machine/platform/elf.h"
#include "machine/run/recording.h"
#include "machine/trace/trace.h"
#include "machine/traffic/profile.h"

#include <sys/mman.h>
#include <unistd.h>

namespace tandem::fuzz {
namespace {

// What is shown for a mistake is one line, and says something.
template <class Value> void look_at(const Result<Value> &result) {
  if (result)
    return;
  const std::string line = printable(result.error().message);
  CHECK(!line.empty() && line.find('\n') == std::string::npos, "{}", line);
}

// The input as a file that parsers of files read.
class File {
public:
  explicit File(std::string_view input) : number_(::memfd_create("input", 0)) {
    CHECK(number_ >= 0 &&
          ::write(number_, input.data(), input.size()) == static_cast<ssize_t>(input.size()));
  }
  ~File() { ::close(number_); }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", number_); }

private:
  int number_;
};

std::vector<std::string> lines_of(std::string_view input) {
  std::vector<std::string> lines;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    lines.emplace_back(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return lines;
}

void characters(std::string_view input) {
  const std::string shown = printable(input);
  // What is shown is UTF-8 without control characters, and is shown as it is.
  for (std::string_view rest = shown; !rest.empty();) {
    const Character next = take_character(rest);
    CHECK(next.valid && !is_control(next.code));
  }
  CHECK(printable(shown) == shown);
}

void toml(std::string_view input) { look_at(parse_toml(input, "f.toml")); }

void json(std::string_view input) {
  look_at(parse_json(input, "f.json"));
  look_at(parse_json(input, "f.json", JsonRoot::list));
}

void catalogue(std::string_view input) { look_at(Catalogue::parse(input, "f.toml")); }

void conversion(std::string_view input) { look_at(read_conversion(File(input).path())); }

void suppressions(std::string_view input) { look_at(load_suppressions(File(input).path())); }

void configuration(std::string_view input) {
  const Result<machine::Configuration> read = machine::parse_configuration(input, "f.toml", {});
  look_at(read);
  if (!read)
    return;
  const Result<machine::Configuration> again =
      machine::parse_configuration(machine::to_toml(*read), "f.toml", {});
  CHECK(again.ok(), "{}", again.error().message);
}

void setting(std::string_view input) {
  look_at(machine::parse_configuration("version = 1\n", "f.toml", lines_of(input)));
}

void traffic(std::string_view input) { look_at(machine::parse_profile(input, "f.toml")); }

void trace(std::string_view input) {
  const File file(input);
  Result<machine::TraceReader> reader = machine::TraceReader::open(file.path(), 4);
  look_at(reader);
  if (!reader)
    return;
  machine::Operation operation;
  for (unsigned core = 0; core < reader->cores(); ++core)
    while (reader->next(core, operation)) {
    }
}

void program(std::string_view input) {
  const Result<machine::ElfFile> read = machine::ElfFile::parse("f", std::string(input));
  look_at(read);
  if (!read)
    return;
  CHECK(!read->segments.empty() && read->lowest() <= read->highest());
  for (const machine::ElfFile::Segment &segment : read->segments)
    CHECK(segment.file_size <= segment.memory_size && segment.offset <= input.size() &&
          segment.file_size <= input.size() - segment.offset);
  CHECK(!read->symbols.describe(read->entry).empty());
}

void device_tree(std::string_view input) {
  look_at(machine::check_device_tree("f", std::string(input)));
}

void recording(std::string_view input) {
  const Result<std::vector<machine::Typed>> read = machine::parse_typed("f", input);
  look_at(read);
  if (!read)
    return;
  const Result<std::vector<machine::Typed>> again =
      machine::parse_typed("f", machine::to_text(*read));
  CHECK(again && *again == *read);
}

void report(std::string_view input) {
  const Result<Report> read = report_from_json(input, "f.json");
  look_at(read);
  if (!read)
    return;
  const std::string written = to_json(*read);
  const Result<Report> again = report_from_json(written, "f.json");
  CHECK(again.ok(), "{}", again.error().message);
  CHECK(to_json(*again) == written);
}

void profile(std::string_view input) { look_at(profile_from_json(std::string(input), "f.json")); }

void database(std::string_view input) { look_at(read_database(File(input).path())); }

void words(std::string_view input) {
  (void)split_command(input);
  const std::vector<std::string> split = split_words(input);
  CHECK(split_words(join_words(split)) == split);
}

void command_line(std::string_view input) {
  const CommandLine line = parse_command_line(lines_of(input));
  CHECK(line.options_end <= line.words.size());
  look_at(read_settings(line.own_options, {}));
}

constexpr Target kTargets[] = {{"characters", characters},
                               {"toml", toml},
                               {"json", json},
                               {"catalogue", catalogue},
                               {"conversion", conversion},
                               {"suppressions", suppressions},
                               {"configuration", configuration},
                               {"setting", setting},
                               {"traffic", traffic},
                               {"trace", trace},
                               {"program", program},
                               {"device-tree", device_tree},
                               {"recording", recording},
                               {"report", report},
                               {"profile", profile},
                               {"database", database},
                               {"words", words},
                               {"command-line", command_line}};

} // namespace

std::span<const Target> targets() { return kTargets; }

} // namespace tandem::fuzz
