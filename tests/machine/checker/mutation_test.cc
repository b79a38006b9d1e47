// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every row of every table, altered in every small way: nearly all alterations must be noticed by
// a search, and those that are not are in survivors/PROTOCOL.txt, each with the reason why it is
// no mistake. A line of that file: the mutant, a tabulator, the reason; # begins a comment.
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "machine/prover/prover.h"

namespace tandem::machine {
namespace {

constexpr double kLeastKilled = 0.95;

std::map<std::string, std::string> explained(std::string_view protocol) {
  std::ifstream file(fmt::format("{}/{}.txt", TANDEM_SURVIVORS, protocol));
  std::map<std::string, std::string> result;
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    if (line.empty() || line[0] == '#')
      continue;
    EXPECT_NE(tab, std::string::npos) << "no reason: " << line;
    if (tab != std::string::npos)
      result[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return result;
}

class Mutation : public ::testing::TestWithParam<const Prover *> {};

TEST_P(Mutation, IsNoticedOrExplained) {
  const Prover &prover = *GetParam();
  std::map<std::string, std::string> reasons = explained(prover.name);
  const std::vector<Mutant> mutants = prover.mutate(prover.mutation, {});
  std::size_t killed = 0;
  std::set<std::string> survivors;
  for (const Mutant &m : mutants)
    if (m.killed_by.empty())
      survivors.insert(m.what);
    else
      ++killed;
  for (const std::string &what : survivors)
    EXPECT_EQ(reasons.erase(what), 1U) << "survives, and is not explained: " << what;
  for (const auto &[what, reason] : reasons)
    ADD_FAILURE() << "explained, but noticed or gone: " << what;
  EXPECT_GE(static_cast<double>(killed), kLeastKilled * static_cast<double>(mutants.size()))
      << killed << " of " << mutants.size();
}

// The protocols of TANDEM_MUTATED: the build says which mutants are tried by every run of the
// tests, and which by `scripts/verify protocols`.
std::vector<const Prover *> all() {
  std::vector<const Prover *> result;
  std::istringstream names(TANDEM_MUTATED);
  for (std::string name; names >> name;)
    result.push_back(find_prover(name));
  return result;
}

std::string name(const ::testing::TestParamInfo<const Prover *> &info) {
  std::string text(info.param->name);
  for (char &c : text)
    c = c == '-' ? '_' : c;
  return text;
}

INSTANTIATE_TEST_SUITE_P(Protocols, Mutation, ::testing::ValuesIn(all()), name);

} // namespace
} // namespace tandem::machine
