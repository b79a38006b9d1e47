// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The transport of virtio devices: registers in memory, version 2, one device a slot. A slot
// without a device has device number 0, which drivers pass over.
//
// Source: Virtual I/O Device version 1.2, sections 2.1 to 2.4 and 4.2.
#pragma once

#include "machine/archive/archive.h"
#include "machine/bus/device.h"
#include "machine/devices/dma.h"
#include "machine/devices/interrupts.h"
#include "machine/devices/virtio_ring.h"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace tandem::machine {

// Of every device here.
inline constexpr std::uint64_t kVirtioVersion1 = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kVirtioIndirect = std::uint64_t{1} << 28;
inline constexpr std::uint64_t kVirtioEventIndex = std::uint64_t{1} << 29;
inline constexpr std::uint64_t kVirtioCommon =
    kVirtioVersion1 | kVirtioIndirect | kVirtioEventIndex;

class VirtioDevice : public Device {
public:
  static constexpr std::uint64_t kSize = 0x1000;

  bool load(std::uint64_t offset, unsigned size, std::uint64_t &value) override;
  bool store(std::uint64_t offset, unsigned size, std::uint64_t value) override;

protected:
  // `device`: the number of its kind; `features` beside the common ones.
  VirtioDevice(std::uint32_t device, std::uint64_t features, unsigned queues, DmaPort &dma,
               InterruptLine interrupt);

  // The driver has made something available in a queue.
  virtual void notified(unsigned queue) = 0;
  // The driver has reset the device: what is under way is forgotten.
  virtual void reset() = 0;
  // Fields that drivers read, any number of bytes.
  [[nodiscard]] virtual std::span<const std::byte> configuration() const = 0;

  [[nodiscard]] DmaPort &dma() { return *dma_; }
  [[nodiscard]] VirtioQueue &queue(unsigned index) { return queues_[index]; }
  // The next chain of a queue; a broken queue is told to the driver.
  std::optional<VirtioChain> take(unsigned index);
  // Gives a chain back and interrupts if the driver wants that.
  void give(unsigned index, std::uint16_t head, std::uint32_t written);
  // The same when that has been transferred: the chain after what the device has read and written
  // until now, the interrupt after the chain. `client`: the device's number for events, whose
  // event() asks completed() first; its own have argument 0.
  void give_later(unsigned client, unsigned index, std::uint16_t head, std::uint32_t written);
  // Whether an event was one of give_later().
  bool completed(unsigned client, std::uint64_t argument);
  // What a chain of the queue has to do with has been transferred, in the order of give_later().
  virtual void transferred(unsigned /*index*/) {}
  // Chains that wait in give_later().
  [[nodiscard]] std::size_t given() const { return given_.size(); }
  // The driver made a mistake inside a chain: the device asks for a reset.
  void need_reset();
  [[nodiscard]] bool running() const; // DRIVER_OK, and no reset is needed
  [[nodiscard]] bool accepted(std::uint64_t feature) const { return (driver_ & feature) != 0; }

  void transport_fields(Archive &archive);

private:
  void store_register(std::uint64_t offset, std::uint32_t value);
  void set_status(std::uint32_t value);
  void store_queue(std::uint64_t offset, std::uint32_t value);
  [[nodiscard]] std::uint32_t load_register(std::uint64_t offset) const;
  void update();
  void interrupt();
  void chain_moved(unsigned client);

  std::uint32_t device_;
  std::uint64_t features_;
  DmaPort *dma_;
  InterruptLine interrupt_;
  std::vector<VirtioQueue> queues_;
  std::uint64_t driver_ = 0; // the features that the driver accepted
  std::uint32_t device_word_ = 0;
  std::uint32_t driver_word_ = 0;
  std::uint32_t selected_ = 0;
  std::uint32_t status_ = 0;
  std::uint32_t interrupts_ = 0;
  struct Given {
    unsigned index;
    std::uint16_t head;
    std::uint32_t written;
  };
  // Empty without time, so that checkpoints need not have it.
  std::deque<Given> given_;
  std::uint64_t generation_ = 0; // resets: what was given before is forgotten
};

// What is at a slot without a device.
class VirtioNothing final : public Device {
public:
  bool load(std::uint64_t offset, unsigned size, std::uint64_t &value) override;
  bool store(std::uint64_t, unsigned, std::uint64_t) override { return true; }
};

} // namespace tandem::machine
