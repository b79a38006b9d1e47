// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ends a simulation: a hole in a protocol's table, a wrong value, a machine that stands still.
#pragma once

#include <stdexcept>
#include <string>

namespace tandem::machine {

// Thrown by the timed system; whoever runs one prints it and aborts (or, the random tester, shrinks
// the script that led here). `what()` has several lines: the finding with machine, state, event,
// address and cycle, and the last steps before it where they were recorded.
class ProtocolFailure : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace tandem::machine
