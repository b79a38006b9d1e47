// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who gives way when two transactions want the same data. Written once over a concept, because the
// software runtime and simulated hardware use the same policies: time is an abstract count, and
// nothing here knows threads, clocks or cache lines.
//
// A policy is a pure function of the two transactions, except that Eruption moves priority to the
// loser and Kindergarten remembers who has deferred; both go through the concept.
//
// Source: MetaTM, Table 2 and section 2.3, which adapts Scherer and Scott's policies; where the
// table leaves a tie, the older transaction wins, then the one with the smaller identity. `stall`
// is the eighth: nobody restarts but to break a cycle of those that wait for one another.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace tandem::contention {

using Time = std::uint64_t; // abstract; only order matters here

enum class Decision : std::uint8_t {
  abort_self,  // the requester restarts
  abort_other, // the holder restarts
  stall        // the requester waits for an interval and asks again, with one more attempt
};

enum class Policy : std::uint8_t {
  polite,
  karma,
  eruption,
  kindergarten,
  timestamp,
  polka,
  size_matters,
  stall
};

// Intervals that Polite waits before it aborts the holder. Source: MetaTM, Table 2 ("10 in our
// case").
inline constexpr std::uint32_t kPoliteAttempts = 10;
// Restarts after which SizeMatters becomes Timestamp. The paper says "an empirical threshold"
// without a number; this is Polite's.
inline constexpr std::uint32_t kSizeMattersRestarts = 10;

// What a policy asks of a transaction. All functions may be called by another thread than the
// transaction's; the answers may be slightly old.
template <class T>
concept Transaction = requires(T &mutable_one, const T &one, const T &other) {
  { one.identity() } -> std::convertible_to<std::uint64_t>; // unique among live ones
  { one.started() } -> std::convertible_to<Time>;           // first attempt; restarts keep it
  { one.restarts() } -> std::convertible_to<std::uint32_t>; // since the first attempt
  // Accesses to distinct locations, over all attempts, plus what Eruption added.
  { one.priority() } -> std::convertible_to<std::uint64_t>;
  { one.size() } -> std::convertible_to<std::uint64_t>; // distinct bytes of this attempt
  { one.writing() } -> std::convertible_to<bool>;       // its side of this conflict is a write
  { one.deferred_to(other) } -> std::convertible_to<bool>;
  { mutable_one.remember_deferring_to(other) };
  { mutable_one.add_priority(std::uint64_t{}) };
};

// One that also says whom it waits for: null, or what dereferences to a transaction.
template <class T>
concept Waiting = Transaction<T> && requires(const T &one) {
  { one.waits_for() ? true : false } -> std::same_as<bool>;
  { *one.waits_for() } -> std::convertible_to<T>;
};

// Members of the longest cycle that `stall` looks for.
inline constexpr std::size_t kLongestCycle = 64;
// Intervals after which the younger gives way though no cycle was found. In every cycle somebody
// waits for an older one, so this ends those that are longer.
inline constexpr std::uint32_t kStallAttempts = 1000;

namespace detail {

template <Transaction T> bool older(const T &a, const T &b) {
  return a.started() != b.started() ? a.started() < b.started() : a.identity() < b.identity();
}

template <Transaction T> Decision oldest_wins(const T &requester, const T &holder) {
  return older(requester, holder) ? Decision::abort_other : Decision::abort_self;
}

template <Transaction T> bool outranks(const T &a, const T &b) {
  const std::uint64_t x = a.priority();
  const std::uint64_t y = b.priority();
  return x != y ? x > y : older(a, b);
}

// The winner's priority is added to the loser, who wins sooner next time.
template <Transaction T> Decision erupt(T &requester, T &holder) {
  const bool wins = outranks(requester, holder);
  T &winner = wins ? requester : holder;
  T &loser = wins ? holder : requester;
  loser.add_priority(winner.priority());
  return wins ? Decision::abort_other : Decision::abort_self;
}

// Each defers to the other once; when neither is willing, the oldest wins.
template <Transaction T> Decision take_turns(T &requester, T &holder) {
  if (!requester.deferred_to(holder)) {
    requester.remember_deferring_to(holder);
    return Decision::abort_self;
  }
  if (!holder.deferred_to(requester)) {
    holder.remember_deferring_to(requester);
    return Decision::abort_other;
  }
  return oldest_wins(requester, holder);
}

// A write beats a read. Of two writes the one with more priority wins at once; the other waits as
// many intervals as the priorities differ, at most Polite's number, and then wins as well.
template <Transaction T>
Decision polka(const T &requester, const T &holder, std::uint32_t attempts) {
  if (requester.writing() != holder.writing())
    return requester.writing() ? Decision::abort_other : Decision::abort_self;
  if (outranks(requester, holder))
    return Decision::abort_other;
  const std::uint64_t mine = requester.priority();
  const std::uint64_t theirs = holder.priority();
  const std::uint64_t behind = theirs > mine ? theirs - mine : 1;
  const std::uint64_t patience = behind < kPoliteAttempts ? behind : kPoliteAttempts;
  return attempts < patience ? Decision::stall : Decision::abort_other;
}

template <Transaction T> Decision largest_wins(const T &requester, const T &holder) {
  if (requester.restarts() >= kSizeMattersRestarts || holder.restarts() >= kSizeMattersRestarts ||
      requester.size() == holder.size())
    return oldest_wins(requester, holder);
  return requester.size() > holder.size() ? Decision::abort_other : Decision::abort_self;
}

// Waits while the holder works. The youngest member of a cycle restarts, which each of them finds
// out for itself when it asks again; who waits for whom may be old news, and then one restarts for
// nothing. Where transactions do not say whom they wait for, the younger restarts at once, so that
// there is no cycle ("wait or die").
template <Transaction T>
Decision wait_or_break(const T &requester, const T &holder, std::uint32_t attempts) {
  const bool younger = older(holder, requester);
  if constexpr (Waiting<T>) {
    bool youngest = younger;
    auto next = holder.waits_for();
    for (std::size_t members = 2; next && members <= kLongestCycle; ++members) {
      if (next->identity() == requester.identity())
        return youngest ? Decision::abort_self : Decision::stall;
      youngest = youngest && older(*next, requester);
      next = next->waits_for();
    }
    if (attempts < kStallAttempts)
      return Decision::stall;
  }
  return younger ? Decision::abort_self : Decision::stall;
}

} // namespace detail

// Who gives way when `requester` needs what `holder` has. `attempts`: how often this conflict has
// already answered stall. Every policy that stalls but `stall` stops doing so after
// kPoliteAttempts.
template <Transaction T>
Decision decide(Policy policy, T &requester, T &holder, std::uint32_t attempts) {
  switch (policy) {
  case Policy::polite:
    return attempts < kPoliteAttempts ? Decision::stall : Decision::abort_other;
  case Policy::karma:
    return detail::outranks(requester, holder) ? Decision::abort_other : Decision::abort_self;
  case Policy::eruption:
    return detail::erupt(requester, holder);
  case Policy::kindergarten:
    return detail::take_turns(requester, holder);
  case Policy::timestamp:
    return detail::oldest_wins(requester, holder);
  case Policy::polka:
    return detail::polka(requester, holder, attempts);
  case Policy::size_matters:
    return detail::largest_wins(requester, holder);
  case Policy::stall:
    return detail::wait_or_break(requester, holder, attempts);
  }
  return Decision::abort_self;
}

} // namespace tandem::contention
