// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/checker/store.h"

#include "base/check.h"

namespace tandem::machine::checker {

namespace {

constexpr std::size_t kFirstSlots = std::size_t{1} << 12;
constexpr std::uint64_t kNumber = 0xffffffffU;

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xe9846af9b1a615dU;
  x ^= x >> 32;
  x *= 0xe9846af9b1a615dU;
  return x ^ x >> 28;
}

std::uint64_t hash(Store::Bytes bytes) {
  std::uint64_t h = bytes.size() * 0x9e3779b97f4a7c15U;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, 8);
    h = mix(h ^ word);
  }
  if (i < bytes.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, bytes.size() - i);
    h = mix(h ^ word);
  }
  return mix(h + 0x9e3779b97f4a7c15U);
}

bool same(Store::Bytes a, Store::Bytes b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

} // namespace

Store::Store() : slots_(kFirstSlots) {}

const std::uint8_t *Store::record_at(std::uint32_t number) const {
  std::uint64_t place = places_[number / kStride];
  const std::vector<std::uint8_t> *chunk = &chunks_[place / kChunk];
  std::size_t at = place % kChunk;
  for (std::uint32_t left = number % kStride; left > 0; --left) {
    at += kHeader + length(chunk->data() + at);
    if (at == chunk->size()) {
      ++chunk;
      at = 0;
    }
  }
  return chunk->data() + at;
}

void Store::append(Bytes bytes, std::uint32_t parent) {
  if (chunks_.empty() || chunks_.back().size() + kHeader + bytes.size() > kChunk) {
    if (!chunks_.empty())
      chunks_.back().shrink_to_fit();
    chunks_.emplace_back().reserve(kChunk);
  }
  std::vector<std::uint8_t> &chunk = chunks_.back();
  if (size_ % kStride == 0)
    places_.push_back((chunks_.size() - 1) * kChunk + chunk.size());
  const std::size_t at = chunk.size();
  chunk.resize(at + kHeader + bytes.size());
  std::memcpy(chunk.data() + at, &parent, sizeof parent);
  chunk[at + 4] = static_cast<std::uint8_t>(bytes.size());
  chunk[at + 5] = static_cast<std::uint8_t>(bytes.size() >> 8);
  std::memcpy(chunk.data() + at + kHeader, bytes.data(), bytes.size());
}

void Store::grow() {
  std::vector<std::uint64_t> larger(slots_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (std::uint32_t number = 0; number < size_; ++number) {
    const std::uint64_t h = hash(at(number));
    std::size_t slot = h & mask;
    while (larger[slot] != 0)
      slot = (slot + 1) & mask;
    larger[slot] = (h & ~kNumber) | (number + 1);
  }
  slots_.swap(larger);
}

std::pair<std::uint32_t, bool> Store::insert(Bytes bytes, std::uint32_t parent) {
  CHECK(bytes.size() <= kLongest, "a state of {} bytes", bytes.size());
  const std::uint64_t h = hash(bytes);
  std::size_t slot = h & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1))
    if ((slots_[slot] & ~kNumber) == (h & ~kNumber)) {
      const auto number = static_cast<std::uint32_t>((slots_[slot] & kNumber) - 1);
      if (same(at(number), bytes))
        return {number, false};
    }
  CHECK(size_ < kNumber - 1, "too many states");
  append(bytes, parent);
  slots_[slot] = (h & ~kNumber) | (size_ + 1);
  const std::uint32_t number = size_++;
  if (std::size_t{size_} * 4 > slots_.size() * 3)
    grow();
  return {number, true};
}

std::uint32_t Store::find(Bytes bytes) const {
  const std::uint64_t h = hash(bytes);
  for (std::size_t slot = h & (slots_.size() - 1); slots_[slot] != 0;
       slot = (slot + 1) & (slots_.size() - 1)) {
    const auto number = static_cast<std::uint32_t>((slots_[slot] & kNumber) - 1);
    if ((slots_[slot] & ~kNumber) == (h & ~kNumber) && same(at(number), bytes))
      return number;
  }
  CHECK(false, "a state that has not been seen");
  return 0;
}

std::uint64_t Store::footprint() const {
  std::uint64_t bytes = slots_.capacity() * 8 + places_.capacity() * 8;
  for (const auto &chunk : chunks_)
    bytes += chunk.size(); // all but the last are full
  return bytes;
}

} // namespace tandem::machine::checker
