// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Harts on the coherent memory side, whose caches, protocol, network and memory are the timed
// system's. Cores in order run an instruction a cycle (MetaTM's "IPC of 1"); those with a window
// (timed_window.h, `hart.model`) go in lockstep.
//
// In order, an instruction takes a cycle. A fetch or an access to data that is not in its L1 adds
// its latency less the first cycle, the fetch before the data; hits in an L1 are hidden by the
// pipeline. An exception that the environment serves (system calls, page faults) takes
// `call_cycles`, an access to a device `device_cycles`. A hart waits for each access: memory is
// sequentially consistent.
//
// Translations that a hart's TLBs have not are walks through its L1D, an entry at a time. Accesses
// to memory by what is no hart (devices, a proxy kernel) happen at once; their traffic follows, as
// coherent accesses of devices, block by block, kDevicesUnderWay at a time. Who wants may wait for
// its end (when_settled).
//
// Harts run ahead of the event wheel while nothing can reach them (System::horizon); what they do
// does not depend on how far. A cycle is: the machine's events, then the harts in their order. What
// concerns all harts at once (traps that the environment serves, devices, hints, the agenda) is
// done when no hart has run past its cycle.
//
// Modes: `timing`; `warming`, in which every access runs through the tables and the caches, but
// messages take a cycle; `functional`, in which the functional cores run and no cache is touched.
// They change between two instructions, with nothing under way. For one thread.
#pragma once

#include "machine/cores/functional.h"
#include "machine/hart/harts.h"
#include "machine/simulation/simulation.h"
#include "machine/timing/timeline.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tandem::machine {

enum class Mode : std::uint8_t { functional, warming, timing };

// Numbers of hint instructions (slti x0, x0, number; include/tandem/machine.h).
namespace hint {
inline constexpr unsigned kFunctional = 1;
inline constexpr unsigned kWarming = 2;
inline constexpr unsigned kTiming = 3;
inline constexpr unsigned kBegin = 0x100; // and the number of a region, 0 to 255
inline constexpr unsigned kEnd = 0x200;   // the same
inline constexpr unsigned kRegions = 256;
} // namespace hint

struct TimingOptions {
  Configuration configuration{}; // with as many cores as there are harts
  std::uint64_t seed = 1;        // of jitter and random back-off
  Mode mode = Mode::timing;      // at the start
  Cycle call_cycles = 100;
  Cycle device_cycles = 50;
  // What is counted is what happens in `timing`, from the first time that it is entered.
  bool only_timing = false;
  bool timeline = false; // keep one; changes nothing else
  // For tests. Values: every access goes through the tables and is checked against the last store.
  bool check_values = false;
  bool lockstep = false; // an instruction at a time
  Cycle too_far = 0;     // added to every horizon
};

// Where the cycles of one hart went; what is in none of these, it was idle.
struct HartCycles {
  std::uint64_t instructions = 0;
  std::uint64_t busy = 0;    // cycles in which it ran some, or computed
  std::uint64_t fetches = 0; // cycles that it waited for code
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t atomics = 0; // with load-reserved and store-conditional
  std::uint64_t walks = 0;   // entries of page tables
  std::uint64_t service = 0; // the environment, devices
  std::uint64_t waits = 0;   // backoffs and stalls of transactions, what commits and aborts cost
  std::uint64_t system = 0;  // of all these, those outside of U
};

// What was counted between the begin and the end of a region, over all times that it was entered.
struct RegionCounts {
  std::uint64_t entered = 0;
  std::vector<std::pair<std::string, std::uint64_t>> counts{};
};

class TimedCores : public Driver {
public:
  // All must outlive it; `agenda` may be null. Error: no such protocol, a machine that does not fit
  // it, another number of cores than of harts. Hints of the harts are its from now on.
  static Result<std::unique_ptr<TimedCores>> make(const std::string &protocol,
                                                  const TimingOptions &options, Harts &harts,
                                                  Clock &clock, Agenda *agenda);

  // A device's or kernel's access that has just happened, by physical address.
  virtual void heard_access(std::uint64_t address, std::uint64_t bytes, bool write) = 0;
  // Calls `call` when the traffic of all accesses heard of is over, with the cycle from which on
  // harts may notice; false: there is none under way, and no call.
  virtual bool when_settled(std::function<void(Cycle at)> call) = 0;
  // From the next instruction on, as a hint says it.
  virtual void change_mode(Mode mode) = 0;
  [[nodiscard]] virtual Mode mode() const = 0;
  // Since the start or the last reset, in the modes that have time.
  [[nodiscard]] virtual RunResult result() = 0;
  [[nodiscard]] virtual const std::vector<HartCycles> &harts() const = 0;
  [[nodiscard]] virtual const std::map<unsigned, RegionCounts> &regions() const = 0;
  // Up to now; null where TimingOptions asked for none.
  [[nodiscard]] virtual const Timeline *timeline() = 0;
};

} // namespace tandem::machine
