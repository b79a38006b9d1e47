// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/settings/settings.h"

#include "contention/names.h"
#include "runtime/fatal.h"

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

namespace tandem {

Settings settings;

namespace {

// A way to run transactions, as users name it.
struct Choice {
  Algorithm algorithm;
  bool skip_when_alone;
};

// For auto, NOrec: on machines of up to a few cores it is the fastest of the three on every
// micro-benchmark (bench/transactions).
constexpr Choice kAutomatic = {Algorithm::norec, true};

constexpr std::array<std::pair<std::string_view, Choice>, 5> kAlgorithms = {{
    {"auto", kAutomatic},
    {"serial", {Algorithm::serial, false}},
    {"eager", {Algorithm::eager, false}},
    {"lazy", {Algorithm::lazy, false}},
    {"norec", {Algorithm::norec, false}},
}};

// libitm's methods, each with what is nearest to it.
constexpr std::array<std::pair<std::string_view, Choice>, 6> kLibitmMethods = {{
    {"serialirr", {Algorithm::serial, false}},
    {"serialirr_onwrite", {Algorithm::serial, false}},
    {"serial", {Algorithm::serial, false}},
    {"gl_wt", {Algorithm::norec, false}},
    {"ml_wt", {Algorithm::eager, false}},
    {"htm", kAutomatic},
}};

template <class Table>
[[noreturn]] void refuse_value(const char *variable, const char *value, const Table &table) {
  std::array<char, 256> names{};
  std::size_t used = 0;
  for (const auto &entry : table) {
    const int written =
        std::snprintf(names.data() + used, names.size() - used, "%s%.*s", used == 0 ? "" : ", ",
                      static_cast<int>(entry.first.size()), entry.first.data());
    used += static_cast<std::size_t>(written);
  }
  refuse("%s=%s is not known; the valid values are %s", variable, value, names.data());
}

// libitm allows blanks around the name.
std::string_view without_blanks(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && blank(text.back()))
    text.remove_suffix(1);
  return text;
}

// The value of `variable` in `table`; nothing where it is not set or empty.
template <class Table> auto lookup(const char *variable, const Table &table) {
  std::optional<typename Table::value_type::second_type> found;
  const char *value = std::getenv(variable);
  if (value == nullptr || without_blanks(value).empty())
    return found;
  found = contention::named(table, without_blanks(value));
  if (!found)
    refuse_value(variable, value, table);
  return found;
}

} // namespace

void read_settings() noexcept {
  auto choice = lookup("TANDEM_ALGORITHM", kAlgorithms);
  if (!choice)
    choice = lookup("ITM_DEFAULT_METHOD", kLibitmMethods);
  if (choice) {
    settings.algorithm = choice->algorithm;
    settings.special = choice->skip_when_alone ? kSpecialAlone : 0;
  }
  if (const auto policy = lookup("TANDEM_POLICY", contention::kPolicyNames))
    settings.policy = *policy;
  if (const auto backoff = lookup("TANDEM_BACKOFF", contention::kBackoffNames))
    settings.backoff = *backoff;
}

} // namespace tandem
