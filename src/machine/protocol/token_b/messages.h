// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The events and messages of TokenB, and the table of persistent requests that cores and homes
// have.
//
// T tokens a block, one of them the owner token. R1: tokens are never made or lost. R2: who holds
// all, and valid data, may write. R3: who holds one, and valid data, may read. R4: the owner token
// travels with the data; only towards memory, and clean, without. R5: data is valid from its
// arrival with a token until the last token leaves.
//
// Source: Martin, Hill, Wood: Token Coherence (ISCA 2003), arbitration at the home included; Marty
// et al. (HPCA 2005) for persistent reads.
#pragma once

#include "machine/protocol/environment.h"

namespace tandem::machine::token_b {

enum class Event : std::uint8_t {
  load,
  store,
  evict,
  timeout,
  dma_read,
  dma_write,
  get_s,
  get_x,
  memory_get_s,
  memory_get_x,
  tokens,
  put,
  write_back,
  persist,
  grant,
  satisfied,
  activate,
  deactivate,
  ack,
  written,
  llc_evict,
  serve,
  done,
  arrived,
};

inline constexpr EventInfo kEvents[] = {
    {"Load", EventKind::core, {}, "the core reads"},
    {"Store", EventKind::core, {}, "the core writes"},
    {"Evict", EventKind::spontaneous, {}, "the private hierarchy wants the way for another block"},
    {"Timeout", EventKind::spontaneous, {}, "a request has waited for long"},
    {"DmaRead", EventKind::device, {}, "a device reads"},
    {"DmaWrite", EventKind::device, {}, "a device writes"},
    {"GetS", EventKind::message, Vnet::request, "a core wants to read; anyone may ignore it"},
    {"GetX", EventKind::message, Vnet::request, "a core wants to write; anyone may ignore it"},
    {"MemGetS", EventKind::message, Vnet::memory, "a GetS that the LLC could not satisfy"},
    {"MemGetX", EventKind::message, Vnet::memory, "a GetX that the LLC could not satisfy"},
    {"Tok", EventKind::message, Vnet::response, "tokens for a core, or for a device"},
    {"Put", EventKind::message, Vnet::writeback, "tokens that a core gives up, for the home"},
    {"MemWB", EventKind::message, Vnet::writeback, "tokens that the LLC gives up, for memory"},
    {"PReq", EventKind::message, Vnet::request, "a core's persistent request, for the home"},
    {"PGrant", EventKind::message, Vnet::response, "its persistent request is the active one"},
    {"PDone", EventKind::message, Vnet::response, "its persistent request is satisfied"},
    {"Activate", EventKind::message, Vnet::forward,
     "a core's persistent request is active: obey it"},
    {"Deactivate", EventKind::message, Vnet::forward, "it is over"},
    {"PAck", EventKind::message, Vnet::response, "answers Activate and Deactivate"},
    {"MemWBAck", EventKind::message, Vnet::response, "memory has the tokens of a MemWB"},
    {"llc_evict", EventKind::spontaneous, {}, "the last-level cache wants the way"},
    {"serve", EventKind::raised, {}, "tokens here may belong to a persistent requester"},
    {"done", EventKind::raised, {}, "the access of a transaction has happened"},
    {"arrived", EventKind::raised, {}, "tokens have come: does a device have what it wants?"},
};

inline constexpr const char *kFlags[] = {"owner", "dirty", "write"};
inline constexpr std::uint8_t kOwner = 1; // the owner token is among the tokens
inline constexpr std::uint8_t kDirty = 2; // and memory's copy is stale
inline constexpr std::uint8_t kWrite = 4; // of Activate: all tokens are wanted

inline constexpr unsigned kTokenBits = 7; // T is at most 127

// What cores and homes do alike: whose are the tokens that are here, or come? `holder(e)` is the
// core whose persistent request is active, as far as this controller knows; none if that is this
// core itself.
template <class E, class C> struct Obedience {
  static Node holder(E &e) { return C::holder(e.tbe()); }
  static bool locked(E &e) { return !holder(e).is_none(); }

  static constexpr Guard<E> free{"no other core's persistent request is active",
                                 [](E &e) { return !locked(e); }};
  static constexpr Guard<E> writer{"the persistent requester writes",
                                   [](E &e) { return locked(e) && e.tbe().all; }};
  static constexpr Guard<E> reader{"the persistent requester reads",
                                   [](E &e) { return locked(e) && !e.tbe().all; }};
  static constexpr Guard<E> claimed{
      "a persistent requester writes, or reads and this is the owner token",
      [](E &e) { return locked(e) && (e.tbe().all || (e.message().flags & kOwner) != 0); }};

  static constexpr Action<E> pass_on{
      "send the tokens on to the persistent requester", [](E &e) {
        const Message &m = e.message();
        Message on = Message::of(Event::tokens).to(holder(e)).counting(m.count).flagged(m.flags);
        e.send(m.has_data ? on.carrying(m.data) : on);
      }};
  static constexpr Action<E> serve{"serve the persistent requester",
                                   [](E &e) { e.raise(Event::serve); }};
};

} // namespace tandem::machine::token_b
