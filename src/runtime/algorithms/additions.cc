// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/algorithms/additions.h"

#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/orec.h"
#include "runtime/algorithms/write_back.h"

namespace tandem::additions {
namespace {

using memory::Cell;
using memory::CellValue;
using memory::WriteMap;

template <memory::Word U> const WidthBarriers<U> &accesses(const Thread &thread) noexcept {
  if constexpr (sizeof(U) == sizeof(std::uint64_t))
    return thread.barriers->u8;
  else
    return thread.barriers->u4;
}

template <memory::Word U> void add_now(U *address, U by, Thread *thread) noexcept {
  const WidthBarriers<U> &word = accesses<U>(*thread);
  word.write(address, static_cast<U>(word.read_for_write(address, thread) + by), thread);
}

void add_now(Thread &thread, const CellValue &addition) noexcept {
  const std::uintptr_t place = addition.cell.address();
  if (addition.cell.width_code() == 0)
    add_now(reinterpret_cast<std::uint64_t *>(place), addition.value, &thread);
  else
    add_now(reinterpret_cast<std::uint32_t *>(place), static_cast<std::uint32_t>(addition.value),
            &thread);
}

// Whether additions to `address` may be put off.
template <memory::Word U> bool may_wait(const U *address, const Thread &thread) noexcept {
  const bool buffers = thread.mode == Mode::norec || thread.mode == Mode::lazy;
  if (!buffers && (thread.mode != Mode::eager ||
                   orec::of(address).load(std::memory_order_relaxed) == thread.lock_word))
    return false;
  return memory::aligned(address) && thread.checkpoints.empty() &&
         !maybe_in_place(address, &thread);
}

// Takes the addition at `position` out of the list; the word's entry stays, and writes nothing.
CellValue take(Thread &thread, std::size_t position) noexcept {
  const CellValue taken = thread.additions[position];
  const CellValue last = thread.additions.pop();
  if (position != thread.additions.size()) {
    thread.additions[position] = last;
    thread.writes.find(last.cell.address() & ~std::uintptr_t{7})->value = position;
  }
  return taken;
}

} // namespace

template <memory::Word U> void add_later(U *address, U by, Thread *thread) noexcept {
  if (!may_wait(address, *thread))
    return add_now(address, by, thread);
  const std::uintptr_t word = reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{7};
  if (WriteMap::Entry *entry = thread->writes.find(word)) {
    if (!waits(*thread, *entry))
      return add_now(address, by, thread);
    CellValue &known = thread->additions[entry->value];
    if (known.cell == Cell(address)) {
      known.value += by;
      return;
    }
    fold(*thread, word); // the word's other half
    return add_now(address, by, thread);
  }
  if (thread->additions.empty())
    --thread->puts_off; // that may end it, and then other additions of this transaction fold
  note_write(*thread, word);
  thread->writes.note(word, thread->additions.size());
  thread->additions.push({Cell(address), by});
  if (thread->mode == Mode::eager)
    thread->signals.fetch_or(kSignalAdditions, std::memory_order_relaxed);
}

void fold(Thread &thread, std::uintptr_t word) noexcept {
  const WriteMap::Entry *entry = thread.writes.find(word);
  if (entry != nullptr && waits(thread, *entry))
    add_now(thread, take(thread, entry->value));
}

void fold_stripe(Thread &thread, const Orec &orec) noexcept {
  for (std::size_t i = 0; i < thread.additions.size();) {
    const auto *place = reinterpret_cast<const void *>(thread.additions[i].cell.address());
    if (&orec::of(place) == &orec) {
      add_now(thread, take(thread, i));
      i = 0; // that may have folded others
    } else {
      ++i;
    }
  }
}

void fold_all(Thread &thread) noexcept {
  while (!thread.additions.empty())
    add_now(thread, take(thread, thread.additions.size() - 1));
}

void apply(Thread &thread) noexcept {
  for (const CellValue &addition : thread.additions)
    addition.cell.store(addition.cell.load() + addition.value);
  thread.additions.clear();
}

void apply_in_place(Thread &thread) noexcept {
  for (const CellValue &addition : thread.additions) {
    orec::acquire(thread, orec::of(reinterpret_cast<const void *>(addition.cell.address())));
    const std::uint64_t before = addition.cell.load();
    thread.undo.push({addition.cell, before});
    std::atomic_thread_fence(std::memory_order_release);
    addition.cell.store(before + addition.value);
  }
  thread.additions.clear();
  thread.writes.clear();
}

template void add_later(std::uint32_t *, std::uint32_t, Thread *) noexcept;
template void add_later(std::uint64_t *, std::uint64_t, Thread *) noexcept;

} // namespace tandem::additions
