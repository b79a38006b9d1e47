// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/debug/breakpoints.h"

#include <algorithm>

namespace tandem::machine {
namespace {

constexpr std::array<std::byte, 2> kBreak = {std::byte{0x02}, std::byte{0x90}}; // c.ebreak

} // namespace

void Breakpoints::put_in() {
  for (const std::uint64_t address : wanted_) {
    for (const auto &hart : machine_->harts()) {
      const std::optional<std::uint64_t> place = hart->translate(address);
      Planted planted{};
      if (!place || planted_.contains(*place) || *place % 2 != 0 ||
          !machine_->memory().read(*place, planted.original) || planted.original == kBreak)
        continue;
      if (machine_->memory().write(*place, kBreak))
        planted_.emplace(*place, planted);
    }
  }
}

void Breakpoints::take_out() {
  for (const auto &[place, planted] : planted_) {
    std::array<std::byte, 2> now{};
    // What the guest has put there meanwhile is its own.
    if (machine_->memory().read(place, now) && now == kBreak)
      CHECK(machine_->memory().write(place, planted.original));
  }
  planted_.clear();
}

bool Breakpoints::planted(const Hart &hart, std::uint64_t address) const {
  const std::optional<std::uint64_t> place = hart.translate(address);
  return place && planted_.contains(*place);
}

void Breakpoints::watch(std::uint64_t address, std::uint64_t size) {
  watched_.push_back({.address = address, .size = std::min<std::uint64_t>(size, 4096)});
}

void Breakpoints::unwatch(std::uint64_t address, std::uint64_t size) {
  std::erase_if(watched_, [&](const Watchpoint &watched) {
    return watched.address == address && watched.size == std::min<std::uint64_t>(size, 4096);
  });
}

std::optional<std::uint64_t> Breakpoints::changed(const Hart &hart) {
  std::optional<std::uint64_t> found;
  for (Watchpoint &watched : watched_) {
    std::string now(watched.size, '\0');
    if (!hart.read_virtual(watched.address, std::as_writable_bytes(std::span(now))))
      continue;
    if (!watched.before.empty() && watched.before != now)
      found = watched.address;
    watched.before = std::move(now);
  }
  return found;
}

} // namespace tandem::machine
