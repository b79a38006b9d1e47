// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/sparse_directory/sparse_directory.h"

#include "machine/prover/make.h"
#include "machine/prover/provers.h"

namespace tandem::machine {

Prover sparse_directory_prover() {
  const checker::Options three{.cores = 3};
  const checker::Options ordered{.cores = 3, .ordered = true};
  // One buffer of each kind at each destination but for requests, which wait for one another.
  const checker::Options buffers{.cores = 3, .buffers = {2, 1, 1, 1, 1}};
  const checker::Options set{.cores = 2, .blocks = 2, .ways = 1, .entries = 1, .llc = 1};
  const checker::Options core_set{.cores = 2, .blocks = 2, .ways = 1};
  const checker::Options home_set{.cores = 2, .blocks = 2, .entries = 1, .llc = 1};
  const Case mesi{"MESI, 3 cores, 1 block", three, {}};
  const Case moesi{"MOESI, 3 cores, 1 block", three, {"moesi"}};
  const Case silent{"MESI, silent sharers, 3 cores, 1 block", three, {"silent_shared"}};
  const Case victim{"MESI, LLC of victims, 3 cores, 1 block", three, {"victim_llc"}};
  const Case mesi_set{"MESI, 2 cores, 2 blocks, sets of 1 way", set, {}};
  const Case moesi_set{"MOESI, 2 cores, 2 blocks, sets of 1 way", set, {"moesi"}};
  const Case victim_set{"MESI, LLC of victims, 1 core, 2 blocks, sets of 1 way",
                        {.cores = 1, .blocks = 2, .ways = 1, .entries = 1, .llc = 1},
                        {"victim_llc"}};
  const Case one_core{
      "MESI, 1 core, 2 blocks, private sets of 1 way", {.cores = 1, .blocks = 2, .ways = 1}, {}};
  const Case private_set{"MESI, 2 cores, 2 blocks, private sets of 1 way", core_set, {}};
  const Case device_one{
      "MESI, device, 1 core, 2 blocks, sets of 1 way",
      {.cores = 1, .blocks = 2, .ways = 1, .entries = 1, .llc = 1, .devices = true},
      {}};
  const Case device_two{"MESI, device, 2 cores, 1 block", {.cores = 2, .devices = true}, {}};
  const Case device_moesi{
      "MOESI, device, 2 cores, 1 block", {.cores = 2, .devices = true}, {"moesi"}};
  const Case device_three{
      "MOESI, device, 3 cores, 1 block", {.cores = 3, .devices = true}, {"moesi"}};
  const std::uint64_t no_evictions = checker::bit(SparseDirectory::Event::evict) |
                                     checker::bit(SparseDirectory::Event::dir_evict) |
                                     checker::bit(SparseDirectory::Event::llc_evict);
  const auto with = [](checker::Options options) {
    options.transactions = true;
    return options;
  };
  const Case transactions{
      "MESI, transactions, 2 cores, 1 block", with({.cores = 2}), {"transactions"}};
  const Case transactions_two{
      "MOESI, transactions, 2 cores, 1 block", with({.cores = 2}), {"moesi", "transactions"}};
  // Nothing leaves: what three cores' requests do to one another.
  const Case transactions_three{"MOESI, transactions, no evictions, 3 cores, 1 block",
                                with({.cores = 3, .never = no_evictions}),
                                {"moesi", "transactions"}};
  const Case transactions_four{"MESI, transactions, no evictions, 4 cores, 1 block",
                               with({.cores = 4, .never = no_evictions}),
                               {"transactions"}};
  const Case transactions_moesi{
      "MOESI, transactions, 3 cores, 1 block", with(three), {"moesi", "transactions"}};
  const Case transactions_set{"MOESI, transactions, 2 cores, 2 blocks, sets of 1 way",
                              with(set),
                              {"moesi", "transactions"}};
  return make_prover<SparseDirectory>(
      {
          mesi,
          moesi,
          silent,
          victim,
          victim_set,
          {"MOESI, silent sharers, 3 cores, 1 block", three, {"moesi", "silent_shared"}},
          {"MOESI, ordered network, 3 cores, 1 block", ordered, {"moesi"}},
          {"MESI, finite buffers, 3 cores, 1 block", buffers, {}},
          mesi_set,
          moesi_set,
          private_set,
          device_one,
          {"MESI, device, 3 cores, 1 block", {.cores = 3, .devices = true}, {}},
          device_three,
          {"MESI, device, finite buffers, 3 cores, 1 block",
           {.cores = 3, .buffers = {2, 1, 1, 1, 1}, .devices = true},
           {}},
          {"MESI, LR/SC, 3 cores, 1 block", {.cores = 3, .reservations = true}, {}},
          {"MESI, transactions, 3 cores, 1 block", with(three), {"transactions"}},
          transactions_moesi,
          transactions_three,
          transactions_set,
          {"MOESI, transactions, silent sharers, LLC of victims, finite buffers, 3 cores, 1 block",
           with(buffers),
           {"moesi", "silent_shared", "victim_llc", "transactions"}},
          {"MOESI, transactions, device, LR/SC, 2 cores, 1 block",
           with({.cores = 2, .devices = true, .reservations = true}),
           {"moesi", "transactions"}},
      },
      {{"MESI, 4 cores, 1 block", {.cores = 4}, {}},
       {"MOESI, 4 cores, 1 block", {.cores = 4}, {"moesi"}},
       transactions_four,
       {"MESI, 2 cores, 2 blocks, directory and LLC sets of 1 way", home_set, {}},
       {"MESI, 2 cores, 2 blocks", {.cores = 2, .blocks = 2}, {}}},
      {device_two, device_moesi, one_core, victim_set, device_one, mesi_set, moesi_set, mesi, moesi,
       silent, victim, device_three, transactions, transactions_two, transactions_three,
       transactions_set, transactions_four, transactions_moesi});
}

} // namespace tandem::machine
