// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/mosaic/mosaic.h"

#include "machine/prover/make.h"
#include "machine/prover/provers.h"

namespace tandem::machine {

Prover mosaic_prover() {
  const checker::Options three{.cores = 3};
  const checker::Options set{.cores = 2, .blocks = 2, .ways = 1, .entries = 1, .llc = 1};
  const Case one_core{"1 core, 2 blocks, sets of 1 way",
                      {.cores = 1, .blocks = 2, .ways = 1, .entries = 1, .llc = 1},
                      {}};
  const Case plain{"3 cores, 1 block", three, {}};
  const Case two_phase{"two-phase, 3 cores, 1 block", three, {"two_phase"}};
  const Case parallel{"memory in parallel, 3 cores, 1 block", three, {"parallel_memory"}};
  const Case two_sets{"2 cores, 2 blocks, sets of 1 way", set, {}};
  return make_prover<Mosaic>(
      {
          plain,
          two_phase,
          parallel,
          {"all options, 3 cores, 1 block", three, {"two_phase", "parallel_memory"}},
          {"3 cores, 1 block, 4 tokens", {.cores = 3, .tokens = 4}, {}},
          {"3 cores, 1 block, ordered", {.cores = 3, .ordered = true}, {}},
          {"3 cores, 1 block, one buffer of each kind",
           {.cores = 3, .buffers = {1, 1, 1, 1, 1}},
           {}},
          one_core,
          two_sets,
      },
      {{"4 cores, 1 block", {.cores = 4}, {}}},
      {
          one_core,
          {"2 cores, 1 block", {.cores = 2}, {}},
          {"two-phase, 2 cores, 1 block", {.cores = 2}, {"two_phase"}},
          {"memory in parallel, 2 cores, 1 block", {.cores = 2}, {"parallel_memory"}},
          plain,
          {"all options, 3 cores, 1 block", three, {"two_phase", "parallel_memory"}},
      });
}

} // namespace tandem::machine
