// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Main memory: one flat array of the host, zero at the start. Harts read and write the array
// through pointers; whatever else writes it (DMA, a loader, a debugger) goes through write(), so
// that decoded code follows. Which pages hold decoded code is known here, page by page.
//
// For one thread. Pages that nobody touched cost no memory of the host.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tandem::machine {

inline constexpr std::uint64_t kPageBytes = 4096;
inline constexpr unsigned kPageShift = 12;

// Told when bytes of a page change that is marked as holding code.
class CodeObserver {
public:
  virtual ~CodeObserver() = default;
  // Physical addresses; never across a page.
  virtual void code_written(std::uint64_t address, std::uint64_t size) = 0;
};

// Told before bytes are read or written that are not accessed by an instruction of a hart: by
// devices, kernels, page walks.
class OutsideObserver {
public:
  virtual ~OutsideObserver() = default;
  virtual void outside(std::uint64_t address, std::uint64_t size, bool write) = 0;
};

class Memory {
public:
  // `size` bytes at physical address `base`; both multiples of 4096. Error: the host has not that
  // much address space.
  static Result<std::unique_ptr<Memory>> create(std::uint64_t base, std::uint64_t size);
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  [[nodiscard]] std::uint64_t base() const { return base_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t bytes = 1) const {
    return address - base_ < size_ && bytes <= size_ - (address - base_);
  }

  // The host's address of a physical one, which contains() must hold for. To read; to write only
  // where holds_code() is false or the writer calls written() itself.
  [[nodiscard]] std::byte *host(std::uint64_t address) { return data_ + (address - base_); }
  [[nodiscard]] const std::byte *host(std::uint64_t address) const {
    return data_ + (address - base_);
  }

  // Copy out and in; false, and nothing done, if a byte lies outside.
  [[nodiscard]] bool read(std::uint64_t address, std::span<std::byte> to) const;
  [[nodiscard]] bool write(std::uint64_t address, std::span<const std::byte> from);
  // The same for one little-endian number.
  template <typename T> [[nodiscard]] bool read_value(std::uint64_t address, T &value) const {
    return read(address, std::as_writable_bytes(std::span(&value, 1)));
  }
  template <typename T> [[nodiscard]] bool write_value(std::uint64_t address, const T &value) {
    return write(address, std::as_bytes(std::span(&value, 1)));
  }

  // All bytes, for hashes and checkpoints. Who writes here calls code_changed() afterwards.
  [[nodiscard]] std::span<std::byte> bytes() { return {data_, size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }

  // Decoded code: the mark of a page, who hears of writes, and the news of one.
  [[nodiscard]] bool holds_code(std::uint64_t address) const {
    return code_[(address - base_) >> kPageShift] != 0;
  }
  void set_holds_code(std::uint64_t address, bool holds) {
    code_[(address - base_) >> kPageShift] = holds ? 1 : 0;
  }
  void observe_code(CodeObserver *observer) { observer_ = observer; }
  // Of read() and write(), as long as it is set; null: no observer.
  void observe_outside(OutsideObserver *observer) { outside_ = observer; }
  // As read(), but no observer is told: for debuggers.
  [[nodiscard]] bool peek(std::uint64_t address, std::span<std::byte> to) const;
  // As write(), but only the observer of code is told: an instruction of a hart. All inside.
  void store(std::uint64_t address, std::span<const std::byte> from);
  void written(std::uint64_t address, std::uint64_t size); // any range inside
  void code_changed() { written(base_, size_); }

private:
  Memory(std::byte *data, std::uint64_t base, std::uint64_t size);

  std::byte *data_;
  std::uint64_t base_;
  std::uint64_t size_;
  std::vector<std::uint8_t> code_; // one a page
  CodeObserver *observer_ = nullptr;
  OutsideObserver *outside_ = nullptr;
};

} // namespace tandem::machine
