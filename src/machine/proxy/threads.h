// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of the process and the harts that they run on. A hart without a thread is stopped.
// Where there are more threads than harts they take turns. Everything happens in an order that
// depends on the program alone. For one (host) thread.
//
// Invariants: a thread is `running` if and only if exactly one hart has it; the ready queue holds
// exactly the `ready` threads.
#pragma once

#include "machine/event/wheel.h"
#include "machine/hart/harts.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tandem::machine::proxy {

// What an ecall of a thread waits for.
enum class WaitKind : std::uint8_t {
  none,
  futex,  // until woken; the answer is set by whoever wakes it
  sleep,  // until the deadline
  change, // until files or children have changed: then the call is made again
  signal, // until a signal is to be handled
};

struct SignalStack {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  bool disabled = true;
};

struct Thread {
  enum class State : std::uint8_t { ready, running, blocked };

  int id = 0;
  State state = State::ready;
  unsigned hart = 0; // where it runs, or last ran
  // The registers, while it does not run.
  std::array<std::uint64_t, 33> x{};
  std::array<std::uint64_t, 32> f{};
  std::uint64_t pc = 0;
  std::uint8_t fflags = 0;
  std::uint8_t frm = 0;

  std::uint64_t affinity = ~std::uint64_t{0}; // a bit a hart
  std::uint64_t clear_at_exit = 0;            // set_tid_address
  std::uint64_t robust_list = 0;

  // What it waits for. The pc stays at the ecall: what ends the wait answers it, or lets the call
  // be made again.
  WaitKind wait = WaitKind::none;
  bool restartable = false; // a signal whose handler has SA_RESTART lets the call be made again
  std::uint64_t futex = 0;  // its address, while it waits for one
  std::uint32_t futex_bits = 0;
  Cycle deadline = kNever;
  // Of an ecall that is made again after a wait: its deadline from the first time on.
  std::optional<Cycle> call_deadline{};

  std::uint64_t signal_mask = 0; // bit n - 1 of signal n
  std::uint64_t pending = 0;
  std::optional<std::uint64_t> mask_to_restore{}; // sigsuspend, ppoll
  SignalStack signal_stack{};

  Cycle ran = 0;   // had a hart for so long, up to when it last got one
  Cycle since = 0; // when that was

  // Of the ecall that it is at, while it does not run.
  void answer(std::int64_t value) {
    x[10] = static_cast<std::uint64_t>(value);
    pc += 4;
    call_deadline.reset();
  }
};

class Threads {
public:
  static constexpr Cycle kTurn = 1'000'000; // of a hart, while others wait: 1 ms
  static constexpr std::size_t kLimit = 4096;

  // `satp` of the process.
  Threads(Harts &harts, std::uint64_t satp);

  // A thread that is ready, with all else as it is in the value; null if there are too many.
  Thread *add(Thread thread);
  // The thread of a number, null if there is none.
  [[nodiscard]] Thread *find(int id);
  // The thread that a hart runs, null if none.
  [[nodiscard]] Thread *on(unsigned hart) { return current_[hart]; }
  [[nodiscard]] std::size_t size() const { return threads_.size(); }
  [[nodiscard]] auto begin() { return threads_.begin(); }
  [[nodiscard]] auto end() { return threads_.end(); }

  // Takes a running thread from its hart, which gets another one. Until `deadline`, or until woken.
  void block(Thread &thread, WaitKind wait, Cycle deadline, bool restartable);
  // A blocked thread becomes ready, and runs if a hart is free.
  void wake(Thread &thread);
  // All that wait for changes.
  void wake_changes();
  // Its hart gets another thread, if one is ready.
  void yield(Thread &thread);
  // Ends a running thread.
  void remove(Thread &thread);
  // Registers of a thread, wherever they are: in it, or in its hart.
  void store_registers(Thread &thread);
  void load_registers(Thread &thread);
  // Moves it to a hart that its affinity allows.
  void apply_affinity(Thread &thread);

  // The earliest cycle at which something is due: a deadline, or the end of a turn.
  [[nodiscard]] Cycle next() const;
  // Wakes those whose deadline has come (`expired` is called for each before), ends turns.
  void run(Cycle now, const std::function<void(Thread &)> &expired);

  // For how long a thread has had a hart; and all, those that have ended too.
  [[nodiscard]] Cycle ran(const Thread &thread) const;
  [[nodiscard]] Cycle all_ran() const;
  [[nodiscard]] std::uint64_t switches() const { return switches_; }

private:
  void put_on(Thread &thread, unsigned hart);
  void take_off(Thread &thread);
  void fill(unsigned hart);
  void place(Thread &thread);
  [[nodiscard]] bool allowed(const Thread &thread, unsigned hart) const {
    return (thread.affinity >> hart & 1) != 0;
  }

  Harts *harts_;
  std::uint64_t satp_;
  std::map<int, std::unique_ptr<Thread>> threads_;
  std::vector<Thread *> current_; // by hart
  std::deque<Thread *> ready_;
  int next_id_ = 1000;
  std::set<std::pair<Cycle, int>> deadlines_; // of blocked threads that have one
  Cycle turn_ends_ = kNever;                  // of all harts, while somebody waits for one
  std::uint64_t switches_ = 0;
  Cycle ended_ran_ = 0; // threads that are no more
};

} // namespace tandem::machine::proxy
