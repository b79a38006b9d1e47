// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All harts of a machine, and the decoded code that they share.
#pragma once

#include "machine/hart/hart.h"

#include <memory>
#include <vector>

namespace tandem::machine {

class Harts {
public:
  // Bus and clock must outlive the harts. Every hart is stopped, but for machine mode.
  Harts(Bus &bus, Clock &clock, const HartOptions &options);
  ~Harts();
  Harts(const Harts &) = delete;
  Harts &operator=(const Harts &) = delete;

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(harts_.size()); }
  [[nodiscard]] Hart &operator[](unsigned index) { return *harts_[index]; }
  [[nodiscard]] const Hart &operator[](unsigned index) const { return *harts_[index]; }
  [[nodiscard]] auto begin() { return harts_.begin(); }
  [[nodiscard]] auto end() { return harts_.end(); }

  [[nodiscard]] Clock &clock() { return *clock_; }
  [[nodiscard]] Bus &bus() { return *bus_; }

  // The hart that is inside run(), none between two.
  [[nodiscard]] Hart *running() { return running_; }

private:
  friend class Hart;

  Bus *bus_;
  Clock *clock_;
  std::unique_ptr<CodeCache> code_;
  std::vector<std::unique_ptr<Hart>> harts_;
  Hart *running_ = nullptr;
};

} // namespace tandem::machine
