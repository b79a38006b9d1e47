// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/energy/energy.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tandem::machine {
namespace {

// The fit that sources() speaks of, E(32 KB) * (C / 32 KB)^0.66, against the table's points.
TEST(Energy, TheFitsErrorIsWhatTheSourcesSay) {
  const double base = block_read_energy(Technology::nm32, 32);
  const auto error = [&](double kib) {
    const double table = block_read_energy(Technology::nm32, kib);
    return std::abs(base * std::pow(kib / 32, 0.66) / table - 1);
  };
  EXPECT_LT(error(256), 0.085);
  EXPECT_LT(error(1024), 0.035);
  EXPECT_LT(error(2048), 0.015);
}

TEST(Energy, GrowsWithSizeBetweenAndBeyondThePoints) {
  for (const Technology technology : {Technology::nm32, Technology::nm22}) {
    double last = 0;
    for (double kib = 1; kib < 100'000; kib *= 1.3) {
      const double energy = block_read_energy(technology, kib);
      EXPECT_GT(energy, last) << kib;
      last = energy;
    }
  }
}

TEST(Energy, SmallerTechnologyTakesLess) {
  Configuration c;
  c.energy.technology = Technology::nm32;
  const EnergyTable old = energy_table(c, true);
  c.energy.technology = Technology::nm22;
  const EnergyTable young = energy_table(c, true);
  for (const auto part : {&EnergyTable::l1, &EnergyTable::l1_block, &EnergyTable::l2,
                          &EnergyTable::llc, &EnergyTable::directory, &EnergyTable::filter}) {
    EXPECT_LT((young.*part).read, (old.*part).read);
    EXPECT_LT((young.*part).leakage, (old.*part).leakage);
  }
  EXPECT_LT(young.link_flit, old.link_flit);
}

// A machine that does nothing has static energy only, in proportion to time, and the delay counts
// twice in the product.
TEST(Energy, IdleMachinesLeakInProportionToTime) {
  const Configuration c;
  const EnergyReport once = energy_report(c, false, false, {}, {}, 0, 1000);
  const EnergyReport twice = energy_report(c, false, false, {}, {}, 0, 2000);
  EXPECT_EQ(once.dynamic_uj, 0);
  EXPECT_GT(once.static_uj, 0);
  EXPECT_NEAR(twice.static_uj, 2 * once.static_uj, 1e-9);
  EXPECT_NEAR(twice.edp, 4 * once.edp, 1e-9 * twice.edp);
}

TEST(Energy, EveryEventIsCharged) {
  const Configuration c;
  const double idle = energy_report(c, false, true, {}, {}, 0, 0).dynamic_uj;
  EXPECT_EQ(idle, 0);
  const auto charged = [&](auto change) {
    Statistics s;
    change(s);
    return energy_report(c, false, true, s, {}, 0, 0).dynamic_uj > 0;
  };
  EXPECT_TRUE(charged([](Statistics &s) { s.core.loads = 1; }));
  EXPECT_TRUE(charged([](Statistics &s) { s.core.stores = 1; }));
  EXPECT_TRUE(charged([](Statistics &s) { s.core.probes = 1; }));
  EXPECT_TRUE(charged([](Statistics &s) { s.core.fills = 1; }));
  EXPECT_TRUE(charged([](Statistics &s) { s.home.llc_reads = 1; }));
  EXPECT_TRUE(charged([](Statistics &s) { s.home.directory_writes = 1; }));
  EXPECT_TRUE(charged([](Statistics &s) { s.home.filter_lookups = 1; }));
  EXPECT_FALSE(charged([](Statistics &s) { s.memory.reads = 1; })) << "DRAM is off chip";
}

} // namespace
} // namespace tandem::machine
