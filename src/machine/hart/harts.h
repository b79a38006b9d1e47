// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All harts of a machine, and the decoded code that they share.
#pragma once

#include "machine/hart/hart.h"
#include "machine/htm/host.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace tandem::machine {

class TransactionalMemory;

class Harts : public TransactionHost, private OutsideObserver {
public:
  // Bus and clock must outlive the harts. Every hart is stopped, but for machine mode.
  Harts(Bus &bus, Clock &clock, const HartOptions &options);
  ~Harts() override;
  Harts(const Harts &) = delete;
  Harts &operator=(const Harts &) = delete;

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(harts_.size()); }
  [[nodiscard]] Hart &operator[](unsigned index) { return *harts_[index]; }
  [[nodiscard]] const Hart &operator[](unsigned index) const { return *harts_[index]; }
  [[nodiscard]] auto begin() { return harts_.begin(); }
  [[nodiscard]] auto end() { return harts_.end(); }

  [[nodiscard]] Clock &clock() { return *clock_; }
  [[nodiscard]] Bus &bus() { return *bus_; }
  // Of hardware transactions.
  [[nodiscard]] TransactionalMemory &transactions() { return *htm_; }

  // From now on the harts run by lines of L1s that `lines` knows, which must outlive that, and
  // run_timed() is what runs them; null: without time again. Between two runs.
  // `store_buffer`: how many stores of each wait before they are written.
  void use_timing(HartLines *lines, unsigned store_buffer = 0);
  // Called with the number of each hint instruction (slti x0, x0, number) that a hart runs without
  // timing, in the middle of that instruction.
  void on_hint(std::function<void(Hart &, unsigned number)> call) { on_hint_ = std::move(call); }
  void tell_hint(Hart &hart, unsigned number) {
    if (on_hint_)
      on_hint_(hart, number);
  }

  // Called when an instruction is illegal by a rule of transactions, which is named.
  void on_broken_rule(std::function<void(Hart &, const char *)> call) {
    on_broken_rule_ = std::move(call);
  }
  void tell_broken_rule(Hart &hart, const char *rule) {
    if (on_broken_rule_)
      on_broken_rule_(hart, rule);
  }

  // --- TransactionHost ---------------------------------------------------------------------------
  [[nodiscard]] Cycle now() const override { return clock_->now; }
  void roll_back(unsigned hart, const RegisterCheckpoint &to, std::uint64_t pc,
                 Cycle wait_until) override;
  void forget_translations(unsigned hart) override;
  void withdraw(unsigned hart, std::uint64_t block) override;

  // The hart that is inside run(), none between two.
  [[nodiscard]] Hart *running() { return running_; }

private:
  friend class Hart;
  void outside(std::uint64_t address, std::uint64_t size, bool write) override;

  Bus *bus_;
  Clock *clock_;
  std::unique_ptr<TransactionalMemory> htm_;
  std::unique_ptr<CodeCache> code_;
  std::vector<std::unique_ptr<Hart>> harts_;
  Hart *running_ = nullptr;
  std::function<void(Hart &, unsigned)> on_hint_;
  std::function<void(Hart &, const char *)> on_broken_rule_;
};

} // namespace tandem::machine
