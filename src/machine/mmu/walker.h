// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page-table walker: Sv39 with pages of 4 KiB, 2 MiB and 1 GiB. A walk is a small machine that
// says which entry it wants and is given it, so that it serves memory with and without time: the
// functional cores feed it from the array at once, a core with timing by coherent loads.
//
//   Walk walk(context, address, AccessKind::load);
//   while (walk.state() == Walk::State::wants_entry)
//     walk.feed(load(walk.address()));
//   if (walk.state() == Walk::State::wants_update)  // compare and swap at walk.address()
//     ... walk.expected() to walk.updated(), then walk.updated_done(whether it was so)
//
// A and D are set by the walker (the manual's second scheme, Svadu's behaviour).
//
// Source: RISC-V privileged manual, "Virtual Address Translation Process", Sv39.
#pragma once

#include "machine/bus/memory.h"
#include "machine/isa/state.h"
#include "machine/isa/trap.h"

#include <cstdint>
#include <optional>

namespace tandem::machine {

enum class AccessKind : std::uint8_t { load, store, fetch };

constexpr Exception page_fault(AccessKind kind) {
  return kind == AccessKind::load    ? Exception::load_page
         : kind == AccessKind::store ? Exception::store_page
                                     : Exception::instruction_page;
}
constexpr Exception access_fault(AccessKind kind) {
  return kind == AccessKind::load    ? Exception::load_access
         : kind == AccessKind::store ? Exception::store_access
                                     : Exception::instruction_access;
}

// Bits of a page-table entry; bits 53:10 are the page number, 63:54 must be 0.
namespace pte {
inline constexpr std::uint64_t kValid = 1;
inline constexpr std::uint64_t kRead = 1U << 1;
inline constexpr std::uint64_t kWrite = 1U << 2;
inline constexpr std::uint64_t kExecute = 1U << 3;
inline constexpr std::uint64_t kUser = 1U << 4;
inline constexpr std::uint64_t kGlobal = 1U << 5;
inline constexpr std::uint64_t kAccessed = 1U << 6;
inline constexpr std::uint64_t kDirty = 1U << 7;
inline constexpr std::uint64_t kReserved = std::uint64_t{0x3ff} << 54;
constexpr std::uint64_t page(std::uint64_t entry) { // physical address
  return (entry >> 10 & ((std::uint64_t{1} << 44) - 1)) << 12;
}
} // namespace pte

// What decides about permissions, besides the entry.
struct WalkContext {
  std::uint64_t satp = 0; // mode Sv39
  bool user = false;      // the access is U's, else S's
  bool sum = false;       // S may touch U's pages
  bool mxr = false;       // loads may read executable pages
  bool operator==(const WalkContext &) const = default;
};

class Walk {
public:
  enum class State : std::uint8_t { wants_entry, wants_update, done, page_fault };

  Walk(const WalkContext &context, std::uint64_t address, AccessKind kind);

  [[nodiscard]] State state() const { return state_; }
  // wants_entry, wants_update: the physical address of the entry, 8 bytes, aligned.
  [[nodiscard]] std::uint64_t address() const { return entry_address_; }
  void feed(std::uint64_t entry);

  // wants_update: the entry as it was read, and what it must become.
  [[nodiscard]] std::uint64_t expected() const { return entry_; }
  [[nodiscard]] std::uint64_t updated() const { return updated_; }
  // False: the entry had changed; the walk reads it again.
  void updated_done(bool swapped);

  // done: the physical address, the level of the leaf (0: 4 KiB, 1: 2 MiB, 2: 1 GiB), the leaf.
  [[nodiscard]] std::uint64_t physical() const { return physical_; }
  [[nodiscard]] unsigned level() const { return level_; }
  [[nodiscard]] std::uint64_t leaf() const { return updated_; }

private:
  void descend(std::uint64_t table);
  void leaf_found();

  WalkContext context_;
  std::uint64_t virtual_;
  AccessKind kind_;
  State state_ = State::page_fault;
  unsigned level_ = 2;
  std::uint64_t entry_address_ = 0;
  std::uint64_t entry_ = 0;
  std::uint64_t updated_ = 0;
  std::uint64_t physical_ = 0;
};

// A walk over main memory at once. An entry outside of it is an access fault.
struct Translation {
  std::optional<Exception> fault;
  std::uint64_t physical = 0;
  unsigned level = 0;
  std::uint64_t leaf = 0; // the entry, with its new A and D
};
Translation translate(Memory &memory, const WalkContext &context, std::uint64_t address,
                      AccessKind kind);

// Whether `leaf` allows an access. A and D are not looked at.
bool allows(std::uint64_t leaf, const WalkContext &context, AccessKind kind);

} // namespace tandem::machine
