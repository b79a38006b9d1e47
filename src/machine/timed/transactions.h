// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The transactions (MSHRs, TBEs) of one controller, found by block; and the events that wait there.
// Both live in pools that grow to the largest number that was ever in use.
//
// For one thread. Positions are valid until the entry is erased; references until the next insert.
#pragma once

#include "machine/event/wheel.h"
#include "machine/protocol/table.h"
#include "machine/protocol/types.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tandem::machine {

// Names an access of a core while it is under way.
using AccessId = std::uint32_t;
inline constexpr AccessId kNoAccess = ~AccessId{0};

template <class Tbe> class Transactions {
public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Entry {
    std::uint64_t block = 0;
    Cycle since = 0;
    AccessId access = kNoAccess; // that it is for
    std::uint32_t next = kNone;  // in its bucket, or in the free list
    Tbe tbe{};
  };

  Transactions() {
    buckets_.fill(kNone);
    entries_.reserve(kUsual);
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint32_t find(std::uint64_t block) const {
    if (size_ == 0)
      return kNone;
    std::uint32_t at = buckets_[bucket(block)];
    while (at != kNone && entries_[at].block != block)
      at = entries_[at].next;
    return at;
  }
  [[nodiscard]] Entry &operator[](std::uint32_t at) { return entries_[at]; }
  [[nodiscard]] const Entry &operator[](std::uint32_t at) const { return entries_[at]; }

  // `block` must have none.
  std::uint32_t insert(std::uint64_t block, Cycle now) {
    std::uint32_t at = free_;
    if (at != kNone) {
      free_ = entries_[at].next;
    } else {
      at = static_cast<std::uint32_t>(entries_.size());
      entries_.emplace_back();
    }
    std::uint32_t &head = buckets_[bucket(block)];
    entries_[at] = {block, now, kNoAccess, head, Tbe{}};
    head = at;
    ++size_;
    return at;
  }

  void erase(std::uint32_t at) {
    std::uint32_t *link = &buckets_[bucket(entries_[at].block)];
    while (*link != at)
      link = &entries_[*link].next;
    *link = entries_[at].next;
    entries_[at].next = free_;
    free_ = at;
    --size_;
  }

  template <class Visit> void for_each(Visit visit) const {
    for (const std::uint32_t head : buckets_)
      for (std::uint32_t at = head; at != kNone; at = entries_[at].next)
        visit(entries_[at]);
  }

private:
  static constexpr std::size_t kUsual = 64; // more than that at one controller is rare
  static constexpr std::size_t kBuckets = 256;
  static std::size_t bucket(std::uint64_t block) {
    return static_cast<std::size_t>((block * 0x9e3779b97f4a7c15ULL) >> 56);
  }

  std::array<std::uint32_t, kBuckets> buckets_;
  std::vector<Entry> entries_;
  std::uint32_t free_ = kNone;
  std::size_t size_ = 0;
};

// An event that waits, for a step of its block's transaction or for room in an array.
struct Parked {
  std::uint64_t block = 0;
  std::uint64_t victim = kNoVictim; // that gives way for it, where that takes time
  Message message;
  std::uint8_t event = 0;
  Wake wake = Wake::none;
  AccessId access = kNoAccess;
  bool from_core = false; // an access, not a message

  static constexpr std::uint64_t kNoVictim = ~std::uint64_t{0};
};

// Events that wait at one controller, first come, first served.
class ParkedList {
public:
  ParkedList() { nodes_.reserve(64); }

  [[nodiscard]] bool empty() const { return head_ == kNone; }
  [[nodiscard]] std::size_t size() const { return size_; }

  void push(const Parked &parked) {
    std::uint32_t at = free_;
    if (at != kNone) {
      free_ = nodes_[at].next;
      nodes_[at] = {parked, kNone};
    } else {
      at = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({parked, kNone});
    }
    (tail_ == kNone ? head_ : nodes_[tail_].next) = at;
    tail_ = at;
    ++size_;
  }

  // Moves those for which `wanted` holds to the end of `to`, in their order.
  template <class Wanted> void take(std::vector<Parked> &to, Wanted wanted) {
    std::uint32_t before = kNone;
    for (std::uint32_t at = head_; at != kNone;) {
      const std::uint32_t next = nodes_[at].next;
      if (wanted(nodes_[at].parked)) {
        to.push_back(nodes_[at].parked);
        (before == kNone ? head_ : nodes_[before].next) = next;
        if (next == kNone)
          tail_ = before;
        nodes_[at].next = free_;
        free_ = at;
        --size_;
      } else {
        before = at;
      }
      at = next;
    }
  }

  template <class Visit> void for_each(Visit visit) const {
    for (std::uint32_t at = head_; at != kNone; at = nodes_[at].next)
      visit(nodes_[at].parked);
  }

private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Node {
    Parked parked;
    std::uint32_t next;
  };
  std::vector<Node> nodes_;
  std::uint32_t head_ = kNone;
  std::uint32_t tail_ = kNone;
  std::uint32_t free_ = kNone;
  std::size_t size_ = 0;
};

} // namespace tandem::machine
