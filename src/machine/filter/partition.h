// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a slice moves memory between its directory and its d-left filter. FLASK (section IV.B) says
// what to look at, the frequency of reconstructions, and leaves the trigger open; this is ours.
//
// A slice counts, over windows of `interval` requests, the broadcasts that found a holder (an entry
// was missing: directory too small) and those that found nobody (the filter was wrong: filter too
// small). Both cost the same messages, so the side that causes clearly more of them gets a way:
//   grow the directory  <=>  found > 2 * in_vain and found * 32 > interval
//   grow the filter     <=>  in_vain > 2 * found and in_vain * 32 > interval
// The factor 2 keeps it from swinging; the share of 1/32 from moving for nothing. After a move one
// window is not looked at: the new way has to fill.
#pragma once

#include <cstdint>

namespace tandem::machine::filter {

enum class Move : std::uint8_t { none, to_directory, to_filter };

class PartitionPolicy {
public:
  // 0: never moves.
  explicit PartitionPolicy(std::uint32_t interval = 0) : interval_(interval) {}

  // A request was taken up; `broadcast`: all cores are asked for it, `holder`: one of them has it.
  Move request(bool broadcast, bool holder) {
    if (interval_ == 0)
      return Move::none;
    found_ += broadcast && holder ? 1 : 0;
    in_vain_ += broadcast && !holder ? 1 : 0;
    if (++requests_ < interval_)
      return Move::none;
    const Move move = settling_ ? Move::none : choice();
    settling_ = move != Move::none;
    requests_ = found_ = in_vain_ = 0;
    return move;
  }

private:
  [[nodiscard]] Move choice() const {
    if (found_ > 2 * in_vain_ && found_ * kShare > interval_)
      return Move::to_directory;
    if (in_vain_ > 2 * found_ && in_vain_ * kShare > interval_)
      return Move::to_filter;
    return Move::none;
  }

  static constexpr std::uint64_t kShare = 32;
  std::uint32_t interval_;
  std::uint32_t requests_ = 0;
  std::uint64_t found_ = 0;
  std::uint64_t in_vain_ = 0;
  bool settling_ = false;
};

} // namespace tandem::machine::filter
