// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/run/terminal_mode.h"

#include "base/check.h"

#include <csignal>
#include <cstdlib>
#include <termios.h>
#include <unistd.h>

namespace tandem::machine {
namespace {

int changed_terminal = -1; // whose state `before` is; -1: none
termios before;

// tcsetattr() may be called by signal handlers.
void restore() {
  if (changed_terminal >= 0)
    ::tcsetattr(changed_terminal, TCSADRAIN, &before);
}

constexpr int kFatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE,
                          SIGHUP,  SIGQUIT, SIGINT, SIGTERM};

void on_fatal(int signal) {
  restore();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

} // namespace

TerminalMode::TerminalMode(int descriptor, bool pass_ctrl_c) {
  CHECK(changed_terminal < 0);
  if (::isatty(descriptor) != 1 || ::tcgetattr(descriptor, &before) != 0)
    return;
  // A program in the background would be stopped by its terminal; it gets no input then either.
  if (::tcgetpgrp(descriptor) != ::getpgrp())
    return;
  changed_terminal = descriptor;
  [[maybe_unused]] static const int once = std::atexit(restore);
  for (const int signal : kFatal)
    std::signal(signal, on_fatal);
  termios raw = before;
  ::cfmakeraw(&raw);
  raw.c_oflag |= OPOST; // what the program itself says begins at the margin
  if (!pass_ctrl_c) {
    raw.c_lflag |= ISIG;
    raw.c_cc[VQUIT] = _POSIX_VDISABLE;
    raw.c_cc[VSUSP] = _POSIX_VDISABLE;
  }
  ::tcsetattr(descriptor, TCSADRAIN, &raw);
}

TerminalMode::~TerminalMode() {
  restore();
  changed_terminal = -1;
}

} // namespace tandem::machine
