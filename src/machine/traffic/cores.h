// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cores that do nothing but access memory, and a device without a cache: clients of the timed
// system that take their accesses from a source (synthetic traffic, a trace). In-order: every miss
// is waited for. Window: a core goes on behind a miss until the window of instructions after its
// oldest miss or its outstanding misses are full; it waits for fetches, atomics and the loads that
// are marked dependent.
//
// The measured work is a number of accesses to data over all cores, after a warm-up: the same work
// whatever the protocol; the time it takes is the result.
#pragma once

#include "machine/configuration/configuration.h"
#include "machine/timed/port.h"
#include "machine/traffic/source.h"

#include <array>
#include <functional>
#include <vector>

namespace tandem::machine {

struct Work {                     // accesses to data, over all cores
  std::uint64_t warm_up = 0;      // before anything is counted
  std::uint64_t accesses = 0;     // measured
  std::uint64_t fast_forward = 0; // before the warm-up, without simulating time: fills the caches
};

// Accesses before the first that is measured.
inline std::uint64_t unmeasured(const Work &work) { return work.fast_forward + work.warm_up; }

class TrafficCores {
public:
  TrafficCores(const CoreConfiguration &configuration, Source &source, const Work &work)
      : configuration_(configuration), source_(source), work_(work), cores_(source.cores()) {}

  // Called when the fast-forward ends, if there is one.
  void call_when_timed(std::function<void()> function) { on_timed_ = std::move(function); }

  // Called whenever so many more accesses have been measured.
  void call_every(std::uint64_t accesses, std::function<void()> function) {
    every_ = accesses;
    on_interval_ = std::move(function);
  }

  template <class S> void start(S &system) {
    if (work_.fast_forward != 0)
      system.fast_forward(true);
    else if (work_.warm_up == 0)
      measuring_ = true;
    for (unsigned core = 0; core < cores_.size(); ++core)
      if (prepare(core))
        system.wake_core(core, core % 4);
  }

  template <class S> void step(S &system, unsigned number) {
    Core &core = cores_[number];
    for (;;) {
      if (finished_)
        return;
      Cycle ready = system.now();
      if (!issue(system, core, number, ready))
        return;
      if (!prepare(number))
        return;
      const Cycle at = ready + cycles_of(core, core.next.gap + 1);
      if (full(core)) {
        core.resume_at = at;
        core.blocked = true;
        return;
      }
      if (at > system.now()) {
        // Alone until the machine's next event: go on without a trip through the wheel.
        if (at >= system.next_event()) {
          system.wake_core(number, at);
          return;
        }
        system.skip_to(at);
      }
    }
  }

  template <class S> void complete(S &system, unsigned number, const Completion &done) {
    Core &core = cores_[number];
    core.slots[done.tag % kSlots].pending = false;
    while (core.oldest != core.issued && !core.slots[core.oldest % kSlots].pending)
      ++core.oldest;
    --core.outstanding;
    if (core.waits_for == done.tag) {
      core.waits_for = kNothing;
      if (!prepare(number))
        return;
      const Cycle at = system.now() + cycles_of(core, core.next.gap + 1);
      if (full(core)) {
        core.resume_at = at;
        core.blocked = true;
      } else {
        system.wake_core(number, at);
      }
    } else if (core.blocked && !full(core)) {
      core.blocked = false;
      system.wake_core(number, std::max(system.now(), core.resume_at));
    }
  }

  // Accesses to data that were issued, warm-up included.
  [[nodiscard]] std::uint64_t issued() const { return data_; }
  [[nodiscard]] std::uint64_t instructions() const { return instructions_; } // measured ones
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] bool measuring() const { return measuring_; }

private:
  static constexpr std::uint32_t kSlots = 128; // above the most outstanding misses, a power of two
  static constexpr std::uint32_t kNothing = ~std::uint32_t{0};

  struct Slot {
    std::uint64_t instruction = 0;
    bool pending = false;
  };
  struct Core {
    Operation next;
    std::array<Slot, kSlots> slots{};
    std::uint32_t issued = 0; // tags, from here on unused
    std::uint32_t oldest = 0; // tag of the oldest miss under way
    std::uint32_t outstanding = 0;
    std::uint32_t waits_for = kNothing;
    std::uint64_t instruction = 0;
    std::uint32_t partial = 0; // instructions of a cycle that is not full
    bool blocked = false;
    Cycle resume_at = 0;
  };

  bool prepare(unsigned number) { return source_.next(number, cores_[number].next); }

  // Cycles that so many more instructions take.
  Cycle cycles_of(Core &core, std::uint32_t instructions) {
    if (core.next.kind == RequestKind::fetch)
      return 0; // beside the pipeline
    core.partial += instructions;
    const Cycle cycles = core.partial / configuration_.issue_width;
    core.partial %= configuration_.issue_width;
    return cycles;
  }

  [[nodiscard]] bool full(const Core &core) const {
    if (core.outstanding == 0)
      return false;
    return core.outstanding >= configuration_.outstanding ||
           core.issued - core.oldest >= kSlots - 1 ||
           core.instruction - core.slots[core.oldest % kSlots].instruction >= configuration_.window;
  }

  // The access that is due. Result: whether the core goes on; `ready` is then when.
  template <class S> bool issue(S &system, Core &core, unsigned number, Cycle &ready) {
    const Operation &next = core.next;
    const bool fetch = next.kind == RequestKind::fetch;
    core.instruction += fetch ? 0 : next.gap + 1;
    const std::uint32_t tag = core.issued;
    const Outcome outcome = system.access(number, {next.block, next.kind, tag});
    if (!fetch)
      count(system, next);
    const bool waits = configuration_.model == CoreModel::in_order || next.dependent;
    if (outcome.hit) {
      // A hit in the first cycle is hidden by the pipeline.
      ready += waits ? outcome.done.latency - 1 : 0;
      return true;
    }
    core.slots[tag % kSlots] = {core.instruction, true};
    ++core.issued;
    ++core.outstanding;
    if (!waits)
      return true;
    core.waits_for = tag;
    return false;
  }

  template <class S> void count(S &system, const Operation &next) {
    ++data_;
    if (DeviceOperation operation; source_.device(data_, operation))
      system.device(operation.block, operation.access);
    if (measuring_)
      instructions_ += next.gap + 1;
    if (data_ == work_.fast_forward) {
      system.fast_forward(false);
      if (on_timed_)
        on_timed_();
    }
    if (data_ == unmeasured(work_)) {
      measuring_ = true;
      system.reset_statistics();
    }
    if (every_ != 0 && data_ > unmeasured(work_) && (data_ - unmeasured(work_)) % every_ == 0)
      on_interval_();
    if (data_ == unmeasured(work_) + work_.accesses) {
      finished_ = true;
      system.stop();
    }
  }

  CoreConfiguration configuration_;
  Source &source_;
  Work work_;
  std::vector<Core> cores_;
  std::uint64_t data_ = 0;
  std::uint64_t instructions_ = 0;
  bool measuring_ = false;
  bool finished_ = false;
  std::function<void()> on_timed_;
  std::uint64_t every_ = 0; // accesses; 0: never
  std::function<void()> on_interval_;
};

} // namespace tandem::machine
