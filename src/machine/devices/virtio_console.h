// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A virtio console with one port.
//
// Source: Virtual I/O Device version 1.2, section 5.3.
#pragma once

#include "machine/devices/console.h"
#include "machine/devices/virtio_mmio.h"

#include <array>

namespace tandem::machine {

class VirtioConsole final : public VirtioDevice, public ConsoleReceiver {
public:
  VirtioConsole(ConsoleSink &sink, DmaPort &dma, InterruptLine interrupt);

  bool receive(std::uint8_t byte) override;
  [[nodiscard]] bool listening() const override { return running(); }
  void fields(Archive &archive) { transport_fields(archive); }

protected:
  void notified(unsigned queue) override;
  void reset() override {}
  [[nodiscard]] std::span<const std::byte> configuration() const override { return configuration_; }

private:
  ConsoleSink *sink_;
  std::array<std::byte, 12> configuration_{};
};

} // namespace tandem::machine
