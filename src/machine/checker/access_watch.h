// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// That every access is done exactly once, on the last value stored: at once (a hit), or later by
// the transaction that it began, which leaves the core's permission behind. Also what a
// load-reserved promises its store-conditional.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "machine/checker/properties.h"

namespace tandem::machine::checker {

// Of one step. What returns text says what is wrong, or null.
class AccessWatch {
public:
  // `asked`: the access that the step is, 0 if it is none.
  void begin(Node at, std::uint8_t asked, bool transactional) {
    at_ = at;
    accepting_ = asked;
    transactional_ = transactional;
    completed_ = 0;
    performed_ = false;
  }
  bool accepting() const { return accepting_ != 0; }
  bool transactional() const { return transactional_; }

  // An action does an access to `data`. `who` is a core, or (a device) the home or memory.
  template <class P>
  const char *perform(const Options &options, State<P> &s, unsigned block, Node who, Access access,
                      Data &data) {
    BlockState<P> &b = s.blocks[block];
    const char *wrong = nullptr;
    if (who.is_core() && b.refused[who.id] && accepting_ == 0)
      wrong = "a core goes on with an access that a transaction has refused";
    else if (data.value == 0)
      wrong = access == Access::load
                  ? "data value: a load returns something else than the last value stored"
                  : "data value: a store writes a part of a block that is not up to date";
    const auto also = [&wrong](const char *what) { wrong = wrong == nullptr ? what : wrong; };
    const std::uint8_t asked = take(who.is_core() ? b.pending[who.id] : b.device, access, who);
    const bool transactional =
        who.is_core() &&
        (performed_ && completed_ == 0 ? transactional_
                                       : std::exchange(b.transactional[who.id], false));
    if (asked == 0)
      also(who.is_core() ? "a core does an access that it was not asked for"
                         : "a device is served that did not ask");
    if (asked == kLoadReserved)
      b.reserved[who.id] = Reservation::stands;
    if (asked == kStoreConditional) {
      const Reservation was = std::exchange(b.reserved[who.id], Reservation::none);
      if (was == Reservation::broken)
        also("a store-conditional succeeds, and another store came after its load-reserved");
      if (was != Reservation::stands)
        return wrong; // it takes the line, and stores nothing
    }
    if (!meet_transactions(options, b, who, access, transactional))
      also("an access is done against which another core's transaction stands");
    if (access == Access::store)
      store(options, s, block, who, data);
    return wrong;
  }

  // The access that a core waits for ends without having been done.
  template <class P> static const char *abandon(State<P> &s, unsigned block, Node who) {
    BlockState<P> &b = s.blocks[block];
    const bool asked = std::exchange(b.pending[who.id], std::uint8_t{0}) != 0;
    b.transactional[who.id] = false;
    return asked ? nullptr : "a core gives up an access that it was not asked for";
  }

  // After the step: what was asked for is done, or a transaction will do it.
  template <class P> const char *after(State<P> &s, unsigned block) const {
    BlockState<P> &b = s.blocks[block];
    std::uint8_t &pending = at_.is_core() ? b.pending[at_.id] : b.device;
    if (accepting_ != 0 && !performed_) {
      if (pending != 0)
        return "a core takes an access that it never does: another one is in progress";
      pending = accepting_;
      if (at_.is_core())
        b.transactional[at_.id] = transactional_;
    }
    if (!at_.is_core())
      return b.device != 0 && static_cast<int>(b.home.tbe.state) == 0 &&
                     static_cast<int>(b.memory.tbe.state) == 0
                 ? "a device is never served: there is no transaction for it"
                 : nullptr;
    const auto &part = b.cores[at_.id];
    if (pending != 0 && static_cast<int>(part.tbe.state) == 0)
      return "a core takes an access that it never does: there is no transaction for it";
    if (completed_ == 0)
      return nullptr;
    if (access_of(completed_) == Access::load && !P::Core::readable(part.line, part.tbe))
      return "a load that missed leaves no copy to read";
    if (access_of(completed_) == Access::store && !P::Core::writable(part.line, part.tbe))
      return "a store that missed leaves no copy to write";
    return nullptr;
  }

private:
  // Which access this is: the step's own, or the one that waited. 0: nobody asked for it.
  std::uint8_t take(std::uint8_t &pending, Access access, Node who) {
    if (accepting_ != 0 && who == at_ && access_of(accepting_) == access && !performed_) {
      performed_ = true; // a hit
      return accepting_;
    }
    if (pending == 0 || access_of(pending) != access)
      return 0;
    return completed_ = std::exchange(pending, std::uint8_t{0});
  }

  // What is no transaction's ends those that stand against it; a transaction's must not meet any,
  // and has a claim from now on. False: it has met one.
  template <class B>
  static bool meet_transactions(const Options &options, B &block, Node who, Access access,
                                bool transactional) {
    bool met = false;
    for (unsigned c = 0; c < options.cores; ++c)
      if (Node::core(c) != who && conflicts(block.held[c], access)) {
        met = true;
        block.held[c] = Held::none;
      }
    if (!transactional)
      return true;
    block.held[who.id] =
        std::max(block.held[who.id], access == Access::load ? Held::read : Held::write);
    return !met;
  }

  // Every other copy is stale from now on, and others' reservations are broken.
  template <class P>
  static void store(const Options &options, State<P> &s, unsigned block, Node who, Data &data) {
    BlockState<P> &b = s.blocks[block];
    for (unsigned c = 0; c < options.cores; ++c)
      if (Node::core(c) != who && b.reserved[c] == Reservation::stands)
        b.reserved[c] = Reservation::broken;
    detail::MakeStale stale;
    each_part(options, b,
              [&stale]<class T>(T &part) { std::remove_const_t<T>::fields(part, stale); });
    for (std::uint32_t i = 0; i < s.in_flight; ++i)
      if (s.messages[i].block == block)
        s.messages[i].data = {};
    data.value = 1;
  }

  Node at_;                    // whose step it is
  std::uint8_t accepting_ = 0; // the access that the step is, see Asked
  std::uint8_t completed_ = 0; // the one that a transaction did in this step
  bool performed_ = false;     // the hit is done
  bool transactional_ = false; // the step's own access is a transaction's
};

// Who cannot read a block any more has no reservation of it.
template <class P> void drop_reservations(const Options &options, State<P> &s) {
  if (!options.reservations)
    return;
  for (unsigned b = 0; b < options.blocks; ++b)
    for (unsigned c = 0; c < options.cores; ++c) {
      const auto &part = s.blocks[b].cores[c];
      if (!P::Core::readable(part.line, part.tbe))
        s.blocks[b].reserved[c] = Reservation::none;
    }
}

// Where requests go to holders of a copy only, a core is not asked about a block that it has
// evicted.
template <class P> void drop_claims(const Options &options, State<P> &s) {
  if (!options.transactions || P::kBus)
    return;
  for (unsigned b = 0; b < options.blocks; ++b)
    for (unsigned c = 0; c < options.cores; ++c) {
      const auto &part = s.blocks[b].cores[c];
      if (!P::Core::readable(part.line, part.tbe))
        s.blocks[b].held[c] = Held::none;
    }
}

} // namespace tandem::machine::checker
