// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MESI or MOESI with a sparse directory at each block's home, over a non-inclusive last-level
// cache.
//
// The directory is a superset of the private holders of every block: an entry that must go recalls
// all copies first. The home works on one transaction for a block at a time, from the request to
// the requester's Unblock; later requests wait, returned blocks (Put) never do. Acknowledgements of
// invalidations are counted by the requester. The directory entry changes when a transaction
// begins; so while one is open it describes the end of it.
//
// With the option `transactions` an owner or sharer whose hardware transaction conflicts with a
// request refuses it: it keeps its copy, and answers so to the requester. That waits for all
// answers before it gives its access up and says so in its Unblock; the home then has the entry
// that it had before. Who has dropped its copy meanwhile stays in it as a sharer. Returned blocks
// wait for the end of the transaction, so that the entry to go back to is exact.
//
// Source: Gupta, Weber, Mowry (ICPP 1990) for sparse directories and recalls; Sorin, Hill, Wood,
// A Primer on Memory Consistency and Cache Coherence, chapter 8, for the states and their names.
#pragma once

#include "machine/protocol/environment.h"

namespace tandem::machine {

struct SparseDirectory {
  static constexpr const char *kName = "sparse-directory";
  static constexpr const char *kSummary =
      "MESI or MOESI, directory entries for private copies only, recalls when an entry is evicted";
  static constexpr bool kBus = false, kSymmetric = true;

  enum class Event : std::uint8_t {
    load,
    store,
    evict,
    dma_read,
    dma_write,
    dir_evict,
    llc_evict,
    get_s,
    get_m,
    fwd_get_s,
    fwd_get_m,
    inv,
    recall,
    data,
    data_e,
    data_m,
    ack_count,
    inv_ack,
    refusal,
    inv_refusal,
    dir_data,
    recall_data,
    unblock,
    put_ack,
    mem_ack,
    put_s,
    put,
    mem_read,
    mem_write,
    collected,
  };
  static constexpr EventInfo kEvents[] = {
      {"Load", EventKind::core, {}, "the core reads or fetches"},
      {"Store", EventKind::core, {}, "the core writes, or reads and writes in one"},
      {"Evict", EventKind::spontaneous, {}, "the private caches want the way for another block"},
      {"DmaRead", EventKind::device, {}, "a device reads"},
      {"DmaWrite", EventKind::device, {}, "a device writes"},
      {"DirEvict", EventKind::spontaneous, {}, "the directory wants the entry for another block"},
      {"LlcEvict", EventKind::spontaneous, {}, "the LLC wants the way for another block"},
      {"GetS", EventKind::message, Vnet::request, "asks for a copy to read"},
      {"GetM", EventKind::message, Vnet::request, "asks for the only copy"},
      {"FwdGetS", EventKind::message, Vnet::forward,
       "the owner is to send a copy to the requester"},
      {"FwdGetM", EventKind::message, Vnet::forward, "the owner is to hand over to the requester"},
      {"Inv", EventKind::message, Vnet::forward, "a sharer is to drop its copy and tell so"},
      {"Recall", EventKind::message, Vnet::forward, "the owner is to return the block to the home"},
      {"Data", EventKind::message, Vnet::response, "a copy to read"},
      {"DataE", EventKind::message, Vnet::response, "the only copy, clean"},
      {"DataM", EventKind::message, Vnet::response,
       "the only copy once n acknowledgements have come"},
      {"AckCount", EventKind::message, Vnet::response,
       "the requester's copy is the only one once n acknowledgements have come"},
      {"InvAck", EventKind::message, Vnet::response, "a sharer has no copy any more"},
      {"Refusal", EventKind::message, Vnet::response,
       "the owner's transaction keeps the block; n acknowledgements are to come"},
      {"InvRefusal", EventKind::message, Vnet::response, "a sharer's transaction keeps its copy"},
      {"DirData", EventKind::message, Vnet::response, "the owner's block, now shared, for the LLC"},
      {"RecallData", EventKind::message, Vnet::response, "the recalled block"},
      {"Unblock", EventKind::message, Vnet::response, "the requester has what it asked for"},
      {"PutAck", EventKind::message, Vnet::response, "the home has dealt with the Put"},
      {"MemAck", EventKind::message, Vnet::response, "memory has written"},
      {"PutS", EventKind::message, Vnet::writeback, "a sharer has dropped its copy"},
      {"Put", EventKind::message, Vnet::writeback, "the owner returns the block"},
      {"MemRead", EventKind::message, Vnet::memory, "memory is to send the block to the requester"},
      {"MemWrite", EventKind::message, Vnet::memory, "memory is to take the block"},
      {"collected", EventKind::raised, {}, "no core has the block: a device's access goes on"},
  };

  static constexpr const char *kFlags[] = {"dirty", "has-copy", "exclusive", "modify", "refused"};
  static constexpr std::uint8_t kDirty = 1;   // Put, DirData, RecallData, Unblock: memory is behind
  static constexpr std::uint8_t kHasCopy = 2; // GetM: the requester needs no data
  static constexpr std::uint8_t kExclusive = 4; // MemRead: answer with DataE
  static constexpr std::uint8_t kModify = 8;    // MemRead: answer with DataM
  static constexpr std::uint8_t kRefused = 16;  // Unblock: all is as before

  struct Config {
    bool moesi = false;
    bool silent_shared = false;
    bool victim_llc = false;
    bool transactions = false;
  };
  static constexpr ConfigField<Config> kConfigFields[] = {
      {"moesi", &Config::moesi, "a dirty owner keeps the block when it is read (state O)"},
      {"silent_shared", &Config::silent_shared, "a sharer drops its copy without PutS"},
      {"victim_llc", &Config::victim_llc,
       "the LLC gives a clean block away with its ownership, as a protocol that counts tokens "
       "must"},
      {"transactions", &Config::transactions,
       "cores refuse what loses against their hardware transactions"},
  };

  struct Core;
  struct Home;
  struct Memory;

  template <class View> static const char *violated(const View &view);
};

} // namespace tandem::machine
