// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/hart/harts.h"

#include "machine/hart/core.h"

namespace tandem::machine {

Harts::Harts(Bus &bus, Clock &clock, const HartOptions &options) : bus_(&bus), clock_(&clock) {
  code_ = std::make_unique<CodeCache>(
      bus.memory(),
      [this](std::uint64_t page) {
        for (auto &hart : harts_)
          hart->core().tlb.withdraw_write(page);
      },
      [this] {
        for (auto &hart : harts_)
          hart->core().forget_code();
      });
  for (unsigned id = 0; id < options.count; ++id)
    harts_.push_back(std::make_unique<Hart>(id, *this, bus, *code_, clock, options));
}

Harts::~Harts() = default;

void Harts::use_timing(HartLines *lines) {
  code_->use(lines != nullptr ? kTimedHandlers : kPlainHandlers);
  for (auto &hart : harts_) {
    hart->timing().clear();
    hart->timing().lines = lines;
  }
}

void HartCore::tell_hint(unsigned number) { harts->tell_hint(*self, number); }

} // namespace tandem::machine
