// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/flask/flask.h"

#include "machine/prover/make.h"
#include "machine/prover/provers.h"

namespace tandem::machine {

Prover flask_prover() {
  const checker::Options three{.cores = 3};
  const checker::Options set{.cores = 2, .blocks = 2, .ways = 1, .entries = 1, .llc = 1};
  const Case one_core{"1 core, 2 blocks, sets of 1 way",
                      {.cores = 1, .blocks = 2, .ways = 1, .entries = 1, .llc = 1},
                      {}};
  const Case home_sets{"1 core, 2 blocks, directory and LLC sets of 1 way",
                       {.cores = 1, .blocks = 2, .entries = 1, .llc = 1},
                       {}};
  const Case loads{"loads only, 2 cores, 2 blocks, sets of 1 way",
                   {.cores = 2, .blocks = 2, .ways = 1, .entries = 1, .llc = 1, .stores = false},
                   {}};
  const Case plain{"3 cores, 1 block", three, {}};
  const Case two_phase{"two-phase, 3 cores, 1 block", three, {"two_phase"}};
  const Case purge{"purge, 3 cores, 1 block", three, {"purge"}};
  const Case chip{"chip scope, 3 cores, 1 block", three, {"chip_scope"}};
  const Case two_sets{"2 cores, 2 blocks, sets of 1 way", set, {}};
  const Case device_set{
      "device, 1 core, 2 blocks, sets of 1 way",
      {.cores = 1, .blocks = 2, .ways = 1, .entries = 1, .llc = 1, .devices = true},
      {}};
  const Case device{"device, 3 cores, 1 block", {.cores = 3, .devices = true}, {}};
  return make_prover<Flask>(
      {
          plain,
          two_phase,
          purge,
          chip,
          {"all options, 3 cores, 1 block", three, {"two_phase", "chip_scope", "purge"}},
          {"3 cores, 1 block, 4 tokens", {.cores = 3, .tokens = 4}, {}},
          {"device, 3 cores, 1 block, 4 tokens", {.cores = 3, .tokens = 4, .devices = true}, {}},
          {"2 cores, 2 blocks, 3 tokens, sets of 1 way",
           {.cores = 2, .blocks = 2, .tokens = 3, .ways = 1, .entries = 1, .llc = 1},
           {}},
          {"all options, 2 cores, 1 block, 3 tokens",
           {.cores = 2, .tokens = 3},
           {"two_phase", "chip_scope", "purge"}},
          {"3 cores, 1 block, 6 tokens", {.cores = 3, .tokens = 6}, {}},
          {"3 cores, 1 block, ordered", {.cores = 3, .ordered = true}, {}},
          {"3 cores, 1 block, one buffer of each kind",
           {.cores = 3, .buffers = {1, 1, 1, 1, 1}},
           {}},
          one_core,
          two_sets,
          device,
          device_set,
          {"device, all options, 2 cores, 1 block",
           {.cores = 2, .devices = true},
           {"two_phase", "chip_scope", "purge"}},
          {"device, one buffer of each kind, 3 cores, 1 block",
           {.cores = 3, .buffers = {1, 1, 1, 1, 1}, .devices = true},
           {}},
          {"LR/SC, 2 cores, 1 block", {.cores = 2, .reservations = true}, {}},
          {"LR/SC, device, 2 cores, 1 block",
           {.cores = 2, .devices = true, .reservations = true},
           {}},
      },
      {{"4 cores, 1 block", {.cores = 4}, {}},
       {"4 cores, 1 block, 5 tokens", {.cores = 4, .tokens = 5}, {}},
       {"two-phase, 4 cores, 1 block", {.cores = 4}, {"two_phase"}}},
      {
          {"device, 2 cores, 1 block", {.cores = 2, .devices = true}, {}},
          {"device, chip scope, 2 cores, 1 block", {.cores = 2, .devices = true}, {"chip_scope"}},
          one_core,
          device_set,
          home_sets,
          {"two-phase, 1 core, 1 block", {.cores = 1}, {"two_phase"}},
          {"2 cores, 1 block", {.cores = 2}, {}},
          {"2 cores, 1 block, 3 tokens", {.cores = 2, .tokens = 3}, {}},
          {"two-phase, purge, 2 cores, 1 block", {.cores = 2}, {"two_phase", "purge"}},
          {"chip scope, 2 cores, 1 block", {.cores = 2}, {"chip_scope"}},
          loads,
          plain,
          {"two-phase, purge, 3 cores, 1 block", three, {"two_phase", "purge"}},
      });
}

} // namespace tandem::machine
