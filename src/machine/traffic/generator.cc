// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/traffic/generator.h"

#include "base/check.h"

#include <algorithm>

namespace tandem::machine {

TrafficGenerator::TrafficGenerator(const Profile &profile, unsigned cores,
                                   unsigned dependent_percent, std::uint64_t seed)
    : profile_(profile), dependent_percent_(profile.dependent_percent.value_or(dependent_percent)),
      streams_(cores) {
  std::uint64_t at = 0;
  const auto place = [&at](std::uint64_t blocks) {
    const std::uint64_t start = at;
    at += (blocks + 63) / 64 * 64;
    return start;
  };
  layout_.code_stride = (profile.code_blocks + 63) / 64 * 64;
  layout_.code = place(layout_.code_stride * (profile.private_code ? cores : 1));
  layout_.read_only = place(profile.read_only.blocks);
  layout_.migratory = place(profile.migratory.blocks);
  layout_.producer_consumer = place(std::uint64_t{profile.producer_consumer.blocks} * cores);
  layout_.false_sharing = place(profile.false_sharing.blocks);
  layout_.locks = place(profile.locks.blocks);
  layout_.protected_data = place(std::uint64_t{profile.locks.blocks} * 4);
  layout_.device = place(profile.device.blocks);
  // With phases a core moves on through three times the region.
  layout_.own_stride =
      (std::uint64_t{profile.own.blocks} * (profile.phase == 0 ? 1 : 3) + 63) / 64 * 64;
  layout_.own = place(layout_.own_stride * cores);
  layout_.end = at;
  CHECK(layout_.end <= std::uint64_t{1} << 26, "{} needs more than 4 GB", profile.name);
  const std::array<const Region *, 7> regions = {
      &profile_.own,           &profile_.read_only,
      &profile_.migratory,     &profile_.producer_consumer,
      &profile_.false_sharing, &profile_.locks,
      &profile_.device};
  for (std::size_t i = 0; i < regions.size(); ++i) {
    CHECK(regions[i]->weight == 0 || regions[i]->blocks > 0);
    weights_ += regions[i]->weight;
    bounds_[i] = weights_;
  }
  CHECK(weights_ > 0);
  for (unsigned core = 0; core < cores; ++core) {
    Stream &stream = streams_[core];
    // Never 0, and far apart for near seeds: one step of splitmix64.
    std::uint64_t z = seed * 0x9e3779b97f4a7c15ULL + (core + 1) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 30)) * 0x94d049bb133111ebULL;
    stream.random = (z ^ (z >> 31)) | 1;
    const bool idle = core + profile.idle_cores >= cores && cores > profile.idle_cores;
    // Uniform from 0 to twice the mean; idle cores have hundreds of instructions between accesses.
    stream.gap_range = (idle ? 400 : 2 * profile.gap) + 1;
    for (std::uint32_t i = 0; i < kRecent; ++i)
      remember(stream, scattered(layout_.own + core * layout_.own_stride + i),
               profile.store_percent);
  }
}

bool TrafficGenerator::fetch(Stream &stream, unsigned core, Operation &operation) {
  --stream.to_fetch;
  if (stream.run == 0) {
    stream.run = 1 + below(stream, 2 * profile_.code_run);
    stream.code = skewed(stream, {0, profile_.code_blocks, profile_.code_skew});
  } else {
    --stream.run;
    stream.code = stream.code + 1 == profile_.code_blocks ? 0 : stream.code + 1;
  }
  const std::uint64_t base =
      layout_.code + (profile_.private_code ? core * layout_.code_stride : 0);
  operation = {scattered(base + stream.code), 0, RequestKind::fetch, true};
  return true;
}

bool TrafficGenerator::data(Stream &stream, unsigned core, Operation &operation) {
  ++stream.accesses;
  if (profile_.phase != 0 && stream.accesses % profile_.phase == 0)
    stream.shift = (stream.shift + profile_.own.blocks) % (2 * profile_.own.blocks + 1);
  const std::uint32_t gap = below(stream, stream.gap_range);
  stream.instructions += gap + 1;
  if (stream.instructions >= kBlockInstructions) {
    stream.to_fetch += stream.instructions / kBlockInstructions;
    stream.instructions %= kBlockInstructions;
    // Long pauses (idle cores) run in a loop that is in the L1I.
    stream.to_fetch = std::min<std::uint32_t>(stream.to_fetch, 4);
  }
  Queued chosen;
  if (stream.queued != 0) {
    chosen = stream.queue[--stream.queued];
  } else if (below(stream, 1000) < profile_.repeat_permille) {
    const Recent &recent = stream.recent[below(stream, kRecent)];
    chosen = {recent.block,
              percent(stream, recent.store_percent) ? RequestKind::store : RequestKind::load};
  } else {
    chosen = choose(stream, core);
  }
  operation = {chosen.block, gap, chosen.kind,
               chosen.kind == RequestKind::atomic ||
                   (chosen.kind == RequestKind::load && percent(stream, dependent_percent_))};
  return true;
}

TrafficGenerator::Queued TrafficGenerator::choose(Stream &stream, unsigned core) {
  const std::uint32_t which = below(stream, weights_);
  if (which < bounds_[0])
    return choose_own(stream, core);
  if (which < bounds_[1]) {
    const std::uint64_t block = scattered(layout_.read_only + skewed(stream, profile_.read_only));
    remember(stream, block, 0);
    return {block, RequestKind::load};
  }
  if (which < bounds_[2]) {
    // Read, used and written once; not among the repeated ones.
    const std::uint64_t block = scattered(layout_.migratory + skewed(stream, profile_.migratory));
    push(stream, block, RequestKind::store);
    push(stream, block, RequestKind::load);
    return {block, RequestKind::load};
  }
  if (which < bounds_[3])
    return choose_exchange(stream, core);
  if (which < bounds_[4])
    return {scattered(layout_.false_sharing + skewed(stream, profile_.false_sharing)),
            percent(stream, 50) ? RequestKind::store : RequestKind::load};
  if (which < bounds_[5]) {
    begin_section(stream);
    return stream.queue[--stream.queued];
  }
  return choose_device(stream);
}

TrafficGenerator::Queued TrafficGenerator::choose_own(Stream &stream, unsigned core) {
  std::uint64_t offset;
  if (percent(stream, profile_.stream_percent)) {
    stream.walk = stream.walk + 1 == profile_.own.blocks ? 0 : stream.walk + 1;
    offset = stream.walk;
  } else {
    offset = skewed(stream, profile_.own);
  }
  const std::uint64_t block =
      scattered(layout_.own + core * layout_.own_stride + stream.shift + offset);
  remember(stream, block, profile_.store_percent);
  return {block, percent(stream, profile_.store_percent) ? RequestKind::store : RequestKind::load};
}

// Half of the time a core fills its own buffer, in order; else it reads one of its two neighbours'.
TrafficGenerator::Queued TrafficGenerator::choose_exchange(Stream &stream, unsigned core) {
  const Region &region = profile_.producer_consumer;
  const auto buffer = [&](unsigned owner, std::uint32_t block) {
    return scattered(layout_.producer_consumer + std::uint64_t{owner} * region.blocks + block);
  };
  if (percent(stream, 50)) {
    stream.produced = stream.produced + 1 == region.blocks ? 0 : stream.produced + 1;
    return {buffer(core, stream.produced), RequestKind::store};
  }
  const unsigned distance = percent(stream, 50) ? 1 : cores() - 1;
  return {buffer((core + distance) % cores(), below(stream, region.blocks)), RequestKind::load};
}

TrafficGenerator::Queued TrafficGenerator::choose_device(Stream &stream) {
  const std::uint32_t half = profile_.device.blocks / 2;
  const bool sends = percent(stream, 50);
  return {scattered(layout_.device + (sends ? half : 0) + below(stream, half)),
          sends ? RequestKind::store : RequestKind::load};
}

// Receives and sends in turn.
bool TrafficGenerator::next_of_device(DeviceOperation &operation) {
  const std::uint32_t half = profile_.device.blocks / 2;
  const bool sends = device_steps_ % 2 != 0;
  const std::uint64_t step = device_steps_++ / 2 % half;
  operation = {scattered(layout_.device + (sends ? half : 0) + step),
               sends ? Access::load : Access::store};
  return true;
}

// Pushed last comes first: the lock, accesses to its four blocks, the release.
void TrafficGenerator::begin_section(Stream &stream) {
  const std::uint32_t lock = skewed(stream, profile_.locks);
  push(stream, scattered(layout_.locks + lock), RequestKind::store);
  for (std::uint32_t i = 0; i < profile_.lock_work; ++i) {
    const std::uint64_t block =
        scattered(layout_.protected_data + std::uint64_t{lock} * 4 + below(stream, 4));
    push(stream, block, percent(stream, 50) ? RequestKind::store : RequestKind::load);
  }
  push(stream, scattered(layout_.locks + lock), RequestKind::atomic);
}

} // namespace tandem::machine
