// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands between the harts and what serves them (the firmware, a proxy kernel): it sees
// breakpoints of a debugger first, and notices a guest that can never go on, because the first
// instruction of its trap handler cannot be fetched. For one thread.
#pragma once

#include "machine/hart/harts.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace tandem::machine {

// A guest that has crashed: where its trap handler begins, and why that cannot be fetched.
struct Crash {
  // The trap whose handler it is: sepc, scause, stval.
  struct First {
    std::uint64_t pc;
    std::uint64_t cause;
    std::uint64_t value;
  };
  unsigned hart;
  std::uint64_t pc;
  Privilege privilege;
  Trap trap;
  std::optional<First> first; // none: it has taken no trap
};

class Monitor final : public HartEnvironment {
public:
  // `served` gets the exceptions of `from_user` and `from_supervisor`. `crashed` is called once.
  Monitor(Harts &harts, HartEnvironment &served, std::uint64_t from_user,
          std::uint64_t from_supervisor, std::function<void(const Crash &)> crashed);

  // `hit` is asked about every EBREAK: true if it is the debugger's, and then the hart stays on it.
  // `translations` is called when a guest has told of new ones.
  void debug(std::function<bool(Hart &)> hit, std::function<void()> translations);

  Action trap(Hart &hart, const Trap &trap) override;
  void sfence_vma(Hart &hart) override;

private:
  [[nodiscard]] static bool hopeless(const Hart &hart, const Trap &trap);
  [[nodiscard]] static std::optional<Crash::First> first_trap(const HartState &state);
  void intercept();

  Harts *harts_;
  HartEnvironment *served_;
  std::uint64_t from_user_;
  std::uint64_t from_supervisor_;
  std::function<void(const Crash &)> crashed_;
  std::function<bool(Hart &)> hit_;
  std::function<void()> translations_;
};

} // namespace tandem::machine
