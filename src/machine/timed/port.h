// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The port between cores and the memory system: what a core asks and what it hears. Cores of any
// kind (synthetic traffic, the random tester, simulated harts) are the Client of a System:
//
//   struct Client {
//     template <class S> void step(S &system, unsigned core);          // a wake-up it asked for
//     template <class S> void complete(S &system, unsigned core, const Completion &done);
//   };
//
// system.access(core, request) answers at once with a hit, or says that complete() will be called.
// system.wake_core(core, at) asks for step() at a cycle. A value follows timing: what `Completion`
// or a hit reports (`version`) is what the block held when coherence granted the access.
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
constexpr Access access_of(RequestKind kind) {
  return kind == RequestKind::load || kind == RequestKind::fetch ||
                 kind == RequestKind::load_reserved
             ? Access::load
             : Access::store;
}

struct Request {
  std::uint64_t block = 0; // the address over 64
  RequestKind kind = RequestKind::load;
  std::uint32_t tag = 0; // the core's own name for it
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
