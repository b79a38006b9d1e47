// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Energy of the memory hierarchy: how much each structure takes for each thing that it does, and
// for every cycle that it exists. The figures come from CACTI 7 and DSENT 0.91 runs made for this
// project and from a DDR4 parameter file; sources() says which, and how far the fits are off.
// They are good for ratios between protocols on one machine. Absolute values are not claimed.
#pragma once

#include "machine/configuration/configuration.h"
#include "machine/network/mesh.h"
#include "machine/timed/statistics.h"

#include <string>
#include <vector>

namespace tandem::machine {

// Of one array, one access each, in picojoules.
struct ArrayEnergy {
  double read = 0;
  double write = 0;
  double tag = 0;     // a lookup that reads no data
  double leakage = 0; // milliwatts
};

struct EnergyTable {
  ArrayEnergy l1;       // an access of a core
  ArrayEnergy l1_block; // 64 bytes in or out
  ArrayEnergy l2;
  ArrayEnergy llc;           // one slice
  ArrayEnergy directory;     // one slice, all its ways
  ArrayEnergy filter;        // one sub-table
  double router_flit = 0;    // pJ: a flit through a router, its buffer, crossbar and allocator
  double buffer_flit = 0;    // of that: written into the buffer
  double link_flit = 0;      // pJ: a flit over a link
  double router_clock = 0;   // pJ per router and cycle
  double router_leakage = 0; // mW
  double memory_read = 0;    // pJ: a block, row closed
  double memory_write = 0;
};

EnergyTable energy_table(const Configuration &configuration, bool filter);

// Of a 64-byte read in an array of this size; between the table's points a power law, beyond them
// E = E(32 KB) * (C / 32 KB)^0.66. Public for the tests.
double block_read_energy(Technology technology, double kib);

struct EnergyPart {
  std::string name;
  double dynamic_uj = 0; // microjoules
  double static_uj = 0;
};

struct EnergyReport {
  std::vector<EnergyPart> parts; // on chip, then "memory"
  double dynamic_uj = 0;         // of the parts that count
  double static_uj = 0;
  double seconds = 0;
  double edp = 0; // microjoules times seconds
};

// `cycles` is the measured time. The bus has no figures of its own: a transfer is charged as the
// flits of a block over a link of the mesh for each core that it passes.
EnergyReport energy_report(const Configuration &configuration, bool bus, bool filter,
                           const Statistics &statistics, const MeshStatistics &network,
                           std::uint32_t routers, Cycle cycles);

// One line each: where the figures come from, and their errors.
std::vector<std::string> energy_sources();

} // namespace tandem::machine
