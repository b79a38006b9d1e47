// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine/htm/transaction.h"

namespace tandem::machine {

// The harts, as transactions need them.
class TransactionHost {
public:
  virtual ~TransactionHost() = default;
  [[nodiscard]] virtual Cycle now() const = 0;
  // The hart's registers become the checkpoint's; it goes on at `pc`, not before `wait_until`.
  virtual void roll_back(unsigned hart, const RegisterCheckpoint &to, std::uint64_t pc,
                         Cycle wait_until) = 0;
  // Its translations may come from undone page tables.
  virtual void forget_translations(unsigned hart) = 0;
  // The block is marked by another transaction than the one that the hart runs, from now on.
  virtual void withdraw(unsigned hart, std::uint64_t block) = 0;
};

} // namespace tandem::machine
