// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Synthetic traffic: for each core an endless stream of accesses after a profile. The stream of a
// core depends on profile, number of cores and seed only, never on timing, so that protocols are
// compared on the same accesses.
//
// Addresses are laid out region after region and then scattered by page (4 KB), as an operating
// system's page allocation does: sets and slices are loaded evenly but not perfectly.
#pragma once

#include "machine/traffic/profile.h"
#include "machine/traffic/source.h"

#include <array>
#include <vector>

namespace tandem::machine {

class TrafficGenerator final : public Source {
public:
  TrafficGenerator(const Profile &profile, unsigned cores, unsigned dependent_percent,
                   std::uint64_t seed);

  [[nodiscard]] unsigned cores() const override { return static_cast<unsigned>(streams_.size()); }
  // Blocks of all regions together.
  [[nodiscard]] std::uint64_t footprint() const { return layout_.end; }
  bool device(std::uint64_t accesses, DeviceOperation &operation) override {
    return profile_.device_period != 0 && accesses % profile_.device_period == 0 &&
           next_of_device(operation);
  }
  // The streams never end.
  bool next(unsigned core, Operation &operation) override {
    Stream &stream = streams_[core];
    if (stream.to_fetch == 0 || stream.queued != 0)
      return data(stream, core, operation);
    return fetch(stream, core, operation);
  }

private:
  static constexpr std::uint32_t kBlockInstructions = 16; // of 4 bytes
  static constexpr std::uint32_t kRecent = 16;            // a power of two

  struct Recent {
    std::uint64_t block = 0;
    std::uint8_t store_percent = 0; // how often such a block is written
  };
  struct Queued { // accesses that come next: the rest of a critical section
    std::uint64_t block = 0;
    RequestKind kind = RequestKind::load;
  };
  struct Stream {
    std::uint64_t random = 0;
    std::array<Recent, kRecent> recent{};
    std::array<Queued, 16> queue{};
    std::uint32_t queued = 0;
    std::uint32_t recent_next = 0;
    std::uint32_t instructions = 0; // since the last fetch
    std::uint32_t to_fetch = 1;
    std::uint32_t code = 0; // block of the region
    std::uint32_t run = 0;  // blocks left of it
    std::uint64_t walk = 0; // of the private stream
    std::uint64_t accesses = 0;
    std::uint64_t shift = 0; // of the private region, by phase
    std::uint32_t produced = 0;
    std::uint32_t gap_range = 0;
  };
  struct Layout {
    std::uint64_t code = 0, read_only = 0, migratory = 0, producer_consumer = 0, false_sharing = 0,
                  locks = 0, protected_data = 0, device = 0, own = 0, end = 0;
    std::uint64_t own_stride = 0, code_stride = 0;
  };

  static std::uint64_t draw(Stream &stream) {
    // xorshift64*
    std::uint64_t x = stream.random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    stream.random = x;
    return (x * 0x2545f4914f6cdd1dULL) >> 32;
  }
  // Uniform in [0, range).
  static std::uint32_t below(Stream &stream, std::uint32_t range) {
    return static_cast<std::uint32_t>((draw(stream) * range) >> 32);
  }
  static bool percent(Stream &stream, std::uint32_t chance) { return below(stream, 100) < chance; }
  static std::uint32_t skewed(Stream &stream, const Region &region) {
    const std::uint64_t u = draw(stream);
    std::uint64_t power = u;
    for (std::uint32_t i = 1; i < region.skew; ++i)
      power = (power * u) >> 32;
    return static_cast<std::uint32_t>((power * region.blocks) >> 32);
  }
  // The page's place in 4 GB, by a bijection of its number.
  static std::uint64_t scattered(std::uint64_t block) {
    std::uint64_t page = block / 64;
    page = (page * 0x5bd1e995ULL) & 0xfffff;
    page ^= page >> 9;
    page = (page * 0x85ebca6bULL) & 0xfffff;
    return page * 64 + block % 64;
  }

  bool fetch(Stream &stream, unsigned core, Operation &operation);
  bool data(Stream &stream, unsigned core, Operation &operation);
  Queued choose(Stream &stream, unsigned core);
  Queued choose_own(Stream &stream, unsigned core);
  Queued choose_exchange(Stream &stream, unsigned core);
  Queued choose_device(Stream &stream);
  bool next_of_device(DeviceOperation &operation);
  void begin_section(Stream &stream);
  void remember(Stream &stream, std::uint64_t block, std::uint32_t store_percent) {
    stream.recent[stream.recent_next++ % kRecent] = {block,
                                                     static_cast<std::uint8_t>(store_percent)};
  }
  void push(Stream &stream, std::uint64_t block, RequestKind kind) {
    if (stream.queued < stream.queue.size())
      stream.queue[stream.queued++] = {block, kind};
  }

  Profile profile_;
  unsigned dependent_percent_;
  Layout layout_;
  std::vector<Stream> streams_;
  std::uint64_t device_steps_ = 0;
  std::array<std::uint32_t, 7> bounds_{}; // cumulated weights, of a thousand
  std::uint32_t weights_ = 0;
};

} // namespace tandem::machine
