// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The searches of the proofs that take minutes: more cores, more tokens, wider bounds. What they
// print is recorded in docs/machine/protocols.md.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "machine/prover/prover.h"

namespace tandem::machine {
namespace {

class Longer : public ::testing::TestWithParam<const Prover *> {};

TEST_P(Longer, IsProved) {
  const Prover &prover = *GetParam();
  for (const Case &c : prover.longer) {
    const checker::Result r = prover.check(c.options, c.set);
    fmt::print("{}, {}: {} states, {:.0f} bytes a state, {:.1f} s\n", prover.name, c.name, r.states,
               r.bytes_per_state, r.seconds);
    EXPECT_EQ(r.verdict, checker::Verdict::proved) << c.name << ": " << r.violation << '\n'
                                                   << r.chart;
    EXPECT_LE(r.bytes_per_state, 100) << c.name;
  }
}

std::vector<const Prover *> all() {
  std::vector<const Prover *> result;
  for (const Prover &prover : provers())
    result.push_back(&prover);
  return result;
}

std::string name(const ::testing::TestParamInfo<const Prover *> &info) {
  std::string text(info.param->name);
  for (char &c : text)
    c = c == '-' ? '_' : c;
  return text;
}

INSTANTIATE_TEST_SUITE_P(Protocols, Longer, ::testing::ValuesIn(all()), name);

} // namespace
} // namespace tandem::machine
