// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The event wheel: what happens at which cycle. One slot per cycle for the near future, a heap for
// the rest; events of one cycle come out in the order in which they were scheduled, so that a run
// depends on nothing but its inputs. Events live in a pool, which grows to the largest number that
// was ever pending and not further: a steady state allocates nothing.
//
// For one thread. Invariants: now() <= the cycle of every pending event; an event is in a slot if
// and only if its cycle is below now() + kSlots; pending() + free nodes == nodes of the pool.
#pragma once

#include "base/check.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace tandem::machine {

// Time in cycles of the machine's one clock, from 0 at the start of a run.
using Cycle = std::uint64_t;
inline constexpr Cycle kNever = ~Cycle{0};

template <typename Event> class EventWheel {
public:
  // Cycles that the slots cover. Latencies of a memory system are below; anything is allowed.
  static constexpr Cycle kSlots = 4096;

  explicit EventWheel(std::size_t capacity = 1024) {
    nodes_.reserve(capacity);
    slots_.fill({kNone, kNone});
  }

  [[nodiscard]] Cycle now() const { return now_; }
  [[nodiscard]] std::size_t pending() const { return pending_; }
  [[nodiscard]] bool empty() const { return pending_ == 0; }
  // The most events that were ever pending at once.
  [[nodiscard]] std::size_t pool_size() const { return nodes_.size(); }

  // `event` happens at `at`, which must not be in the past.
  void schedule(Cycle at, const Event &event) {
    CHECK(at >= now_, "scheduled at {}, but it is {}", at, now_);
    const std::uint32_t index = take();
    nodes_[index].event = event;
    nodes_[index].next = kNone;
    ++pending_;
    if (at - now_ < kSlots)
      append(at, index);
    else
      push_far(at, index);
  }

  // The cycle of the next event; kNever if there is none. Cost: a few bit operations.
  [[nodiscard]] Cycle next_time() const {
    if (near_ != 0)
      return next_near();
    return far_.empty() ? kNever : far_.front().at;
  }

  // Takes the next event and moves time to it. There must be one.
  Event pop() {
    const Cycle at = next_time();
    CHECK(at != kNever);
    if (at != now_)
      advance(at);
    Slot &slot = slots_[at % kSlots];
    const std::uint32_t index = slot.head;
    slot.head = nodes_[index].next;
    if (slot.head == kNone) {
      slot.tail = kNone;
      clear_bit(at % kSlots);
    }
    --near_;
    --pending_;
    const Event event = nodes_[index].event;
    nodes_[index].next = free_;
    free_ = index;
    return event;
  }

  // Moves time to `at` without an event: not past the next one.
  void skip_to(Cycle at) {
    CHECK(at >= now_ && at <= next_time());
    advance(at);
  }

private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::size_t kWords = kSlots / 64;
  static_assert(kWords == 64, "one summary word covers the bitmap");

  struct Node {
    Event event;
    std::uint32_t next; // in its slot, or in the free list
  };
  struct Slot {
    std::uint32_t head;
    std::uint32_t tail;
  };
  struct Far {
    Cycle at;
    std::uint64_t order; // of scheduling, among equals
    std::uint32_t index;
    // For a heap whose front is the earliest.
    bool operator<(const Far &other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  std::uint32_t take() {
    if (free_ != kNone) {
      const std::uint32_t index = free_;
      free_ = nodes_[index].next;
      return index;
    }
    nodes_.emplace_back();
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  void append(Cycle at, std::uint32_t index) {
    const std::size_t position = at % kSlots;
    Slot &slot = slots_[position];
    if (slot.tail == kNone) {
      slot.head = index;
      words_[position / 64] |= std::uint64_t{1} << (position % 64);
      summary_ |= std::uint64_t{1} << (position / 64);
    } else {
      nodes_[slot.tail].next = index;
    }
    slot.tail = index;
    ++near_;
  }

  void push_far(Cycle at, std::uint32_t index) {
    far_.push_back({at, far_order_++, index});
    std::push_heap(far_.begin(), far_.end());
  }

  // Events that come within reach move into their slots at once: before anything can be scheduled
  // for their cycle directly, which keeps the order of scheduling.
  void advance(Cycle at) {
    now_ = at;
    while (!far_.empty() && far_.front().at - now_ < kSlots) {
      const Far next = far_.front();
      std::pop_heap(far_.begin(), far_.end());
      far_.pop_back();
      append(next.at, next.index);
    }
  }

  void clear_bit(std::size_t position) {
    words_[position / 64] &= ~(std::uint64_t{1} << (position % 64));
    if (words_[position / 64] == 0)
      summary_ &= ~(std::uint64_t{1} << (position / 64));
  }

  [[nodiscard]] Cycle next_near() const {
    const std::size_t start = now_ % kSlots;
    const std::size_t word = start / 64;
    if (const std::uint64_t here = words_[word] >> (start % 64); here != 0)
      return now_ + static_cast<Cycle>(std::countr_zero(here));
    // The words after this one, and round to the low bits of this one.
    const std::uint64_t turned =
        std::rotr(summary_ & ~(std::uint64_t{1} << word), static_cast<int>(word));
    const std::size_t found =
        turned != 0 ? (word + static_cast<std::size_t>(std::countr_zero(turned))) % kWords : word;
    const std::size_t position =
        found * 64 + static_cast<std::size_t>(std::countr_zero(words_[found]));
    return now_ + (position + kSlots - start) % kSlots;
  }

  std::vector<Node> nodes_;
  std::array<Slot, kSlots> slots_{};
  std::array<std::uint64_t, kWords> words_{};
  std::uint64_t summary_ = 0; // bit w: words_[w] != 0
  std::vector<Far> far_;
  std::uint64_t far_order_ = 0;
  std::uint32_t free_ = kNone;
  std::size_t near_ = 0;
  std::size_t pending_ = 0;
  Cycle now_ = 0;
};

} // namespace tandem::machine
