// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The port between cores and the memory system: what a core asks and what it hears. Cores of any
// kind (synthetic traffic, the random tester, simulated harts) are the Client of a System:
//
//   struct Client {
//     template <class S> void step(S &system, unsigned core);          // a wake-up it asked for
//     template <class S> void complete(S &system, unsigned core, const Completion &done);
//     // All of these may be left out.
//     template <class S> bool perform(S &system, unsigned core, const Request &request);
//     template <class S> void lost(S &system, unsigned core, std::uint64_t block);
//     template <class S> void evicted(S &system, unsigned core, std::uint64_t block);
//     template <class S> void device_done(S &system, const DeviceAccess &done);
//     template <class S> std::uint64_t refusing(S &system, unsigned core, const Request &request,
//                                               std::uint64_t asked);
//     template <class S> void refused(S &system, unsigned core);
//     template <class S> void prevailed(S &system, unsigned core);
//     template <class S> bool marked(S &system, unsigned core, std::uint64_t block);
//   };
//
// system.access(core, request) answers at once with a hit, or says that complete() will be called.
// system.wake_core(core, at) asks for step() at a cycle.
//
// Bytes are the client's, in one array: the system moves permissions, and perform() is the instant
// at which it may read or write them (before access() answers, or in an event before complete()).
// It says whether the access happened; what did not (a store-conditional whose core has changed its
// mind) leaves the block as it was. complete() comes a latency later, when another core may have
// the block already, and completions of one core come in the order of their cycles, not of their
// accesses. lost(): the block has left an L1 of the core, or has become less than it was there;
// what quick() said of it is void. evicted(): the core's caches give the block up, to make room;
// the core may say so while it waits for something else. device_done(): a device's access happens
// now, bytes and all.
//
// The last four are of protocols whose tables refuse (their option `transactions`). refusing():
// when a request reaches other cores, which of those in `asked` have transactions that conflict
// with it and win, a bit for each. On a bus all are asked at once; else each when the request
// reaches it. refused(): its access ends without being performed. prevailed(): on a bus, no core
// has refused it, and the transactions that conflict with it abort. marked(): whether a core's
// transactions have marks on a block.
//
// None of them may call the system, but for reserved() and quick().
#pragma once

#include "machine/event/wheel.h"
#include "machine/protocol/types.h"

namespace tandem::machine {

enum class RequestKind : std::uint8_t {
  load,
  fetch, // of instructions: a load through the L1I
  store,
  atomic,            // a read-modify-write: a store that also reads
  load_reserved,     // a load that leaves a reservation of the block
  store_conditional, // a store if the reservation still holds, else nothing
};
// What the tables are asked for. A load_reserved asks to write: if it only read, each core's
// store_conditional would take the block from another one whose reservation still stands, and then
// fail for the same reason.
constexpr Access access_of(RequestKind kind) {
  return kind == RequestKind::load || kind == RequestKind::fetch ? Access::load : Access::store;
}

struct Request {
  std::uint64_t block = 0; // the address over 64
  RequestKind kind = RequestKind::load;
  std::uint32_t tag = 0;      // the core's own name for it
  bool transactional = false; // a hardware transaction's
};

// A device's access, by the name that it gave it.
struct DeviceAccess {
  std::uint64_t block = 0;
  Access access = Access::load;
  std::uint32_t tag = 0;
};

// A block in an L1, as a core may use it without asking until lost() names it.
struct Quick {
  bool readable = false;
  bool writable = false; // and a store changes nothing but the bytes
  // Of the order of use: a hit does *stamp = ++*clock. Null where the policy needs none.
  std::uint64_t *stamp = nullptr;
  std::uint64_t *clock = nullptr;
};

struct Completion {
  std::uint32_t tag = 0;
  RequestKind kind = RequestKind::load;
  bool succeeded = true; // false: a store_conditional that did nothing
  std::uint64_t block = 0;
  std::uint32_t version = 0; // of the block: the number of the last store to it, this one included
  Cycle latency = 0;
};

struct Outcome {
  bool hit = false;  // false: complete() follows
  Completion done{}; // of a hit; latency in cycles from now
};

} // namespace tandem::machine
