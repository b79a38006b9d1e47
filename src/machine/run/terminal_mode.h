// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host's terminal while a guest uses it: characters arrive one by one and unechoed; Ctrl-C
// still ends the program unless the guest is to get it. However the program ends, but by SIGKILL,
// the terminal is as before.
#pragma once

namespace tandem::machine {

class TerminalMode {
public:
  // Nothing happens where `descriptor` is no terminal. One object at a time.
  TerminalMode(int descriptor, bool pass_ctrl_c);
  ~TerminalMode();
  TerminalMode(const TerminalMode &) = delete;
  TerminalMode &operator=(const TerminalMode &) = delete;
};

} // namespace tandem::machine
