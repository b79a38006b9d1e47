// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/internal_error/internal_error.h"

#include "base/characters.h"
#include "base/check.h"
#include "base/doing.h"
#include "compiler/internal_error/reproducer.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <stdexcept>
#include <unistd.h>

namespace tandem {
namespace {

struct Fault {
  int signal;
  const char *name;
};
constexpr std::array kFaults = {
    Fault{SIGSEGV, "segmentation fault"},
    Fault{SIGBUS, "bus error"},
    Fault{SIGILL, "illegal instruction"},
    Fault{SIGFPE, "arithmetic exception"},
    Fault{SIGTRAP, "trap"},
    Fault{SIGABRT, "abort"},
};

bool installed = false;
std::array<struct sigaction, kFaults.size()> previous;
std::terminate_handler previous_terminate = nullptr;
std::atomic<bool> all_ours = true;
std::atomic<int> turns = 0;
std::atomic_flag failing = ATOMIC_FLAG_INIT;

bool is_ours() noexcept { return all_ours || turns > 0; }

// One line of what may be several.
void copy_line(char *to, std::size_t size, const char *from) noexcept {
  std::size_t at = 0;
  for (; *from != '\0' && at + 1 < size; ++from)
    to[at++] = *from == '\n' ? ' ' : *from;
  while (at > 0 && to[at - 1] == ' ')
    --at;
  to[at] = '\0';
}

// Says it, and ends the process. For any context.
[[noreturn]] void fail(const char *what) noexcept {
  if (failing.test_and_set()) // in another thread: that one ends the process
    for (;;)
      ::pause();
  for (const Fault &fault : kFaults)
    std::signal(fault.signal, SIG_DFL);
  llvm::sys::RunInterruptHandlers(); // takes unfinished outputs away
  static std::array<char, 320> line;
  static std::array<char, 640> cause;
  copy_line(line.data(), line.size(), what);
  copy_printable(line.data(), cause.data(), cause.size());
  static std::array<char, 1024> during;
  copy_line(line.data(), line.size(), doing());
  copy_printable(line.data(), during.data(), during.size());
  const char *file = write_reproducer();
  std::fprintf(stderr,
               "tandem-cc: internal error: %s%s%s; this is Tandem's fault: please report it %s%s\n",
               cause.data(), during[0] == '\0' ? "" : ", while ", during.data(),
               file == nullptr ? "(no file that repeats it could be written to TMPDIR)" : "with ",
               file == nullptr ? "" : file);
  std::fflush(stderr);
  const char *told = std::getenv(kEnvInternalError);
  const int mark = told == nullptr || *told == '\0' ? -1 : ::open(told, O_WRONLY | O_CLOEXEC);
  ::_exit(mark >= 0 && ::write(mark, "!", 1) == 1 ? 1 : kInternalStatus);
}

void fail_check(const char *what) noexcept { fail(what); }

void on_signal(int signal) {
  for (std::size_t i = 0; i < kFaults.size(); ++i)
    if (kFaults[i].signal == signal) {
      if (is_ours())
        fail(kFaults[i].name);
      ::sigaction(signal, &previous[i], nullptr);
    }
  ::raise(signal); // comes when this handler has returned
}

// SIGXFSZ: an output would exceed the limit of file sizes. That is no fault of the compiler's, so
// it is reported without LLVM's crash dump.
void on_file_limit(int) {
  static constexpr std::string_view kSaid =
      "tandem-cc: an output cannot be written: file too large (ulimit -f)\n";
  llvm::sys::RunInterruptHandlers();
  ::_exit(::write(STDERR_FILENO, kSaid.data(), kSaid.size()) < 0 ? kInternalStatus : 1);
}

// clang's own handler cannot be asked for; outside of our turn this does the same.
void on_fatal_error(void *, const char *reason, bool wants_report) {
  if (is_ours())
    fail(reason);
  std::fprintf(stderr, "fatal error: error in backend: %s\n", reason);
  llvm::sys::RunInterruptHandlers();
  llvm::sys::Process::Exit(wants_report ? kInternalStatus : 1);
}

[[noreturn]] void on_terminate() noexcept {
  if (is_ours()) {
    if (const std::exception_ptr thrown = std::current_exception())
      try {
        std::rethrow_exception(thrown);
      } catch (const std::exception &error) {
        static std::array<char, 256> text;
        std::snprintf(text.data(), text.size(), "an exception was not caught: %s", error.what());
        fail(text.data());
      } catch (...) {
      }
    fail("an exception was not caught");
  }
  if (previous_terminate != nullptr)
    previous_terminate();
  std::abort();
}

// LLVM's handlers have one in the threads that they know.
void need_alternative_stack() {
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0)
    return;
  static std::array<char, 1 << 16> memory;
  const stack_t own{.ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()};
  ::sigaltstack(&own, nullptr);
}

// Deeper than any stack.
void overflow(volatile char *above, unsigned deep = ~0U) {
  volatile char here[4096];
  here[0] = *above;
  if (deep > 0)
    overflow(here, deep - 1);
  *above = here[0];
}

void throw_provoked() { throw std::runtime_error("provoked"); }

} // namespace

void catch_internal_errors(Reproducer kind, std::string_view plugin) {
  prepare_reproducer(kind, plugin);
  if (installed)
    return;
  installed = true;
  on_internal_error(fail_check);
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler(on_fatal_error);
  previous_terminate = std::set_terminate(on_terminate);
#if !__has_feature(address_sanitizer) // which says more than we do
  need_alternative_stack();
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kFaults.size(); ++i)
    ::sigaction(kFaults[i].signal, &action, &previous[i]);
#endif
  std::signal(SIGXFSZ, on_file_limit);
}

void repeat_with(std::string_view passes) { set_repeated_passes(passes); }

void only_in_our_turn() { all_ours = false; }
void always_our_turn() noexcept { all_ours = true; }
OurTurn::OurTurn() noexcept { ++turns; }
OurTurn::~OurTurn() { --turns; }

bool is_provoked(std::string_view place, std::string_view what) {
  const char *wanted = std::getenv(kEnvProvoke);
  return wanted != nullptr && wanted == fmt::format("{}:{}", place, what);
}

void provoke(std::string_view place) {
  if (std::getenv(kEnvProvoke) == nullptr)
    return;
  char start = 0;
  if (is_provoked(place, "segv"))
    *reinterpret_cast<volatile char *>(8) = 1; // NOLINT: a fault is wanted
  if (is_provoked(place, "overflow"))
    overflow(&start);
  CHECK(!is_provoked(place, "check"), "provoked\nin two lines");
  if (is_provoked(place, "fatal"))
    llvm::report_fatal_error("provoked");
  if (is_provoked(place, "abort"))
    std::abort();
  if (is_provoked(place, "exception"))
    [](void (*throws)()) noexcept { throws(); }(throw_provoked);
}

} // namespace tandem
