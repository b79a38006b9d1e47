// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hardware transaction, from its first begin to its commit or its last abort.
#pragma once

#include "contention/policy.h"
#include "machine/event/wheel.h"
#include "machine/htm/marks.h"
#include "machine/isa/state.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tandem::machine {

// Why a transaction aborted. The numbers are what xbegin answers with.
enum class AbortCause : std::uint8_t {
  none = 0,
  conflict = 1, // with a transaction, with an access outside of them, with a newer one of the hart
  software = 2, // xabort; the program's own codes from 16 on are this kind too
  io = 3,       // an access outside of main memory, before it happens
  call = 4,     // ecall, wfi
  csr = 5,      // a write of a CSR other than sstatus, fflags, frm, fcsr
  limit = 6,    // as many restarts as stxlimit allows
  recall = 7,   // a line was taken away, where the machine says so
  user = 8,     // a trap from U
};
inline constexpr unsigned kAbortCauses = 9;
inline constexpr std::uint64_t kFirstOwnCode = 16; // of xabort

enum class AccessMode : std::uint8_t { read, write, both };

// What xbegin restores. Source: MetaTM, section 4.2; registers of RISC-V.
struct RegisterCheckpoint {
  std::array<std::uint64_t, 33> x{};
  std::array<std::uint64_t, 32> f{};
  std::uint64_t pc = 0; // of the xbegin
  std::uint8_t rd = 0;  // of the xbegin
  std::uint8_t fflags = 0;
  std::uint8_t frm = 0;
  Privilege privilege = Privilege::supervisor;
  std::uint64_t status = 0; // the bits of kCheckpointStatus
};
inline constexpr std::uint64_t kCheckpointStatus =
    status::kSie | status::kSpie | status::kSpp | status::kSum | status::kFs;

// Where a transaction was begun from.
enum class BeganIn : std::uint8_t { elsewhere, interrupt, system_call };

inline constexpr unsigned kNoHart = ~0U;

struct HtmSite;

// What a new one starts with.
struct TransactionState {
  enum class State : std::uint8_t {
    running,   // on `hart`, inside
    waiting,   // on `hart`, aborted; its xbegin comes again after `wait_until`
    suspended, // by a handle
  };

  std::uint64_t handle = 0; // never 0 while it lives
  std::uint32_t slot = 0;
  State state = State::running;
  bool must_restart = false; // suspended, and has lost: when it is resumed
  bool kill_pending = false; // somebody's kill is on its way to this attempt
  bool walked = false;       // a walk of its own hart has read what it wrote
  bool restarted_once = false;
  bool interrupted = false;
  bool was_waiting = false; // when it was suspended
  bool overflowed = false;  // in this attempt
  BeganIn began_in = BeganIn::elsewhere;
  unsigned hart = kNoHart;  // that runs it, or ran it last
  std::uint64_t ran_on = 0; // harts, as bits
  unsigned depth = 0;
  std::uint64_t site = 0; // what the outermost xbegin said; else its pc, in S x1
  HtmSite *counts = nullptr;
  std::uint64_t limit = 0; // stxlimit at the begin
  Cycle started = 0;       // the first begin
  Cycle wait_until = 0;
  std::uint32_t attempt = 0;
  std::uint32_t restarts = 0;
  std::uint32_t waits = 0;  // backoffs
  std::uint32_t losses = 0; // since it last won a conflict
  std::uint64_t priority = 0;
  std::uint64_t size = 0;  // bytes in either set, of this attempt
  std::size_t settled = 0; // of HardwareTransaction::ahead: what is in size and priority
  std::uint64_t written = 0;
  std::uint64_t blocks = 0;
  std::uint64_t written_blocks = 0;
  std::uint64_t answer = 0;  // of the next xbegin, after an abort: the cause, or xabort's code
  bool final_answer = false; // it is over: xbegin answers -answer
  std::uint32_t marks = Marks::kNone;
  std::uint64_t waits_for = 0; // handle of a holder, while stalled
  std::optional<Cycle> stalled_since;
  contention::Standing standing;
};

struct HardwareTransaction : TransactionState {
  RegisterCheckpoint checkpoint;
  std::vector<std::uint64_t> deferred; // Kindergarten: handles
  // Accesses that were marked before all others had come to their cycle, in order.
  struct Ahead {
    Cycle at;
    unsigned bytes; // new ones, at least one
  };
  std::vector<Ahead> ahead;
};

} // namespace tandem::machine
