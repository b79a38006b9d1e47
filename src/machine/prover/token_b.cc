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
  // Small ones, for the mutants.
  const std::array<unsigned, kVnets> tight{1, 1, 2, 1, 1};
  const std::uint64_t no_evictions =
      checker::bit(TokenB::Event::evict) | checker::bit(TokenB::Event::llc_evict);
  const std::uint64_t no_timeouts = checker::bit(TokenB::Event::timeout);
  const std::string tight_bounds =
      "at each destination at most two undelivered responses and one message of each other kind";
  const Case alone{"persistent requests only, no evictions, 3 cores, 1 block",
                   {.cores = 3, .buffers = tight, .never = no_evictions},
                   {"no-transient", "no-reissue"},
                   tight_bounds + "; no evictions"};
  const Case resting{
      "transient requests only, no evictions, 3 cores, 1 block",
      {.cores = 3, .buffers = single, .never = no_evictions | no_timeouts, .liveness = false},
      {"no-reissue"},
      "one buffer of each kind; no evictions and no timeouts; safety only"};
  const Case calm_cores{
      "persistent requests only, no evictions of the LLC, 2 cores, 1 block",
      {.cores = 2, .buffers = tight, .never = checker::bit(TokenB::Event::llc_evict)},
      {"no-transient", "no-reissue"},
      tight_bounds + "; no evictions of the LLC"};
  const Case loading{"loads and persistent requests only, 2 cores, 1 block, 3 tokens",
                     {.cores = 2, .tokens = 3, .buffers = tight, .stores = false},
                     {"no-transient", "no-reissue"},
                     tight_bounds + "; no stores"};
  const Case kept{"transient requests only, dirty blocks do not migrate, no evictions, 2 cores, 1 "
                  "block, 3 tokens",
                  {.cores = 2,
                   .tokens = 3,
                   .buffers = single,
                   .never = no_evictions | no_timeouts,
                   .liveness = false},
                  {"no-migratory", "no-reissue"},
                  "one buffer of each kind; no evictions and no timeouts; safety only"};
  const Case small{
      "transient requests only, 2 cores, 1 block, 3 tokens",
      {.cores = 2, .tokens = 3, .buffers = single, .never = no_timeouts, .liveness = false},
      {"no-reissue"},
      "one buffer of each kind; no timeouts; safety only"};
  const Case busy{"no evictions, 2 cores, 1 block",
                  {.cores = 2, .buffers = single, .never = no_evictions, .liveness = false},
                  {"no-reissue"},
                  "one buffer of each kind; no evictions; safety only"};
  // A device's requests are persistent ones of the home's own.
  const Case device_one{
      "device, 1 core, 1 block", {.cores = 1, .buffers = tight, .devices = true}, {}, tight_bounds};
  const Case device_three{"device, persistent requests only, no evictions, 3 cores, 1 block",
                          {.cores = 3, .buffers = tight, .devices = true, .never = no_evictions},
                          {"no-transient", "no-reissue"},
                          tight_bounds + "; no evictions"};
  const Case device_two{"device, persistent requests only, no evictions of the LLC, 2 cores, 1 "
                        "block",
                        {.cores = 2,
                         .buffers = tight,
                         .devices = true,
                         .never = checker::bit(TokenB::Event::llc_evict)},
                        {"no-transient", "no-reissue"},
                        tight_bounds + "; no evictions of the LLC"};
  const Case device_home{
      "device, persistent requests only, no evictions by cores, 2 cores, 1 block",
      {.cores = 2, .buffers = tight, .devices = true, .never = checker::bit(TokenB::Event::evict)},
      {"no-transient", "no-reissue"},
      tight_bounds + "; no evictions by cores"};
  // While nobody else wants the block, no request has to become persistent.
  const auto lone = [](unsigned cores, unsigned tokens) {
    return checker::Options{.cores = cores,
                            .tokens = tokens,
                            .sequential = true,
                            .never = checker::bit(TokenB::Event::timeout)};
  };
  const std::string one_at_a_time = "one request at a time, which is served without a timeout";
  const Case lone_two{
      "one request at a time, 2 cores, 1 block, 4 tokens", lone(2, 4), {}, one_at_a_time};
  const Case lone_three{"one request at a time, dirty blocks do not migrate, 3 cores, 1 block, 6 "
                        "tokens",
                        lone(3, 6),
                        {"no-migratory"},
                        one_at_a_time};
  const Case twice{"persistent requests only, after two timeouts, 1 core, 1 block",
                   {.cores = 1, .buffers = tight},
                   {"no-transient"},
                   tight_bounds};
  const Case device_sets{
      "device, persistent requests only, 1 core, 2 blocks, sets of 1 way",
      {.cores = 1, .blocks = 2, .buffers = few, .ways = 1, .llc = 1, .devices = true},
      {"no-transient", "no-reissue"},
      bounds};
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
          alone,
          lone_two,
          lone_three,
          twice,
          device_one,
          device_three,
          device_two,
          device_home,
          {"persistent requests only, tight buffers, 2 cores, 1 block",
           {.cores = 2, .buffers = tight},
           {"no-transient", "no-reissue"},
           tight_bounds},
          {"LR/SC, persistent requests only, no evictions, 2 cores, 1 block",
           {.cores = 2, .buffers = tight, .reservations = true, .never = no_evictions},
           {"no-transient", "no-reissue"},
           tight_bounds + "; no evictions"},
      },
      {
          {"persistent requests only, no evictions, 4 cores, 1 block",
           {.cores = 4, .buffers = tight, .never = no_evictions},
           {"no-transient", "no-reissue"},
           tight_bounds + "; no evictions"},
          {"one request at a time, 4 cores, 1 block, 8 tokens", lone(4, 8), {}, one_at_a_time},
          {"persistent requests only, no evictions of the LLC, 3 cores, 1 block",
           {.cores = 3, .buffers = tight, .never = checker::bit(TokenB::Event::llc_evict)},
           {"no-transient", "no-reissue"},
           tight_bounds + "; no evictions of the LLC"},
          device_sets,
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
      {lone_two, lone_three, twice, kept, alone, device_one, resting, device_three, one_core,
       calm_cores, device_two, small, loading, busy, substrate});
}

} // namespace tandem::machine
