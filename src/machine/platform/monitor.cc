// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/platform/monitor.h"

namespace tandem::machine {
namespace {

constexpr std::uint64_t kFetch =
    bit(Exception::instruction_access) | bit(Exception::instruction_page);
constexpr std::uint64_t kVectorModes = 3; // stvec bits 1:0

constexpr std::uint64_t from(Privilege privilege, std::uint64_t user, std::uint64_t supervisor) {
  return privilege == Privilege::user ? user : supervisor;
}

} // namespace

Monitor::Monitor(Harts &harts, HartEnvironment &served, std::uint64_t from_user,
                 std::uint64_t from_supervisor, std::function<void(const Crash &)> crashed)
    : harts_(&harts), served_(&served), from_user_(from_user), from_supervisor_(from_supervisor),
      crashed_(std::move(crashed)) {
  intercept();
}

void Monitor::intercept() {
  const std::uint64_t breaks = hit_ ? bit(Exception::breakpoint) : 0;
  for (const auto &hart : *harts_)
    hart->intercept(this, from_user_ | breaks, from_supervisor_ | breaks | kFetch);
}

void Monitor::debug(std::function<bool(Hart &)> hit, std::function<void()> translations) {
  hit_ = std::move(hit);
  translations_ = std::move(translations);
  intercept();
}

// A fetch in S-mode from where a trap of S-mode would go.
bool Monitor::hopeless(const Hart &hart, const Trap &trap) {
  const HartState &state = hart.state();
  return (bit(trap.cause) & kFetch) != 0 && state.privilege == Privilege::supervisor &&
         state.pc == (state.stvec & ~kVectorModes);
}

std::optional<Crash::First> Monitor::first_trap(const HartState &state) {
  if (state.sepc == 0 && state.scause == 0)
    return std::nullopt;
  return Crash::First{.pc = state.sepc, .cause = state.scause, .value = state.stval};
}

void Monitor::sfence_vma(Hart & /*hart*/) {
  if (translations_)
    translations_();
}

HartEnvironment::Action Monitor::trap(Hart &hart, const Trap &trap) {
  if (trap.cause == Exception::breakpoint && hit_ && hit_(hart))
    return Action::resume;
  if (hopeless(hart, trap)) {
    crashed_({.hart = hart.id(),
              .pc = hart.state().pc,
              .privilege = hart.state().privilege,
              .trap = trap,
              .first = first_trap(hart.state())});
    return Action::resume; // it stays where it is, and the machine stops
  }
  const std::uint64_t served = from(hart.state().privilege, from_user_, from_supervisor_);
  return (served & bit(trap.cause)) != 0 ? served_->trap(hart, trap) : Action::deliver;
}

} // namespace tandem::machine
