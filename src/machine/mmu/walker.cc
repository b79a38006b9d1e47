// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/mmu/walker.h"

namespace tandem::machine {

Walk::Walk(const WalkContext &context, std::uint64_t address, AccessKind kind)
    : context_(context), virtual_(address), kind_(kind) {
  // Bits 63:39 must equal bit 38.
  const auto high = static_cast<std::int64_t>(address) >> 38;
  if (high == 0 || high == -1)
    descend(satp::root(context.satp));
}

void Walk::descend(std::uint64_t table) {
  entry_address_ = table + (virtual_ >> (12 + 9 * level_) & 0x1ff) * 8;
  state_ = State::wants_entry;
}

void Walk::feed(std::uint64_t entry) {
  entry_ = entry;
  state_ = State::page_fault;
  if ((entry & pte::kValid) == 0 || (entry & pte::kReserved) != 0 ||
      (entry & (pte::kRead | pte::kWrite)) == pte::kWrite)
    return;
  if ((entry & (pte::kRead | pte::kExecute)) != 0) {
    leaf_found();
    return;
  }
  // A pointer: its A, D and U are reserved.
  if ((entry & (pte::kAccessed | pte::kDirty | pte::kUser)) != 0 || level_ == 0)
    return;
  --level_;
  descend(pte::page(entry));
}

bool allows(std::uint64_t leaf, const WalkContext &context, AccessKind kind) {
  const bool of_user = (leaf & pte::kUser) != 0;
  if (context.user) {
    if (!of_user)
      return false;
  } else if (of_user && (kind == AccessKind::fetch || !context.sum)) {
    return false;
  }
  switch (kind) {
  case AccessKind::load:
    return (leaf & pte::kRead) != 0 || (context.mxr && (leaf & pte::kExecute) != 0);
  case AccessKind::store:
    return (leaf & pte::kWrite) != 0;
  case AccessKind::fetch:
    return (leaf & pte::kExecute) != 0;
  }
  return false;
}

void Walk::leaf_found() {
  const std::uint64_t inside = (std::uint64_t{1} << (12 + 9 * level_)) - 1;
  if (!allows(entry_, context_, kind_) || (pte::page(entry_) & inside) != 0)
    return; // not permitted, or a misaligned large page
  physical_ = pte::page(entry_) | (virtual_ & inside);
  updated_ = entry_ | pte::kAccessed | (kind_ == AccessKind::store ? pte::kDirty : 0);
  state_ = updated_ == entry_ ? State::done : State::wants_update;
}

void Walk::updated_done(bool swapped) { state_ = swapped ? State::done : State::wants_entry; }

Translation translate(Memory &memory, const WalkContext &context, std::uint64_t address,
                      AccessKind kind) {
  Walk walk(context, address, kind);
  while (walk.state() == Walk::State::wants_entry) {
    std::uint64_t entry = 0;
    if (!memory.read_value(walk.address(), entry))
      return {.fault = access_fault(kind)};
    walk.feed(entry);
  }
  if (walk.state() == Walk::State::page_fault)
    return {.fault = page_fault(kind)};
  if (walk.state() == Walk::State::wants_update) {
    // Nobody else runs: what was read is still there.
    CHECK(memory.write_value(walk.address(), walk.updated()));
    walk.updated_done(true);
  }
  return {.fault = {}, .physical = walk.physical(), .level = walk.level(), .leaf = walk.leaf()};
}

} // namespace tandem::machine
