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
