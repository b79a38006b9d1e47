// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many of a part's sections were transactions: for TANDEM_PHASES, by which one sees whether a
// program's locks stay converted. Nothing is counted but where a phase ends.
#pragma once

#include "runtime/phases/trial.h"

#include <algorithm>
#include <cstdint>

namespace tandem::phases {

// By one thread at a time.
class Share {
public:
  // Sections before that moment do not count.
  void counts_from(std::int64_t time) noexcept { from_ = time; }

  // Nothing was counted until now.
  void begin(const Progress &progress) noexcept {
    began_ = progress;
    entered_ = transactions_ = 0;
  }

  // A phase ends. Of one that the moment is in, as large a part counts as lies behind it.
  void end_phase(const Progress &progress, bool of_transactions) noexcept {
    const std::uint64_t all = progress.entered - began_.entered;
    const std::int64_t whole = progress.time - began_.time;
    const std::int64_t counted = progress.time - std::max(began_.time, from_);
    const std::uint64_t sections =
        counted <= 0 || whole <= 0
            ? 0
            : static_cast<std::uint64_t>(static_cast<double>(all) * static_cast<double>(counted) /
                                         static_cast<double>(whole));
    entered_ += sections;
    transactions_ += of_transactions ? sections : 0;
    began_ = progress;
  }

  [[nodiscard]] std::uint64_t entered() const noexcept { return entered_; }
  [[nodiscard]] std::uint64_t transactions() const noexcept { return transactions_; }

private:
  std::int64_t from_ = 0;
  Progress began_{};
  std::uint64_t entered_ = 0;
  std::uint64_t transactions_ = 0;
};

// Whether append_share() may write to `path`; else errno says why not. Makes nothing but the file.
bool can_append(const char *path) noexcept;

// Appends a line `PID ENTERED TRANSACTIONS` to `path`, as a whole beside those of other processes.
void append_share(const char *path, std::uint64_t entered, std::uint64_t transactions) noexcept;

} // namespace tandem::phases
