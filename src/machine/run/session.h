// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a machine until something ends it, in slices after which the host's side has its turn. What
// is done between slices never changes the machine. For one thread.
#pragma once

#include "machine/platform/machine.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tandem::machine {

class Session {
public:
  enum class Stop : std::uint8_t {
    ended,       // the guest, by itself
    limit,       // the instructions asked for were run
    deadlock,    // nothing can happen any more
    asked,       // stop() was called
    interrupted, // the flag that the host's signals set
  };
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  // `interrupted` is looked at between slices. Both outlive the session.
  Session(Machine &machine, const std::atomic<bool> &interrupted)
      : machine_(&machine), interrupted_(&interrupted) {}

  [[nodiscard]] const std::atomic<bool> &interrupted() const { return *interrupted_; }

  // Called at every multiple of `instructions` (not 0) since the machine's start, exactly there.
  void every(std::uint64_t instructions, std::function<void()> call);
  // Called after every slice, a few milliseconds; also while nothing runs inside, if somebody may
  // type.
  void after_slice(std::function<void()> call) { after_slice_.push_back(std::move(call)); }
  // Asked after every slice, if there is one: true: run() comes back with Stop::asked.
  void pause_if(std::function<bool()> wanted) { pause_if_ = std::move(wanted); }
  // From a callback: run() comes back with Stop::asked.
  void stop();

  // Until the machine has run `limit` instructions since its start.
  Stop run(std::uint64_t limit);
  // The host's turn, for who runs the machine otherwise. None: the machine may go on.
  std::optional<Stop> between();

private:
  struct Interval {
    std::uint64_t instructions;
    std::function<void()> call;
  };
  [[nodiscard]] std::uint64_t next_boundary(std::uint64_t done) const;

  Machine *machine_;
  const std::atomic<bool> *interrupted_;
  std::vector<Interval> intervals_;
  std::vector<std::function<void()>> after_slice_;
  std::function<bool()> pause_if_;
  bool stop_ = false;
};

} // namespace tandem::machine
