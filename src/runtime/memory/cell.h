// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to the program's memory, and an address with its width in one word. Up to eight bytes
// are accessed as one: other transactions may look at the same bytes at the same time, which the
// algorithms detect afterwards; the accesses themselves are relaxed atomics, so that no compiler
// invents or tears one.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace tandem::memory {

template <class U>
concept Word = std::same_as<U, std::uint8_t> || std::same_as<U, std::uint16_t> ||
               std::same_as<U, std::uint32_t> || std::same_as<U, std::uint64_t>;

// Source for may_alias: the program's object has another type.
template <Word U> struct Aliasing {
  using Type [[gnu::may_alias]] = U;
};

template <Word U> U load(const U *address) noexcept {
  return __atomic_load_n(reinterpret_cast<const typename Aliasing<U>::Type *>(address),
                         __ATOMIC_RELAXED);
}
template <Word U> void store(U *address, U value) noexcept {
  __atomic_store_n(reinterpret_cast<typename Aliasing<U>::Type *>(address), value,
                   __ATOMIC_RELAXED);
}

template <Word U> bool aligned(const U *address) noexcept {
  return (reinterpret_cast<std::uintptr_t>(address) & (sizeof(U) - 1)) == 0;
}

// Bits 0 to 55: a user-space address of x86-64, also with five-level page tables. Bits 56 to 57: 0
// for a width of 8 bytes, 1 for 4, 2 for 2, 3 for 1; a word's address is its own cell.
class Cell {
public:
  Cell() = default;
  bool operator==(const Cell &) const = default;
  template <Word U>
  explicit Cell(const U *address) noexcept
      : bits_(reinterpret_cast<std::uintptr_t>(address) |
              static_cast<std::uint64_t>(3 - std::countr_zero(sizeof(U))) << 56) {}

  [[nodiscard]] std::uintptr_t address() const noexcept {
    return bits_ & ((std::uint64_t{1} << 56) - 1);
  }
  [[nodiscard]] unsigned width_code() const noexcept { return static_cast<unsigned>(bits_ >> 56); }
  [[nodiscard]] unsigned bytes() const noexcept { return 8U >> width_code(); }

  [[nodiscard]] std::uint64_t load() const noexcept {
    switch (width_code()) {
    case 0:
      return memory::load(pointer<std::uint64_t>());
    case 1:
      return memory::load(pointer<std::uint32_t>());
    case 2:
      return memory::load(pointer<std::uint16_t>());
    default:
      return memory::load(pointer<std::uint8_t>());
    }
  }
  void store(std::uint64_t value) const noexcept {
    switch (width_code()) {
    case 0:
      return memory::store(pointer<std::uint64_t>(), value);
    case 1:
      return memory::store(pointer<std::uint32_t>(), static_cast<std::uint32_t>(value));
    case 2:
      return memory::store(pointer<std::uint16_t>(), static_cast<std::uint16_t>(value));
    default:
      return memory::store(pointer<std::uint8_t>(), static_cast<std::uint8_t>(value));
    }
  }

private:
  template <Word U> [[nodiscard]] U *pointer() const noexcept {
    return reinterpret_cast<U *>(address());
  }

  std::uint64_t bits_;
};
static_assert(sizeof(Cell) == 8);

// A cell and what it held, or holds.
struct CellValue {
  Cell cell;
  std::uint64_t value;
};
static_assert(sizeof(CellValue) == 16);

} // namespace tandem::memory
