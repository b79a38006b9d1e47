// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stores of a hart that have retired and are not yet in memory, oldest first, by physical
// address. None lies in two lines. The hart puts them in and loads over them; who drives it takes
// them out, in whatever order the machine has for them. For one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tandem::machine {

class StoreBuffer {
public:
  struct Store {
    std::uint32_t number = 0; // 1, 2, ... (2^31 - 1, then 1 again)
    unsigned size = 0;        // bytes, 1 to 8
    std::uint64_t address = 0;
    std::array<std::byte, 8> bytes{};
  };
  static constexpr std::uint32_t kNumbers = 0x7fff'ffff;

  // How many it holds from now on; 0: stores go to memory at once. It must be empty.
  void use(unsigned stores) { capacity_ = stores; }
  [[nodiscard]] bool on() const { return capacity_ > 0; }
  [[nodiscard]] bool empty() const { return stores_.empty(); }
  [[nodiscard]] bool full() const { return stores_.size() >= capacity_; }
  [[nodiscard]] const std::vector<Store> &stores() const { return stores_; }

  void push(std::uint64_t address, const std::byte *bytes, unsigned size) {
    Store store{.number = next_, .size = size, .address = address};
    std::memcpy(store.bytes.data(), bytes, size);
    stores_.push_back(store);
    next_ = next_ % kNumbers + 1;
  }
  // Null: it is not there any more.
  [[nodiscard]] const Store *find(std::uint32_t number) const {
    const auto found = std::find_if(stores_.begin(), stores_.end(),
                                    [&](const Store &store) { return store.number == number; });
    return found != stores_.end() ? &*found : nullptr;
  }
  void take(std::uint32_t number) {
    std::erase_if(stores_, [&](const Store &store) { return store.number == number; });
  }
  void clear() { stores_.clear(); }

  // Puts the youngest waiting bytes of [address, address + size) over those at `to`; a bit for each
  // byte that there was, from the lowest.
  unsigned read(std::uint64_t address, unsigned size, std::byte *to) const {
    unsigned found = 0;
    for (const Store &store : stores_)
      for (unsigned i = 0; i < size; ++i)
        if (const std::uint64_t offset = address + i - store.address; offset < store.size) {
          to[i] = store.bytes[offset];
          found |= 1U << i;
        }
    return found;
  }

private:
  std::vector<Store> stores_;
  unsigned capacity_ = 0;
  std::uint32_t next_ = 1;
};

} // namespace tandem::machine
