// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses of a transaction that is serial: plain, or with an undo log where it may be cancelled.
#include "runtime/algorithms/barriers.h"

namespace tandem {
namespace {

struct Direct {
  template <memory::Word U> static U read(const U *address, Thread *) noexcept {
    return memory::load(address);
  }
  template <memory::Word U> static U read_for_write(const U *address, Thread *) noexcept {
    return memory::load(address);
  }
  template <memory::Word U> static void write(U *address, U value, Thread *) noexcept {
    memory::store(address, value);
  }
};

struct Undo : Direct {
  template <memory::Word U> static void write(U *address, U value, Thread *thread) noexcept {
    thread->undo.push({memory::Cell(address), memory::load(address)});
    memory::store(address, value);
  }
};

void copy(void *to, const void *from, std::size_t bytes, Thread *) { std::memcpy(to, from, bytes); }

constexpr Barriers with_copies() {
  Barriers barriers = make_barriers<Direct>();
  barriers.read_bytes = copy;
  barriers.write_bytes = copy;
  return barriers;
}

} // namespace

namespace {

bool in_own_allocation(std::uintptr_t place, const Thread *thread) noexcept {
  for (const AllocationAction &action : thread->allocations)
    if (action.allocated && place - reinterpret_cast<std::uintptr_t>(action.memory) < action.bytes)
      return true;
  return false;
}

} // namespace

bool is_fresh(const void *address, const Thread *thread) noexcept {
  return !thread->throwing || in_own_allocation(reinterpret_cast<std::uintptr_t>(address), thread);
}

bool is_private(std::uintptr_t address, const Thread *thread) noexcept {
  if (in_own_allocation(address, thread))
    return true;
  return address < thread->jump.stack && address >= thread->stack_low;
}

constinit const Barriers direct_barriers = with_copies();
constinit const Barriers undo_barriers = make_barriers<Undo>();

} // namespace tandem
