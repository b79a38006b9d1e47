// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random transactions of several threads on the engine, recorded and checked:
//
//     runtime_opacity [SEED [ROUNDS]]
//
// Each round is a new history. Transactions read and change some places, in random order; some
// nest, cancel, ask to be irrevocable, or make a region of places private, which their thread then
// changes plainly and publishes again. Attempts are undone without need (abort injection), and
// threads give the processor away in the middle of everything (forced preemption). Prints what is
// wrong, with the seed that shows it, and ends with status 1.
//
// The log of an attempt is plain memory of its thread, so undoing a transaction leaves it as it is;
// but the processor undoes that as well, so that of its attempts only those are known that commit.
#include "contention/backoff.h"
#include "history.h"
#include "runtime/abi/itm.h"
#include "runtime/transaction/transaction.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

extern "C" {
std::uint32_t _ITM_beginTransaction(std::uint32_t properties, ...) __attribute__((returns_twice));
void _ITM_commitTransaction();
[[noreturn]] void _ITM_abortTransaction(std::uint32_t reason);
void _ITM_changeTransactionMode(std::uint32_t state);
std::uint32_t _ITM_inTransaction();
std::uint64_t _ITM_RU8(const std::uint64_t *address);
std::uint64_t _ITM_RfWU8(const std::uint64_t *address);
void _ITM_WU8(std::uint64_t *address, std::uint64_t value);
}

namespace tandem::opacity {
namespace {

// Of one clock for all threads, as fine as an access: the time stamp counter; on the harts of the
// simulated machine cycles, which are apart by kClockError at most.
std::uint64_t ticks() {
#if defined(__riscv)
  std::uint64_t now = 0;
  __asm__ volatile("rdcycle %0" : "=r"(now));
  return now;
#else
  return __builtin_ia32_rdtsc();
#endif
}

constexpr std::uint32_t kThreads = 4;
constexpr std::uint32_t kRegions = 3;
constexpr std::uint32_t kRegionPlaces = 5; // the first one says whether the region is private
constexpr std::uint32_t kPlaces = kRegions * kRegionPlaces;
constexpr std::uint32_t kTransactions = 120; // of a thread, in a history
constexpr std::uint32_t kMostAttempts = 4;   // injected aborts of a transaction, at most
// A value's low bits say, in a region's first place, whether the region is private and whose.
constexpr Value kPrivate = 1;
constexpr Value private_to(std::uint32_t thread) { return kPrivate | thread << 1; }
constexpr Value kOwnerMask = 7;
static_assert(kThreads <= 4);

// Regions in lines of their own; the places of one share ownership records.
struct alignas(128) Region {
  std::array<std::uint64_t, kRegionPlaces> places;
};
std::array<Region, kRegions> memory;

std::uint64_t *address_of(std::uint32_t place) {
  return &memory[place / kRegionPlaces].places[place % kRegionPlaces];
}

// One thread: its random numbers, its log, and the transactions it makes.
class Actor {
public:
  Actor(std::uint64_t seed, std::uint32_t number)
      : random_(seed * 1'000'003 + number), number_(number),
        next_value_(kFirstWritten + (Value{number} << 40)) {}

  void run() {
    for (std::uint32_t i = 0; i < kTransactions; ++i) {
      decide();
      if (chance(12))
        make_private(pick(kRegions));
      else
        transact();
      if (const std::uint32_t gift = find_gift(); gift != kPlaces)
        use_privately(gift);
    }
  }
  [[nodiscard]] const ThreadHistory &history() const { return history_; }

private:
  struct Step {
    enum class What : std::uint8_t { read, change, nest, leave, yield, inject, irrevocable };
    What what;
    std::uint32_t place;
    bool cancels; // nest
  };

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  bool chance(unsigned percent) { return pick(100) < percent; }
  Value fresh(Value low_bits = 0) {
    next_value_ += kOwnerMask + 1;
    return next_value_ | low_bits;
  }

  void begin_attempt() {
    history_.push_back({ticks(), 0, Outcome::undone, {}});
    attempts_++;
  }
  void end_attempt(Outcome outcome) {
    history_.back().end = ticks();
    history_.back().outcome = outcome;
  }
  // An attempt that was undone ended before the next one began.
  void end_undone_attempt() {
    if (attempts_ != 0)
      history_.back().end = ticks();
  }

  Value read(std::uint32_t place) {
    const Value value = chance(20) ? _ITM_RfWU8(address_of(place)) : _ITM_RU8(address_of(place));
    history_.back().accesses.push_back({place, false, false, value});
    return value;
  }
  void change(std::uint32_t place, Value low_bits = 0) {
    read(place);
    const Value value = fresh(low_bits);
    history_.back().accesses.push_back({place, true, false, value});
    _ITM_WU8(address_of(place), value);
  }
  void drop_writes_since(std::size_t size) {
    for (std::size_t i = size; i < history_.back().accesses.size(); ++i)
      history_.back().accesses[i].dropped = history_.back().accesses[i].write;
  }

  // What the next transaction will do; the same in each of its attempts.
  void decide() {
    steps_.clear();
    const std::uint64_t count = 1 + pick(12);
    const unsigned writes = static_cast<unsigned>(pick(3)) * 35;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto place = static_cast<std::uint32_t>(pick(kPlaces));
      steps_.push_back({chance(writes) ? Step::What::change : Step::What::read, place, false});
      if (chance(6))
        steps_.push_back({Step::What::yield, 0, false});
      if (chance(6))
        steps_.push_back({Step::What::inject, 0, false});
    }
    if (chance(15)) {
      const std::size_t at = pick(steps_.size());
      steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(at),
                    {Step::What::nest, 0, chance(50)});
      steps_.push_back({Step::What::leave, 0, false});
    } else if (chance(3)) {
      steps_.push_back({Step::What::irrevocable, 0, false});
    }
    cancels_ = steps_.back().what != Step::What::irrevocable && chance(10);
  }

  void take(std::size_t &at) {
    const Step step = steps_[at++];
    switch (step.what) {
    case Step::What::read:
      if (is_shared(step.place))
        read(step.place);
      return;
    case Step::What::change:
      // A region's first place is changed by who makes it private, and nobody else.
      if (step.place % kRegionPlaces != 0 && is_shared(step.place))
        change(step.place);
      return;
    case Step::What::nest:
      return nest(at, step.cancels);
    case Step::What::leave:
      return;
    case Step::What::yield:
      return give_way();
    case Step::What::inject:
      return inject();
    case Step::What::irrevocable:
      return _ITM_changeTransactionMode(0);
    }
  }

  // Asked in every transaction that touches the region.
  bool is_shared(std::uint32_t place) {
    return (read(place / kRegionPlaces * kRegionPlaces) & kPrivate) == 0;
  }

  [[gnu::noinline]] void nest(std::size_t &at, bool cancels) {
    const std::size_t size = history_.back().accesses.size();
    if ((_ITM_beginTransaction(itm::kInstrumentedCode) & itm::kAbort) != 0) {
      drop_writes_since(size);
      at = steps_.size();
      return;
    }
    while (at < steps_.size() && steps_[at].what != Step::What::leave)
      take(at);
    if (cancels)
      _ITM_abortTransaction(itm::kUserAbort);
    _ITM_commitTransaction();
  }

  // Sleeps: who yields on a busy machine waits for all others each time.
  static void give_way() { ::usleep(1); }
  void inject() {
    const Mode mode = current_thread->mode;
    if (mode == Mode::hardware)
      transaction::restart(*current_thread, transaction::Reason::conflict); // by software
    if (attempts_ < kMostAttempts && (mode == Mode::eager || mode == Mode::lazy ||
                                      mode == Mode::norec || mode == Mode::two_phase))
      transaction::restart(*current_thread, chance(50) ? transaction::Reason::validation
                                                       : transaction::Reason::conflict);
  }

  [[gnu::noinline]] void transact() {
    attempts_ = 0;
    if ((_ITM_beginTransaction(itm::kInstrumentedCode) & itm::kAbort) != 0) {
      if (attempts_ != 0)
        end_attempt(Outcome::undone);
      return;
    }
    end_undone_attempt();
    begin_attempt();
    for (std::size_t at = 0; at < steps_.size();)
      take(at);
    if (cancels_)
      _ITM_abortTransaction(itm::kUserAbort);
    _ITM_commitTransaction();
    end_attempt(Outcome::committed);
  }

  // Takes a region for `owner`; or gives this thread's back, for 0. False where that is not so.
  [[gnu::noinline]] bool hand_over(std::uint32_t first, Value owner) {
    attempts_ = 0;
    bool changed = false;
    _ITM_beginTransaction(itm::kInstrumentedCode | itm::kHasNoAbort);
    end_undone_attempt();
    begin_attempt();
    changed = (read(first) & kOwnerMask) == (owner == 0 ? private_to(number_) : 0);
    if (changed)
      change(first, owner);
    _ITM_commitTransaction();
    end_attempt(Outcome::committed);
    return changed;
  }

  // Half of them for another thread, which finds out by reading only.
  void make_private(std::uint64_t region) {
    const auto first = static_cast<std::uint32_t>(region) * kRegionPlaces;
    const auto owner = chance(50) ? number_ : static_cast<std::uint32_t>(pick(kThreads));
    if (hand_over(first, private_to(owner)) && owner == number_)
      use_privately(first);
  }

  [[gnu::noinline]] std::uint32_t find_gift() {
    attempts_ = 0;
    std::uint32_t found = kPlaces;
    _ITM_beginTransaction(itm::kInstrumentedCode | itm::kHasNoAbort);
    end_undone_attempt();
    begin_attempt();
    found = kPlaces;
    for (std::uint32_t first = 0; first < kPlaces; first += kRegionPlaces)
      if ((read(first) & kOwnerMask) == private_to(number_))
        found = first;
    _ITM_commitTransaction();
    end_attempt(Outcome::committed);
    return found;
  }

  void use_privately(std::uint32_t first) {
    begin_attempt();
    for (std::uint32_t round = 0; round < 3; ++round) {
      for (std::uint32_t place = first + 1; place < first + kRegionPlaces; ++place) {
        volatile std::uint64_t &plain = *address_of(place);
        history_.back().accesses.push_back({place, false, false, plain});
        const Value value = fresh();
        history_.back().accesses.push_back({place, true, false, value});
        plain = value;
      }
      give_way();
    }
    end_attempt(Outcome::committed);
    hand_over(first, 0);
  }

  contention::Xorshift random_;
  std::uint32_t number_;
  Value next_value_;
  ThreadHistory history_;
  std::vector<Step> steps_;
  bool cancels_ = false;
  std::uint32_t attempts_ = 0;
};

struct Totals {
  std::size_t attempts = 0;
  std::size_t undone = 0;
};

// What sched_setattr takes, as far as it is filled in here (man 2 sched_setattr).
struct SchedulingAttributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t slice_ns;
  std::uint64_t deadline_ns;
  std::uint64_t period_ns;
};

// Asks for short time slices, so that threads that wake up run soon beside any number of busy
// programs: a history has a thousand switches between threads. Kernels before 6.12 do that by
// themselves, and take no notice.
void ask_for_short_slices() {
  SchedulingAttributes attributes{};
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0)
    return;
  attributes.size = sizeof attributes;
  attributes.slice_ns = 100'000; // the shortest that there is
  static_cast<void>(::syscall(SYS_sched_setattr, 0, &attributes, 0));
}

std::optional<std::string> run_history(std::uint64_t seed, Totals &totals) {
  for (std::uint32_t place = 0; place < kPlaces; ++place)
    *address_of(place) = initial_value(place);
  std::vector<Actor> actors;
  for (std::uint32_t number = 0; number < kThreads; ++number)
    actors.emplace_back(seed, number);
  std::latch ready(kThreads);
  std::vector<std::thread> threads;
  for (Actor &actor : actors)
    threads.emplace_back([&] {
      ready.arrive_and_wait();
      actor.run();
    });
  for (std::thread &thread : threads)
    thread.join();
  std::vector<ThreadHistory> histories;
  for (const Actor &actor : actors) {
    histories.push_back(actor.history());
    totals.attempts += actor.history().size();
    for (const Attempt &attempt : actor.history())
      totals.undone += attempt.outcome == Outcome::undone ? 1 : 0;
  }
  std::vector<Value> finally;
  for (std::uint32_t place = 0; place < kPlaces; ++place)
    finally.push_back(*address_of(place));
  return find_violation(histories, finally);
}

} // namespace
} // namespace tandem::opacity

int main(int argc, char **argv) {
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1;
  const std::uint64_t rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 100;
  tandem::opacity::Totals totals;
  tandem::opacity::ask_for_short_slices();
  for (std::uint64_t round = seed; round < seed + rounds; ++round)
    if (const auto violation = tandem::opacity::run_history(round, totals)) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(round), violation->c_str());
      return 1;
    }
  std::printf("%llu histories, %zu attempts, %zu of them undone: opaque\n",
              static_cast<unsigned long long>(rounds), totals.attempts, totals.undone);
  return 0;
}
