// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A serial port: a 16550A whose line is infinitely fast outwards. Registers are a byte wide and
// accessed as bytes. What is received waits in a FIFO of 16 (one, where the FIFOs are off); the
// transmitter is always empty. Break, parity and modem lines never happen.
//
// Source: the 16550D data sheet, table 3 and section 8.
#pragma once

#include "machine/archive/archive.h"
#include "machine/bus/device.h"
#include "machine/devices/console.h"
#include "machine/devices/interrupts.h"

#include <cstdint>
#include <deque>

namespace tandem::machine {

class Uart16550 : public Device, public ConsoleReceiver {
public:
  static constexpr std::uint64_t kSize = 0x100;

  Uart16550(ConsoleSink &sink, InterruptLine interrupt) : sink_(&sink), interrupt_(interrupt) {}

  bool load(std::uint64_t offset, unsigned size, std::uint64_t &value) override;
  bool store(std::uint64_t offset, unsigned size, std::uint64_t value) override;

  // False: the FIFO is full, nothing happened.
  bool receive(std::uint8_t byte) override;
  // Whether a driver has enabled the interrupt of received data.
  [[nodiscard]] bool listening() const override { return (enabled_ & 1) != 0; }

  void fields(Archive &archive);

private:
  [[nodiscard]] std::uint8_t identify() const;
  void update();
  void transmit(std::uint8_t byte);

  ConsoleSink *sink_;
  InterruptLine interrupt_;
  std::deque<std::uint8_t> received_;
  std::uint8_t enabled_ = 0; // IER
  std::uint8_t line_ = 3;    // LCR: eight bits
  std::uint8_t modem_ = 0;   // MCR
  std::uint8_t scratch_ = 0;
  std::uint8_t trigger_ = 0; // FCR bits 7:6
  std::uint16_t divisor_ = 1;
  bool fifos_ = false;
  bool empty_pending_ = false; // the transmitter's interrupt, until IIR is read or THR written
  bool overrun_ = false;
};

} // namespace tandem::machine
