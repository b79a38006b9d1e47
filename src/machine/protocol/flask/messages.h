// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The events and messages of the protocols that count tokens behind a blocking home: FLASK and
// MOSAIC.
//
// T tokens a block, one of them the owner token. Whoever holds a token may read, who holds all may
// write. Tokens are never made or lost; the owner token always travels with the data, and with the
// mark that memory's copy is stale (`dirty`).
#pragma once

#include "machine/protocol/environment.h"

namespace tandem::machine::flask {

enum class Event : std::uint8_t {
  load,
  store,
  evict,
  dma_read,
  dma_write,
  get_s,
  get_x,
  fwd_s,
  fwd_x,
  query,
  recall,
  fetch,
  purge,
  tokens,
  ack,
  refusal,
  recalled,
  purged,
  unblock,
  put_ack,
  memory_none,
  written,
  put,
  write_back,
  memory_read,
  dir_evict,
  llc_evict,
  filter_full,
  progress,
  settled,
};

inline constexpr EventInfo kEvents[] = {
    {"Load", EventKind::core, {}, "the core reads"},
    {"Store", EventKind::core, {}, "the core writes"},
    {"Evict", EventKind::spontaneous, {}, "the private hierarchy wants the way for another block"},
    {"DmaRead", EventKind::device, {}, "a device reads"},
    {"DmaWrite", EventKind::device, {}, "a device writes"},
    {"GetS", EventKind::message, Vnet::request, "a core wants to read"},
    {"GetX", EventKind::message, Vnet::request, "a core wants to write"},
    {"FwdS", EventKind::message, Vnet::forward, "whoever has the owner token is to serve a reader"},
    {"FwdX", EventKind::message, Vnet::forward, "all tokens are to go to a writer"},
    {"Query", EventKind::message, Vnet::forward, "say whether you hold tokens, give none"},
    {"Recall", EventKind::message, Vnet::forward, "all tokens are to come to the home"},
    {"Fetch", EventKind::message, Vnet::forward,
     "all tokens are to come to the home, and the data, for a device"},
    {"Purge", EventKind::message, Vnet::forward, "evict the block, for the filter's sake"},
    {"Tok", EventKind::message, Vnet::response, "tokens for a requester"},
    {"Ack", EventKind::message, Vnet::response,
     "answers FwdS, FwdX and Query, with tokens or without"},
    {"Refusal", EventKind::message, Vnet::response,
     "a core's transaction has refused; so many tokens were sent to the requester"},
    {"RecallResp", EventKind::message, Vnet::response,
     "answers Recall and Fetch; all tokens held, maybe none"},
    {"PurgeAck", EventKind::message, Vnet::response, "answers Purge"},
    {"Unblock", EventKind::message, Vnet::response, "the requester has what it asked for"},
    {"PutAck", EventKind::message, Vnet::response, "the home has the tokens of a Put"},
    {"MemNone", EventKind::message, Vnet::response, "memory was asked and has no tokens"},
    {"MemWBAck", EventKind::message, Vnet::response, "memory has the tokens of a MemWB"},
    {"Put", EventKind::message, Vnet::writeback,
     "a core gives up all its tokens, with the data unless the token was lent"},
    {"MemWB", EventKind::message, Vnet::writeback, "all tokens go to memory; data only if dirty"},
    {"MemRead", EventKind::message, Vnet::memory, "memory is to serve a requester"},
    {"dir_evict", EventKind::spontaneous, {}, "the directory wants the entry for another block"},
    {"llc_evict", EventKind::spontaneous, {}, "the last-level cache wants the way"},
    {"filter_full", EventKind::spontaneous, {}, "a counter of the filter is at its largest value"},
    {"progress", EventKind::raised, {}, "an answer or tokens have come: what is next?"},
    {"settled", EventKind::raised, {}, "of a refused request: have all tokens sent for it come?"},
};

inline constexpr const char *kFlags[] = {"owner", "dirty", "memory",  "holds",
                                         "gave",  "lent",  "refused", "transactional"};
inline constexpr std::uint8_t kOwner = 1;      // the owner token is among the tokens
inline constexpr std::uint8_t kDirty = 2;      // and memory's copy is stale
inline constexpr std::uint8_t kFromMemory = 4; // memory sent (some of) them
inline constexpr std::uint8_t kHolds = 8;      // Ack: the sender still holds tokens
inline constexpr std::uint8_t kGave = 16;      // Ack: it has sent tokens to the requester
inline constexpr std::uint8_t kLent = 32;      // Tok: the LLC keeps the data
inline constexpr std::uint8_t kRefused = 64;   // Ack: its transaction keeps the tokens
// GetX, FwdX: of a transaction. All tokens come with data, so that a refused requester can keep
// them.
inline constexpr std::uint8_t kTransactional = 128;

// Bits of a token count in a packed state: T is at most 2 x 64 - 1.
inline constexpr unsigned kTokenBits = 7;

} // namespace tandem::machine::flask
