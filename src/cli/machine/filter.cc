// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine filter`: a presence filter alone, with uniform keys: its bits, its rate of false
// positives as measured and by the formula.
#include "base/file.h"
#include "cli/common/program.h"
#include "cli/machine/commands.h"
#include "machine/filter/analytic.h"
#include "machine/filter/presence.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <random>
#include <unordered_set>

namespace tandem::machine_cli {
namespace {

namespace filter = machine::filter;

struct Arguments {
  std::string kind = "d-left";
  std::size_t members = 5120;
  std::size_t rows = 256;
  unsigned sub_tables = 4;
  unsigned spill_counts = 1;
  std::uint64_t lookups = 200'000;
  std::uint64_t seed = 1;
  std::string json;
};

struct Rates {
  double measured = 0; // of lookups of blocks that are no members
  double formula = 0;
  std::size_t bits = 0; // of the cells or counters
  std::size_t spilled = 0;
  std::uint64_t saturations = 0;
};

filter::PresenceParameters parameters(const Arguments &a) {
  filter::PresenceParameters result;
  result.kind = *filter::kind_from_name(a.kind);
  result.exact_set_beside = true;
  result.d_left = {.sub_tables = a.sub_tables,
                   .buckets = a.rows,
                   .spill_counters = a.spill_counts,
                   .seed = a.seed};
  result.counting_bloom = filter::counting_bloom_in_ways(a.sub_tables, a.rows, a.seed);
  return result;
}

Rates measure(const Arguments &a) {
  filter::Presence presence(parameters(a));
  std::mt19937_64 random(a.seed);
  std::unordered_set<std::uint64_t> members;
  while (members.size() < a.members)
    if (const std::uint64_t key = random() >> 16; members.insert(key).second)
      (void)presence.insert(key);
  Rates rates;
  rates.saturations = presence.statistics().saturations;
  presence.reset_statistics();
  for (std::uint64_t i = 0; i < a.lookups; ++i)
    if (const std::uint64_t key = random() >> 16; !members.contains(key))
      (void)presence.lookup(key);
  rates.measured = presence.statistics().false_positive_rate();
  if (const filter::DLeft *d_left = presence.d_left_or_null(); d_left != nullptr) {
    rates.spilled = d_left->spilled();
    rates.bits = d_left->storage_bits();
    rates.formula = filter::d_left_false_positive(
        a.rows, d_left->parameters().remainder_bits, static_cast<double>(a.members - rates.spilled),
        d_left->groups(), static_cast<double>(rates.spilled));
  } else {
    const filter::CountingBloomParameters bloom = parameters(a).counting_bloom;
    rates.bits = std::size_t{4} * bloom.hashes * bloom.counters_per_hash;
    rates.formula =
        filter::counting_bloom_false_positive(bloom.hashes, bloom.counters_per_hash, a.members);
  }
  return rates;
}

Status check_arguments(const Arguments &a) {
  if (a.kind != "d-left" && a.kind != "counting-bloom")
    return Error{fmt::format("--kind {}: give d-left or counting-bloom", a.kind)};
  if (!std::has_single_bit(a.rows))
    return Error{
        fmt::format("--rows {}: must be a power of 2, since hashes choose the row", a.rows)};
  return check_outputs({a.json}, {});
}

int run(const Arguments &a, const Program &program) {
  if (Status right = check_arguments(a); !right)
    return program.fail(right.error());
  const Rates rates = measure(a);
  const double bits = static_cast<double>(rates.bits) / static_cast<double>(a.members);
  const nlohmann::ordered_json file = {
      {"version", 1},
      {"kind", a.kind},
      {"members", a.members},
      {"rows", a.rows},
      {"sub_tables", a.sub_tables},
      {"seed", a.seed},
      {"bits", rates.bits},
      {"bits_per_member", bits},
      {"kib", static_cast<double>(rates.bits) / 8 / 1024},
      {"members_without_a_cell", rates.spilled},
      {"saturations", rates.saturations},
      {"false_positive_percent", 100 * rates.measured},
      {"formula_percent", 100 * rates.formula},
  };
  const std::string text = fmt::format(
      "{}, {} members: {:.1f} bits a member, {} without a cell, {} full counters\n"
      "false positives: {:.2f} % measured ({} lookups, seed {}), {:.2f} % by the formula\n",
      a.kind, a.members, bits, rates.spilled, rates.saturations, 100 * rates.measured, a.lookups,
      a.seed, 100 * rates.formula);
  if (!a.json.empty())
    if (Status written = write_file(a.json, file.dump(2) + "\n"); !written)
      return program.fail(written.error());
  if (a.json != "-")
    if (Status written = write_file("-", text); !written)
      return program.fail(written.error());
  return 0;
}

} // namespace

int filter_command(int argc, char **argv) {
  Program program("machine filter", "a presence filter alone: bits and false positives");
  Arguments arguments;
  CLI::App &app = program.app();
  app.add_option("--kind", arguments.kind, "d-left or counting-bloom (default: d-left)")
      ->type_name("KIND");
  app.add_option("--members", arguments.members, "keys in it (default: 5120)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 24));
  app.add_option("--rows", arguments.rows, "rows of 16 bytes of a sub-table (default: 256)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{2}, std::size_t{1} << 20));
  app.add_option("--sub-tables", arguments.sub_tables, "sub-tables, or hash functions (default: 4)")
      ->type_name("N")
      ->check(CLI::Range(1U, filter::kMaxSubTables));
  app.add_option("--spill-counts", arguments.spill_counts,
                 "counts a row for members without a cell (d-left; default: 1)")
      ->type_name("N")
      ->check(CLI::Range(1U, 8U));
  app.add_option("--lookups", arguments.lookups, "of keys that are no members (default: 200000)")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32));
  app.add_option("--seed", arguments.seed, "of keys and hashes (default: 1)")->type_name("N");
  program.add_json(arguments.json, "write the result as JSON instead of, or beside, the text");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  return run(arguments, program);
}

} // namespace tandem::machine_cli
