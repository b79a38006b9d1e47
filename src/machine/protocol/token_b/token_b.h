// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TokenB: tokens for correctness, broadcasts for speed, persistent requests against starvation.
//
// Source: Martin, Hill, Wood: Token Coherence (ISCA 2003). What is chosen where that leaves room:
// docs/design/0022-flask.md.
#pragma once

#include "machine/protocol/token_b/core.h"
#include "machine/protocol/token_b/home.h"
#include "machine/protocol/token_b/memory.h"

namespace tandem::machine {

struct TokenB {
  static constexpr const char *kName = "token-b";
  static constexpr const char *kSummary =
      "tokens; requests to everyone, persistent ones when those fail";
  static constexpr bool kBus = false, kSymmetric = true;

  using Event = token_b::Event;
  static constexpr auto &kEvents = token_b::kEvents;
  static constexpr auto &kFlags = token_b::kFlags;

  struct Config {
    bool migratory = true; // a reader of a dirty block gets all tokens
    bool transient = true; // requests are broadcast before they become persistent
    bool reissue = true;   // a request is sent twice before it becomes persistent
  };
  static constexpr ConfigField<Config> kConfigFields[] = {
      {"migratory", &Config::migratory, "a reader of a dirty block gets all its tokens"},
      {"transient", &Config::transient, "requests are broadcast before they become persistent"},
      {"reissue", &Config::reissue, "a request is sent twice before it becomes persistent"},
  };

  // In the timed system: with as many tokens as cores, a block that all read leaves its owner with
  // one, and the next reader would have to become persistent.
  static constexpr unsigned tokens(unsigned cores) { return 2 * cores; }

  using Core = token_b::Core<TokenB>;
  using Home = token_b::Home<TokenB>;
  using Memory = token_b::Memory<TokenB>;

  template <class View> static const char *violated(const View &view);
};

template <class View> const char *TokenB::violated(const View &view) {
  using token_b::kDirty;
  using token_b::kOwner;
  unsigned tokens = 0, owners = 0;
  bool dirty = false;
  const auto add = [&](unsigned count, unsigned flags) {
    tokens += count;
    owners += (flags & kOwner) != 0 && count != 0;
    dirty = dirty || (flags & kDirty) != 0;
  };
  for (unsigned c = 0; c < view.cores(); ++c) {
    const auto &line = view.core(c).line;
    const bool owner = line.state >= Core::LineState::O;
    const bool stale = line.state == Core::LineState::D || line.state == Core::LineState::M;
    add(line.tokens, (owner ? kOwner : 0U) | (stale ? kDirty : 0U));
    if ((line.tokens == view.tokens()) != (line.state >= Core::LineState::E))
      return "all tokens, and the state does not say so";
  }
  const auto &llc = view.home().llc;
  const auto &memory = view.memory().line;
  add(llc.tokens, llc.flags);
  add(memory.tokens, memory.state == Memory::LineState::owner ? kOwner : 0U);
  view.each_message([&](const Message &m) {
    const auto event = static_cast<Event>(m.type);
    if (event == Event::tokens || event == Event::put || event == Event::write_back)
      add(m.count, m.flags);
  });
  if (tokens != view.tokens())
    return "tokens were made or lost";
  if (owners != 1)
    return "there is not exactly one owner token";
  if (!dirty && memory.data.value == 0)
    return "no copy is dirty, and memory's is stale";
  if (dirty && memory.data.value != 0 && !view.conditional_stores())
    return "a copy is called dirty, and memory has the last value";
  if (llc.valid && llc.data.value == 0)
    return "the LLC has tokens and stale data";
  for (unsigned c = 0; c < view.cores(); ++c) {
    using T = Core::TbeState;
    const auto &tbe = view.core(c).tbe;
    if (view.config().reissue && (tbe.state == T::RP || tbe.state == T::WP) && !tbe.reissued)
      return "a request became persistent before it was sent twice";
    if (tbe.reissued && (tbe.state == T::L || tbe.state == T::Q))
      return "how a request was got outlives it";
  }
  // Nobody obeys a persistent request that the home does not know.
  for (unsigned c = 0; c < view.cores(); ++c)
    if (const Node holder = view.core(c).tbe.holder; !holder.is_none()) {
      if (view.home().tbe.state == Home::TbeState::none || view.home().tbe.requester != holder)
        return "a persistent request has ended, and a core still obeys it";
    }
  return nullptr;
}

} // namespace tandem::machine
