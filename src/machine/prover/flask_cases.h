// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The searches that prove FLASK, as written or improved. Both have the same rows and options; each
// proof has what the protocol presets, every option the other way, and both ways to reconstruct
// with devices, two blocks, tight buffers and one more token than the protocol has. Include it in
// the source file of each.
#pragma once

#include "machine/prover/make.h"

namespace tandem::machine {

namespace flask_cases {

using Set = std::vector<std::string>;

inline const Set kOne{"no-two_phase", "no-purge"};
inline const Set kOneShared{"no-two_phase", "no-purge", "shared_stays"};
inline const Set kTwo{"two_phase", "purge"};
inline const Set kAll{"two_phase", "purge", "chip_scope", "shared_stays"};

template <class P> checker::Options cores(unsigned number) {
  return {.cores = number, .tokens = P::tokens(number)};
}

template <class P> checker::Options with_device(checker::Options options) {
  options.devices = true;
  return options;
}

// Two blocks that compete for one way, one entry, one line of the LLC.
template <class P> checker::Options sets(unsigned number) {
  return {
      .cores = number, .blocks = 2, .tokens = P::tokens(number), .ways = 1, .entries = 1, .llc = 1};
}

// Each option other than it is preset. The checker's filter is any filter: `spill_groups` is not in
// the rows; transactions have searches of their own.
template <class P> std::vector<Case> single_options() {
  std::vector<Case> cases;
  for (const auto &field : P::kConfigFields) {
    const std::string name = field.name;
    if (name == "spill_groups" || name == "transactions")
      continue;
    const std::string set = (typename P::Config{}.*field.value ? "no-" : "") + name;
    cases.push_back({set + ", 3 cores, 1 block", cores<P>(3), {set}});
  }
  return cases;
}

// With hardware transactions.
template <class P> std::vector<Case> refusing() {
  const auto with = [](checker::Options options) {
    options.transactions = true;
    return options;
  };
  const auto kept = [with](unsigned number) { // blocks; entries may go
    checker::Options options = with(cores<P>(number));
    options.never = checker::bit(P::Event::evict) | checker::bit(P::Event::llc_evict) |
                    checker::bit(P::Event::filter_full);
    return options;
  };
  const auto calm = [kept](unsigned number) {
    checker::Options options = kept(number);
    options.never |= checker::bit(P::Event::dir_evict);
    return options;
  };
  return {{"transactions, 2 cores, 1 block", with(cores<P>(2)), {"transactions"}},
          {"transactions, one phase, no evictions, 3 cores, 1 block",
           calm(3),
           {"transactions", "no-two_phase"}},
          {"transactions, no evictions, 3 cores, 1 block", calm(3), {"transactions"}},
          {"transactions, evictions of entries, 3 cores, 1 block", kept(3), {"transactions"}},
          {"transactions, one phase, 2 cores, 1 block",
           with(cores<P>(2)),
           {"transactions", "no-two_phase"}},
          {"transactions, one phase, 3 cores, 1 block",
           with(cores<P>(3)),
           {"transactions", "no-two_phase"}},
          {"transactions, 3 cores, 1 block", with(cores<P>(3)), {"transactions"}}};
}

template <class P> std::vector<Case> proof() {
  const checker::Options three = cores<P>(3);
  std::vector<Case> cases = {{"3 cores, 1 block", three, {}}};
  for (Case &c : single_options<P>())
    cases.push_back(std::move(c));
  checker::Options ordered = three;
  ordered.ordered = true;
  checker::Options buffers = three;
  buffers.buffers = {1, 1, 1, 1, 1};
  checker::Options reserving = cores<P>(2);
  reserving.reservations = true;
  checker::Options more = three;
  more.tokens = P::tokens(3) + 1;
  const std::vector<Case> others = {
      {"all options, 3 cores, 1 block", three, kAll},
      {"one phase, 3 cores, 1 block, a token more", more, kOne},
      {"two phases, 3 cores, 1 block, a token more", more, kTwo},
      {"3 cores, 1 block, 6 tokens", {.cores = 3, .tokens = 6}, {}},
      // With a token to spare the owner's never goes to a reader.
      {"one phase, 2 cores, 1 block, 2 tokens", {.cores = 2, .tokens = 2}, kOne},
      {"3 cores, 1 block, ordered", ordered, {}},
      {"3 cores, 1 block, one buffer of each kind", buffers, {}},
      {"1 core, 2 blocks, sets of 1 way", sets<P>(1), {}},
      {"2 cores, 2 blocks, sets of 1 way", sets<P>(2), {}},
      {"device, 3 cores, 1 block", with_device<P>(three), {}},
      {"device, 1 core, 2 blocks, sets of 1 way", with_device<P>(sets<P>(1)), {}},
      {"device, all options, 2 cores, 1 block", with_device<P>(cores<P>(2)), kAll},
      {"device, one buffer of each kind, 3 cores, 1 block", with_device<P>(buffers), {}},
      {"LR/SC, 2 cores, 1 block", reserving, {}},
      {"LR/SC, device, 2 cores, 1 block", with_device<P>(reserving), {}},
  };
  cases.insert(cases.end(), others.begin(), others.end());
  if constexpr (P::kRefuses)
    for (Case &c : refusing<P>())
      cases.push_back(std::move(c));
  return cases;
}

template <class P> std::vector<Case> longer() {
  return {{"4 cores, 1 block", cores<P>(4), {}},
          {"4 cores, 1 block, one phase", cores<P>(4), kOne},
          {"4 cores, 1 block, two phases", cores<P>(4), kTwo}};
}

template <class P> std::vector<Case> mutation() {
  const checker::Options home_sets{
      .cores = 1, .blocks = 2, .tokens = P::tokens(1), .entries = 1, .llc = 1};
  checker::Options loads = sets<P>(2);
  loads.stores = false;
  checker::Options more = cores<P>(2);
  more.tokens = 3;
  std::vector<Case> cases = {
      {"device, one phase, 2 cores, 1 block", with_device<P>(cores<P>(2)), kOne},
      {"device, chip scope, 2 cores, 1 block", with_device<P>(cores<P>(2)), {"chip_scope"}},
      {"1 core, 2 blocks, sets of 1 way", sets<P>(1), kOne},
      {"device, 1 core, 2 blocks, sets of 1 way", with_device<P>(sets<P>(1)), {}},
      {"1 core, 2 blocks, directory and LLC sets of 1 way", home_sets, kOne},
      {"two phases, 1 core, 1 block", cores<P>(1), kTwo},
      {"one phase, 2 cores, 1 block", cores<P>(2), kOne},
      {"one phase, shared blocks stay, 2 cores, 1 block, 3 tokens", more, kOneShared},
      {"one phase, 2 cores, 1 block, 2 tokens", {.cores = 2, .tokens = 2}, kOne},
      {"two phases, 2 cores, 1 block", cores<P>(2), kTwo},
      {"two phases, chip scope, 2 cores, 1 block", cores<P>(2), {"two_phase", "chip_scope"}},
      {"loads only, 2 cores, 2 blocks, sets of 1 way", loads, kOne},
      {"one phase, 3 cores, 1 block", cores<P>(3), kOne},
      {"two phases, 3 cores, 1 block", cores<P>(3), kTwo},
  };
  if constexpr (P::kRefuses)
    for (Case &c : refusing<P>())
      if (c.options.cores == 2 || c.options.never != 0)
        cases.push_back(std::move(c));
  return cases;
}

} // namespace flask_cases

template <class P> Prover make_flask_prover() {
  return make_prover<P>(flask_cases::proof<P>(), flask_cases::longer<P>(),
                        flask_cases::mutation<P>());
}

} // namespace tandem::machine
