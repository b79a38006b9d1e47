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
  const Case home_sets{"1 core, 2 blocks, directory and LLC sets of 1 way",
                       {.cores = 1, .blocks = 2, .entries = 1, .llc = 1},
                       {}};
  // That every miss makes an entry shows while none is evicted.
  const auto stays = [](unsigned cores) {
    return checker::Options{.cores = cores, .never = checker::bit(Mosaic::Event::dir_evict)};
  };
  const std::vector<std::string> one{"no-two_phase"};
  const Case plain{"3 cores, 1 block", three, {}};
  const Case one_phase{"one phase, 3 cores, 1 block", three, one};
  const Case parallel{"one phase, memory in parallel, 3 cores, 1 block",
                      three,
                      {"no-two_phase", "parallel_memory"}};
  const Case two_sets{"2 cores, 2 blocks, sets of 1 way", set, {}};
  const Case device_set{
      "device, 1 core, 2 blocks, sets of 1 way",
      {.cores = 1, .blocks = 2, .ways = 1, .entries = 1, .llc = 1, .devices = true},
      {}};
  const Case device_two{"device, 2 cores, 1 block", {.cores = 2, .devices = true}, {}};
  const auto with = [](checker::Options options) {
    options.transactions = true;
    return options;
  };
  const std::uint64_t no_evictions = checker::bit(Mosaic::Event::evict) |
                                     checker::bit(Mosaic::Event::dir_evict) |
                                     checker::bit(Mosaic::Event::llc_evict);
  const Case refusing_two{"transactions, one phase, 2 cores, 1 block",
                          with({.cores = 2}),
                          {"transactions", "no-two_phase"}};
  const Case refusing_parallel{"transactions, all options, 2 cores, 1 block",
                               with({.cores = 2}),
                               {"transactions", "two_phase", "parallel_memory"}};
  const Case refusing_three{"transactions, one phase, no evictions, 3 cores, 1 block",
                            with({.cores = 3, .never = no_evictions}),
                            {"transactions", "no-two_phase"}};
  const Case refusing_phases{"transactions, no evictions, 3 cores, 1 block",
                             with({.cores = 3, .never = no_evictions}),
                             {"transactions"}};
  const Case refusing_entries{
      "transactions, evictions of entries, 3 cores, 1 block",
      with({.cores = 3, .never = no_evictions & ~checker::bit(Mosaic::Event::dir_evict)}),
      {"transactions"}};
  const Case refusing{"transactions, 3 cores, 1 block", with(three), {"transactions"}};
  return make_prover<Mosaic>(
      {
          plain,
          one_phase,
          parallel,
          {"all options, 3 cores, 1 block", three, {"two_phase", "parallel_memory"}},
          {"3 cores, 1 block, 4 tokens", {.cores = 3, .tokens = 4}, {}},
          {"device, 3 cores, 1 block, 4 tokens", {.cores = 3, .tokens = 4, .devices = true}, {}},
          {"3 cores, 1 block, ordered", {.cores = 3, .ordered = true}, {}},
          {"3 cores, 1 block, one buffer of each kind",
           {.cores = 3, .buffers = {1, 1, 1, 1, 1}},
           {}},
          one_core,
          two_sets,
          device_set,
          {"device, 3 cores, 1 block", {.cores = 3, .devices = true}, {}},
          {"device, all options, 2 cores, 1 block",
           {.cores = 2, .devices = true},
           {"two_phase", "parallel_memory"}},
          {"device, one buffer of each kind, 3 cores, 1 block",
           {.cores = 3, .buffers = {1, 1, 1, 1, 1}, .devices = true},
           {}},
          {"LR/SC, 2 cores, 1 block", {.cores = 2, .reservations = true}, {}},
          refusing_two,
          refusing_parallel,
          refusing_three,
          refusing_phases,
          refusing_entries,
          refusing,
      },
      {{"4 cores, 1 block", {.cores = 4}, {}}},
      {
          {"two-phase, 1 core, 1 block", {.cores = 1}, {"two_phase"}},
          {"one phase, 1 core, 1 block", {.cores = 1}, one},
          one_core,
          device_set,
          home_sets,
          device_two,
          {"one phase, entries stay, 2 cores, 1 block", stays(2), one},
          {"two-phase, entries stay, 2 cores, 1 block", stays(2), {"two_phase"}},
          {"one phase, memory in parallel, entries stay, 2 cores, 1 block",
           stays(2),
           {"no-two_phase", "parallel_memory"}},
          {"all options, entries stay, 2 cores, 1 block",
           stays(2),
           {"two_phase", "parallel_memory"}},
          {"one phase, 2 cores, 1 block", {.cores = 2}, one},
          {"one phase, 2 cores, 1 block, 3 tokens", {.cores = 2, .tokens = 3}, one},
          {"two-phase, 2 cores, 1 block", {.cores = 2}, {"two_phase"}},
          {"one phase, memory in parallel, 2 cores, 1 block",
           {.cores = 2},
           {"no-two_phase", "parallel_memory"}},
          {"two-phase, entries stay, 3 cores, 1 block", stays(3), {"two_phase"}},
          one_phase,
          {"all options, 3 cores, 1 block", three, {"two_phase", "parallel_memory"}},
          {"one phase, 3 cores, 1 block, 4 tokens", {.cores = 3, .tokens = 4}, one},
          refusing_two,
          refusing_parallel,
          refusing_three,
          refusing_phases,
          refusing_entries,
      });
}

} // namespace tandem::machine
