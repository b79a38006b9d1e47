// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hart: RV64IMAFDC with S and U, Zicsr, Zifencei, Zicntr, Sstc, Sv39. It knows instructions and
// translation, and neither time nor protocols: who drives it says how many instructions it may run,
// and at which cycle.
//
//   Harts harts(bus, clock, {.count = 4});            // hart/harts.h
//   harts[0].start(0x8020'0000, 0, device_tree);
//   harts[0].intercept(firmware, 0, bit(Exception::ecall_supervisor));
//   FunctionalCores cores(harts, clock, &agenda);     // cores/functional.h
//   cores.run(1'000'000);
//
// All harts of a machine are for one thread. Remote actions (everything below but run()) may be
// called between the instructions of this hart by anybody, thus also while another hart runs: from
// its environment or from a device.
#pragma once

#include "machine/bus/bus.h"
#include "machine/hart/clock.h"
#include "machine/hart/environment.h"
#include "machine/hart/timing.h"
#include "machine/htm/options.h"
#include "machine/isa/state.h"
#include "machine/isa/trap.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace tandem::machine {

class CodeCache;
class Harts;
struct HartCore; // hart/core.h: what the instructions work on

struct HartOptions {
  unsigned count = 1;
  // A machine mode that is enough for bare tests of the architecture (docs/machine/harts.md). Then
  // harts start there, and ecalls from S are delegated as medeleg says.
  bool machine_mode = false;
  HtmOptions htm{};
};

// Why run() came back.
enum class Stop : std::uint8_t {
  budget,  // the instructions asked for were run
  waiting, // WFI, and nothing that is enabled is pending
  stopped, // the hart was stopped (HSM)
  asked,   // end_burst()
  wants,   // run_timed(): what timing() says
  trap,    // run_timed(): an exception that the environment is to serve
};

struct Ran {
  std::uint64_t cycles; // instructions begun: those that trapped count as one too; and `waited`
  Stop stop;
  std::uint64_t waited = 0; // of the cycles, those in which a transaction kept it waiting
  std::uint64_t system = 0; // run_timed(): of the cycles, those outside of U
};

// Addresses and address spaces that a fence of translations is about.
struct FenceRange {
  std::uint64_t start = 0;
  std::uint64_t size = ~std::uint64_t{0}; // bytes
  std::optional<std::uint16_t> asid{};    // none: every address space
};

class Hart {
public:
  Hart(unsigned id, Harts &harts, Bus &bus, CodeCache &code, Clock &clock,
       const HartOptions &options);
  ~Hart();
  Hart(const Hart &) = delete;
  Hart &operator=(const Hart &) = delete;

  [[nodiscard]] unsigned id() const;

  // Exact between two calls of run() and in every callback.
  [[nodiscard]] const HartState &state() const;
  // To change x, f and pc at any time; after a change of anything else call changed(), and moved()
  // where pc is no longer of the same thread, or in a handler: what the instruction there had begun
  // is not the next one's.
  [[nodiscard]] HartState &state();
  void moved();
  void changed();

  // Runs at most `cycles` instructions, from clock.now on, taking interrupts precisely: an
  // interrupt that becomes pending and enabled by instruction k, or by time, is taken before k+1.
  // clock.now is advanced. Nothing is run while the hart waits or is stopped. Precise: called in
  // parts it does the same as at once.
  Ran run(std::uint64_t cycles);

  // --- with timing (timing.h; Harts::use_timing) -------------------------------------------------
  // As run(), but comes back before the first instruction that needs what the L1s have not, and
  // with an exception that the environment serves, whose instruction then has not been counted.
  Ran run_timed(std::uint64_t cycles);
  // The word of the instruction that run_timed() runs next, at clock.now; an interrupt that is due
  // is taken for it. None: it wants something (timing().want), or traps, or the hart is kept
  // waiting; run_timed() will say.
  std::optional<std::uint32_t> next_word();
  // Runs one instruction with what it wanted, at clock.now.
  Granted run_granted(Want kind, std::uint64_t line);
  // Does what it wanted as Want::transaction, at clock.now: takes a trap, or runs one instruction.
  // `stop`: budget, wants or trap.
  Ran run_transaction();
  // It does nothing before that cycle but take interrupts: an access of its transaction was
  // refused.
  void hold_until(Cycle at);
  // Gives the exception that one of these came back with to the environment, or to the guest.
  void serve_trap();
  [[nodiscard]] HartTiming &timing();
  // Another thread's registers come: transactions that U runs on this hart are over.
  void leave_user();

  // --- remote actions -------------------------------------------------------------------------
  // HSM: runs from `pc` in S-mode with a0, a1, satp 0, interrupts off. Stopped harts only.
  void start(std::uint64_t pc, std::uint64_t a0, std::uint64_t a1);
  void stop();
  // Until an enabled interrupt is pending: what WFI and a retentive suspend do.
  void wait();

  // Lines in. `external` is the PLIC's S context; `software` sets or clears sip.SSIP (IPI);
  // the timer is pending while time >= stimecmp.
  void set_external(bool level);
  void set_software(bool level);
  void set_timer(std::uint64_t ticks);

  // Remote fences. A fence of instructions costs nothing here: decoded code always follows memory.
  void fence_i();
  void sfence_vma(const FenceRange &range);

  // A block that it may have reserved was or may have been written by somebody else.
  void break_reservation();

  // run() comes back after the present instruction. Only while it runs.
  void end_burst();

  // --- for schedulers -------------------------------------------------------------------------
  // Wakes it if it waits and something enabled is pending at clock.now. True: it can run now.
  bool awake();
  // The cycle at which its timer becomes pending; kNever if its interrupt is off (sie.STIE).
  [[nodiscard]] Cycle timer() const;

  // --- environment, debugging -----------------------------------------------------------------
  // Exceptions of U and of S go to `environment` first if their bit (isa/trap.h) is set.
  void intercept(HartEnvironment *environment, std::uint64_t from_user,
                 std::uint64_t from_supervisor);

  // The physical address of a virtual one as this hart would load it now, without changing any A or
  // D bit and whatever U and SUM say; none if it is not mapped.
  [[nodiscard]] std::optional<std::uint64_t> translate(std::uint64_t address) const;
  // Main memory by virtual addresses of this hart (translate()); false if a byte is not mapped or
  // no memory. For debuggers, system calls and traces.
  [[nodiscard]] bool read_virtual(std::uint64_t address, std::span<std::byte> to) const;
  [[nodiscard]] bool write_virtual(std::uint64_t address, std::span<const std::byte> from);

  // A CSR as an instruction would read it now, whatever the privilege; none if there is none.
  [[nodiscard]] std::optional<std::uint64_t> csr(unsigned number) const;

  [[nodiscard]] HartCore &core() { return *core_; }

private:
  std::unique_ptr<HartCore> core_;
};

} // namespace tandem::machine
