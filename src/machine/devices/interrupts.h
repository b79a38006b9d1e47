// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interrupt lines from devices to whoever collects them.
#pragma once

namespace tandem::machine {

class InterruptController {
public:
  virtual ~InterruptController() = default;
  // The level of a line, again and again if it likes.
  virtual void set_level(unsigned source, bool level) = 0;
};

// One line, as a device holds it.
class InterruptLine {
public:
  InterruptLine(InterruptController &controller, unsigned source)
      : controller_(&controller), source_(source) {}
  void set(bool level) { controller_->set_level(source_, level); }

private:
  InterruptController *controller_;
  unsigned source_;
};

} // namespace tandem::machine
