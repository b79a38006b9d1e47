// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The platform-level interrupt controller: 63 sources, one context a hart (its S-mode), priorities
// 0 (never) to 7, level-triggered gateways: a request that was forwarded stays until it is claimed,
// and its source is heard again when the handler has completed it.
//
// Invariant: a source is pending or in service only once: pending_ & serving_ == 0.
//
// Source: RISC-V Platform-Level Interrupt Controller specification 1.0.0, chapters 3 to 9.
#pragma once

#include "machine/archive/archive.h"
#include "machine/bus/device.h"
#include "machine/devices/interrupts.h"

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace tandem::machine {

class Plic : public Device, public InterruptController {
public:
  static constexpr unsigned kSources = 64; // number 0 is none
  static constexpr std::uint64_t kSize = 0x400'0000;

  // `external` is told the level of a context's line into its hart, when it changes.
  Plic(unsigned contexts, std::function<void(unsigned context, bool level)> external);

  bool load(std::uint64_t offset, unsigned size, std::uint64_t &value) override;
  bool store(std::uint64_t offset, unsigned size, std::uint64_t value) override;
  void set_level(unsigned source, bool level) override;

  // Requests that a hart has claimed so far: for statistics.
  [[nodiscard]] std::uint64_t claims() const { return claims_; }
  // The lines into the harts are theirs; they are restored with them.
  void fields(Archive &archive);

private:
  struct Context {
    std::uint64_t enabled = 0;
    std::uint32_t threshold = 0;
    bool line = false;
    void fields(Archive &archive) { archive(enabled, threshold, line); }
  };

  [[nodiscard]] unsigned best(const Context &context) const;
  std::uint32_t claim(unsigned context);
  void complete(unsigned context, std::uint64_t source);
  void forward();
  void update();

  std::function<void(unsigned, bool)> external_;
  std::array<std::uint32_t, kSources> priority_{};
  std::uint64_t level_ = 0;
  std::uint64_t pending_ = 0;
  std::uint64_t serving_ = 0;
  std::vector<Context> contexts_;
  std::uint64_t claims_ = 0;
};

} // namespace tandem::machine
