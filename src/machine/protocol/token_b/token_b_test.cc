// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TokenB proved: the persistent substrate in full, and with transient requests within stated
// bounds.
#include "machine/protocol/token_b/token_b.h"

#include "machine/protocol/testing/prove.h"

#include <gtest/gtest.h>

namespace tandem::machine {
namespace {

using namespace testing;
using token_b::Event;

// Transient requests are never acknowledged, so only finite buffers bound how many are under way.
checker::Options bounded(unsigned number) {
  checker::Options options = cores(number);
  options.buffers[static_cast<std::size_t>(Vnet::request)] = 1;
  options.buffers[static_cast<std::size_t>(Vnet::memory)] = 1;
  return options;
}

TEST(token_b, one_core_is_proved) {
  Coverage<TokenB> coverage;
  expect_proved<TokenB>(bounded(1), {}, coverage);
}

// The substrate alone: safety and starvation freedom rest on it.
TEST(token_b, persistent_requests_alone_are_proved) {
  Coverage<TokenB> coverage;
  expect_proved<TokenB>(bounded(2), {.transient = false, .reissue = false}, coverage);
}

TEST(token_b, readers_with_transient_requests_are_proved) {
  Coverage<TokenB> coverage;
  checker::Options options = bounded(2);
  options.stores = false;
  expect_proved<TokenB>(options, {}, coverage);
}

// Tokens may reach memory after the home has fetched what was there.
TEST(token_b_mistakes, memory_must_be_asked_again) {
  auto changed = rows<TokenB::Home>();
  for (auto &row : changed)
    if (row.event == static_cast<std::uint8_t>(Event::written))
      drop_action(row, "serve the persistent requester");
  checker::Tables<TokenB> tables;
  tables.home = decltype(tables.home)(changed);
  expect_violated<TokenB>(bounded(2), {.transient = false, .reissue = false}, tables, "stuck");
}

// A Deactivate that overtakes its Activate finds nothing to end.
TEST(token_b_mistakes, every_core_must_know_before_it_is_over) {
  auto changed = rows<TokenB::Home>();
  using Tbe = TokenB::Home::TbeState;
  find(changed, Tbe::active, Event::satisfied, "some core has not yet acknowledged the Activate")
      .tbes = 0;
  checker::Tables<TokenB> tables;
  tables.home = decltype(tables.home)(changed);
  expect_violated<TokenB>(bounded(2), {.transient = false, .reissue = false}, tables, "Deactivate");
}

} // namespace
} // namespace tandem::machine
