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
#include <optional>

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

// What decides before any policy is asked.
struct Sides {
  bool requester_outside = false; // of all transactions: a plain access, a device, a walk
  bool same_thread = false;       // the holder is a suspended transaction of the requester's thread
  bool requester_doomed = false;  // it must restart already
  bool holder_doomed = false;
};

// The rules before a policy, in their order; none: ask the policy.
//   1 an access outside of transactions wins (strong atomicity)
//   2 of one thread the newest wins, or a handler would restart for ever against what it suspended
//   3 a side that must restart already loses; if both must, the requester does
// Source: MetaTM, sections 2.1 (strong atomicity) and 3.5 (the newest).
constexpr std::optional<Decision> rule_before_policy(const Sides &sides) {
  if (sides.requester_outside || sides.same_thread)
    return Decision::abort_other;
  if (sides.requester_doomed)
    return Decision::abort_self;
  if (sides.holder_doomed)
    return Decision::abort_other;
  return std::nullopt;
}

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

} // namespace detail

// What a wait of `requester` for `holder` would close.
struct Cycle {
  bool closed = false;             // a chain of those that wait for one another
  bool requester_youngest = false; // of its members
  bool unknown = false;            // the chain is longer than was looked at
};

// Follows the chain of waits from the holder. Each transaction names one that it waits for, if it
// has to wait for several; a deadlock has a cycle of such names. Who waits for whom may be old
// news.
template <Waiting T>
Cycle find_cycle(const T &requester, const T &holder, std::size_t longest = kLongestCycle) {
  Cycle cycle{.requester_youngest = detail::older(holder, requester)};
  auto next = holder.waits_for();
  for (std::size_t members = 2; next; ++members) {
    if (members > longest) {
      cycle.unknown = true;
      return cycle;
    }
    if (next->identity() == requester.identity()) {
      cycle.closed = true;
      return cycle;
    }
    cycle.requester_youngest = cycle.requester_youngest && detail::older(*next, requester);
    next = next->waits_for();
  }
  return cycle;
}

namespace detail {

// Waits while the holder works. The youngest member of a cycle restarts, which each of them finds
// out for itself when it asks again; who waits for whom may be old news, and then one restarts for
// nothing. Where transactions do not say whom they wait for, the younger restarts at once, so that
// there is no cycle ("wait or die").
template <Transaction T>
Decision wait_or_break(const T &requester, const T &holder, std::uint32_t attempts) {
  if constexpr (Waiting<T>) {
    const Cycle cycle = find_cycle(requester, holder);
    if (cycle.closed)
      return cycle.requester_youngest ? Decision::abort_self : Decision::stall;
    if (attempts < kStallAttempts)
      return Decision::stall;
  }
  return older(holder, requester) ? Decision::abort_self : Decision::stall;
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

// What a requester was told last. A policy that changes the transactions (Eruption, Kindergarten)
// decides once for a conflict: asked again, as long as neither side has restarted or committed, it
// says the same and changes nothing. A decision to stall is none.
class Standing {
public:
  template <Transaction T>
  Decision decide(Policy policy, T &requester, T &holder, std::uint32_t attempts) {
    if (told_ && holder_ == holder.identity() && holder_restarts_ == holder.restarts() &&
        requester_ == requester.identity() && requester_restarts_ == requester.restarts())
      return decision_;
    const Decision decision = contention::decide(policy, requester, holder, attempts);
    told_ = decision != Decision::stall;
    decision_ = decision;
    requester_ = requester.identity();
    requester_restarts_ = requester.restarts();
    holder_ = holder.identity();
    holder_restarts_ = holder.restarts();
    return decision;
  }
  void forget() { told_ = false; }

private:
  bool told_ = false;
  Decision decision_ = Decision::stall;
  std::uint64_t requester_ = 0;
  std::uint64_t holder_ = 0;
  std::uint32_t requester_restarts_ = 0;
  std::uint32_t holder_restarts_ = 0;
};

} // namespace tandem::contention
