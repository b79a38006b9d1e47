// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// That nothing waits for ever: every event that is stalled at a controller before a step, and could
// go on after it, must have been woken in the step. The checker itself looks at everything again in
// each state, the timed system only at what is woken.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "machine/checker/environment.h"

namespace tandem::machine::checker {

// Of one step.
template <class P> class WakeWatch {
public:
  void begin() {
    woken_used_ = stalled_used_ = 0;
    touched_ = 0;
  }

  void woken(Node at, unsigned block, Wake name) {
    if (woken_used_ < woken_.size())
      woken_[woken_used_++] = {at, static_cast<std::uint8_t>(block), name};
  }

  // Before a controller's first row in this step: what is stalled there. While it looks, the
  // environment makes no choice.
  template <class C> void before(Engine<P> &engine, State<P> &s, unsigned block, Node at) {
    const unsigned place = (at.is_core() ? at.id : 5U + at.id - Node::kHome) * 2 + block;
    if ((touched_ >> place & 1) != 0)
      return;
    touched_ |= 1U << place;
    looking_ = true;
    for (std::uint32_t i = 0; i < s.in_flight; ++i)
      if (s.messages[i].dst == at && s.messages[i].block == block)
        note<C>(engine, s, block, at, s.messages[i]);
    const Message none{};
    Env<P, C> env(engine, s, block, at, none);
    for (const typename P::Event event : C::kSpontaneous)
      if (Engine<P>::is_access(static_cast<std::uint8_t>(event)))
        note<C>(engine, s, block, at, Message::of(event));
    looking_ = false;
  }

  // After the step: what nobody woke although it could go on, or an empty text.
  std::string after(Engine<P> &engine, State<P> &s) {
    looking_ = true;
    std::string lost;
    for (unsigned i = 0; i < stalled_used_ && lost.empty(); ++i) {
      const Stalled &e = stalled_[i];
      bool woken = false;
      for (unsigned j = 0; j < woken_used_; ++j)
        woken |= woken_[j].at == e.at && woken_[j].block == e.block && woken_[j].name == e.name;
      if (woken)
        continue;
      if (e.at.is_core())
        lost = check<typename P::Core>(engine, s, e);
      if constexpr (Engine<P>::kHasHome)
        if (e.at == Node::home())
          lost = check<typename P::Home>(engine, s, e);
      if constexpr (Engine<P>::kHasMemory)
        if (e.at == Node::memory())
          lost = check<typename P::Memory>(engine, s, e);
    }
    looking_ = false;
    return lost;
  }

  bool looking() const { return looking_; }

private:
  struct Stalled {
    Node at;
    std::uint8_t block;
    Wake name;
    Message message;
  };
  struct Woken {
    Node at;
    std::uint8_t block;
    Wake name;
  };

  template <class C>
  void note(Engine<P> &engine, State<P> &s, unsigned block, Node at, const Message &m) {
    Env<P, C> env(engine, s, block, at, m);
    const auto *row = engine.template table<C>().find(env, m.type);
    if (row != nullptr && row->kind == RowKind::stall && stalled_used_ < stalled_.size()) {
      engine.template count<C>(*row);
      stalled_[stalled_used_++] = {at, static_cast<std::uint8_t>(block), row->wake, m};
    }
  }

  template <class C> std::string check(Engine<P> &engine, State<P> &s, const Stalled &e) {
    Env<P, C> env(engine, s, e.block, e.at, e.message);
    const auto *row = engine.template table<C>().find(env, e.message.type);
    if (row != nullptr && row->kind == RowKind::stall && row->wake == e.name)
      return {};
    return fmt::format("lost wake-up: {} stalled at the {} could go on, and nobody wakes it",
                       P::kEvents[e.message.type].name, C::kName);
  }

  std::array<Woken, 8> woken_{};
  unsigned woken_used_ = 0;
  std::array<Stalled, 16> stalled_{};
  unsigned stalled_used_ = 0;
  std::uint32_t touched_ = 0;
  bool looking_ = false; // guards are evaluated without a step; nothing is chosen
};

} // namespace tandem::machine::checker
