// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/devices/virtio_block.h"

#include <cstring>
#include <utility>

namespace tandem::machine {
namespace {

constexpr std::uint32_t kDevice = 2;
constexpr std::uint64_t kSegmentsMaximum = 1U << 2; // features
constexpr std::uint64_t kReadOnly = 1U << 5;
constexpr std::uint64_t kBlockSize = 1U << 6;
constexpr std::uint64_t kFlush = 1U << 9;

// The fields that drivers read: capacity, size_max, seg_max, geometry, blk_size.
struct Configuration {
  std::uint64_t sectors;
  std::uint32_t segment_bytes;
  std::uint32_t segments;
  std::uint32_t geometry;
  std::uint32_t block;
};
static_assert(sizeof(Configuration) == 24);

struct Header {
  std::uint32_t type;
  std::uint32_t reserved;
  std::uint64_t sector;
};
static_assert(sizeof(Header) == 16);

enum Type : std::uint8_t { in = 0, out = 1, flush = 4, identify = 8 };
enum Answer : std::uint8_t { ok = 0, error = 1, unsupported = 2 };

constexpr std::size_t kSerial = 20;

} // namespace

VirtioBlock::VirtioBlock(DiskImage &image, Cycle latency, std::string serial, EventQueue &events,
                         const Cycle &now, DmaPort &dma, InterruptLine interrupt)
    : VirtioDevice(kDevice,
                   kSegmentsMaximum | kBlockSize | kFlush | (image.read_only() ? kReadOnly : 0), 1,
                   dma, interrupt),
      image_(&image), latency_(latency), serial_(std::move(serial)), events_(&events), now_(&now),
      client_(events.add(*this)) {
  const Configuration fields{.sectors = image.size() / DiskImage::kSector,
                             .segment_bytes = 0,
                             .segments = VirtioQueue::kMaximum - 2,
                             .geometry = 0,
                             .block = DiskImage::kSector};
  std::memcpy(configuration_.data(), &fields, sizeof fields);
  serial_.resize(kSerial);
}

void VirtioBlock::reset() {
  under_way_.clear();
  events_->cancel(client_);
}

void VirtioBlock::notified(unsigned /*queue*/) { start(); }

void VirtioBlock::start() {
  while (under_way_.size() + given() < kUnderWay) {
    std::optional<VirtioChain> chain = take(0);
    if (!chain)
      return;
    under_way_.push_back(*std::move(chain));
    events_->schedule(*now_ + latency_, client_, 0);
  }
}

void VirtioBlock::event(Cycle /*now*/, std::uint64_t argument) {
  if (completed(client_, argument)) {
    if (running())
      start();
    return;
  }
  if (under_way_.empty())
    return;
  const VirtioChain chain = std::move(under_way_.front());
  under_way_.pop_front();
  serve(chain);
  if (running())
    start();
}

// A request is a header, data, and a byte for the answer at the end of what the device writes.
void VirtioBlock::serve(const VirtioChain &chain) {
  Header header{};
  const std::uint64_t room = chain.writable_bytes();
  if (room == 0 || !chain.gather(dma(), 0, std::as_writable_bytes(std::span(&header, 1)))) {
    need_reset();
    return;
  }
  std::uint32_t written = 0;
  const std::uint8_t answer = transfer(chain, header.type, header.sector, written);
  ++statistics_.requests;
  statistics_.failed += answer == Answer::ok ? 0 : 1;
  if (!chain.scatter(dma(), room - 1, std::as_bytes(std::span(&answer, 1)))) {
    need_reset();
    return;
  }
  give_later(client_, 0, chain.head, written + 1);
}

std::uint8_t VirtioBlock::transfer(const VirtioChain &chain, std::uint32_t type,
                                   std::uint64_t sector, std::uint32_t &written) {
  const bool reads = type == Type::in;
  const std::uint64_t bytes =
      reads ? chain.writable_bytes() - 1
            : std::max<std::uint64_t>(chain.readable_bytes(), sizeof(Header)) - sizeof(Header);
  if (type == Type::flush)
    return Answer::ok; // nothing is ever on its way
  if (type == Type::identify) {
    const std::uint64_t count = std::min<std::uint64_t>(kSerial, chain.writable_bytes() - 1);
    written = static_cast<std::uint32_t>(count);
    return chain.scatter(dma(), 0, std::as_bytes(std::span(serial_)).first(count)) ? Answer::ok
                                                                                   : Answer::error;
  }
  if (type != Type::in && type != Type::out)
    return Answer::unsupported;
  if (sector > image_->size() / DiskImage::kSector || bytes % DiskImage::kSector != 0)
    return Answer::error;
  const std::uint64_t offset = sector * DiskImage::kSector;
  if (!image_->contains(offset, bytes) || (!reads && image_->read_only()))
    return Answer::error;
  if (reads) {
    if (!chain.scatter(dma(), 0, image_->read(offset, bytes)))
      return Answer::error;
    written = static_cast<std::uint32_t>(bytes);
    statistics_.bytes_read += bytes;
    return Answer::ok;
  }
  if (!chain.gather(dma(), sizeof(Header), image_->write(offset, bytes)))
    return Answer::error;
  statistics_.bytes_written += bytes;
  return Answer::ok;
}

void VirtioBlock::fields(Archive &archive) {
  transport_fields(archive);
  archive(under_way_, statistics_, *image_);
}

} // namespace tandem::machine
