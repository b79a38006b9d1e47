// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/hart/harts.h"

#include "machine/hart/core.h"
#include "machine/htm/transactional_memory.h"

namespace tandem::machine {

Harts::Harts(Bus &bus, Clock &clock, const HartOptions &options) : bus_(&bus), clock_(&clock) {
  htm_ = std::make_unique<TransactionalMemory>(options.count, bus.memory(), *this, options.htm);
  bus.memory().observe_outside(this);
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

Harts::~Harts() { bus_->memory().observe_outside(nullptr); }

void Harts::roll_back(unsigned hart, const RegisterCheckpoint &to, std::uint64_t pc,
                      Cycle wait_until) {
  harts_[hart]->core().roll_back(to, pc, wait_until);
}

void Harts::forget_translations(unsigned hart) { harts_[hart]->core().flush_all(); }

void Harts::withdraw(unsigned hart, std::uint64_t block) { harts_[hart]->timing().drop(block); }

// A hart that runs reads memory from outside of its transaction only to translate.
void Harts::outside(std::uint64_t address, std::uint64_t size, bool write) {
  if (htm_->any_marks())
    htm_->outside(address, size, write, running_ != nullptr ? running_->id() : kNoHart);
}

void Harts::use_timing(HartLines *lines, unsigned store_buffer) {
  code_->use(lines != nullptr ? kTimedHandlers : kPlainHandlers);
  for (auto &hart : harts_) {
    hart->timing().clear();
    hart->timing().lines = lines;
    hart->timing().buffer.use(store_buffer);
    hart->core().update_asking();
  }
}

void HartCore::tell_hint(unsigned number) { harts->tell_hint(*self, number); }

void HartCore::tell_broken_rule() {
  const char *which = rule;
  rule = nullptr;
  harts->tell_broken_rule(*self, which);
}

} // namespace tandem::machine
