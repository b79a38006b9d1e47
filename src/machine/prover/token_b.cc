// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/token_b/token_b.h"

#include "machine/prover/make.h"
#include "machine/prover/provers.h"

namespace tandem::machine {

Prover token_b_prover() {
  // Nobody acknowledges a transient request, so only finite buffers bound how many are under way.
  // Responses and write-backs have room that their transaction reserved.
  const std::string bounds = "at most one undelivered request and one undelivered memory request "
                             "at each destination";
  const std::array<unsigned, kVnets> few{1, 0, 0, 0, 1};
  const checker::Options two{.cores = 2, .buffers = few};
  const checker::Options two_loading{.cores = 2, .buffers = few, .stores = false};
  // More cores, and more tokens than cores, take rows that two cores do not: an owner that keeps
  // some tokens, a home that waits for several acknowledgements. Without evictions and timeouts, or
  // with one buffer for all that is under way to a destination, not every request can end, so that
  // these searches ask for safety alone.
  const std::string calm = bounds + "; no evictions and no timeouts; safety only";
  const std::array<unsigned, kVnets> single{1, 1, 1, 1, 1};
  const Case one_core{"1 core, 2 blocks, sets of 1 way",
                      {.cores = 1, .blocks = 2, .buffers = few, .ways = 1, .llc = 1},
                      {},
                      bounds};
  const Case substrate{
      "persistent requests only, 2 cores, 1 block", two, {"no-transient", "no-reissue"}, bounds};
  const Case loads{"loads only, 2 cores, 1 block", two_loading, {}, bounds + "; no stores"};
  return make_prover<TokenB>(
      {
          one_core,
          substrate,
          loads,
          {"2 cores, 1 block", two, {"no-reissue"}, bounds},
          {"loads and persistent requests only, 2 cores, 1 block, 3 tokens",
           {.cores = 2, .tokens = 3, .buffers = few, .stores = false},
           {"no-transient", "no-reissue"},
           bounds + "; no stores"},
          {"transient requests only, 3 cores, 1 block, 4 tokens",
           {.cores = 3, .tokens = 4, .buffers = few, .evictions = false, .liveness = false},
           {"no-reissue"},
           calm},
          {"transient requests only, dirty blocks do not migrate, 3 cores, 1 block",
           {.cores = 3, .buffers = few, .evictions = false, .liveness = false},
           {"no-migratory", "no-reissue"},
           calm},
          {"loads and persistent requests only, 3 cores, 1 block",
           {.cores = 3, .buffers = single, .stores = false, .liveness = false},
           {"no-transient", "no-reissue"},
           "at most one undelivered message of a virtual network at each destination; no stores; "
           "safety only"},
      },
      {
          {"requests sent twice, 2 cores, 1 block", two, {}, bounds},
          {"dirty blocks do not migrate, 2 cores, 1 block",
           two,
           {"no-migratory", "no-reissue"},
           bounds},
          {"loads and persistent requests only, 2 cores, 1 block, 4 tokens",
           {.cores = 2, .tokens = 4, .buffers = few, .stores = false},
           {"no-transient", "no-reissue"},
           bounds + "; no stores"},
      },
      {one_core, loads, substrate});
}

} // namespace tandem::machine
