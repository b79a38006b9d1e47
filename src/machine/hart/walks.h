// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Page walks of a hart with timing, as far as they have come. A walk waits for each entry that the
// L1 has not, and goes on from there when its instruction is tried again; one that is done stays
// until the instruction is, for pages that no TLB keeps (devices). For one thread.
#pragma once

#include "machine/mmu/walker.h"

#include <array>
#include <cstdint>
#include <optional>

namespace tandem::machine {

class KeptWalks {
public:
  // The walk of this access by the instruction before which `retired` have been retired; begins it
  // where there is none.
  Walk &of(const WalkContext &context, std::uint64_t address, AccessKind kind,
           std::uint64_t retired) {
    for (unsigned i = 0; i < kKept; ++i) {
      Kept &kept = kept_[i];
      if (kept.walk && kept.address == address && kept.retired == retired && kept.kind == kind &&
          kept.context == context) {
        present_ = i;
        return *kept.walk;
      }
    }
    present_ = next_;
    next_ = (next_ + 1) % kKept;
    kept_[present_] = {address, retired, kind, context, Walk(context, address, kind)};
    return *kept_[present_].walk;
  }
  // The one asked for last; null if it has been dropped since.
  [[nodiscard]] Walk *present() { return kept_[present_].walk ? &*kept_[present_].walk : nullptr; }
  void clear() { kept_.fill({}); }

private:
  struct Kept {
    std::uint64_t address = 0;
    std::uint64_t retired = 0;
    AccessKind kind = AccessKind::load;
    WalkContext context{};
    std::optional<Walk> walk{};
  };
  // An instruction on two pages that accesses two pages.
  static constexpr unsigned kKept = 4;
  std::array<Kept, kKept> kept_{};
  unsigned next_ = 0;
  unsigned present_ = 0;
};

} // namespace tandem::machine
