// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/common/program.h"

#include "base/file.h"
#include "base/version.h"
#include "cli/common/suggest.h"
#include "cli/common/terminal.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace tandem {
namespace {

constexpr std::size_t kHelpWidth = 80;  // columns of help text, whatever the terminal
constexpr std::size_t kHelpColumn = 26; // where the explanations of options begin

// "-h, --help" or "--json FILE"; "SOURCES..." for a positional argument.
std::string title_of(const CLI::Option &option) {
  if (option.get_positional())
    return option.get_name(true) + (option.get_expected_max() > 1 ? "..." : "");
  std::string title;
  for (const std::string &name : option.get_snames())
    title += (title.empty() ? "-" : ", -") + name;
  for (const std::string &name : option.get_lnames())
    title += (title.empty() ? "--" : ", --") + name;
  if (option.get_expected_max() > 0 && !option.get_type_name().empty())
    title += " " + option.get_type_name();
  return title;
}

std::string entry(const std::string &title, const std::string &text) {
  std::string line = "  " + title;
  if (line.size() + 2 > kHelpColumn)
    line += "\n" + std::string(kHelpColumn, ' ');
  else
    line.resize(kHelpColumn, ' ');
  // wrap() indents all lines but the first, which begins at the same column here.
  std::string lines = wrap(text, kHelpWidth - kHelpColumn, 0);
  for (std::size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; at += kHelpColumn)
    lines.insert(at + 1, kHelpColumn, ' ');
  return line + lines + "\n";
}

std::string group(const std::string &heading, const std::vector<const CLI::Option *> &options) {
  if (options.empty())
    return "";
  std::string text = "\n" + heading + ":\n";
  for (const CLI::Option *option : options)
    text += entry(title_of(*option), option->get_description());
  return text;
}

// All names that the options of `app` have, with their dashes.
std::vector<std::string> option_names(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    if (!option->get_group().empty())
      for (const std::string &name : option->get_lnames())
        names.push_back("--" + name);
  return names;
}

Result<Colours> parse_colours(const std::string &when) {
  if (when == "auto")
    return Colours::automatic;
  if (when == "always")
    return Colours::always;
  if (when == "never")
    return Colours::never;
  return Error{fmt::format("'{}' is none of auto, always and never", when)};
}

} // namespace

int report_mistake(const std::string &program, const Error &error) {
  fmt::print(stderr, "{}: {}\n", program, printable(error.message));
  return kUsageStatus;
}

Program::Program(const std::string &name, std::string summary)
    : name_(name.empty() ? "tandem" : "tandem " + name), summary_(std::move(summary)),
      app_(summary_, name_) {
  app_.set_help_flag();
  // parse() answers these itself; here they are for the help.
  app_.add_option("--color", colours_, "auto: on a terminal; always; never")
      ->type_name("WHEN")
      ->check(checked_by(parse_colours));
  add_flag("--quiet", quiet_, "no progress on standard error");
  app_.add_flag("-h,--help")->description("print this text");
  app_.add_flag("--version")->description("print the version");
}

CLI::Option *Program::add_json(std::string &path, const std::string &what) {
  return app_.add_option("--json", path, what + "; - is standard output")->type_name("FILE");
}

CLI::Option *Program::add_flag(const std::string &name, bool &given, const std::string &what) {
  return app_.add_flag(name, given, what)->disable_flag_override();
}

std::string Program::help() const {
  std::vector<const CLI::Option *> positional;
  std::vector<const CLI::Option *> own;
  std::vector<const CLI::Option *> common; // --help and --version come last
  std::string words = "[OPTIONS]";
  for (const CLI::Option *option : app_.get_options()) {
    if (option->get_group().empty())
      continue;
    if (option->get_positional()) {
      positional.push_back(option);
      words += " " + title_of(*option);
    } else if (option->check_lname("help") || option->check_lname("version") ||
               option->check_lname("color") || option->check_lname("quiet")) {
      common.push_back(option);
    } else {
      own.push_back(option);
    }
  }
  std::string text = fmt::format("{}: {}\n\n", name_, summary_);
  const std::vector<std::string> usages = usages_.empty() ? std::vector{words} : usages_;
  for (std::size_t index = 0; index < usages.size(); ++index)
    text += fmt::format("{} {} {}\n", index == 0 ? "Usage:" : "      ", name_, usages[index]);
  text += group("Arguments", positional);
  own.insert(own.end(), common.begin(), common.end());
  text += group("Options", own);
  if (!epilogue_.empty())
    text += "\n" + epilogue_ + "\n";
  return text;
}

Error Program::explain(const CLI::ParseError &error) const {
  const std::string see = fmt::format("see {} --help", name_);
  if (dynamic_cast<const CLI::ExtrasError *>(&error) != nullptr) {
    const std::vector<std::string> extra = app_.remaining(true);
    const std::string word = extra.empty() ? "" : extra.front();
    if (!word.starts_with("-"))
      return Error{fmt::format("unexpected argument '{}'; {}", word, see)};
    const std::string option = word.substr(0, word.find('='));
    const std::string near = nearest(option, option_names(app_));
    return Error{fmt::format("unknown option '{}'; {}", option,
                             near.empty() ? see : fmt::format("did you mean '{}'?", near))};
  }
  std::string message = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch *>(&error) != nullptr) {
    // CLI11 names the option first, with its dashes or without.
    const std::string word = message.substr(0, message.find_first_of(": "));
    const std::string option = word.starts_with("-") ? word : "--" + word;
    if (const CLI::Option *found = app_.get_option_no_throw(option))
      return Error{found->get_expected_max() == 0
                       ? fmt::format("{} takes no value", option)
                       : fmt::format("{0} needs a value: {0} {1}", option, found->get_type_name())};
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  if (message.size() > 1 && std::islower(static_cast<unsigned char>(message[1])) != 0)
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  if (dynamic_cast<const CLI::ValidationError *>(&error) != nullptr)
    return Error{message};
  return Error{fmt::format("{}; {}", message, see)};
}

// Moves what belongs to rest() there.
void Program::cut_rest(std::vector<std::string> &words) {
  auto end = words.end();
  if (keeps_rest_) {
    end = std::find(words.begin(), words.end(), "--");
  } else if (rest_from_first_word_) {
    for (end = words.begin(); end != words.end() && end->size() > 1 && end->front() == '-'; ++end) {
      if (*end == "--")
        break;
      const CLI::Option *option = app_.get_option_no_throw(*end);
      const bool takes_value = option != nullptr && option->get_expected_max() > 0;
      if (takes_value && end + 1 != words.end())
        ++end;
    }
  }
  if (end == words.end())
    return;
  rest_.assign(end + (*end == "--" ? 1 : 0), words.end());
  words.erase(end, words.end());
}

std::optional<int> Program::parse(int argc, const char *const *argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  cut_rest(words);
  // These are answered whatever else is on the line.
  const auto asked = [&](std::string_view option) {
    const auto end = std::find(words.begin(), words.end(), "--");
    return std::find(words.begin(), end, option) != end;
  };
  std::string answer;
  if (asked("--summary"))
    answer = summary_ + "\n";
  else if (asked("--help") || asked("-h"))
    answer = help();
  else if (asked("--version"))
    answer = fmt::format("{} {}\n", name_, version_text());
  if (!answer.empty()) {
    const Status written = write_file("-", answer);
    return written ? 0 : fail(written.error());
  }
  std::reverse(words.begin(), words.end()); // CLI11 takes them off the end
  try {
    app_.parse(words);
  } catch (const CLI::ParseError &error) {
    return fail(explain(error));
  }
  Terminal::choose(*parse_colours(colours_), quiet_);
  return std::nullopt;
}

} // namespace tandem
