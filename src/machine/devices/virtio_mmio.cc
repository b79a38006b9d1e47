// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/devices/virtio_mmio.h"

#include <bit>
#include <cstring>

namespace tandem::machine {
namespace {

constexpr std::uint32_t kMagic = 0x7472'6976;  // "virt"
constexpr std::uint32_t kVendor = 0x444E'4154; // "TAND"

enum Register : std::uint16_t {
  magic = 0x000,
  version = 0x004,
  device_number = 0x008,
  vendor = 0x00C,
  device_features = 0x010,
  device_features_word = 0x014,
  driver_features = 0x020,
  driver_features_word = 0x024,
  queue_select = 0x030,
  queue_maximum = 0x034,
  queue_size = 0x038,
  queue_ready = 0x044,
  queue_notify = 0x050,
  interrupt_status = 0x060,
  interrupt_acknowledge = 0x064,
  status = 0x070,
  queue_descriptors = 0x080,
  queue_driver = 0x090,
  queue_device = 0x0A0,
  generation = 0x0FC,
  configuration_space = 0x100,
};

constexpr std::uint32_t kDriverOk = 4;
constexpr std::uint32_t kFeaturesOk = 8;
constexpr std::uint32_t kNeedsReset = 64;
constexpr std::uint32_t kQueueInterrupt = 1;
constexpr std::uint32_t kConfigurationInterrupt = 2;

void set_half(std::uint64_t &address, bool high, std::uint32_t value) {
  const unsigned shift = high ? 32 : 0;
  address = (address & ~(std::uint64_t{0xFFFF'FFFF} << shift)) | std::uint64_t{value} << shift;
}

} // namespace

VirtioDevice::VirtioDevice(std::uint32_t device, std::uint64_t features, unsigned queues,
                           DmaPort &dma, InterruptLine interrupt)
    : device_(device), features_(features | kVirtioCommon), dma_(&dma), interrupt_(interrupt),
      queues_(queues) {}

bool VirtioDevice::running() const {
  return (status_ & kDriverOk) != 0 && (status_ & kNeedsReset) == 0;
}

void VirtioDevice::update() { interrupt_.set(interrupts_ != 0); }

void VirtioDevice::need_reset() {
  status_ |= kNeedsReset;
  interrupts_ |= kConfigurationInterrupt;
  update();
}

std::optional<VirtioChain> VirtioDevice::take(unsigned index) {
  if (!running())
    return std::nullopt;
  std::optional<VirtioChain> chain = queues_[index].pop(*dma_);
  // Asked for a notification while the queue is empty, and looked again: what came in between has
  // not notified.
  if (!chain && !queues_[index].broken()) {
    queues_[index].want_notification(*dma_);
    chain = queues_[index].pop(*dma_);
  }
  if (queues_[index].broken())
    need_reset();
  return chain;
}

void VirtioDevice::interrupt() {
  interrupts_ |= kQueueInterrupt;
  update();
}

void VirtioDevice::give(unsigned index, std::uint16_t head, std::uint32_t written) {
  if (queues_[index].push(*dma_, head, written))
    interrupt();
  if (queues_[index].broken())
    need_reset();
}

namespace {

// Arguments of events: what has been transferred, and under which generation.
constexpr std::uint64_t kBytes = 1;
constexpr std::uint64_t kChain = 2;
constexpr unsigned kGenerationShift = 2;

} // namespace

void VirtioDevice::give_later(unsigned client, unsigned index, std::uint16_t head,
                              std::uint32_t written) {
  given_.push_back({.index = index, .head = head, .written = written});
  if (!dma_->when_done(client, kBytes | generation_ << kGenerationShift))
    chain_moved(client);
}

void VirtioDevice::chain_moved(unsigned client) {
  const Given given = given_.front();
  given_.pop_front();
  transferred(given.index);
  const bool tell = queues_[given.index].push(*dma_, given.head, given.written);
  if (tell && !dma_->when_done(client, kChain | generation_ << kGenerationShift))
    interrupt();
  if (queues_[given.index].broken())
    need_reset();
}

bool VirtioDevice::completed(unsigned client, std::uint64_t argument) {
  if (argument == 0)
    return false;
  if (argument >> kGenerationShift != generation_)
    return true;
  if ((argument & kBytes) != 0)
    chain_moved(client);
  else
    interrupt();
  return true;
}

bool VirtioDevice::load(std::uint64_t offset, unsigned size, std::uint64_t &value) {
  value = 0;
  if (offset >= configuration_space) {
    const std::span<const std::byte> space = configuration();
    const std::uint64_t place = offset - configuration_space;
    if (place < space.size())
      std::memcpy(&value, space.data() + place, std::min<std::size_t>(size, space.size() - place));
    return true;
  }
  if (size != 4)
    return false;
  value = load_register(offset);
  return true;
}

std::uint32_t VirtioDevice::load_register(std::uint64_t offset) const {
  switch (offset) {
  case magic:
    return kMagic;
  case version:
    return 2;
  case device_number:
    return device_;
  case vendor:
    return kVendor;
  case device_features:
    return device_word_ < 2 ? static_cast<std::uint32_t>(features_ >> (32 * device_word_)) : 0;
  case queue_maximum:
    return selected_ < queues_.size() ? VirtioQueue::kMaximum : 0;
  case queue_ready:
    return selected_ < queues_.size() && queues_[selected_].ready ? 1 : 0;
  case interrupt_status:
    return interrupts_;
  case status:
    return status_;
  default:
    return 0; // write-only ones, the generation of a configuration that never changes
  }
}

bool VirtioDevice::store(std::uint64_t offset, unsigned size, std::uint64_t value) {
  if (offset >= configuration_space)
    return true; // nothing there can be written
  if (size != 4)
    return false;
  store_register(offset, static_cast<std::uint32_t>(value));
  return true;
}

void VirtioDevice::store_register(std::uint64_t offset, std::uint32_t value) {
  switch (offset) {
  case device_features_word:
    device_word_ = value;
    break;
  case driver_features_word:
    driver_word_ = value;
    break;
  case driver_features:
    if (driver_word_ < 2 && (status_ & kFeaturesOk) == 0)
      set_half(driver_, driver_word_ == 1, value);
    break;
  case queue_select:
    selected_ = value;
    break;
  case queue_notify:
    if (value < queues_.size() && running())
      notified(value);
    break;
  case interrupt_acknowledge:
    interrupts_ &= ~value;
    update();
    break;
  case status:
    set_status(value);
    break;
  default:
    store_queue(offset, value);
    break;
  }
}

void VirtioDevice::set_status(std::uint32_t value) {
  if (value == 0) {
    for (VirtioQueue &queue : queues_)
      queue.reset();
    given_.clear();
    ++generation_;
    driver_ = 0;
    device_word_ = driver_word_ = selected_ = status_ = interrupts_ = 0;
    reset();
    update();
    return;
  }
  // A set of features that is none of ours, or without version 1, is not accepted.
  if ((value & kFeaturesOk) != 0 &&
      ((driver_ & ~features_) != 0 || (driver_ & kVirtioVersion1) == 0))
    value &= ~kFeaturesOk;
  status_ = value | (status_ & kNeedsReset);
  for (VirtioQueue &queue : queues_)
    queue.set_event_index(accepted(kVirtioEventIndex));
}

void VirtioDevice::store_queue(std::uint64_t offset, std::uint32_t value) {
  if (selected_ >= queues_.size())
    return;
  VirtioQueue &queue = queues_[selected_];
  switch (offset) {
  case queue_ready:
    queue.ready = (value & 1) != 0;
    break;
  case queue_size:
    if (!queue.ready && value <= VirtioQueue::kMaximum && std::has_single_bit(value))
      queue.size = static_cast<std::uint16_t>(value);
    break;
  case queue_descriptors:
  case queue_descriptors + 4:
    set_half(queue.descriptors, offset != queue_descriptors, value);
    break;
  case queue_driver:
  case queue_driver + 4:
    set_half(queue.driver, offset != queue_driver, value);
    break;
  case queue_device:
  case queue_device + 4:
    set_half(queue.device, offset != queue_device, value);
    break;
  default:
    break;
  }
}

void VirtioDevice::transport_fields(Archive &archive) {
  const std::size_t queues = queues_.size();
  archive(queues_, driver_, device_word_, driver_word_, selected_, status_, interrupts_);
  if (queues_.size() != queues) {
    queues_.resize(queues);
    archive.fail();
  }
}

bool VirtioNothing::load(std::uint64_t offset, unsigned size, std::uint64_t &value) {
  value = size != 4 ? 0 : offset == magic ? kMagic : offset == version ? 2 : 0;
  return true;
}

} // namespace tandem::machine
