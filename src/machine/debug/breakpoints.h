// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A debugger's breakpoints and watched memory. Breakpoints are virtual addresses; while the machine
// runs each that is mapped has an EBREAK in memory, put in before and taken out after, so that
// nobody else ever sees it but a guest that reads its own code meanwhile. One that is not mapped
// yet goes in when a translation changes. For one thread.
#pragma once

#include "machine/platform/machine.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tandem::machine {

class Breakpoints {
public:
  explicit Breakpoints(Machine &machine) : machine_(&machine) {}
  ~Breakpoints() { take_out(); }
  Breakpoints(const Breakpoints &) = delete;
  Breakpoints &operator=(const Breakpoints &) = delete;

  void insert(std::uint64_t address) { wanted_.insert(address); }
  void remove(std::uint64_t address) { wanted_.erase(address); }
  [[nodiscard]] bool at(std::uint64_t address) const { return wanted_.contains(address); }
  [[nodiscard]] bool empty() const { return wanted_.empty(); }

  // Puts EBREAKs where they are missing and the address is mapped for some hart.
  void put_in();
  void take_out();
  // Whether an EBREAK at this address of the hart is one of ours.
  [[nodiscard]] bool planted(const Hart &hart, std::uint64_t address) const;

  struct Watchpoint {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::string before{};
    bool operator<(const Watchpoint &other) const {
      return std::pair(address, size) < std::pair(other.address, other.size);
    }
  };
  void watch(std::uint64_t address, std::uint64_t size);
  void unwatch(std::uint64_t address, std::uint64_t size);
  [[nodiscard]] bool watching() const { return !watched_.empty(); }
  // The address of watched memory that has changed since the last call, seen by `hart`.
  std::optional<std::uint64_t> changed(const Hart &hart);

private:
  struct Planted {
    std::array<std::byte, 2> original;
  };
  Machine *machine_;
  std::set<std::uint64_t> wanted_;
  std::map<std::uint64_t, Planted> planted_; // by physical address
  std::vector<Watchpoint> watched_;
};

} // namespace tandem::machine
