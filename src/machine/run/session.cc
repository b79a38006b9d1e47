// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/run/session.h"

#include <algorithm>
#include <utility>

namespace tandem::machine {
namespace {

// Some milliseconds: a person does not notice, and the turn of the host's side costs nothing.
constexpr std::uint64_t kSlice = 500'000;

} // namespace

void Session::every(std::uint64_t instructions, std::function<void()> call) {
  CHECK(instructions > 0);
  intervals_.push_back({.instructions = instructions, .call = std::move(call)});
}

void Session::stop() {
  stop_ = true;
  machine_->cores().request_stop();
}

std::uint64_t Session::next_boundary(std::uint64_t done) const {
  std::uint64_t next = kNoLimit;
  for (const Interval &interval : intervals_)
    next = std::min(next, (done / interval.instructions + 1) * interval.instructions);
  return next;
}

std::optional<Session::Stop> Session::between() {
  for (const auto &call : after_slice_)
    call();
  if (machine_->ended())
    return Stop::ended;
  if (stop_)
    return Stop::asked;
  if (interrupted_->load(std::memory_order_relaxed))
    return Stop::interrupted;
  if (pause_if_ && pause_if_())
    return Stop::asked;
  return std::nullopt;
}

Session::Stop Session::run(std::uint64_t limit) {
  stop_ = false;
  while (true) {
    const std::uint64_t done = machine_->cores().schedule().instructions;
    if (done >= limit)
      return Stop::limit;
    const std::uint64_t slice = std::min({kSlice, limit - done, next_boundary(done) - done});
    const FunctionalCores::End end = machine_->cores().run(slice);
    const std::uint64_t now = machine_->cores().schedule().instructions;
    for (const Interval &interval : intervals_)
      if (now != done && now % interval.instructions == 0)
        interval.call();
    if (const std::optional<Stop> stop = between())
      return *stop;
    if (end == FunctionalCores::End::deadlock)
      return Stop::deadlock;
  }
}

} // namespace tandem::machine
