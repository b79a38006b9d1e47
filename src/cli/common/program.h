// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one manner of every subcommand: help, errors, exit status, --json, --color, --quiet.
//
//   int main(int argc, char **argv) {
//     tandem::Program program("analyze", "what the atomic sections of a program share");
//     program.app().add_option("SOURCES", ...);
//     if (const auto status = program.parse(argc, argv))
//       return *status;
//     ...
//     return error ? program.fail(*error) : 0;
//   }
#pragma once

#include "base/result.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tandem {

// Prints `message` on standard error after `program` and a colon. Result: kUsageStatus, for main().
int report_mistake(const std::string &program, const Error &error);

class Program {
public:
  // `name` without "tandem", "" for tandem itself; `summary` is one line for `tandem help`.
  Program(const std::string &name, std::string summary);

  // For the options. Options get a type_name() in capitals, which messages and the help use.
  [[nodiscard]] CLI::App &app() { return app_; }

  // One line of the help's usage, what follows the program's name; the first is "[OPTIONS]" and the
  // positional arguments unless this is called.
  void add_usage(std::string line) { usages_.push_back(std::move(line)); }
  // Text at the end of the help: examples.
  void set_epilogue(std::string text) { epilogue_ = std::move(text); }
  // Words after "--" go to rest() instead of the positional arguments.
  void keep_rest() { keeps_rest_ = true; }
  // The first word that is no option, and all behind it, go to rest(): a program and its arguments.
  void keep_rest_from_first_word() { rest_from_first_word_ = true; }
  [[nodiscard]] const std::vector<std::string> &rest() const { return rest_; }

  // The option --json FILE: `path` stays empty unless it is given; "-" is standard output. Write it
  // with write_file(), and find out with check_writable() before any work whether that will do.
  CLI::Option *add_json(std::string &path, const std::string &what);

  // An option without a value.
  CLI::Option *add_flag(const std::string &name, bool &given, const std::string &what);

  // Reads the command line; --help, --version and --summary are answered, --color and --quiet
  // obeyed. Result: the exit status where the program ends here, which for a mistake has been
  // explained in one line.
  [[nodiscard]] std::optional<int> parse(int argc, const char *const *argv);

  // `tandem NAME: message` on standard error; gives kUsageStatus.
  [[nodiscard]] int fail(const Error &error) const { return report_mistake(name_, error); }

  // "tandem NAME".
  [[nodiscard]] const std::string &name() const { return name_; }
  [[nodiscard]] std::string help() const;

private:
  void cut_rest(std::vector<std::string> &words);
  [[nodiscard]] Error explain(const CLI::ParseError &error) const;

  std::string name_;
  std::string summary_;
  std::vector<std::string> usages_;
  std::string epilogue_;
  bool keeps_rest_ = false;
  bool rest_from_first_word_ = false;
  std::string colours_ = "auto";
  bool quiet_ = false;
  std::vector<std::string> rest_;
  CLI::App app_;
};

// A validator for app().add_option(...)->check(): `parse` gives a Result, whose error is shown.
template <typename Parse> CLI::Validator checked_by(Parse parse) {
  return CLI::Validator(
      [parse](const std::string &text) {
        const auto result = parse(text);
        return result ? std::string() : result.error().message;
      },
      "");
}

} // namespace tandem
