// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/algorithms/conflict.h"

#include "contention/policy.h"
#include "runtime/algorithms/orec.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/profile/profile.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/futex.h"
#include "runtime/transaction/transaction.h"

#include <functional>
#include <optional>

namespace tandem::conflict {
namespace {

using transaction::Reason;

// A thread as the contention policies see it.
class View {
public:
  View(Thread &thread, bool writing) : thread_(thread), writing_(writing) {}

  [[nodiscard]] std::uint64_t identity() const { return thread_.get().identity; }
  [[nodiscard]] std::optional<View> waits_for() const {
    // Acquire, of meet's release: that thread may be new.
    Thread *holder = thread_.get().contender.waits_for.load(std::memory_order_acquire);
    return holder == nullptr ? std::nullopt : std::optional<View>(View(*holder, true));
  }
  [[nodiscard]] contention::Time started() const {
    return thread_.get().contender.started.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t restarts() const {
    return thread_.get().contender.restarts.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t priority() const {
    return thread_.get().contender.priority.load(std::memory_order_relaxed) + size();
  }
  [[nodiscard]] std::uint64_t size() const {
    return thread_.get().contender.size.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool writing() const { return writing_; }
  [[nodiscard]] bool deferred_to(const View &other) const {
    return (thread_.get().contender.deferred.load(std::memory_order_relaxed) & other.bit()) != 0;
  }
  void remember_deferring_to(const View &other) {
    thread_.get().contender.deferred.fetch_or(other.bit(), std::memory_order_relaxed);
  }
  void add_priority(std::uint64_t more) {
    thread_.get().contender.priority.fetch_add(more, std::memory_order_relaxed);
  }

private:
  [[nodiscard]] std::uint64_t bit() const { return std::uint64_t{1} << (identity() % 64); }

  std::reference_wrapper<Thread> thread_;
  bool writing_;
};
static_assert(contention::Waiting<View>);

void publish_size(Thread &thread) noexcept {
  thread.contender.size.store(thread.reads.size() + thread.owned.size(), std::memory_order_relaxed);
}

// One interval of a stalled transaction: long enough for a holder to do something. One that gives
// the processor away is an interval by itself: on a busy machine it is much longer.
constexpr std::uint32_t kRoundsPerInterval = 32;

void check_for_orders(Thread &thread) noexcept {
  if (serial::taken())
    transaction::restart(thread, Reason::serial);
  if ((thread.signals.load(std::memory_order_relaxed) & kSignalAbort) != 0)
    transaction::restart(thread, Reason::killed);
}

} // namespace

void meet(Thread &thread, Thread &holder, const Orec &orec, std::uint64_t word, bool writing,
          std::uint32_t &attempts) noexcept {
  publish_size(thread);
  const profile::Waiting waiting(thread);
  View requester_view(thread, writing);
  View holder_view(holder, (word & orec::kHeld) != 0); // else it reads
  bool asked = false;
  thread.contender.waits_for.store(&holder, std::memory_order_release); // roll_back ends that too
  sync::Patience patience;
  for (;; ++attempts) {
    if (asked) {
      // Again: the holder may have restarted and acquired the same orec once more.
      holder.signals.fetch_or(kSignalAbort, std::memory_order_relaxed);
    } else {
      switch (contention::decide(thread.policy, requester_view, holder_view, attempts)) {
      case contention::Decision::abort_self:
        if (is_profiled(thread)) [[unlikely]]
          profile::blame_holder(thread, holder);
        transaction::restart(thread, Reason::conflict);
      case contention::Decision::abort_other:
        // Where the holder has just committed this restarts its next transaction, which does no
        // harm.
        if (has_counters(thread)) [[unlikely]]
          profile::name_killer(thread, holder);
        holder.signals.fetch_or(kSignalAbort, std::memory_order_relaxed);
        asked = true;
        break;
      case contention::Decision::stall:
        break;
      }
    }
    for (std::uint32_t round = 0;
         round < kRoundsPerInterval && !(round != 0 && patience.has_given_way()); ++round) {
      if (orec.load(std::memory_order_acquire) != word) {
        thread.contender.waits_for.store(nullptr, std::memory_order_relaxed);
        return;
      }
      check_for_orders(thread);
      patience.round();
    }
  }
}

bool may_look_again(Thread &thread, std::size_t reads) noexcept {
  // About a millisecond's; and then each read so often, which alone takes as long as one of them.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 20;
  constexpr std::uint64_t kMostOfEach = 16;
  const std::uint64_t attempt = thread.transactions.load();
  if (thread.revalidated_in != attempt) {
    thread.revalidated_in = attempt;
    thread.revalidated = 0;
  }
  thread.revalidated += reads;
  if (thread.revalidated < kMost || thread.revalidated / kMostOfEach < reads ||
      thread.serialise_after == kNever)
    return true;
  thread.restarts = thread.serialise_after - 1; // the next one ends the row
  return false;
}

} // namespace tandem::conflict
