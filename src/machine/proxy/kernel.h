// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel for one static Linux program, as the machine's own code: exceptions of U-mode come here
// instead of to a guest's S-mode. System calls are answered in no time; page faults bring pages in;
// faults that are the program's own become signals. What it does not do is said once, by name, and
// answered ENOSYS. For one thread.
//
// Files: threads and harts are threads.h, who waits for whom futexes.h, signals signals.h, memory
// address_space.h, names of files tree.h, open ones files.h; system calls are functions of
// calls_*.cc, which syscalls.def lists.
#pragma once

#include "base/result.h"
#include "machine/cores/functional.h"
#include "machine/firmware/harts_dma.h"
#include "machine/proxy/address_space.h"
#include "machine/proxy/files.h"
#include "machine/proxy/futexes.h"
#include "machine/proxy/signals.h"
#include "machine/proxy/threads.h"
#include "machine/proxy/tree.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace tandem::machine::proxy {

struct KernelOptions {
  std::string program{};                  // its path, as a file of the host
  std::vector<std::string> arguments{};   // the first is the program's name
  std::vector<std::string> environment{}; // NAME=VALUE
  std::vector<std::string> writable{};    // folders of the host that the program may change
  std::string folder{};                   // where it runs: an absolute path of the host
  std::uint64_t seed = 1;                 // of AT_RANDOM, getrandom, /dev/urandom
};

// How the process ended.
struct ProcessEnd {
  enum class Kind : std::uint8_t { exit, signal, no_memory };
  Kind kind;
  int status = 0;             // of exit
  int signal = 0;             // that ended it
  unsigned hart = 0;          // where that was
  std::uint64_t pc = 0;       // the instruction
  std::optional<Trap> trap{}; // what the instruction did; none for a signal that was sent
};

// Answers of system calls beside numbers and errors.
inline constexpr std::int64_t kBlocked = -100'001;  // the thread waits; nothing to answer yet
inline constexpr std::int64_t kAnswered = -100'002; // registers are as they are to be

class Kernel;

// A system call while it is served.
struct Call {
  Kernel &kernel;
  Thread &thread;
  std::array<std::uint64_t, 6> a;
};

class Kernel final : public HartEnvironment, public Agenda {
public:
  // The time at the start, seconds since 1970: the first day of 2026.
  static constexpr std::int64_t kEpoch = 1'767'225'600;
  static constexpr int kProcess = 1000; // its number, and that of its first thread

  // `note` gets what is not served, a line each. `stop` is called when the process has ended.
  Kernel(Memory &memory, Harts &harts, KernelOptions options,
         std::function<void(const std::string &)> note, std::function<void()> stop);

  // Exceptions of U-mode that it serves.
  [[nodiscard]] static std::uint64_t intercepted();
  Action trap(Hart &hart, const Trap &trap) override;
  [[nodiscard]] Cycle next() const override;
  void run(Cycle now) override;

  [[nodiscard]] const std::optional<ProcessEnd> &end() const { return end_; }
  [[nodiscard]] HartsDma &dma() { return dma_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] std::uint64_t faults() const { return faults_; }

  // --- for system calls ------------------------------------------------------------------------
  [[nodiscard]] AddressSpace &space() { return *space_; }
  [[nodiscard]] Threads &threads() { return *threads_; }
  [[nodiscard]] Futexes &futexes() { return *futexes_; }
  [[nodiscard]] Signals &signals() { return *signals_; }
  [[nodiscard]] Tree &tree() { return *tree_; }
  [[nodiscard]] Descriptors &descriptors() { return descriptors_; }
  [[nodiscard]] Harts &harts() { return *harts_; }
  [[nodiscard]] const KernelOptions &options() const { return options_; }
  [[nodiscard]] Cycle now() const { return harts_->clock().now; }
  [[nodiscard]] std::int64_t realtime_ns() const {
    return kEpoch * 1'000'000'000 + static_cast<std::int64_t>(now());
  }
  [[nodiscard]] std::uint64_t random() { return random_(); }
  void note(const std::string &line) { note_(line); }

  NodePointer folder; // the current one
  std::uint32_t creation_mask = 022;
  std::uint64_t break_start = 0;
  std::uint64_t break_end = 0;
  std::string name = "";   // PR_SET_NAME
  Cycle alarm_at = kNever; // ITIMER_REAL
  Cycle alarm_interval = 0;
  std::uint64_t started_threads = 0;

  // The thread waits until something has changed or `deadline`, then makes the call again.
  std::int64_t wait_for_change(Call &call, Cycle deadline, bool restartable);
  // Something that others may wait for has changed.
  void changed() { changes_ = true; }
  // Sends and lets it have its effect.
  void send(Thread *thread, const SignalInfo &info);
  void exit_thread(Thread &thread, int status);
  void end_process(const ProcessEnd &end);

private:
  void system_call(Hart &hart, Thread &thread);
  void page_fault(Hart &hart, Thread &thread, const Trap &trap);
  void fault(Hart &hart, Thread &thread, const Trap &trap, int signal, int code);
  void deliver(Thread &thread);
  void interrupt(Thread &thread);
  void expire(Thread &thread);
  void write_remaining(Thread &thread);
  void clear_robust_list(Thread &thread);
  void provide_files();
  void open_streams();

  Memory *memory_;
  Harts *harts_;
  KernelOptions options_;
  std::function<void(const std::string &)> note_;
  std::function<void()> stop_;
  HartsDma dma_;
  std::mt19937_64 random_;
  std::unique_ptr<AddressSpace> space_;
  std::unique_ptr<Threads> threads_;
  std::unique_ptr<Futexes> futexes_;
  std::unique_ptr<Signals> signals_;
  std::unique_ptr<Tree> tree_;
  Descriptors descriptors_;
  std::optional<ProcessEnd> end_;
  std::set<std::uint64_t> noted_; // calls that were named as not served
  int last_status_ = 0;           // of the last thread that exited
  Thread *current_ = nullptr;     // whose trap is being served
  bool changes_ = false;
  std::uint64_t calls_ = 0;
  std::uint64_t faults_ = 0;
};

// The table of syscalls.def.
struct SystemCall {
  const char *name;
  std::int64_t (*serve)(Call &call); // null: not served
  bool quiet;                        // not served, and programs do without it
};
// Null: a number that Linux 6.1 does not have either.
const SystemCall *find_system_call(std::uint64_t number);

} // namespace tandem::machine::proxy
