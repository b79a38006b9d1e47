// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/devices/virtio_net.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tandem::machine {
namespace {

constexpr std::uint32_t kDevice = 1;
constexpr std::uint64_t kAddress = 1U << 5; // features
constexpr std::uint64_t kStatus = 1U << 16;

constexpr unsigned kReceiveQueue = 0;
constexpr unsigned kTransmitQueue = 1;
constexpr std::size_t kHeader = 12; // struct virtio_net_hdr with num_buffers
constexpr std::size_t kBuffersField = 10;
constexpr std::size_t kWaiting = 256;

} // namespace

VirtioNet::VirtioNet(const std::array<std::uint8_t, 6> &address, EventQueue &events,
                     const Cycle &now, DmaPort &dma, InterruptLine interrupt)
    : VirtioDevice(kDevice, kAddress | kStatus, 2, dma, interrupt), events_(&events), now_(&now),
      client_(events.add(*this)) {
  std::memcpy(configuration_.data(), address.data(), address.size());
  configuration_[6] = std::byte{1}; // the link is up
}

void VirtioNet::reset() {
  waiting_.clear();
  sending_.clear();
}

void VirtioNet::notified(unsigned queue) {
  if (queue == kTransmitQueue)
    send();
  else
    fill();
}

void VirtioNet::send() {
  while (std::optional<VirtioChain> chain = take(kTransmitQueue)) {
    const std::uint64_t bytes = chain->readable_bytes();
    if (bytes > kHeader && bytes - kHeader <= kFrameBytes) {
      Frame frame(bytes - kHeader);
      if (!chain->gather(dma(), kHeader, std::as_writable_bytes(std::span(frame)))) {
        need_reset();
        return;
      }
      ++statistics_.sent;
      sending_.push_back(std::move(frame));
    } else {
      ++statistics_.dropped;
      sending_.emplace_back();
    }
    give_later(client_, kTransmitQueue, chain->head, 0);
  }
}

// A frame goes when all of it has been read.
void VirtioNet::transferred(unsigned queue) {
  if (queue != kTransmitQueue)
    return;
  Frame frame = std::move(sending_.front());
  sending_.pop_front();
  if (frame.empty())
    return; // dropped
  wire_free_ = std::max(wire_free_, *now_) + kCyclesPerByte * frame.size();
  on_wire_.push_back(std::move(frame));
  events_->schedule(wire_free_ + kLatency, client_, 0);
}

void VirtioNet::event(Cycle /*now*/, std::uint64_t argument) {
  if (completed(client_, argument) || on_wire_.empty())
    return;
  const Frame frame = std::move(on_wire_.front());
  on_wire_.pop_front();
  if (peer_ != nullptr)
    peer_->receive(std::as_bytes(std::span(frame)));
}

void VirtioNet::deliver(std::span<const std::byte> frame) {
  if (waiting_.size() >= kWaiting || frame.size() > kFrameBytes) {
    ++statistics_.dropped;
    return;
  }
  const auto *bytes = reinterpret_cast<const std::uint8_t *>(frame.data());
  waiting_.emplace_back(bytes, bytes + frame.size());
  fill();
}

void VirtioNet::fill() {
  while (!waiting_.empty()) {
    const std::optional<VirtioChain> chain = take(kReceiveQueue);
    if (!chain)
      return;
    const Frame frame = std::move(waiting_.front());
    waiting_.pop_front();
    std::array<std::byte, kHeader> header{};
    header[kBuffersField] = std::byte{1};
    if (chain->writable_bytes() < kHeader + frame.size() || !chain->scatter(dma(), 0, header) ||
        !chain->scatter(dma(), kHeader, std::as_bytes(std::span(frame)))) {
      need_reset();
      return;
    }
    ++statistics_.received;
    give_later(client_, kReceiveQueue, chain->head,
               static_cast<std::uint32_t>(kHeader + frame.size()));
  }
}

void VirtioNet::fields(Archive &archive) {
  transport_fields(archive);
  archive(on_wire_, waiting_, wire_free_, statistics_);
}

} // namespace tandem::machine
