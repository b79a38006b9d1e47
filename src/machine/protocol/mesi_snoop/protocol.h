// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MESI snooping on a bus with an atomic address phase and split data.
//
// The bus grants one address transaction at a time; all other caches and memory hear it in the same
// step, and the wired-or lines (SnoopLines) say what they do. The order of grants is the order of
// coherence. Data follow as messages. Who waits for data that were granted refuses further
// transactions for the block (nack); so does memory while data that it was promised are on the way.
// A refused core asks for the bus again; an arbiter that is fair by age makes all of them end.
//
// A request waits for its grant, and the block can change meanwhile: a waiting upgrade that loses
// its copy becomes a request for the data as well, a waiting write-back that had to give its data
// away ends as a transaction without data.
//
// With the option `transactions` a core whose hardware transaction conflicts with a request refuses
// it: no line changes state, and the requester's access ends without being performed. A transaction
// keeps its marks on a block when the line is evicted; the core then asserts the shared signal for
// another core's BusRd, so that the reader gets the block shared and not exclusive.
//
// Sources: Culler, Singh, Gupta, Parallel Computer Architecture, sections 5.3 and 6.2; MetaTM (ISCA
// 2007), section 2.1.
#pragma once

#include "machine/protocol/environment.h"

namespace tandem::machine {

struct MesiSnoop {
  static constexpr const char *kName = "mesi-snoop";
  static constexpr const char *kSummary = "MESI, every miss is seen by all caches on a bus";
  static constexpr bool kBus = true, kSymmetric = true;

  enum class Event : std::uint8_t {
    load,
    store,
    evict,
    dma_read,
    dma_write,
    grant,
    granted,
    bus_rd,
    bus_rd_x,
    bus_upgr,
    bus_wb,
    bus_dma_rd,
    bus_dma_wr,
    data,
    flush,
  };
  static constexpr EventInfo kEvents[] = {
      {"Load", EventKind::core, {}, "the core reads or fetches"},
      {"Store", EventKind::core, {}, "the core writes, or reads and writes in one"},
      {"Evict", EventKind::spontaneous, {}, "the cache wants the way for another block"},
      {"DmaRead", EventKind::device, {}, "a device has the bus, to read"},
      {"DmaWrite", EventKind::device, {}, "a device has the bus, to write"},
      {"Grant", EventKind::spontaneous, {}, "the bus is this core's for one transaction"},
      {"Granted", EventKind::raised, {}, "all others have seen the transaction"},
      {"BusRd", EventKind::snoop, {}, "another core wants a copy to read"},
      {"BusRdX", EventKind::snoop, {}, "another core wants the only copy, and the data"},
      {"BusUpgr", EventKind::snoop, {}, "another core that has a copy wants the only one"},
      {"BusWB", EventKind::snoop, {}, "another core writes the block back"},
      {"BusDmaRd", EventKind::snoop, {}, "a device reads the block, and keeps no copy"},
      {"BusDmaWr", EventKind::snoop, {}, "a device writes the block"},
      {"Data", EventKind::message, Vnet::response, "the block, for the core that had the bus"},
      {"Flush", EventKind::message, Vnet::writeback, "the block, for memory"},
  };
  static constexpr std::array<const char *, 0> kFlags{};

  struct Config {
    bool transactions = false;
  };
  static constexpr std::array kConfigFields{
      ConfigField<Config>{"transactions", &Config::transactions,
                          "cores refuse what loses against their hardware transactions"}};

  struct Core;
  using Home = void;
  struct Memory;

  template <class View> static const char *violated(const View &view);
};

} // namespace tandem::machine
