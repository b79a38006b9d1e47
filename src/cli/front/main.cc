// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem NAME ARGUMENTS...` becomes the program tandem-NAME.
#include "base/file.h"
#include "base/version.h"
#include "cli/common/installation.h"
#include "cli/common/program.h"
#include "cli/common/suggest.h"
#include "cli/common/table.h"
#include "cli/front/subcommands.h"
#include "cli/front/topics.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace tandem {
namespace {

constexpr const char *kProgram = "tandem";

std::string search_path() {
  const char *path = std::getenv("PATH");
  return path == nullptr ? "" : path;
}

std::string listing(const std::vector<Subcommand> &subcommands, const Terminal &terminal) {
  const std::vector<std::string> summaries = ask_summaries(subcommands);
  std::size_t column = 0;
  for (const Subcommand &subcommand : subcommands)
    column = std::max(column, subcommand.name.size() + 4);
  std::string text = "tandem: atomic sections for C and C++\n\n"
                     "Usage: tandem NAME [ARGUMENTS...]\n"
                     "       tandem help NAME|TOPIC\n"
                     "       tandem help topics\n"
                     "       tandem --version\n";
  for (const bool own : {true, false}) {
    std::string group;
    for (std::size_t index = 0; index < subcommands.size(); ++index) {
      const Subcommand &subcommand = subcommands[index];
      if (subcommand.own != own)
        continue;
      const std::string &about = summaries[index].empty() ? subcommand.path : summaries[index];
      const std::string shown = shorten(
          printable(about),
          terminal.width == 0 ? 0 : std::max<std::size_t>(terminal.width, column + 8) - column);
      group += fmt::format("  {}{}{}\n", terminal.paint(Colour::bold, printable(subcommand.name)),
                           std::string(column - 2 - subcommand.name.size(), ' '), shown);
    }
    if (!group.empty())
      text += (own ? "\nSubcommands:\n" : "\nYour own, from PATH:\n") + group;
  }
  text += "\nThe compilers tandem-cc and tandem-c++ are programs of their own and take clang's "
          "options.\n";
  return text;
}

// Becomes the program; returns only the error that kept it from that.
Error become(const std::string &path, const std::vector<std::string> &arguments) {
  std::vector<char *> words = {const_cast<char *>(path.c_str())};
  for (const std::string &argument : arguments)
    words.push_back(const_cast<char *>(argument.c_str()));
  words.push_back(nullptr);
  ::execv(path.c_str(), words.data());
  return Error{fmt::format("{}: cannot be run: {}", path, std::strerror(errno))};
}

Error unknown(const std::string &name, const std::vector<Subcommand> &subcommands) {
  const bool good_name = !name.empty() && name.find('/') == std::string::npos;
  const std::string program = programs_folder() + "/tandem-" + name;
  if (good_name && ::access(program.c_str(), X_OK) == 0)
    return Error{fmt::format("'{}' is no subcommand; run tandem-{}", name, name)};
  std::vector<std::string> names = {"help"};
  for (const Subcommand &subcommand : subcommands)
    names.push_back(subcommand.name);
  const std::string near = nearest(name, names);
  return Error{fmt::format("unknown subcommand '{}'; {}", name,
                           near.empty() ? "tandem help lists them"
                                        : fmt::format("did you mean '{}'?", near))};
}

std::string topics_listing(const std::vector<Topic> &topics) {
  std::size_t column = 0;
  for (const Topic &topic : topics)
    column = std::max(column, topic.name.size() + 4);
  std::string text = "tandem help TOPIC shows a document:\n";
  for (const Topic &topic : topics)
    text += fmt::format("  {}{}{}\n", topic.name, std::string(column - 2 - topic.name.size(), ' '),
                        topic.title);
  return text;
}

int print(const std::string &text) {
  const Status written = write_file("-", text);
  return written ? 0 : report_mistake(kProgram, written.error());
}

int run(std::vector<std::string> words) {
  const std::vector<Subcommand> subcommands = find_subcommands(search_path());
  if (words.empty())
    return print(listing(subcommands, Terminal::of(stdout)));
  std::string name = words.front();
  words.erase(words.begin());
  if (name == "help" || name == "--help" || name == "-h") {
    if (words.empty() || words.front() == "help")
      return print(listing(subcommands, Terminal::of(stdout)));
    name = words.front();
    words = {"--help"};
    const bool is_subcommand =
        std::any_of(subcommands.begin(), subcommands.end(),
                    [&](const Subcommand &subcommand) { return subcommand.name == name; });
    if (!is_subcommand) {
      const std::vector<Topic> topics = find_topics();
      if (name == "topics")
        return topics.empty()
                   ? report_mistake(kProgram, Error{"the documents are not installed here"})
                   : print(topics_listing(topics));
      if (const Topic *topic = find_topic(topics, name)) {
        const Result<std::string> text = read_file(topic->path);
        return text ? print(*text) : report_mistake(kProgram, text.error());
      }
    }
  } else if (name == "--version") {
    return print(fmt::format("tandem {}\n", version_text()));
  } else if (name.starts_with("-")) {
    const std::string near = nearest(name, {"--help", "--version"});
    return report_mistake(
        kProgram, Error{fmt::format("unknown option '{}'; {}", name,
                                    near.empty() ? "see tandem --help"
                                                 : fmt::format("did you mean '{}'?", near))});
  }
  const auto found =
      std::find_if(subcommands.begin(), subcommands.end(),
                   [&](const Subcommand &subcommand) { return subcommand.name == name; });
  return report_mistake(kProgram, found == subcommands.end() ? unknown(name, subcommands)
                                                             : become(found->path, words));
}

} // namespace
} // namespace tandem

int main(int argc, char **argv) {
  return tandem::run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
