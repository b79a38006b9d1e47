// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/mesi_snoop/mesi_snoop.h"
#include "machine/prover/make.h"
#include "machine/prover/provers.h"

namespace tandem::machine {

Prover mesi_snoop_prover() {
  const Case three{"3 cores, 1 block", {.cores = 3}, {}};
  const Case set{"2 cores, 2 blocks, 1 way", {.cores = 2, .blocks = 2, .ways = 1}, {}};
  const Case device{"device, 3 cores, 1 block", {.cores = 3, .devices = true}, {}};
  const Case device_set{"device, 2 cores, 2 blocks, 1 way",
                        {.cores = 2, .blocks = 2, .ways = 1, .devices = true},
                        {}};
  const Case transactions{
      "transactions, 3 cores, 1 block", {.cores = 3, .transactions = true}, {"transactions"}};
  const Case transactions_set{"transactions, 2 cores, 2 blocks, 1 way",
                              {.cores = 2, .blocks = 2, .ways = 1, .transactions = true},
                              {"transactions"}};
  return make_prover<MesiSnoop>(
      {
          three,
          {"4 cores, 1 block", {.cores = 4}, {}},
          {"3 cores, 1 block, ordered", {.cores = 3, .ordered = true}, {}},
          {"2 cores, 2 blocks", {.cores = 2, .blocks = 2}, {}},
          set,
          device,
          device_set,
          {"device, one buffer of each kind, 3 cores, 1 block",
           {.cores = 3, .buffers = {1, 1, 1, 1, 1}, .devices = true},
           {}},
          {"device, LR/SC, 3 cores, 1 block",
           {.cores = 3, .devices = true, .reservations = true},
           {}},
          transactions,
          transactions_set,
          {"transactions, device, LR/SC, 3 cores, 1 block",
           {.cores = 3, .devices = true, .reservations = true, .transactions = true},
           {"transactions"}},
      },
      {{"5 cores, 1 block", {.cores = 5}, {}},
       {"3 cores, 2 blocks", {.cores = 3, .blocks = 2}, {}},
       {"transactions, 4 cores, 1 block", {.cores = 4, .transactions = true}, {"transactions"}}},
      {three, set, device, device_set, transactions, transactions_set});
}

} // namespace tandem::machine
