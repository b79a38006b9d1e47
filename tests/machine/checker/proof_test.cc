// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every protocol's proof, and that it takes every row of every table.
#include <gtest/gtest.h>

#include "machine/prover/prover.h"

namespace tandem::machine {
namespace {

class Proof : public ::testing::TestWithParam<const Prover *> {};

TEST_P(Proof, HoldsAndTakesEveryRow) {
  const Prover &prover = *GetParam();
  TableDocument document = prover.document();
  for (const Case &c : prover.proof) {
    const checker::Result r = prover.check(c.options, c.set);
    EXPECT_EQ(r.verdict, checker::Verdict::proved) << c.name << ": " << r.violation << '\n'
                                                   << r.chart;
    if (r.states > 100000) // below, tables of a fixed size count most
      EXPECT_LE(r.bytes_per_state, 100) << c.name;
    prover.cover(document, r);
  }
  for (const TableDocument::Controller &controller : document.controllers)
    for (const TableDocument::Row &row : controller.rows)
      EXPECT_GT(row.taken, 0U) << controller.name << ' ' << row_name(document, controller, row);
}

// Renaming two cores makes at most two states of one, and hides nothing.
TEST_P(Proof, DoesNotRestOnSymmetry) {
  const Prover &prover = *GetParam();
  Case small{"2 cores, 1 block", {.cores = 2}, {}};
  for (const Case &c : prover.mutation)
    if (c.options.cores == 2 && c.options.blocks == 1) {
      small = c; // a protocol may need bounds
      break;
    }
  const checker::Result with = prover.check(small.options, small.set);
  small.options.symmetry = false;
  const checker::Result without = prover.check(small.options, small.set);
  EXPECT_EQ(with.verdict, checker::Verdict::proved);
  EXPECT_EQ(without.verdict, checker::Verdict::proved);
  EXPECT_LE(with.states, without.states);
  EXPECT_GE(2 * with.states, without.states);
  EXPECT_EQ(with.depth, without.depth);
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

INSTANTIATE_TEST_SUITE_P(Protocols, Proof, ::testing::ValuesIn(all()), name);

} // namespace
} // namespace tandem::machine
