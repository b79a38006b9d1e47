// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The set of states seen: byte strings, each kept once, numbered in the order they came.
//
// Invariants: size() strings; slots_.size() is a power of 2 and at least 4/3 of size(); a slot
// holds 0 or the number of a string plus 1 (low 32 bits) under the high half of its hash.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace tandem::machine::checker {

class Store {
public:
  using Bytes = std::span<const std::uint8_t>;

  static constexpr std::size_t kLongest = 1024;

  Store();

  // The number of the string and whether it is new. At most kLongest bytes long.
  std::pair<std::uint32_t, bool> insert(Bytes bytes, std::uint32_t parent);
  // As insert, of a string that must be there.
  std::uint32_t find(Bytes bytes) const;

  // Valid until the next insert.
  Bytes at(std::uint32_t number) const {
    const std::uint8_t *record = record_at(number);
    return {record + kHeader, length(record)};
  }
  std::uint32_t parent(std::uint32_t number) const {
    std::uint32_t value = 0;
    std::memcpy(&value, record_at(number), sizeof value);
    return value;
  }
  std::uint32_t size() const { return size_; }
  // Bytes used for everything here.
  std::uint64_t footprint() const;

private:
  static constexpr std::size_t kHeader = 6;
  static constexpr std::uint64_t kChunk = std::uint64_t{1} << 20; // bytes; a record is in one chunk
  static constexpr std::uint32_t kStride = 2; // every other record's place is kept

  static std::size_t length(const std::uint8_t *record) { return record[4] | record[5] << 8; }
  const std::uint8_t *record_at(std::uint32_t number) const;
  void append(Bytes bytes, std::uint32_t parent);
  void grow();

  std::vector<std::vector<std::uint8_t>> chunks_; // records: parent (4), length (2), bytes
  std::vector<std::uint64_t> places_;             // of every kStride-th record
  std::vector<std::uint64_t> slots_;
  std::uint32_t size_ = 0;
};

} // namespace tandem::machine::checker
