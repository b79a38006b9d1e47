// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/timing/timeline.h"

#include <algorithm>

namespace tandem::machine {

LineStory::Sharing LineStory::sharing() const {
  if (harts.size() < 2)
    return Sharing::none;
  bool written = false;
  for (const auto &[one, writer] : harts) {
    written = written || writer.bytes_written != 0;
    for (const auto &[other, party] : harts)
      if (one != other && (writer.bytes_written & (party.bytes_read | party.bytes_written)) != 0)
        return Sharing::truly;
  }
  return written ? Sharing::falsely : Sharing::reading;
}

void Timeline::begin(Cycle at) {
  if (!begun_)
    start_ = at;
  begun_ = true;
  for (OfHart &hart : harts_)
    hart.told = std::max(hart.told, at);
}

void Timeline::spend(unsigned hart, Spent what, Cycle from, Cycle to) {
  OfHart &one = harts_[hart];
  from = std::max(from, one.told);
  if (to <= from)
    return;
  if (from > one.told)
    add(one, Spent::idle, one.told, from);
  add(one, what, from, to);
  one.told = to;
}

void Timeline::finish(Cycle at) {
  for (OfHart &hart : harts_)
    if (at > hart.told) {
      add(hart, Spent::idle, hart.told, at);
      hart.told = at;
    }
}

void Timeline::add(OfHart &hart, Spent what, Cycle from, Cycle to) {
  while (to - start_ > width_ * kIntervals)
    widen();
  while (from < to) {
    const std::size_t index = (from - start_) / width_;
    const Cycle end = std::min(to, start_ + (index + 1) * width_);
    if (hart.intervals.size() <= index)
      hart.intervals.resize(index + 1, Cycles{});
    hart.intervals[index][static_cast<std::size_t>(what)] += end - from;
    from = end;
  }
}

// Two intervals become one.
void Timeline::widen() {
  width_ *= 2;
  for (OfHart &hart : harts_) {
    std::vector<Cycles> wider((hart.intervals.size() + 1) / 2, Cycles{});
    for (std::size_t i = 0; i < hart.intervals.size(); ++i)
      for (std::size_t kind = 0; kind < kSpentKinds; ++kind)
        wider[i / 2][kind] += hart.intervals[i][kind];
    hart.intervals = std::move(wider);
  }
}

void Timeline::missed(unsigned hart, const MissedAccess &access) {
  LineStory &line = lines_[access.line];
  ++line.misses;
  line.cycles += access.waited;
  line.virtual_ = access.virtual_;
  ++line.places[access.pc];
  LineStory::Party &party = line.harts[hart];
  ++(access.writes ? party.writes : party.reads);
  (access.writes ? party.bytes_written : party.bytes_read) |= access.bytes;
}

} // namespace tandem::machine
