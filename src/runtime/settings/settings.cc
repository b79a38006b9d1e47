// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/settings/settings.h"

#include "contention/names.h"
#include "runtime/algorithms/hardware.h"
#include "runtime/fatal.h"
#include "runtime/settings/environment.h"
#include "runtime/sync/races.h"

#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace tandem {

Settings settings;

namespace {

// A way to run transactions, as users name it.
struct Choice {
  Algorithm algorithm;
  bool automatic;
  bool hardware = false; // asked for
};

// What auto begins with: of the algorithms the one that costs a single thread least.
constexpr Choice kAutomatic = {Algorithm::norec, true};

constexpr std::array<std::pair<std::string_view, Choice>, 7> kAlgorithms = {{
    {"auto", kAutomatic},
    {"serial", {Algorithm::serial, false}},
    {"eager", {Algorithm::eager, false}},
    {"lazy", {Algorithm::lazy, false}},
    {"norec", {Algorithm::norec, false}},
    {"two-phase", {Algorithm::two_phase, false}},
    {"htm", {kAutomatic.algorithm, kAutomatic.automatic, true}},
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

constexpr std::array<std::pair<std::string_view, bool>, 2> kHardware = {{
    {"on", true},
    {"off", false},
}};

bool unwanted = false;    // hardware
bool are_any_set = false; // variables of ours

// What keeps transactions out while one is serial: bits of Settings::special.
constexpr std::array<std::pair<std::string_view, std::uint32_t>, 2> kSerialLocks = {{
    {"marks", 0},
    {"readers-writer", kSpecialReadersWriter},
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

const char *value_of(const char *variable) noexcept {
  return are_any_set ? tandem::variable(variable) : nullptr;
}

// The value of `variable` in `table`; nothing where it is not set or empty.
template <class Table> auto lookup(const char *variable, const Table &table) {
  std::optional<typename Table::value_type::second_type> found;
  const char *value = value_of(variable);
  if (value == nullptr || without_blanks(value).empty())
    return found;
  found = contention::named(table, without_blanks(value));
  if (!found)
    refuse_value(variable, value, table);
  return found;
}

// A number, or the word `none`, which is kNever; nothing where the variable is not set or empty.
std::optional<std::uint32_t> number(const char *variable, std::string_view none) {
  constexpr std::uint32_t kMost = 1'000'000;
  const char *value = value_of(variable);
  if (value == nullptr || without_blanks(value).empty())
    return std::nullopt;
  const std::string_view text = without_blanks(value);
  if (text == none)
    return kNever;
  std::uint32_t found = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
  if (error != std::errc{} || end != text.data() + text.size() || found == 0 || found > kMost)
    refuse("%s=%s is not known; the valid values are %.*s%s1 to %u", variable, value,
           static_cast<int>(none.size()), none.data(), none.empty() ? "" : " and ", kMost);
  return found;
}

} // namespace

void read_settings() noexcept {
  are_any_set = any_variable();
  auto choice = lookup("TANDEM_ALGORITHM", kAlgorithms);
  if (!choice)
    choice = lookup("ITM_DEFAULT_METHOD", kLibitmMethods);
  unwanted = !lookup("TANDEM_HARDWARE", kHardware).value_or(true);
  settings.hardware = !unwanted && hardware::present();
  if (choice) {
    settings.algorithm = choice->algorithm;
    settings.special = choice->automatic ? kSpecialSerial | kSpecialAdapt : 0;
    settings.chosen = true;
    if (choice->hardware)
      note_hardware();
  }
  if ((!choice || choice->automatic) && settings.hardware) {
    settings.algorithm = Algorithm::htm;
    settings.special = choice && choice->hardware ? 0 : kSpecialSerial | kSpecialAdapt;
  }
  if (races::are_looked_for()) {
    if (settings.algorithm != Algorithm::serial && choice)
      note("ThreadSanitizer is in this program: its transactions run one at a time");
    settings.algorithm = Algorithm::serial;
    settings.special = 0;
    settings.chosen = true;
    settings.hardware = false;
  }
  if (const auto policy = lookup("TANDEM_POLICY", contention::kPolicyNames))
    settings.policy = *policy;
  if (const auto backoff = lookup("TANDEM_BACKOFF", contention::kBackoffNames))
    settings.backoff = *backoff;
  if (const auto lock = lookup("TANDEM_SERIAL_LOCK", kSerialLocks))
    settings.special |= *lock;
  if (const auto after = number("TANDEM_SERIALISE_AFTER", "never"))
    settings.serialise_after = *after;
  if (const auto period = number("TANDEM_PROFILE_PERIOD", ""))
    settings.profile_period = *period;
  if (const auto after = number("TANDEM_HOURGLASS", "off")) {
    settings.hourglass_after = *after;
    if (*after != kNever)
      settings.special |= kSpecialHourglass;
  }
}

void want_hardware() noexcept {
  if (settings.hardware)
    settings.special &= ~kSpecialAdapt;
  note_hardware();
}

void note_hardware() noexcept {
  static constinit std::atomic<bool> said{false};
  if (!settings.hardware && !said.exchange(true, std::memory_order_relaxed))
    note("hardware transactions are asked for; %s, and runs as with auto",
         unwanted ? "TANDEM_HARDWARE=off uses none" : "this processor has none");
}

} // namespace tandem
