// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/transactions.h"

#include "base/file.h"
#include "contention/names.h"
#include "machine/htm/counters.h"
#include "machine/htm/transactional_memory.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace tandem::machine_cli {

using machine::AbortCause;
using machine::HtmCounters;
using machine::HtmSite;
using nlohmann::ordered_json;

void declare_transactions(Program &program, TransactionArguments &arguments) {
  CLI::App &app = program.app();
  app.add_option("--tx-limit", arguments.limit,
                 "restarts of a hardware transaction after which its section must use its lock "
                 "(stxlimit; default: 0, never, until the guest sets it)")
      ->type_name("N")
      ->check(CLI::Range(0U, 0xffffffffU));
  app.add_flag("--tx-release", arguments.release,
               "a rising stack pointer releases what its transaction has marked (stxctl, bit 0)");
  app.add_option("--profile", arguments.profile,
                 "what the transactions did, for `tandem report` and `tandem analyze --profile`")
      ->type_name("FILE");
}

bool only_about_transactions(const std::vector<std::string> &settings) {
  return std::ranges::all_of(settings,
                             [](const std::string &each) { return each.starts_with("htm."); });
}

void prepare_transactions(const TransactionArguments &arguments, machine::Machine &machine,
                          const machine::Symbols &symbols, const char *command) {
  for (auto &hart : machine.harts()) {
    if (arguments.limit != 0)
      hart->state().stxlimit = arguments.limit;
    if (arguments.release) {
      hart->state().stxctl |= machine::stxctl::kEarlyRelease;
      hart->changed();
    }
  }
  machine.harts().on_broken_rule([&symbols, command](machine::Hart &hart, const char *rule) {
    const std::uint64_t pc = hart.state().pc;
    fmt::print(stderr, "{}: hart {} at {:#x}{}: {}: illegal instruction\n", command, hart.id(), pc,
               symbols.find(pc) ? fmt::format(" ({})", symbols.describe(pc)) : std::string(), rule);
  });
}

namespace {

constexpr const char *kCauses[] = {"none", "conflict", "software", "io",  "call",
                                   "csr",  "limit",    "recall",   "user"};

template <class Counts> ordered_json by_cause(const Counts &counts) {
  ordered_json json = ordered_json::object();
  for (std::size_t cause = 1; cause < counts.size(); ++cause)
    json[kCauses[cause]] = counts[cause];
  return json;
}

template <class Histogram> ordered_json counts_of(const Histogram &histogram) {
  std::size_t used = histogram.counts.size();
  while (used > 0 && histogram.counts[used - 1] == 0)
    --used;
  return std::vector<std::uint64_t>(histogram.counts.begin(),
                                    histogram.counts.begin() + static_cast<std::ptrdiff_t>(used));
}

ordered_json power_histogram(const machine::PowerHistogram &histogram) {
  return {{"counts", counts_of(histogram)}, {"sum", histogram.sum}, {"max", histogram.max}};
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

ordered_json sites_json(const HtmCounters &counters, Places &places) {
  ordered_json sites = ordered_json::array();
  for (const auto &[address, site] : counters.sites)
    sites.push_back({{"site", places.of(address).name},
                     {"address", address},
                     {"file", places.of(address).file},
                     {"line", places.of(address).line},
                     {"transactions", site.transactions},
                     {"commits", site.commits},
                     {"restarts", site.restarts},
                     {"fallbacks", site.fallbacks},
                     {"cycles", site.cycles},
                     {"lost_cycles", site.lost_cycles},
                     {"wait_cycles", site.wait_cycles},
                     {"causes", by_cause(site.causes)}});
  return sites;
}

} // namespace

ordered_json transactions_json(machine::Machine &machine, Places &places) {
  const machine::TransactionalMemory &memory = machine.harts().transactions();
  const HtmCounters &c = memory.counters();
  const machine::HtmOptions &options = memory.options();
  ordered_json pairs = ordered_json::array();
  for (const auto &[pair, count] : c.pairs)
    pairs.push_back({{"loser", places.of(pair.first).name},
                     {"winner", pair.second == 0 ? "" : places.of(pair.second).name},
                     {"count", count}});
  return {{"policy", contention::kPolicyNames[unsigned(options.policy)].first},
          {"backoff", contention::kBackoffNames[unsigned(options.backoff)].first},
          {"granularity", options.granularity == machine::Granularity::byte ? "byte" : "line"},
          {"stall", options.stall},
          {"transactions", c.transactions},
          {"commits", c.commits},
          {"restarts", c.restarts},
          {"restart_percent", percent(c.restarts, c.restarts + c.transactions)},
          {"unique_restarts", c.unique_restarts},
          {"unique_restart_percent", percent(c.unique_restarts, c.transactions)},
          {"fallbacks", c.fallbacks},
          {"begun_in_interrupts", c.begun_in_interrupts},
          {"begun_in_system_calls", c.begun_in_system_calls},
          {"interrupted", c.interrupted},
          {"live_stack_overwrites", c.live_stack_overwrites},
          {"released_bytes", c.released_bytes},
          {"saved_conflicts", c.saved_conflicts},
          {"overflows", c.overflows},
          {"backoffs", c.backoffs},
          {"backoff_cycles", c.backoff_cycles},
          {"stalls", c.stalls},
          {"stall_cycles", c.stall_cycles},
          {"waits_in_cycles", c.waits_in_cycles},
          {"cycles", c.cycles},
          {"conflicts",
           {{"transactions", c.by_transactions},
            {"accesses_outside", c.by_accesses},
            {"newer_of_the_hart", c.by_newer}}},
          {"causes", by_cause(c.causes)},
          {"sizes",
           {{"bytes", counts_of(c.bytes)},
            {"blocks", counts_of(c.blocks)},
            {"written_bytes", counts_of(c.written_bytes)},
            {"written_blocks", counts_of(c.written_blocks)}}},
          {"sites", sites_json(c, places)},
          {"pairs", pairs}};
}

namespace {

const char *profile_cause(AbortCause cause) {
  switch (cause) {
  case AbortCause::conflict:
    return "hardware-conflict";
  case AbortCause::recall:
    return "hardware-capacity";
  case AbortCause::none:
  case AbortCause::software:
  case AbortCause::io:
  case AbortCause::call:
  case AbortCause::csr:
  case AbortCause::limit:
  case AbortCause::user:
    break;
  }
  return "hardware-other";
}

// Conflicts by winner; all other causes together.
ordered_json aborts_of(std::uint64_t address, const HtmSite &site, const HtmCounters &counters,
                       Places &places, std::uint64_t &aborts) {
  ordered_json json = ordered_json::array();
  for (const auto &[pair, count] : counters.pairs) {
    if (pair.first != address)
      continue;
    aborts += count;
    json.push_back({{"cause", profile_cause(AbortCause::conflict)}, {"count", count}});
    if (pair.second != 0)
      json.back()["other"] = places.of(pair.second).name;
  }
  std::uint64_t others = 0;
  for (unsigned cause = 0; cause < machine::kAbortCauses; ++cause)
    if (cause != unsigned(AbortCause::conflict) && cause != unsigned(AbortCause::limit))
      others += site.causes[cause];
  aborts += others;
  if (others > 0)
    json.push_back({{"cause", profile_cause(AbortCause::software)}, {"count", others}});
  return json;
}

ordered_json fallbacks_of(const HtmSite &site) {
  ordered_json json = ordered_json::array();
  const std::uint64_t tired = std::min(site.causes[unsigned(AbortCause::limit)], site.fallbacks);
  if (tired > 0)
    json.push_back({{"cause", "retries"}, {"count", tired}, {"stack", ordered_json::array()}});
  if (site.fallbacks > tired)
    json.push_back({{"cause", "irrevocable-call"},
                    {"count", site.fallbacks - tired},
                    {"stack", ordered_json::array()}});
  return json;
}

std::uint64_t nanoseconds(std::uint64_t cycles, std::uint32_t clock_mhz) {
  return cycles * 1000 / clock_mhz;
}

ordered_json section_of(std::uint64_t address, const HtmSite &site, const HtmCounters &counters,
                        Places &places, const std::string &output, std::uint32_t clock_mhz) {
  std::uint64_t aborts = 0;
  const ordered_json undone = aborts_of(address, site, counters, places, aborts);
  const std::uint64_t unfinished = site.transactions - site.commits - site.fallbacks;
  const Place &place = places.of(address);
  ordered_json json{{"name", place.name},
                    {"output", place.output.empty() ? output : place.output},
                    {"file", place.file},
                    {"line", place.line},
                    {"kind", place.kind}};
  if (*place.section_class != '\0')
    json["class"] = place.section_class;
  json.update(ordered_json{
      {"colours", place.colours},
      {"starts", site.commits + aborts + unfinished},
      {"commits", site.commits},
      {"unfinished", unfinished},
      {"aborts", undone},
      {"serialisations", fallbacks_of(site)},
      {"read_set", power_histogram(site.read_blocks)},
      {"write_set", power_histogram(site.written_blocks)},
      {"retries", power_histogram(site.retries)},
      {"time",
       {{"section_ns", nanoseconds(site.cycles + site.lost_cycles + site.wait_cycles, clock_mhz)},
        {"waiting_ns", nanoseconds(site.wait_cycles, clock_mhz)},
        {"irrevocable_ns", 0}}}});
  return json;
}

} // namespace

Status write_profile(const TransactionArguments &arguments, machine::Machine &machine,
                     Places &places, const std::string &program,
                     const std::vector<std::string> &words, std::uint32_t clock_mhz) {
  if (arguments.profile.empty())
    return Unit{};
  const machine::TransactionalMemory &memory = machine.harts().transactions();
  const HtmCounters &counters = memory.counters();
  ordered_json sections = ordered_json::array();
  const std::string output = std::filesystem::path(program).filename();
  for (const auto &[address, site] : counters.sites)
    sections.push_back(section_of(address, site, counters, places, output, clock_mhz));
  const double cycles = static_cast<double>(machine.clock().now);
  ordered_json json{
      {"version", 1},
      {"run",
       {{"program", program},
        {"command", words},
        {"pid", 1}, // of the guest, whose clock begins at 0
        {"algorithm", "htm"},
        {"policy",
         {{"contention", contention::kPolicyNames[unsigned(memory.options().policy)].first},
          {"backoff", contention::kBackoffNames[unsigned(memory.options().backoff)].first},
          {"serialise_after", machine.harts()[0].state().stxlimit}}},
        {"threads", machine.harts().size()},
        {"start", "1970-01-01T00:00:00.000Z"},
        {"wall_seconds", cycles / (1e6 * clock_mhz)}}},
      {"sections", sections}};
  return write_file(arguments.profile, json.dump(2) + "\n");
}

} // namespace tandem::machine_cli
